"""The files of a database: adjustments.parquet, with candidates.parquet, baselines.parquet and datasets.tsv beside."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from rankadjust.base import io
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import EVALUATION, KEY
from rankadjust.database.arithmetic import BOUNDS, SCALES, Z_OF_VARIANCE, add_coefficients

DATABASE, CANDIDATES = "adjustments.parquet", "candidates.parquet"
BASELINES, DATASETS = "baselines.parquet", "datasets.tsv"
RELEASED = f"resources/database/{DATABASE}"

SCHEMA = pl.Schema(
    {
        **dict.fromkeys(KEY, pl.String),
        **dict.fromkeys(("entities", "tasks"), pl.Int64),
        **dict.fromkeys(("expectation", *Z_OF_VARIANCE, "optimum"), pl.Float64),
        **dict.fromkeys(SCALES, pl.Float64),
        **dict.fromkeys(("method", "reason", "reason_random_scorer", "reason_static_scorer"), pl.String),
        # Of data sets without training triples, whose expectation and variance are not known.
        **dict.fromkeys(BOUNDS, pl.Float64),
    }
)
APPROXIMATE = "entities"
"""The method of constants that rest on a documented number of entities."""
BASELINES_SCHEMA = pl.Schema(
    {
        **dict.fromkeys((*EVALUATION, "baseline", "metric"), pl.String()),
        **dict.fromkeys(("value", "variance"), pl.Float64()),
        "tasks": pl.Int64(),
        "reason": pl.String(),
    }
)
CANDIDATES_SCHEMA = pl.Schema(
    dict.fromkeys(EVALUATION, pl.String()) | dict.fromkeys(("num_candidates", "tasks"), pl.Int64())
)
# Tables are sorted by data set: one of them is found in a twentieth of the rows, and files grow by 3 to 9 %.
_ROWS_A_GROUP = 20_000
_FOLDER = "database"


def assemble(moments: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return the database from tables of moments, each with the columns dataset and protocol.

    Rows are sorted by the key; a key that occurs twice is a RankadjustError.
    """
    # Only data sets without training triples have bounds.
    rows = add_coefficients(pl.concat(list(moments), how="diagonal"))
    database = rows.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items()).sort(KEY)
    repeated = database.filter(pl.struct(KEY).is_duplicated())
    if repeated.height:
        key = ", ".join(str(value) for value in repeated.select(KEY).row(0))
        raise RankadjustError(
            f"the database has more than one row for {key}; give each data set and protocol once"
        )
    return database


def write_database(database: pl.DataFrame, path: str | Path) -> None:
    """Write a database as Parquet, with its version and schema in the metadata."""
    io.write_product(database, path, "adjustments", _ROWS_A_GROUP)


def write_candidates(histograms: pl.DataFrame, path: str | Path) -> None:
    """Write candidate histograms as Parquet, with version and schema in the metadata."""
    io.write_product(histograms, path, "candidates", _ROWS_A_GROUP)


def write_baselines(tables: Iterable[pl.DataFrame], path: str | Path) -> None:
    """Write the values of the baselines of several data sets as one table, with version and schema."""
    rows = pl.concat([pl.DataFrame(schema=BASELINES_SCHEMA), *tables])
    io.write_product(rows.sort(*EVALUATION, "baseline", "metric"), path, "baselines", _ROWS_A_GROUP)


def load_database(path: str | Path | None = None) -> pl.DataFrame:
    """Return a database as a frame.

    Parameters
    ----------
    path : str or Path, optional
        A file that a run or a release wrote; None means the released one.

    Returns
    -------
    polars.DataFrame
        With the columns of `rankadjust.database.store.SCHEMA`, a row for each evaluation set and metric.

    Raises
    ------
    RankadjustError
        If the file is missing, damaged or not an adjustment database, or another version made it with other columns.

    Examples
    --------
    >>> database = load_database()
    >>> nations = database.filter(dataset="Nations", protocol="filtered", split="testing", side="both")
    >>> nations.filter(metric="hits_at_1").select("tasks", pl.col("expectation").round(4)).rows()
    [(402, 0.1671)]

    """
    return io.read_product(path or beside_database(None, DATABASE), "adjustments", SCHEMA)


def load_candidates(path: str | Path | None = None) -> pl.DataFrame:
    """Return candidate histograms, None for the released ones: dataset, protocol, split, side, num_candidates, ..."""
    return io.read_product(path or beside_database(None, CANDIDATES), "candidates", CANDIDATES_SCHEMA)


def load_baselines(path: str | Path | None = None) -> pl.DataFrame:
    """Return the values of baselines, None for the released ones; columns BASELINES_SCHEMA."""
    return io.read_product(path or beside_database(None, BASELINES), "baselines", BASELINES_SCHEMA)


def load_datasets(path: str | Path | None = None) -> pl.DataFrame:
    """Return the counts of every data set as text, a row each; None means the released table."""
    file = path or beside_database(None, DATASETS)
    missing = "no table of data sets is here; give the run that wrote the database with --results"
    with io.readable(file, missing=missing):
        return io.without_guards(io.read_csv(file, separator="\t"))


def beside_database(database: str | Path | None, name: str) -> Path:
    """Return the path of a file that is released together with a database (None: the released one)."""
    return Path(database or io.shipped(RELEASED)).parent / name


def released_version() -> tuple[str, str] | None:
    """Return the version that wrote the released database and the number of its schema; None where it does not say."""
    try:
        _, schema, version = io.layout_of(io.shipped(RELEASED))
    except (OSError, pl.exceptions.PolarsError):
        return None
    return None if version is None or schema is None else (version, schema)


def database_of_run(results: str | Path) -> Path:
    """Return the database file of a run; candidates.parquet and datasets.tsv are beside it.

    results: the folder `results` that the workflow writes. Raises RankadjustError if it is another kind of folder, or
    the run has not finished.
    """
    results = Path(results)
    names = (f"{_FOLDER}/{name}" for name in (DATABASE, CANDIDATES, DATASETS))
    absent = next((name for name in names if not (results / name).is_file()), None)
    if absent is None:
        return results / _FOLDER / DATABASE
    raise RankadjustError(
        f"{results}: no finished run has its results here, because {absent} is missing; give the folder results of a "
        "finished run, or make or finish one with 'snakemake --cores all --config datasets=NAME'"
    )
