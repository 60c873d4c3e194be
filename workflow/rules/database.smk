"""Derive the adjustment database, and put the release together as a folder that is ready to be published.

Inputs: results/moments/, results/bounds/, results/candidates/, results/baselines/ and results/triples/;
        config/benchmarks.yaml.
Outputs: results/benchmark-moments.parquet, the moments of benchmarks with a constant number of candidates;
         results/database/adjustments.parquet and .tsv.gz, the constants of every adjustment;
         results/database/candidates.parquet, the histograms of all data sets as one table;
         results/database/baselines.parquet, what counting baselines reach on every data set;
         results/database/datasets.tsv, the counts of every data set;
         results/run_config.yaml, the configuration as run;
         results/release/*, the database of a run with config/full.yaml, its layout for PyKEEN, and what describes them.
         `make adopt` copies what the library needs to resources/database/, which is committed.
"""

from rankadjust.output.deposit import SUMS, TABLES as RELEASED_TABLES, TEXTS

# The first one names the others: the library looks for them beside it.
DATABASE = expand("results/database/{name}.parquet", name=["adjustments", "baselines", "candidates"])


rule run_config:
    output:
        report("results/run_config.yaml", caption="../report/run-config.rst", category="Run"),
    log:
        "results/logs/run_config.log",
    localrule: True
    params:
        text=as_yaml(RUN.values, "results"),
    script:
        "../../scripts/run_config.py"


rule benchmarks:
    input:
        project_files("config/benchmarks.yaml", "config/protocols.yaml", "workflow/schemas/*.yaml"),
    output:
        "results/benchmark-moments.parquet",
    log:
        "results/logs/benchmarks.log",
    benchmark:
        "results/benchmarks/benchmarks.tsv"
    params:
        metrics=PLAN.metrics,
        library=code_of("benchmarks"),
    script:
        "../../scripts/benchmarks.py"


rule database:
    input:
        moments=expand("results/moments/{dataset}.parquet", dataset=PLAN.counted),
        bounds=expand("results/bounds/{dataset}.parquet", dataset=PLAN.bounded),
        benchmarks="results/benchmark-moments.parquet",
        histograms=expand("results/candidates/{dataset}.parquet", dataset=PLAN.counted),
        baselines=expand("results/baselines/{dataset}.parquet", dataset=PLAN.baselined),
        summaries=expand("results/triples/{dataset}.json", dataset=PLAN.datasets),
    output:
        DATABASE,
        report("results/database/adjustments.tsv.gz", caption="../report/database.rst", category="Database"),
        report("results/database/datasets.tsv", caption="../report/datasets.rst", category="Database"),
    log:
        "results/logs/database.log",
    benchmark:
        "results/benchmarks/database.tsv"
    params:
        library=code_of("database"),
    script:
        "../../scripts/database.py"


rule release:
    input:
        settings=project_files(
            *SETTINGS, "rankadjust/output/columns.yaml", "rankadjust/output/templates/**/*"
        ),
        database=DATABASE,
        counts="results/database/datasets.tsv",
    output:
        expand("results/release/{name}", name=[*RELEASED_TABLES, *TEXTS, SUMS]),
    log:
        "results/logs/release.log",
    benchmark:
        "results/benchmarks/release.tsv"
    resources:
        mem_mb=2000,
    params:
        library=code_of("release"),
    script:
        "../../scripts/release.py"
