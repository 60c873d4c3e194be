"""Write expectation and variance of every metric for one data set and protocol."""

from scripts.job import job

import polars as pl

from rankadjust.files import write_parquet
from rankadjust.metrics import resolve
from rankadjust.moments import moments_table
from rankadjust.nulls import nulls_table
from rankadjust.protocols import Protocol


def moments(
    histogram: str, pairs: str, dataset: str, protocol: Protocol, metrics: list[str], output: str
) -> None:
    counts = pl.read_parquet(histogram)
    resolved = [resolve(metric) for metric in metrics]
    independent = moments_table(counts, resolved)
    random_scorer = nulls_table(counts, pl.read_parquet(pairs), protocol, resolved)
    table = independent.join(random_scorer, on=["split", "side", "metric"], how="left", maintain_order="left")
    key = (pl.lit(dataset).alias("dataset"), pl.lit(protocol.name).alias("protocol"))
    write_parquet(table.select(*key, pl.all()), output)


if __name__ == "__main__":
    with job(snakemake):
        moments(
            snakemake.input.histogram,
            snakemake.input.pairs,
            snakemake.wildcards.dataset,
            snakemake.params.protocol,
            snakemake.params.metrics,
            snakemake.output[0],
        )
