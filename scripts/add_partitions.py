"""Add up the candidates of the parts of one data set: the same files as if it had been counted as a whole."""

from collections.abc import Sequence

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_parquet
from rankadjust.counting.candidates import Candidates, add_up, of_protocol, under_protocols
from rankadjust.counting.protocols import Protocol


def add_partitions(
    histograms: Sequence[str],
    pairs: Sequence[str],
    protocols: Sequence[Protocol],
    whole: str,
    whole_pairs: str,
) -> None:
    parts = [
        Candidates(pl.read_parquet(one), pl.read_parquet(other))
        for one, other in zip(histograms, pairs, strict=True)
    ]
    names = [protocol.name for protocol in protocols]
    tables = under_protocols({name: add_up(of_protocol(part, name) for part in parts) for name in names})
    write_parquet(tables.histogram, whole)
    write_parquet(tables.pairs, whole_pairs)


if __name__ == "__main__":
    with job(snakemake):
        add_partitions(
            snakemake.input.histograms,
            snakemake.input.pairs,
            snakemake.params.protocols,
            snakemake.output.histograms,
            snakemake.output.pairs,
        )
