"""Count filtered candidates, which are all that the moments of any metric need, and score by counting.

Inputs: results/triples/<dataset>.parquet and <dataset>.json; resources/without-training/<dataset>/.
Outputs: results/candidates/<dataset>.parquet, histograms per protocol, split and side;
         results/candidates/<dataset>.pairs.parquet, how the two sides of a triple go together;
         results/moments/<dataset>.parquet, expectation and variance of every metric under every protocol;
         results/bounds/<dataset>.parquet, their bounds for a data set without training triples;
         results/baselines/<dataset>.parquet, what baselines reach that only count (docs/methods-baselines.md);
         results/tasks/<dataset>/<protocol>.parquet, every task of the test split with its attributes and its rank by
         each baseline, to be joined with anyone's ranks; not part of a default run.
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
    threads: cores_for
    resources:
        mem_mb=megabytes(base=700, each=60),
        runtime=minutes,
    params:
        protocols=protocols_of,
        library=code_of("count"),
    script:
        "../../scripts/count.py"


rule moments:
    input:
        histograms="results/candidates/{dataset}.parquet",
        pairs="results/candidates/{dataset}.pairs.parquet",
    output:
        "results/moments/{dataset}.parquet",
    log:
        "results/logs/moments/{dataset}.log",
    benchmark:
        "results/benchmarks/moments/{dataset}.tsv"
    params:
        protocols=protocols_of,
        metrics=PLAN.metrics,
        library=code_of("moments"),
    script:
        "../../scripts/moments.py"


rule bounds:
    input:
        "resources/without-training/{dataset}",
    output:
        "results/bounds/{dataset}.parquet",
    log:
        "results/logs/bounds/{dataset}.log",
    benchmark:
        "results/benchmarks/bounds/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(map(re.escape, PLAN.bounded)) or "(?!)",
    params:
        entities=lambda wildcards: PLAN.bounded[wildcards.dataset].expected["entities"],
        totals=lambda wildcards: PLAN.bounded[wildcards.dataset].total_candidates,
        metrics=PLAN.metrics,
        library=code_of("bounds"),
    script:
        "../../scripts/bounds.py"


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
    threads: cores_for
    resources:
        mem_mb=megabytes(base=700, each=150),
        runtime=minutes,
    params:
        protocols=protocols_of,
        metrics=PLAN.metrics,
        library=code_of("baselines"),
    script:
        "../../scripts/baselines.py"


rule tasks:
    input:
        [
            f"results/tasks/{dataset}/{protocol}.parquet"
            for dataset, protocol in PLAN.evaluations
            if dataset in PLAN.counted
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
    resources:
        mem_mb=megabytes(base=700, each=150),
        runtime=minutes,
    params:
        protocols=lambda wildcards: [PLAN.protocols[wildcards.protocol]],
        baselined=lambda wildcards: wildcards.dataset in PLAN.baselined,
        library=code_of("tasks"),
    script:
        "../../scripts/tasks.py"
