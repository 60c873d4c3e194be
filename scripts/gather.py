"""Gather the moments of every data set into the database, and histograms, baselines and summaries into a table each."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.job import job

import polars as pl

from rankadjust.base.io import SUMS, write_sums, write_tsv
from rankadjust.base.stages import (
    BASELINES,
    BENCHMARKS,
    BOUNDS,
    CANDIDATES,
    MOMENTS,
    SUMMARY,
    Product,
    read_product,
    read_product_json,
)
from rankadjust.data.summary import summary_row
from rankadjust.database.histograms import candidates_table
from rankadjust.database.store import assemble, write_baselines, write_candidates, write_database


def gather(
    moments: Sequence[tuple[str, Product, str]],
    summaries: Mapping[str, str],
    histograms: Mapping[str, str],
    baselines: Mapping[str, str],
    folder: Path,
) -> None:
    """Write the database. moments: files, each with its kind and the data set it belongs to; the others by data set."""
    database = assemble(read_product(*product) for product in moments)
    parquet, tsv, reached, candidates, datasets = made = [
        folder / name
        for name in (
            *("adjustments.parquet", "adjustments.tsv.gz", "baselines.parquet", "candidates.parquet"),
            "datasets.tsv",
        )
    ]
    write_database(database, parquet)
    write_tsv(database, tsv)
    write_baselines((read_product(path, BASELINES, name) for name, path in baselines.items()), reached)
    tables = {name: read_product(path, CANDIDATES, name) for name, path in histograms.items()}
    write_candidates(candidates_table(tables), candidates)
    rows = [summary_row(read_product_json(path, SUMMARY, name)) for name, path in summaries.items()]
    write_tsv(pl.concat(rows), datasets)
    write_sums(made, folder / SUMS)


if __name__ == "__main__":
    given, params = snakemake.input, snakemake.params
    with job(snakemake):
        gather(
            [
                *((path, MOMENTS, name) for name, path in zip(params.counted, given.moments, strict=True)),
                *((path, BOUNDS, name) for name, path in zip(params.bounded, given.bounds, strict=True)),
                (given.benchmarks, BENCHMARKS, "benchmarks"),
            ],
            dict(zip(params.datasets, given.summaries, strict=True)),
            dict(zip(params.counted, given.histograms, strict=True)),
            dict(zip(params.baselined, given.baselines, strict=True)),
            Path(snakemake.output[0]).parent,
        )
