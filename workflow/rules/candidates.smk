"""Count filtered candidates: all that any metric's moments need.

Inputs: results/triples/<dataset>.parquet.
Outputs: results/candidates/<dataset>/<protocol>.parquet, histograms per split and side;
         results/candidates/<dataset>/<protocol>.pairs.parquet, how the two sides of a triple go together.
"""

for protocols, members in GROUPS.items():

    rule:
        name:
            rule_name("count", protocols)
        input:
            triples="results/triples/{dataset}.parquet",
        output:
            histograms=expand(
                "results/candidates/{{dataset}}/{protocol}.parquet", protocol=protocols
            ),
            pairs=expand(
                "results/candidates/{{dataset}}/{protocol}.pairs.parquet",
                protocol=protocols,
            ),
        log:
            "results/logs/count/{dataset}.log",
        benchmark:
            "results/benchmarks/count/{dataset}.tsv"
        wildcard_constraints:
            dataset="|".join(map(re.escape, members)),
        threads: 1
        resources:
            mem_mb=2000,
            runtime=60,
        params:
            protocols=[PROTOCOLS[protocol] for protocol in protocols],
            library=code_digest("counting.candidates"),
        script:
            "../../scripts/count.py"
