"""Put the release together.

Inputs: results/database/*, of a run with config/full.yaml.
Outputs: results/release/*: what `make adopt` copies to resources/database/, which is committed.
"""

RELEASE = [
    "adjustments.parquet",
    "adjustments.tsv.gz",
    "candidates.parquet",
    "datasets.tsv",
    "metric_adjustments.tsv.gz",
]


rule release:
    input:
        expand("results/release/{name}", name=RELEASE),


rule assemble_release:
    input:
        database="results/database/adjustments.parquet",
        tsv="results/database/adjustments.tsv.gz",
        datasets="results/database/datasets.tsv",
        candidates="results/database/candidates.parquet",
    output:
        expand("results/release/{name}", name=RELEASE),
    log:
        "results/logs/release.log",
    benchmark:
        "results/benchmarks/release.tsv"
    threads: 1
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        read=content_digest(
            [
                PROJECT / "config" / "datasets.yaml",
                *SETTINGS,
                *schemas("datasets", "benchmarks", "protocols"),
            ],
            DIGESTS,
        ),
        library=code_digest("database.release", "database.store"),
    script:
        "../../scripts/release.py"
