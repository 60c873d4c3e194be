"""Gather the moments of every data set and protocol into the database, and the summaries into one table."""

import json
from pathlib import Path

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_parquet, write_tsv
from rankadjust.data.summary import summary_row
from rankadjust.database.store import assemble


def gather(moments: list[str], summaries: list[str], parquet: str, tsv: str, datasets: str) -> None:
    database = assemble(pl.read_parquet(path) for path in moments)
    write_parquet(database, parquet)
    write_tsv(database, tsv)
    rows = [summary_row(json.loads(Path(path).read_text(encoding="utf-8"))) for path in summaries]
    write_tsv(pl.concat(rows), datasets)


if __name__ == "__main__":
    with job(snakemake):
        gather(
            [*snakemake.input.moments, snakemake.input.benchmarks],
            snakemake.input.summaries,
            snakemake.output.parquet,
            snakemake.output.tsv,
            snakemake.output.datasets,
        )
