"""Count the filtered candidates of one data set under its protocols: a file of histograms, a file of pairs."""

import json
from collections.abc import Sequence
from pathlib import Path

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_parquet
from rankadjust.counting.candidates import count_protocols, under_protocols
from rankadjust.counting.protocols import Protocol


def count(triples: str, summary: str, protocols: Sequence[Protocol], histograms: str, pairs: str) -> None:
    isolated = json.loads(Path(summary).read_text(encoding="utf-8"))["isolated_entities"]
    names = [protocol.name for protocol in protocols]
    counted = count_protocols(pl.read_parquet(triples), protocols, isolated)
    tables = under_protocols(dict(zip(names, counted, strict=True)))
    write_parquet(tables.histogram, histograms)
    write_parquet(tables.pairs, pairs)


if __name__ == "__main__":
    with job(snakemake):
        count(
            snakemake.input.triples,
            snakemake.input.summary,
            snakemake.params.protocols,
            snakemake.output.histograms,
            snakemake.output.pairs,
        )
