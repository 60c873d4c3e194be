"""Write expectation and variance of every metric for one data set under its protocols."""

from collections.abc import Sequence

from scripts.job import logged

import polars as pl

from rankadjust.base.io import read_product, write_product
from rankadjust.chance.metrics import resolve
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
        histogram, of_both_sides = (table.filter(protocol=protocol.name) for table in (counted, linked))
        independent = moments_table(histogram, resolved, protocol)
        random_scorer = nulls_table(histogram, of_both_sides, protocol, resolved)
        both = independent.join(
            random_scorer, on=["split", "side", "metric"], how="left", maintain_order="left"
        )
        key = (pl.lit(dataset).alias("dataset"), pl.lit(protocol.name).alias("protocol"))
        tables.append(both.select(*key, pl.all()))
    # Only protocols whose ranks are not uniform say the optimum and bounds.
    write_product(pl.concat(tables, how="diagonal"), output, "moments")


if __name__ == "__main__":
    with logged(snakemake):
        given, params = snakemake.input, snakemake.params
        dataset, output = snakemake.wildcards.dataset, snakemake.output[0]
        moments(given.histograms, given.pairs, dataset, params.protocols, params.metrics, output)
