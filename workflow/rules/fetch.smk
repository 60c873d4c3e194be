"""Fetch every data set and encode it.

Inputs: nothing but the sources named in the registry; the paths of a data set of the user's own.
Outputs: resources/datasets/<dataset>/<split>.txt, bytes as published, checked;
         results/triples/<dataset>.parquet, integer triples, with <dataset>.labels.parquet and <dataset>.json.
"""


rule download:
    input:
        expand("resources/datasets/{dataset}", dataset=DATASETS),


rule fetch:
    output:
        directory("resources/datasets/{dataset}"),
    log:
        "results/logs/fetch/{dataset}.log",
    benchmark:
        "results/benchmarks/fetch/{dataset}.tsv"
    priority: work_with
    localrule: True
    threads: 1
    resources:
        downloads=1,
        runtime=240,
    params:
        sources=sources_of,
        content=content_of,
        cache="resources/downloads",
        library=code_digest("data.archives"),
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
    wildcard_constraints:
        dataset=one_of(ALONE),
    threads: threads_to_encode
    resources:
        mem_mb=grown(megabytes_to_encode),
        runtime=grown(minutes_for),
    params:
        dataset=reading_of,
        # Snakemake does not compare dataclasses.
        declared=lambda wildcards: digest_of(reading_of(wildcards)),
        damage=damage_to(
            "results/triples/{dataset}.parquet",
            "results/triples/{dataset}.labels.parquet",
            "results/triples/{dataset}.json",
        ),
        library=code_digest(
            "base.stages",
            "data.read",
            "data.encode",
            "data.summary",
        ),
    script:
        "../../scripts/encode.py"
