"""Make of each of the user's own tables what a paper needs (docs/which-number.md).

Inputs: a table of the configuration; results/database/adjustments.parquet, baselines.parquet and candidates.parquet.
Outputs: results/paper/<table>/: the adjusted table, a figure, the methods, references, and what to check before.
"""


rule paper:
    input:
        expand("results/paper/{table}", table=OWN_TABLES),


rule paper_of_table:
    input:
        table=lambda wildcards: PLAN.tables[wildcards.table],
        database="results/database/adjustments.parquet",
        baselines="results/database/baselines.parquet",
        candidates="results/database/candidates.parquet",
        sums="results/database/SHA256SUMS",
    output:
        directory("results/paper/{table}"),
    log:
        "results/logs/paper/{table}.log",
    benchmark:
        "results/benchmarks/paper/{table}.tsv"
    wildcard_constraints:
        table=one_of(OWN_TABLES),
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        released=lambda wildcards, input: str(RELEASED),
        registry=lambda wildcards, input: RUN.values["registry"] or [],
        read=READ_TO_RESCORE,
        damage=damage_to("results/paper/{table}"),
        library=code_digest("base.stages", "database.constants", "manuscript.paper"),
    script:
        "../../scripts/paper.py"
