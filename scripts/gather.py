"""Gather the moments of every data set into the database, and the histograms and the summaries into a table each."""

import json
from collections.abc import Mapping
from pathlib import Path

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_tsv
from rankadjust.data.summary import summary_row
from rankadjust.database.evaluation_sets import write_candidates
from rankadjust.database.histograms import candidates_table
from rankadjust.database.store import assemble, write_database


def gather(
    moments: list[str],
    summaries: list[str],
    histograms: Mapping[str, str],
    parquet: str,
    tsv: str,
    candidates: str,
    datasets: str,
) -> None:
    database = assemble(pl.read_parquet(path) for path in moments)
    write_database(database, parquet)
    write_tsv(database, tsv)
    tables = {name: pl.read_parquet(path) for name, path in histograms.items()}
    write_candidates(candidates_table(tables), candidates)
    rows = [summary_row(json.loads(Path(path).read_text(encoding="utf-8"))) for path in summaries]
    write_tsv(pl.concat(rows), datasets)


if __name__ == "__main__":
    with job(snakemake):
        gather(
            [*snakemake.input.moments, *snakemake.input.bounds, snakemake.input.benchmarks],
            snakemake.input.summaries,
            dict(zip(snakemake.params.datasets, snakemake.input.histograms, strict=True)),
            snakemake.output.parquet,
            snakemake.output.tsv,
            snakemake.output.candidates,
            snakemake.output.datasets,
        )
