"""Draw the figure of the case study, and write the report.

Inputs: results/rescored/*.parquet, results/comparison/*.csv, results/database/*.
Outputs: results/figures/adjustment.svg; results/report.html, one page that needs no network.
"""

CASE_STUDY = "hoyt2022-case-study"
COMPARED = expand("results/comparison/{name}.csv", name=COMPARISONS * bool(TABLES))


rule report:
    input:
        "results/report.html",
        ["results/figures/adjustment.svg"] * (CASE_STUDY in TABLES),
        # A file that only another rule reads is not made again when it is gone.
        COMPARED,


rule figure:
    input:
        f"results/rescored/{CASE_STUDY}.parquet",
    output:
        report(
            "results/figures/adjustment.svg",
            caption="../report/figure.rst",
            category="Figures",
        ),
    log:
        "results/logs/figure.log",
    benchmark:
        "results/benchmarks/figure.tsv"
    params:
        library=code_of("figure"),
    script:
        "../../scripts/figure.py"


rule render:
    input:
        **CONSTANTS,
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        literature=LITERATURE,
        contradictions=["results/comparison/contradictions.csv"] * bool(TABLES),
        templates=project_files("rankadjust/page/templates/*"),
    output:
        report("results/report.html", caption="../report/page.rst", category="Run"),
    log:
        "results/logs/render.log",
    benchmark:
        "results/benchmarks/render.tsv"
    params:
        own=OWN_TABLES,
        library=code_of("render"),
    script:
        "../../scripts/render.py"
