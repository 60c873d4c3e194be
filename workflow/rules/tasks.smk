"""Write what is known of every task, to be joined with anyone's ranks; not part of a default run.

Inputs: results/triples/<dataset>.parquet, <dataset>.labels.parquet and <dataset>.json.
Outputs: results/tasks/<dataset>/<protocol>.parquet: triple, line, ids, side, num_candidates, relation, query,
         cardinality and half_link of every task of the test split,
         and its rank by each counting baseline.
"""


rule tasks:
    input:
        [
            f"results/tasks/{dataset}/{protocol.name}.parquet"
            for dataset in COUNTED
            for protocol in APPLICABLE[dataset]
        ],


rule tasks_of_dataset:
    input:
        triples="results/triples/{dataset}.parquet",
        labels="results/triples/{dataset}.labels.parquet",
        summary="results/triples/{dataset}.json",
    output:
        "results/tasks/{dataset}/{protocol}.parquet",
    log:
        "results/logs/tasks/{dataset}/{protocol}.log",
    benchmark:
        "results/benchmarks/tasks/{dataset}/{protocol}.tsv"
    threads: 1
    resources:
        mem_mb=grown(megabytes_for_baselines),
        runtime=60,
    params:
        protocol=lambda wildcards: replace(
            PROTOCOLS[wildcards.protocol], description=""
        ),
        baselines=lambda wildcards: wildcards.dataset in BASELINED,
        damage=damage_to("results/tasks/{dataset}/{protocol}.parquet"),
        library=code_digest("base.stages", "baselines.tasks"),
    script:
        "../../scripts/tasks.py"
