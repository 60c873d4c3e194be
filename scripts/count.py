"""Count the filtered candidates of one data set under its protocols: a histogram per split and side."""

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_parquet
from rankadjust.counting.candidates import count_candidates
from rankadjust.counting.protocols import Protocol


def count(triples: str, protocols: list[Protocol], histograms: list[str], pairs: list[str]) -> None:
    frame = pl.read_parquet(triples)
    for protocol, histogram, pair in zip(protocols, histograms, pairs, strict=True):
        candidates = count_candidates(frame, protocol)
        write_parquet(candidates.histogram, histogram)
        write_parquet(candidates.pairs, pair)


if __name__ == "__main__":
    with job(snakemake):
        count(
            snakemake.input.triples,
            snakemake.params.protocols,
            snakemake.output.histograms,
            snakemake.output.pairs,
        )
