"""Draw the figures and the report.

Inputs: results/rescored/*.parquet, results/database/*.
Outputs: results/figures/*.svg and *.png; results/report.html, one page that needs no network;
         results/case-study.csv, the printed adjustments of Hoyt et al. (2022) against the correct ones.
"""

CASE_STUDY = "hoyt2022-case-study"
# The audit needs the constants that the case study printed with, and those of its evaluation.
AUDITED = CASE_STUDY in TABLES and {"pykeen", "pykeen-published"} <= set(PROTOCOLS)
FIGURES = ["adjustment", "size"] * bool(TABLES) + ["case-study"] * AUDITED


rule report:
    input:
        "results/report.html",
        expand(
            "results/figures/{figure}.{format}", figure=FIGURES, format=["svg", "png"]
        ),
        ["results/case-study.csv"] * AUDITED,


# Figure 1 of the paper is about the case study; where that is not re-scored, it is about all that is.
rule figures:
    input:
        rescored=expand(
            "results/rescored/{table}.parquet",
            table=[CASE_STUDY] if CASE_STUDY in TABLES else TABLES,
        ),
    output:
        svg=report(
            "results/figures/adjustment.svg",
            caption="../report/adjustment.rst",
            category="Figures",
            labels={"figure": "adjustment"},
        ),
        png="results/figures/adjustment.png",
    log:
        "results/logs/figures.log",
    benchmark:
        "results/benchmarks/figures.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        metric="inverse_harmonic_mean_rank",
        library=code_digest("output.report"),
    script:
        "../../scripts/figures.py"


rule case_study:
    input:
        rescored=f"results/rescored/{CASE_STUDY}.parquet",
        database="results/database/adjustments.parquet",
    output:
        csv=report(
            "results/case-study.csv",
            caption="../report/case-study.rst",
            category="Comparison",
            labels={"table": "case-study"},
        ),
        svg=report(
            "results/figures/case-study.svg",
            caption="../report/case-study.rst",
            category="Figures",
            labels={"figure": "case-study"},
        ),
        png="results/figures/case-study.png",
    log:
        "results/logs/case-study.log",
    benchmark:
        "results/benchmarks/case-study.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        metric="inverse_harmonic_mean_rank",
        library=code_digest("literature.case_study", "output.report"),
    script:
        "../../scripts/case_study.py"


rule render:
    input:
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        figures=expand("results/figures/{figure}.svg", figure=FIGURES),
        database="results/database/adjustments.parquet",
        datasets="results/database/datasets.tsv",
    output:
        report(
            "results/report.html",
            caption="../report/page.rst",
            category="Run",
            labels={"file": "report"},
        ),
    log:
        "results/logs/render.log",
    benchmark:
        "results/benchmarks/render.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        library=code_digest("output.report"),
        template=content_digest(
            sorted((PROJECT / "rankadjust" / "output" / "templates").glob("*")),
            DIGESTS,
        ),
    script:
        "../../scripts/render.py"
