"""Count filtered candidates: all that any metric's moments need.

Inputs: results/triples/<dataset>.parquet and <dataset>.json.
Outputs: results/candidates/<dataset>.parquet, histograms per protocol, split and side;
         results/candidates/<dataset>.pairs.parquet, how the two sides of a triple go together;
         results/partitions/<dataset>/, the same for a part of the relations of a large data set, until all are there.
"""


rule count:
    input:
        triples="results/triples/{dataset}.parquet",
        summary="results/triples/{dataset}.json",
    output:
        histograms="results/candidates/{dataset}.parquet",
        pairs="results/candidates/{dataset}.pairs.parquet",
    log:
        "results/logs/count/{dataset}.log",
    benchmark:
        "results/benchmarks/count/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(name for name in ALONE if PARTITIONS.get(name) == 1),
    threads: threads_to_count
    resources:
        mem_mb=grown(megabytes_to_count),
        runtime=grown(minutes_for),
    params:
        protocols=protocols_of,
        damage=damage_to(
            "results/candidates/{dataset}.parquet",
            "results/candidates/{dataset}.pairs.parquet",
        ),
        library=code_digest("base.stages", "counting.candidates"),
    script:
        "../../scripts/count.py"


rule count_partition:
    input:
        triples="results/triples/{dataset}.parquet",
        summary="results/triples/{dataset}.json",
    output:
        histograms=temp("results/partitions/{dataset}/{partition}.parquet"),
        pairs=temp("results/partitions/{dataset}/{partition}.pairs.parquet"),
    log:
        "results/logs/count_partition/{dataset}.{partition}.log",
    benchmark:
        "results/benchmarks/count_partition/{dataset}.{partition}.tsv"
    threads: threads_to_count
    resources:
        mem_mb=grown(megabytes_to_count_partition),
        runtime=grown(minutes_for),
    params:
        protocols=protocols_of,
        partitions=lambda wildcards: PARTITIONS[wildcards.dataset],
        damage=damage_to(
            "results/partitions/{dataset}/{partition}.parquet",
            "results/partitions/{dataset}/{partition}.pairs.parquet",
        ),
        library=code_digest(
            "base.stages", "counting.candidates", "counting.memory", "data.blocks"
        ),
    script:
        "../../scripts/count_partition.py"


rule add_partitions:
    input:
        histograms=lambda wildcards: expand(
            "results/partitions/{{dataset}}/{partition}.parquet",
            partition=range(PARTITIONS[wildcards.dataset]),
        ),
        pairs=lambda wildcards: expand(
            "results/partitions/{{dataset}}/{partition}.pairs.parquet",
            partition=range(PARTITIONS[wildcards.dataset]),
        ),
    output:
        histograms="results/candidates/{dataset}.parquet",
        pairs="results/candidates/{dataset}.pairs.parquet",
    log:
        "results/logs/add_partitions/{dataset}.log",
    benchmark:
        "results/benchmarks/add_partitions/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(name for name in ALONE if PARTITIONS.get(name, 1) > 1),
    threads: 1
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        protocols=protocols_of,
        damage=damage_to(
            "results/candidates/{dataset}.parquet",
            "results/candidates/{dataset}.pairs.parquet",
        ),
        library=code_digest("base.stages", "counting.candidates"),
    script:
        "../../scripts/add_partitions.py"
