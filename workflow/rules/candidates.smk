"""Count filtered candidates: all that any metric's moments need.

Inputs: results/triples/<dataset>.parquet and <dataset>.json.
Outputs: results/candidates/<dataset>.parquet, histograms per protocol, split and side;
         results/candidates/<dataset>.pairs.parquet, how the two sides of a triple go together.
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
        dataset=one_of(ALONE),
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
