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
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        protocols=protocols_of,
        library=code_digest("counting.candidates"),
    script:
        "../../scripts/count.py"
