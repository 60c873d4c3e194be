"""Bound the constants of data sets whose training triples cannot be had.

Inputs: nothing but the files that the registry names under `without_training`.
Outputs: resources/without-training/<dataset>/, bytes as published, checked;
         results/bounds/<dataset>.parquet, bounds of expectation and variance of every metric.
"""


rule fetch_without_training:
    output:
        directory("resources/without-training/{dataset}"),
    log:
        "results/logs/fetch_without_training/{dataset}.log",
    benchmark:
        "results/benchmarks/fetch_without_training/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(BOUNDED),
    localrule: True
    threads: 1
    resources:
        downloads=1,
        runtime=60,
    params:
        sources=lambda wildcards, input: [BOUNDED[wildcards.dataset].without_training],
        content=lambda wildcards: declared_content(
            [BOUNDED[wildcards.dataset].without_training], DIGESTS.of
        ),
        cache="resources/downloads",
        library=code_digest("data.archives"),
    script:
        "../../scripts/fetch.py"


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
        dataset=one_of(BOUNDED),
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        entities=lambda wildcards: BOUNDED[wildcards.dataset].expected["entities"],
        totals=lambda wildcards: BOUNDED[wildcards.dataset].total_candidates,
        metrics=METRICS,
        damage=damage_to("results/bounds/{dataset}.parquet"),
        library=code_digest(
            "base.stages",
            "data.read",
            "data.read",
            "counting.intervals",
            "chance.bounded_moments",
        ),
    script:
        "../../scripts/bounds.py"
