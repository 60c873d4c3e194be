"""Re-score published tables with the database, compare them, and make of the user's own tables what a paper needs.

Inputs: the tables of the configuration; results/database/; the released database, for data sets that the run lacks.
Outputs: results/rescored/<table>.parquet, .csv and .md: every row of the table, adjusted or with the reason why not;
         results/literature.parquet: the shipped literature on the evaluations of the user's own tables;
         results/comparison/*.csv: contradictions, and how many results of each evaluation are below counting;
         results/record/comparison.csv and .svg, the constants that PyKEEN published (Zenodo record 6331629) beside ours: only
         where the target record asks for them;
         results/paper/<table>/: the adjusted table, the methods, references, and what to check before.
"""

from rankadjust.database.record import RECORD

COMPARISONS = ["contradictions", "below-baselines"]
# Tables that are not the shipped literature: the page shows them first.
PUBLISHED = project_files("resources/published/*.csv")
OWN_TABLES = [table for table, path in TABLES.items() if not any(map(Path(path).samefile, PUBLISHED))]
# The literature is shown beside them, also where it is not among the tables of the run.
LITERATURE = ["results/literature.parquet"] * (bool(OWN_TABLES) and len(OWN_TABLES) == len(TABLES))
RELEASED = project_files(*(f"resources/database/{Path(path).name}" for path in DATABASE))
CONSTANTS = dict(
    database=DATABASE,
    released=RELEASED,
    registry=RUN.values["registry"] or [],
    settings=project_files(*SETTINGS, "config/published.yaml"),
)


rule rescore:
    input:
        **CONSTANTS,
        tables=TABLES.values(),
        sidecars=filter(None, map(sidecar_of, TABLES.values())),
        # Re-scoring notes where values of an own table equal those of the literature.
        literature=PUBLISHED * bool(OWN_TABLES),
    output:
        expand("results/rescored/{table}.{format}", table=TABLES, format=["parquet", "md"]),
        [
            report(
                f"results/rescored/{table}.csv",
                caption="../report/rescored.rst",
                category="Re-scored tables",
            )
            for table in TABLES
        ],
    log:
        "results/logs/rescore.log",
    benchmark:
        "results/benchmarks/rescore.tsv"
    resources:
        mem_mb=2000,
    params:
        library=code_of("rescore"),
    script:
        "../../scripts/rescore.py"


rule literature:
    input:
        **CONSTANTS,
        own=expand("results/rescored/{table}.parquet", table=OWN_TABLES),
        tables=PUBLISHED,
    output:
        "results/literature.parquet",
    log:
        "results/logs/literature.log",
    benchmark:
        "results/benchmarks/literature.tsv"
    params:
        library=code_of("literature"),
    script:
        "../../scripts/literature.py"


rule compare:
    input:
        **CONSTANTS,
        rescored=expand("results/rescored/{table}.parquet", table=TABLES),
        literature=LITERATURE,
    output:
        [
            report(
                f"results/comparison/{name}.csv", caption="../report/comparison.rst", category="Comparison"
            )
            for name in COMPARISONS
        ],
    log:
        "results/logs/compare.log",
    benchmark:
        "results/benchmarks/compare.tsv"
    params:
        library=code_of("compare"),
    script:
        "../../scripts/compare.py"


rule fetch_record:
    output:
        directory("resources/record"),
    log:
        "results/logs/fetch_record.log",
    localrule: True
    resources:
        downloads=1,
    params:
        sources=[RECORD],
        library=code_of("fetch"),
    script:
        "../../scripts/fetch.py"


rule record:
    input:
        **CONSTANTS,
        published="resources/record",
    output:
        report("results/record/comparison.csv", caption="../report/record.rst", category="Comparison"),
        report("results/record/comparison.svg", caption="../report/record.rst", category="Comparison"),
    log:
        "results/logs/record.log",
    benchmark:
        "results/benchmarks/record.tsv"
    params:
        library=code_of("record"),
    script:
        "../../scripts/record.py"


rule paper:
    input:
        expand("results/paper/{table}", table=OWN_TABLES),


rule paper_of_table:
    input:
        **CONSTANTS,
        table=lambda wildcards: TABLES[wildcards.table],
        sidecar=lambda wildcards: filter(None, [sidecar_of(TABLES[wildcards.table])]),
    output:
        directory("results/paper/{table}"),
    log:
        "results/logs/paper/{table}.log",
    benchmark:
        "results/benchmarks/paper/{table}.tsv"
    wildcard_constraints:
        table="|".join(map(re.escape, OWN_TABLES)) or "(?!)",
    params:
        library=code_of("paper"),
    script:
        "../../scripts/paper.py"
