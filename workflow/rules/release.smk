"""Put the release together, as a folder that is ready to be published.

Inputs: results/database/*, of a run with config/full.yaml.
Outputs: results/release/*: the database, baselines, candidates of sampled protocols included, its layout for PyKEEN, and what
         describes them: README.md, datapackage.json, LICENSE, CITATION.cff, .zenodo.json, SHA256SUMS.
         `make adopt` copies what the library needs to resources/database/, which is committed.
"""

from rankadjust.output.deposit import SUMS, TABLES, TEXTS

RELEASE = expand("results/release/{name}", name=[*TABLES, *TEXTS, SUMS])


rule release:
    input:
        RELEASE,


rule assemble_release:
    input:
        # A function, so that a run of few data sets is refused before its first job: counting them takes minutes.
        database=lambda wildcards: once_complete(
            "results/database/adjustments.parquet", PLAN.evaluations
        ),
        beside=[
            "results/database/baselines.parquet",
            "results/database/datasets.tsv",
            "results/database/candidates.parquet",
        ],
        sums="results/database/SHA256SUMS",
    output:
        RELEASE,
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
                *sorted(
                    (PROJECT / "rankadjust" / "output").glob("templates/deposit/*")
                ),
                PROJECT / "rankadjust" / "output" / "templates" / "CC0-1.0.txt",
                PROJECT / "rankadjust" / "output" / "columns.yaml",
            ],
            DIGESTS,
        ),
        damage=damage_to(*RELEASE),
        library=code_digest(
            "base.stages", "database.verification", "database.store", "output.deposit"
        ),
    script:
        "../../scripts/release.py"
