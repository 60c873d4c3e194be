"""Draw the figures and the report.

Inputs: results/rescored/*.parquet, results/database/*.
Outputs: results/figures/*.svg, *.png and *.json (Vega-Lite); results/report.html, one page that needs no network;
         results/figures/SHA256SUMS, results/case-study.csv.sha256, their digests;
         results/case-study.csv, the printed adjustments of Hoyt et al. (2022) against the correct ones.
"""

CASE_STUDY = "hoyt2022-case-study"
# The audit needs the constants that the case study printed with, and those of its evaluation.
AUDITED = CASE_STUDY in TABLES and {"pykeen", "pykeen-published"} <= set(PROTOCOLS)


rule report:
    input:
        "results/report.html",
        "results/figures",
        ["results/case-study.csv", "results/case-study.csv.sha256"] * AUDITED,
        # A file that only another rule reads is not made again when it is gone.
        expand("results/comparison/{name}.csv", name=COMPARISONS * bool(TABLES)),
        ["results/comparison/SHA256SUMS"] * bool(TABLES),


# Which figures there are depends on what the results hold, so that the folder is the output: rankadjust/page/charts.py.
rule figures:
    input:
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        audited=[f"results/rescored/{CASE_STUDY}.parquet"] * AUDITED,
        database="results/database/adjustments.parquet",
        sums="results/database/SHA256SUMS",
    output:
        report(
            directory("results/figures"),
            patterns=["{figure}.svg"],
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
    log:
        "results/logs/figures.log",
    benchmark:
        "results/benchmarks/figures.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        released=lambda wildcards, input: str(RELEASED),
        read=content_digest([RELEASED], DIGESTS),
        damage=damage_to("results/figures"),
        library=code_digest(
            "base.stages",
            "database.constants",
            "literature.case_study",
            "page.charts",
            "page.figures",
        ),
    script:
        "../../scripts/figures.py"


rule case_study:
    input:
        rescored=f"results/rescored/{CASE_STUDY}.parquet",
        database="results/database/adjustments.parquet",
        sums="results/database/SHA256SUMS",
    output:
        csv=report(
            "results/case-study.csv",
            caption="../report/case-study.rst",
            category="Comparison",
            labels={"table": "case-study"},
        ),
        sum="results/case-study.csv.sha256",
    log:
        "results/logs/case-study.log",
    benchmark:
        "results/benchmarks/case-study.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        damage=damage_to("results/case-study.csv"),
        library=code_digest(
            "base.stages", "database.constants", "literature.case_study"
        ),
    script:
        "../../scripts/case_study.py"


rule render:
    input:
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        literature=["results/literature.parquet"] * BESIDE,
        comparison=expand(
            "results/comparison/{name}.csv", name=COMPARISONS * bool(TABLES)
        ),
        comparison_sums=["results/comparison/SHA256SUMS"] * bool(TABLES),
        figures="results/figures",
        database="results/database/adjustments.parquet",
        candidates="results/database/candidates.parquet",
        sums="results/database/SHA256SUMS",
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
        own=OWN_TABLES,
        released=lambda wildcards, input: str(RELEASED),
        registry=lambda wildcards, input: RUN.values["registry"] or [],
        read=content_digest(
            [
                RELEASED,
                RELEASED.with_name("candidates.parquet"),
                RELEASED.with_name("datasets.tsv"),
                *SETTINGS,
                *REGISTRY_FILES,
                *schemas("benchmarks", "datasets", "protocols"),
                *sorted((PROJECT / "rankadjust" / "page" / "templates").glob("*")),
            ],
            DIGESTS,
        ),
        damage=damage_to("results/report.html"),
        library=code_digest(
            "base.shipped_sums",
            "base.stages",
            "data.registry",
            "database.constants",
            "database.store",
            "page.figures",
            "page.report",
        ),
    script:
        "../../scripts/render.py"
