"""Write the release: database, candidate histograms, data set counts, and the layout that PyKEEN's users have."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from scripts.job import job

import polars as pl

from rankadjust.base.files import atomic_path, write_parquet, write_tsv
from rankadjust.counting.protocols import load_benchmarks, load_protocols
from rankadjust.data.registry import load_registry
from rankadjust.database.release import candidates_table, pykeen_layout, require_complete, require_sound
from rankadjust.database.store import load_database


def release(database: str, tsv: str, datasets: str, histograms: Mapping[str, str], folder: Path) -> None:
    registry = load_registry()
    rows = load_database(database)
    require_complete(rows, registry, load_protocols(), load_benchmarks())
    require_sound(rows)
    for path in (database, tsv, datasets):
        with atomic_path(folder / Path(path).name) as copy:
            shutil.copyfile(path, copy)
    tables = {name: pl.read_parquet(path) for name, path in histograms.items()}
    write_parquet(candidates_table(tables), folder / "candidates.parquet")
    write_tsv(pykeen_layout(rows, registry), folder / "metric_adjustments.tsv.gz")


if __name__ == "__main__":
    with job(snakemake):
        release(
            snakemake.input.database,
            snakemake.input.tsv,
            snakemake.input.datasets,
            dict(zip(snakemake.params.datasets, snakemake.input.histograms, strict=True)),
            Path(snakemake.output[0]).parent,
        )
