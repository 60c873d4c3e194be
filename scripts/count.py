"""Count the filtered candidates of one data set under one protocol: a histogram per split and side."""

from scripts.job import job

import polars as pl

from rankadjust.candidates import count_candidates
from rankadjust.files import write_parquet
from rankadjust.protocols import Protocol


def count(triples: str, protocol: Protocol, histogram: str, pairs: str) -> None:
    candidates = count_candidates(pl.read_parquet(triples), protocol)
    write_parquet(candidates.histogram, histogram)
    write_parquet(candidates.pairs, pairs)


if __name__ == "__main__":
    with job(snakemake):
        count(
            snakemake.input.triples,
            snakemake.params.protocol,
            snakemake.output.histogram,
            snakemake.output.pairs,
        )
