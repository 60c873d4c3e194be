"""Write expectation and variance of every metric for one data set under its protocols."""

from collections.abc import Sequence

from scripts.job import logged

import polars as pl

from rankadjust.base.stages import read_product, write_product
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.counting.protocols import Protocol


def moments(
    histograms: str, pairs: str, dataset: str, protocols: Sequence[Protocol], metrics: list[str], output: str
) -> None:
    resolved = [resolve(metric) for metric in metrics]
    counted, linked = read_product(histograms, "candidates"), read_product(pairs, "pairs")
    tables = []
    for protocol in protocols:
        name = protocol.name
        table = both_nulls(counted.filter(protocol=name), linked.filter(protocol=name), protocol, resolved)
        key = (pl.lit(dataset).alias("dataset"), pl.lit(name).alias("protocol"))
        tables.append(table.select(*key, pl.all()))
    write_product(pl.concat(tables), output, "moments")


def both_nulls(
    histogram: pl.DataFrame, pairs: pl.DataFrame, protocol: Protocol, metrics: list[Metric]
) -> pl.DataFrame:
    independent = moments_table(histogram, metrics)
    random_scorer = nulls_table(histogram, pairs, protocol, metrics)
    return independent.join(random_scorer, on=["split", "side", "metric"], how="left", maintain_order="left")


if __name__ == "__main__":
    with logged(snakemake):
        moments(
            snakemake.input.histograms,
            snakemake.input.pairs,
            snakemake.wildcards.dataset,
            snakemake.params.protocols,
            snakemake.params.metrics,
            snakemake.output[0],
        )
