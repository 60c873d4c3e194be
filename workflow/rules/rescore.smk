"""Re-score published tables with the database.

Inputs: the tables of the configuration; results/database/adjustments.parquet.
Outputs: results/rescored/<table>.parquet, .csv and .md: every row of the table, adjusted or with the reason why not;
         results/comparison/*.csv and results/figures/size.*: contradictions, and what adjustment changes.
"""

# The released database fills in for data sets that this run does not hold. It is a parameter and no input: a rule makes
# the release, and a run must not make it again because of its own data sets.
RELEASED = PROJECT / "resources" / "database" / "adjustments.parquet"
COMPARISONS = [
    "contradictions",
    "reversals",
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
    output:
        expand(
            "results/rescored/{table}.{format}",
            table=TABLES,
            format=["parquet", "csv", "md"],
        ),
    log:
        "results/logs/rescore.log",
    benchmark:
        "results/benchmarks/rescore.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder="results/rescored",
        released=str(RELEASED),
        release=sha256_of(RELEASED) if RELEASED.exists() else None,
        registry=RUN.values["registry"] or [],
        registered=[sha256_of(path) for path in REGISTRY_FILES],
        library=code_digest(
            "literature.rescore", "literature.results", "output.formatting"
        ),
    script:
        "../../scripts/rescore.py"


rule compare:
    input:
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        database="results/database/adjustments.parquet",
    output:
        expand("results/comparison/{name}.csv", name=COMPARISONS),
        svg="results/figures/size.svg",
        png="results/figures/size.png",
    log:
        "results/logs/compare.log",
    benchmark:
        "results/benchmarks/compare.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder="results/comparison",
        library=code_digest(
            "literature.comparison", "literature.contradictions", "output.report"
        ),
    script:
        "../../scripts/compare.py"
