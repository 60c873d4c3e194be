"""Draw the figures and the report.

Inputs: results/rescored/*.parquet, results/comparison/*.csv, results/database/*.
Outputs: results/figures/*.svg, *.png and *.json (Vega-Lite); results/report.html, one page that needs no network.
"""

# The audit needs the constants that the case study printed with, and those of its evaluation.
AUDITED = CASE_STUDY in TABLES and {"pykeen", "pykeen-published"} <= set(PLAN.protocols)
COMPARED = expand("results/comparison/{name}.csv", name=COMPARISONS * bool(TABLES))


rule report:
    input:
        "results/report.html",
        "results/figures",
        ["results/case-study.csv"] * AUDITED,
        # A file that only another rule reads is not made again when it is gone.
        COMPARED,


# Which figures there are depends on what the results hold, so that the folder is the output: rankadjust/page/charts.py.
rule figures:
    input:
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        audited=[f"results/rescored/{CASE_STUDY}.parquet"] * AUDITED,
        database=DATABASE,
    output:
        report(
            directory("results/figures"),
            patterns=["{figure}.svg"],
            caption="../report/figure.rst",
            category="Figures",
        ),
    log:
        "results/logs/figures.log",
    benchmark:
        "results/benchmarks/figures.tsv"
    params:
        library=code_of("figures"),
    script:
        "../../scripts/figures.py"


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
