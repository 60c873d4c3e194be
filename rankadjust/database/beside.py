"""The tables beside a database: histograms of the candidates, and counts of the data sets."""

from pathlib import Path

import polars as pl

from rankadjust.base.io import read_csv, readable, shipped, without_guards
from rankadjust.base.sealed import TableKind, read_sealed, write_sealed
from rankadjust.base.shipped_sums import check_shipped
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.database.store import RELEASED

CANDIDATES = "candidates.parquet"
DATASETS = "datasets.tsv"

_HISTOGRAMS = TableKind(
    name="candidates",
    schema=1,
    columns=dict.fromkeys(EVALUATION, pl.String()) | {"num_candidates": pl.Int64(), "tasks": pl.Int64()},
    what="a table of candidate histograms",
    remake="'snakemake --cores all database' makes one",
)


def load_candidates(path: str | Path | None = None, dataset: str | None = None) -> pl.DataFrame:
    """Return candidate histograms: dataset, protocol, split, side, entities, num_candidates, tasks, ...

    None means the released ones; dataset: only its own. A table of your own need not be sealed. Raises
    RankadjustError when the file is missing or holds something else, and when its values are not those that were
    sealed.
    """
    file = beside_database(None, CANDIDATES) if path is None else Path(path)
    return read_sealed(file, _HISTOGRAMS, dataset)[0]


def write_candidates(histograms: pl.DataFrame, path: str | Path) -> None:
    """Write candidate histograms as Parquet, sealed: with version, schema and a digest in the metadata."""
    write_sealed(histograms, path, _HISTOGRAMS)


def load_datasets(path: str | Path | None = None) -> pl.DataFrame:
    """Return the counts of every data set as text, a row each; None means the released table."""
    file = beside_database(None, DATASETS) if path is None else Path(path)
    check_shipped(file)
    missing = "no table of data sets is here; give the run that wrote the database with --results"
    with readable(file, missing=missing):
        return without_guards(read_csv(file, separator="\t"))


def beside_database(database: str | Path | None, name: str) -> Path:
    """Return the path of a file that is released together with a database (None: the released one)."""
    file = shipped(RELEASED) if database is None else Path(database)
    return file.parent / name
