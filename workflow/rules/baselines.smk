"""Score the data sets with baselines that only count training triples (docs/methods-baselines.md).

Inputs: results/triples/<dataset>.parquet and <dataset>.json.
Outputs: results/baselines/<dataset>.parquet, every metric under every protocol, over all orders of the tied.
"""


rule baselines:
    input:
        triples="results/triples/{dataset}.parquet",
        summary="results/triples/{dataset}.json",
    output:
        "results/baselines/{dataset}.parquet",
    log:
        "results/logs/baselines/{dataset}.log",
    benchmark:
        "results/benchmarks/baselines/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(name for name in ALONE if name in BASELINED),
    threads: threads_to_count
    resources:
        mem_mb=grown(megabytes_for_baselines),
        runtime=grown(minutes_for),
    params:
        protocols=protocols_of,
        metrics=METRICS,
        damage=damage_to("results/baselines/{dataset}.parquet"),
        library=code_digest("base.stages", "baselines.tally", "baselines.table"),
    script:
        "../../scripts/baselines.py"
