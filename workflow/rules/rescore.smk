"""Re-score published tables with the database.

Inputs: the tables of the configuration; results/database/adjustments.parquet and candidates.parquet.
Outputs: results/rescored/<table>.parquet, .csv and .md: every row of the table, adjusted or with the reason why not;
         results/comparison/*.csv and results/figures/size.*: contradictions, and what adjustment changes.
"""

# The released database fills in for data sets that this run does not hold. It is a parameter and no input: a rule makes
# the release, and a run must not make it again because of its own data sets.
RELEASED = PROJECT / "resources" / "database" / "adjustments.parquet"
COMPARISONS = [
    "contradictions",
    "chance-share",
    "protocol-effect",
    "best-results",
    "leaderboards",
    "model-orders",
    "size-correlation",
    "not-above-chance",
    "effect-of-approximation",
]


rule rescore:
    input:
        expand(
            "results/rescored/{table}.{format}",
            table=TABLES,
            format=["parquet", "csv", "md"],
        ),


rule rescore_tables:
    input:
        tables=list(TABLES.values()),
        database="results/database/adjustments.parquet",
        candidates="results/database/candidates.parquet",
    output:
        expand(
            "results/rescored/{table}.{format}", table=TABLES, format=["parquet", "md"]
        ),
        [
            report(
                f"results/rescored/{table}.csv",
                caption="../report/rescored.rst",
                category="Re-scored tables",
                labels={"table": table},
            )
            for table in TABLES
        ],
    log:
        "results/logs/rescore.log",
    benchmark:
        "results/benchmarks/rescore.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        released=lambda wildcards, input: str(RELEASED),
        registry=lambda wildcards, input: RUN.values["registry"] or [],
        read=content_digest(
            [
                RELEASED,
                RELEASED.with_name("candidates.parquet"),
                PROJECT / "config" / "published.yaml",
                *SETTINGS,
                *schemas(
                    "tidy",
                    "published",
                    "sidecar",
                    "datasets",
                    "benchmarks",
                    "protocols",
                ),
                *REGISTRY_FILES,
                *TABLES.values(),
                *filter(None, map(sidecar_of, TABLES.values())),
            ],
            DIGESTS,
        ),
        library=code_digest(
            "literature.rescore",
            "literature.results",
            "literature.statuses",
            "output.formatting",
        ),
    script:
        "../../scripts/rescore.py"


rule compare:
    input:
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        database="results/database/adjustments.parquet",
        candidates="results/database/candidates.parquet",
    output:
        tables=[
            report(
                f"results/comparison/{name}.csv",
                caption="../report/comparison.rst",
                category="Comparison",
                labels={"table": name},
            )
            for name in COMPARISONS
        ],
        svg=report(
            "results/figures/size.svg",
            caption="../report/size.rst",
            category="Figures",
            labels={"figure": "size"},
        ),
        png="results/figures/size.png",
    log:
        "results/logs/compare.log",
    benchmark:
        "results/benchmarks/compare.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        released=lambda wildcards, input: str(RELEASED),
        read=content_digest(
            [
                RELEASED,
                RELEASED.with_name("candidates.parquet"),
                *SETTINGS,
                *schemas("benchmarks", "protocols"),
            ],
            DIGESTS,
        ),
        library=code_digest(
            "database.evaluation_sets",
            "database.histograms",
            "database.store",
            "literature.comparison",
            "literature.contradictions",
            "literature.size",
            "models.leaderboards",
            "output.report",
        ),
    script:
        "../../scripts/compare.py"
