"""Re-score published tables with the database.

Inputs: the tables of the configuration; results/database/adjustments.parquet, baselines.parquet and candidates.parquet.
Outputs: results/rescored/<table>.parquet, .csv and .md: every row of the table, adjusted or with the reason why not;
         results/rescored/<table>.sha256: their digests;
         results/literature.parquet: the shipped literature on the evaluations of the user's own tables;
         results/comparison/*.csv: contradictions, and what adjustment changes.
"""

# The released database fills in for data sets that this run does not hold. It is a parameter and no input: a rule makes
# the release, and a run must not make it again because of its own data sets.
RELEASED = PROJECT / "resources" / "database" / "adjustments.parquet"
COMPARISONS = [
    "contradictions",
    "chance-share",
    "protocol-effect",
    "best-results",
    "size-correlation",
    "not-above-chance",
    "below-baselines",
    "what-sampling-hides",
    "below-baselines-by-model",
    "below-baselines-by-year",
    "below-baselines-most",
    "counting-and-models",
    "effect-of-approximation",
]

# Tables that are not the shipped literature: the page shows them first.
PUBLISHED = PROJECT / "resources" / "published"
OWN_TABLES = [
    table
    for table, path in TABLES.items()
    if Path(path).resolve().parent != PUBLISHED.resolve()
]
SHIPPED = sorted(map(str, PUBLISHED.glob("*.csv")))
BESIDE = bool(OWN_TABLES) and len(OWN_TABLES) == len(TABLES)


# The files that re-scoring reads: the release, the registries, each table of the run with its sidecar. Beside the
# data set that an own table seems to be about, re-scoring notes values of the shipped literature that equal its own.
READ_TO_RESCORE = content_digest(
    [
        RELEASED,
        RELEASED.with_name("baselines.parquet"),
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
        *dict.fromkeys([*TABLES.values(), *(SHIPPED if OWN_TABLES else [])]),
        *filter(None, map(sidecar_of, TABLES.values())),
    ],
    DIGESTS,
)


RESCORED_AS = ["parquet", "csv", "md", "sha256"]
COMPARED = [
    *expand("results/comparison/{name}.csv", name=COMPARISONS),
    "results/comparison/SHA256SUMS",
]


rule rescore:
    input:
        expand("results/rescored/{table}.{format}", table=TABLES, format=RESCORED_AS),


for together, members in PLAN.rescored_together().items():

    rule:
        name:
            together
        input:
            tables=[TABLES[table] for table in members],
            database="results/database/adjustments.parquet",
            baselines="results/database/baselines.parquet",
            candidates="results/database/candidates.parquet",
            sums="results/database/SHA256SUMS",
        output:
            expand(
                "results/rescored/{table}.{format}",
                table=members,
                format=[form for form in RESCORED_AS if form != "csv"],
            ),
            [
                report(
                    f"results/rescored/{table}.csv",
                    caption="../report/rescored.rst",
                    category="Re-scored tables",
                    labels={"table": table},
                )
                for table in members
            ],
        log:
            f"results/logs/{together.replace('_tables', '')}.log",
        benchmark:
            f"results/benchmarks/{together.replace('_tables', '')}.tsv"
        threads: 1
        resources:
            mem_mb=grown(1000),
            runtime=grown(10),
        params:
            released=lambda wildcards, input: str(RELEASED),
            registry=lambda wildcards, input: RUN.values["registry"] or [],
            read=READ_TO_RESCORE,
            damage=damage_to(
                *expand(
                    "results/rescored/{table}.{format}",
                    table=members,
                    format=RESCORED_AS,
                )
            ),
            library=code_digest(
                "base.stages",
                "database.constants",
                "literature.full_ranking",
                "literature.rescore",
                "literature.result_files",
                "literature.statuses",
                "output.markup",
            ),
        script:
            "../../scripts/rescore.py"


# The user's own tables are compared with the literature, and shown beside it, also where it is not among the tables of
# the run.
rule literature:
    input:
        own=expand("results/rescored/{table}.parquet", table=OWN_TABLES),
        tables=SHIPPED,
        database="results/database/adjustments.parquet",
        baselines="results/database/baselines.parquet",
        candidates="results/database/candidates.parquet",
        sums="results/database/SHA256SUMS",
    output:
        "results/literature.parquet",
    log:
        "results/logs/literature.log",
    benchmark:
        "results/benchmarks/literature.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        released=lambda wildcards, input: str(RELEASED),
        registry=lambda wildcards, input: RUN.values["registry"] or [],
        read=[READ_TO_RESCORE, content_digest(SHIPPED, DIGESTS)],
        damage=damage_to("results/literature.parquet"),
        library=code_digest(
            "base.stages",
            "data.registry",
            "database.constants",
            "literature.full_ranking",
            "literature.rescore",
            "literature.result_files",
            "page.material",
        ),
    script:
        "../../scripts/literature.py"


rule compare:
    input:
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        literature=["results/literature.parquet"] * BESIDE,
        database="results/database/adjustments.parquet",
        baselines="results/database/baselines.parquet",
        candidates="results/database/candidates.parquet",
        sums="results/database/SHA256SUMS",
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
        sums="results/comparison/SHA256SUMS",
    log:
        "results/logs/compare.log",
    benchmark:
        "results/benchmarks/compare.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        own=OWN_TABLES,
        released=lambda wildcards, input: str(RELEASED),
        read=content_digest(
            [
                RELEASED,
                RELEASED.with_name("baselines.parquet"),
                RELEASED.with_name("candidates.parquet"),
                *SETTINGS,
                *schemas("benchmarks", "protocols"),
            ],
            DIGESTS,
        ),
        damage=damage_to(*COMPARED),
        library=code_digest(
            "base.stages",
            "database.constants",
            "database.store",
            "literature.row_constants",
            "literature.summaries",
            "literature.contradictions",
            "literature.full_ranking",
            "literature.size_correlation",
            "page.material",
        ),
    script:
        "../../scripts/compare.py"
