"""Compute small data sets together, where each job costs more than they take, as `batch` says.

Inputs: resources/datasets/<dataset> of every data set of a batch.
Outputs: what the rules encode, count, moments and baselines make of each of them, the same bytes.
"""

for batch, members in BATCHES.items():
    counted = [name for name in members if name in COUNTED]
    baselined = [name for name in members if name in BASELINED]

    rule:
        name:
            batch
        input:
            expand("resources/datasets/{dataset}", dataset=members),
        output:
            triples=expand("results/triples/{dataset}.parquet", dataset=members),
            labels=expand("results/triples/{dataset}.labels.parquet", dataset=members),
            summaries=expand("results/triples/{dataset}.json", dataset=members),
            histograms=expand("results/candidates/{dataset}.parquet", dataset=counted),
            pairs=expand("results/candidates/{dataset}.pairs.parquet", dataset=counted),
            moments=expand("results/moments/{dataset}.parquet", dataset=counted),
            baselines=expand("results/baselines/{dataset}.parquet", dataset=baselined),
        log:
            f"results/logs/batch/{batch}.log",
        benchmark:
            f"results/benchmarks/batch/{batch}.tsv"
        priority: PLAN.work_with(members[0], BATCHES)
        threads: 1
        resources:
            mem_mb=grown(
                max(
                    max(map(f, members))
                    for f in (
                        megabytes_to_encode,
                        megabytes_to_count,
                        megabytes_for_baselines,
                    )
                )
            ),
            runtime=grown(sum(map(minutes_for, members))),
        params:
            datasets=list(map(reading, members)),
            # Snakemake does not compare dataclasses.
            declared=[digest_of(reading(name)) for name in members],
            protocols={name: counted_under(name) for name in members},
            counted=counted,
            baselined=baselined,
            metrics=METRICS,
            damage=damage_to(
                *expand("results/triples/{dataset}.parquet", dataset=members),
                *expand("results/triples/{dataset}.labels.parquet", dataset=members),
                *expand("results/triples/{dataset}.json", dataset=members),
                *expand("results/candidates/{dataset}.parquet", dataset=counted),
                *expand("results/candidates/{dataset}.pairs.parquet", dataset=counted),
                *expand("results/moments/{dataset}.parquet", dataset=counted),
                *expand("results/baselines/{dataset}.parquet", dataset=baselined),
            ),
            scripts=content_digest(
                [
                    PROJECT / "scripts" / f"{name}.py"
                    for name in ("encode", "count", "moments", "baselines")
                ],
                DIGESTS,
            ),
            library=code_digest(
                "base.stages",
                "data.read",
                "data.encode",
                "data.summary",
                "counting.candidates",
                "chance.moments",
                "chance.random_scorer",
                "baselines.tally",
                "baselines.table",
            ),
        script:
            "../../scripts/batch.py"
