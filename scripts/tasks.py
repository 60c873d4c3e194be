"""Write what is known of every task of one data set under one protocol, to be joined with ranks."""

import json
from pathlib import Path

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_parquet
from rankadjust.counting.attributes import task_attributes
from rankadjust.counting.protocols import Protocol


def tasks(triples: str, labels: str, summary: str, protocol: Protocol, table: str) -> None:
    isolated = json.loads(Path(summary).read_text(encoding="utf-8"))["isolated_entities"]
    found = task_attributes(pl.read_parquet(triples), pl.read_parquet(labels), protocol, isolated)
    write_parquet(found, table)


if __name__ == "__main__":
    with job(snakemake):
        tasks(
            snakemake.input.triples,
            snakemake.input.labels,
            snakemake.input.summary,
            snakemake.params.protocol,
            snakemake.output[0],
        )
