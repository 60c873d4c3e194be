"""Count filtered candidates: all that any metric's moments need.

Inputs: results/triples/<dataset>.parquet.
Outputs: results/candidates/<dataset>/<protocol>.parquet, histograms per split and side;
         results/candidates/<dataset>/<protocol>.pairs.parquet, how the two sides of a triple go together.
"""


rule count:
    input:
        triples="results/triples/{dataset}.parquet",
    output:
        histogram="results/candidates/{dataset}/{protocol}.parquet",
        pairs="results/candidates/{dataset}/{protocol}.pairs.parquet",
    log:
        "results/logs/count/{dataset}.{protocol}.log",
    benchmark:
        "results/benchmarks/count/{dataset}.{protocol}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        protocol=protocol_of,
        library=code_digest("candidates"),
    script:
        "../../scripts/count.py"
