"""Write expectation and variance of every metric for one data set under its protocols."""

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_parquet
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.counting.protocols import Protocol


def moments(
    histograms: list[str],
    pairs: list[str],
    dataset: str,
    protocols: list[Protocol],
    metrics: list[str],
    outputs: list[str],
) -> None:
    resolved = [resolve(metric) for metric in metrics]
    for histogram, pair, protocol, output in zip(histograms, pairs, protocols, outputs, strict=True):
        table = both_nulls(pl.read_parquet(histogram), pl.read_parquet(pair), protocol, resolved)
        key = (pl.lit(dataset).alias("dataset"), pl.lit(protocol.name).alias("protocol"))
        write_parquet(table.select(*key, pl.all()), output)


def both_nulls(
    histogram: pl.DataFrame, pairs: pl.DataFrame, protocol: Protocol, metrics: list[Metric]
) -> pl.DataFrame:
    independent = moments_table(histogram, metrics)
    random_scorer = nulls_table(histogram, pairs, protocol, metrics)
    return independent.join(random_scorer, on=["split", "side", "metric"], how="left", maintain_order="left")


if __name__ == "__main__":
    with job(snakemake):
        moments(
            snakemake.input.histograms,
            snakemake.input.pairs,
            snakemake.wildcards.dataset,
            snakemake.params.protocols,
            snakemake.params.metrics,
            snakemake.output,
        )
