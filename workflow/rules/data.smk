"""Fetch every data set and encode it.

Inputs: nothing but the sources named in the registry; the paths of a data set of the user's own.
Outputs: resources/datasets/<dataset>/<split>.txt, bytes as published, checked;
         resources/without-training/<dataset>/, the files of data sets whose training triples cannot be had;
         results/triples/<dataset>.parquet, integer triples, with <dataset>.labels.parquet and <dataset>.json.
"""


rule download:
    input:
        expand("resources/datasets/{dataset}", dataset=PLAN.datasets),


rule fetch:
    input:
        lambda wildcards: PLAN.own_files(wildcards.dataset),
    output:
        directory("resources/datasets/{dataset}"),
    log:
        "results/logs/fetch/{dataset}.log",
    localrule: True
    resources:
        downloads=1,
    params:
        sources=lambda wildcards: PLAN.datasets[wildcards.dataset].sources,
        library=code_of("fetch"),
    script:
        "../../scripts/fetch.py"


rule fetch_without_training:
    output:
        directory("resources/without-training/{dataset}"),
    log:
        "results/logs/fetch_without_training/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(map(re.escape, PLAN.bounded)) or "(?!)",
    localrule: True
    resources:
        downloads=1,
    params:
        sources=lambda wildcards: [PLAN.bounded[wildcards.dataset].without_training],
        library=code_of("fetch"),
    script:
        "../../scripts/fetch.py"


rule encode:
    input:
        "resources/datasets/{dataset}",
    output:
        triples="results/triples/{dataset}.parquet",
        labels="results/triples/{dataset}.labels.parquet",
        summary="results/triples/{dataset}.json",
    log:
        "results/logs/encode/{dataset}.log",
    benchmark:
        "results/benchmarks/encode/{dataset}.tsv"
    threads: cores_for
    resources:
        mem_mb=megabytes(base=2000, each=150),
        runtime=minutes,
    params:
        dataset=dataset_of,
        declared=lambda wildcards: PLAN.reading(wildcards.dataset),
        library=code_of("encode"),
    script:
        "../../scripts/encode.py"
