"""Derive the adjustment database.

Inputs: results/candidates/<dataset>.parquet and .pairs.parquet; results/bounds/<dataset>.parquet;
        results/baselines/<dataset>.parquet;
        config/benchmarks.yaml.
Outputs: results/moments/<dataset>.parquet, expectation and variance of every metric under every protocol;
         results/benchmark-moments.parquet, the same for benchmarks with a constant number of candidates;
         results/database/adjustments.parquet and .tsv.gz, the constants of every adjustment;
         results/database/candidates.parquet, the histograms of all data sets as one table;
         results/database/baselines.parquet, what counting baselines reach on every data set;
         results/database/datasets.tsv, the counts of every data set;
         results/database/SHA256SUMS, the digests of these five files;
         results/run_config.yaml, the configuration as run.
"""

DATABASE = [
    f"results/database/{name}"
    for name in (
        "adjustments.parquet",
        "adjustments.tsv.gz",
        "baselines.parquet",
        "candidates.parquet",
        "datasets.tsv",
        "SHA256SUMS",
    )
]


rule database:
    input:
        DATABASE,
        "results/run_config.yaml",


rule run_config:
    output:
        report(
            "results/run_config.yaml",
            caption="../report/run-config.rst",
            category="Run",
            labels={"file": "configuration"},
        ),
    log:
        "results/logs/run_config.log",
    benchmark:
        "results/benchmarks/run_config.tsv"
    localrule: True
    threads: 1
    resources:
        mem_mb=grown(500),
        runtime=grown(10),
    params:
        damage=damage_to("results/run_config.yaml"),
        text=as_yaml(RUN.values, "results"),
    script:
        "../../scripts/run_config.py"


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
    wildcard_constraints:
        dataset=one_of(ALONE),
    threads: 1
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        protocols=protocols_of,
        metrics=METRICS,
        damage=damage_to("results/moments/{dataset}.parquet"),
        library=code_digest("base.stages", "chance.moments", "chance.random_scorer"),
    script:
        "../../scripts/moments.py"


rule benchmarks:
    output:
        "results/benchmark-moments.parquet",
    log:
        "results/logs/benchmarks.log",
    benchmark:
        "results/benchmarks/benchmarks.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        metrics=METRICS,
        read=content_digest([*SETTINGS, *schemas("benchmarks", "protocols")], DIGESTS),
        damage=damage_to("results/benchmark-moments.parquet"),
        library=code_digest("base.stages", "chance.benchmark_moments"),
    script:
        "../../scripts/benchmarks.py"


rule gather:
    input:
        benchmarks="results/benchmark-moments.parquet",
        moments=expand("results/moments/{dataset}.parquet", dataset=COUNTED),
        bounds=expand("results/bounds/{dataset}.parquet", dataset=BOUNDED),
        histograms=expand("results/candidates/{dataset}.parquet", dataset=COUNTED),
        baselines=expand("results/baselines/{dataset}.parquet", dataset=BASELINED),
        summaries=expand("results/triples/{dataset}.json", dataset=DATASETS),
    output:
        parquet="results/database/adjustments.parquet",
        tsv=report(
            "results/database/adjustments.tsv.gz",
            caption="../report/database.rst",
            category="Database",
            labels={"table": "adjustments"},
        ),
        baselines="results/database/baselines.parquet",
        candidates="results/database/candidates.parquet",
        datasets=report(
            "results/database/datasets.tsv",
            caption="../report/datasets.rst",
            category="Database",
            labels={"table": "data sets"},
        ),
        sums="results/database/SHA256SUMS",
    log:
        "results/logs/gather.log",
    benchmark:
        "results/benchmarks/gather.tsv"
    threads: 1
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        counted=COUNTED,
        bounded=list(BOUNDED),
        baselined=BASELINED,
        datasets=list(DATASETS),
        damage=damage_to(*DATABASE),
        library=code_digest(
            "base.stages",
            "database.store",
            "database.counted_baselines",
            "database.histograms",
            "database.store",
            "data.summary",
        ),
    script:
        "../../scripts/gather.py"
