"""Gather the moments of every data set into the database, and histograms, baselines and summaries into a table each."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

import polars as pl

from rankadjust.base.io import read_json, read_product, write_csv
from rankadjust.data.summary import summary_row
from rankadjust.database.histograms import candidates_table
from rankadjust.database.store import assemble, write_baselines, write_candidates, write_database


def database(
    moments: Sequence[str],
    bounds: Sequence[str],
    benchmarks: str,
    histograms: Sequence[str],
    baselines: Sequence[str],
    summaries: Sequence[str],
    folder: Path,
) -> None:
    parts = [
        *(read_product(path, "moments") for path in moments),
        *(read_product(path, "bounds") for path in bounds),
        read_product(benchmarks, "benchmarks"),
    ]
    constants = assemble(parts)
    write_database(constants, folder / "adjustments.parquet")
    write_csv(constants, folder / "adjustments.tsv.gz")
    write_baselines((read_product(path, "baselines") for path in baselines), folder / "baselines.parquet")
    counted = {Path(path).stem: read_product(path, "candidates") for path in histograms}
    write_candidates(candidates_table(counted), folder / "candidates.parquet")
    write_csv(pl.concat(summary_row(read_json(path)) for path in summaries), folder / "datasets.tsv")


if __name__ == "__main__":
    with logged(snakemake):
        database(**snakemake.input, folder=Path(snakemake.output[0]).parent)
