"""Count the filtered candidates of one data set under its protocols: a file of histograms, a file of pairs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_parquet
from rankadjust.counting.candidates import count_protocols
from rankadjust.counting.protocols import Protocol


def count(triples: str, summary: str, protocols: Sequence[Protocol], histograms: str, pairs: str) -> None:
    isolated = json.loads(Path(summary).read_text(encoding="utf-8"))["isolated_entities"]
    names = [protocol.name for protocol in protocols]
    counted = dict(zip(names, count_protocols(pl.read_parquet(triples), protocols, isolated), strict=True))
    tables = {name: candidates.histogram for name, candidates in counted.items()}
    write_parquet(under_protocols(tables), histograms)
    write_parquet(under_protocols({name: candidates.pairs for name, candidates in counted.items()}), pairs)


def under_protocols(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(table.select(pl.lit(name).alias("protocol"), pl.all()) for name, table in tables.items())


if __name__ == "__main__":
    with job(snakemake):
        count(
            snakemake.input.triples,
            snakemake.input.summary,
            snakemake.params.protocols,
            snakemake.output.histograms,
            snakemake.output.pairs,
        )
