"""The tables beside a database: histograms of the candidates, and counts of the data sets."""

from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.files import shipped
from rankadjust.base.reading import read_csv
from rankadjust.base.sealed import TableKind, read_sealed, write_sealed
from rankadjust.base.shipped_sums import check_shipped
from rankadjust.base.spreadsheets import without_guards
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


def load_candidates(path: str | Path | None = None) -> pl.DataFrame:
    """Return candidate histograms: dataset, protocol, split, side, entities, num_candidates, tasks, ...

    None means the released ones. A table of your own need not be sealed. Raises RankadjustError when the file is
    missing or holds something else, and when its values are not those that were sealed.
    """
    file = beside_database(None, CANDIDATES) if path is None else Path(path)
    check_shipped(file)
    try:
        histograms, _ = read_sealed(file, _HISTOGRAMS)
    except FileNotFoundError:
        raise RankadjustError(
            f"{file}: there are no candidate histograms; a run writes them beside its database: "
            "give the run with --results"
        ) from None
    return histograms


def write_candidates(histograms: pl.DataFrame, path: str | Path) -> None:
    """Write candidate histograms as Parquet, sealed: with version, schema and a digest in the metadata."""
    write_sealed(histograms, path, _HISTOGRAMS)


def load_datasets(path: str | Path | None = None) -> pl.DataFrame:
    """Return the counts of every data set as text, a row each; None means the released table."""
    file = beside_database(None, DATASETS) if path is None else Path(path)
    check_shipped(file)
    try:
        return without_guards(read_csv(file, separator="\t"))
    except FileNotFoundError:
        raise RankadjustError(
            f"{file}: there is no table of data sets; a run writes it beside its database: give the run with --results"
        ) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise RankadjustError(f"{file}: cannot be read as a table ({str(error).splitlines()[0]})") from None


def beside_database(database: str | Path | None, name: str) -> Path:
    """Return the path of a file that is released together with a database (None: the released one)."""
    file = shipped(RELEASED) if database is None else Path(database)
    return file.parent / name
