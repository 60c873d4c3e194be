"""The adjustment database: one row per data set, protocol, split, side and metric."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.files import shipped
from rankadjust.base.vocabulary import KEY
from rankadjust.database.adjustments import add_coefficients

SCHEMA = pl.Schema(
    {
        "dataset": pl.String,
        "protocol": pl.String,
        "split": pl.String,
        "side": pl.String,
        "metric": pl.String,
        "entities": pl.Int64,
        "tasks": pl.Int64,
        "expectation": pl.Float64,
        "variance": pl.Float64,
        "variance_random_scorer": pl.Float64,
        "variance_static_scorer": pl.Float64,
        "optimum": pl.Float64,
        "ratio_scale": pl.Float64,
        "index_scale": pl.Float64,
        "index_offset": pl.Float64,
        "z_scale": pl.Float64,
        "z_offset": pl.Float64,
        "z_random_scorer_scale": pl.Float64,
        "z_random_scorer_offset": pl.Float64,
        "z_static_scorer_scale": pl.Float64,
        "z_static_scorer_offset": pl.Float64,
        "method": pl.String,
        "reason": pl.String,
        "reason_random_scorer": pl.String,
        "reason_static_scorer": pl.String,
    }
)
# Columns that the first databases do not have.
_ADDED = {
    "variance_static_scorer",
    "z_static_scorer_scale",
    "z_static_scorer_offset",
    "reason_random_scorer",
    "reason_static_scorer",
}
RELEASED = "resources/database/adjustments.parquet"


def assemble(moments: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return the database from tables of moments, each with the columns dataset and protocol.

    Rows are sorted by the key; a key that occurs twice is a RankadjustError.
    """
    rows = add_coefficients(pl.concat(list(moments), how="vertical"))
    database = rows.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items()).sort(KEY)
    repeated = database.filter(pl.struct(KEY).is_duplicated())
    if repeated.height:
        key = ", ".join(str(value) for value in repeated.select(KEY).row(0))
        raise RankadjustError(
            f"the database has more than one row for {key}; give each data set and protocol once"
        )
    return database


def with_released(computed: pl.DataFrame, released: pl.DataFrame | None) -> pl.DataFrame:
    """Return the rows of a run's database and, for keys that it lacks, those of the released one.

    The column origin says which: computed or released.
    """
    own = computed.with_columns(origin=pl.lit("computed"))
    if released is None:
        return own
    others = released.select(SCHEMA.names()).join(computed, on=KEY, how="anti")
    return pl.concat([own, others.with_columns(origin=pl.lit("released"))])


def load_database(path: str | Path | None = None) -> pl.DataFrame:
    """Return a database as a frame with the columns of SCHEMA; None means the released one.

    Raises RankadjustError when the file is missing or is not an adjustment database.
    """
    file = shipped(RELEASED) if path is None else Path(path)
    try:
        database = pl.read_parquet(file, use_pyarrow=False)
    except FileNotFoundError:
        raise RankadjustError(
            f"{file}: there is no such database; 'snakemake --cores all database' makes one"
        ) from None
    except pl.exceptions.PolarsError as error:
        raise RankadjustError(f"{file}: not a Parquet file ({str(error).splitlines()[0]})") from None
    missing = [name for name in SCHEMA if name not in database.columns]
    if missing:
        older = set(missing) <= _ADDED
        hint = "made by an older version; make it again" if older else "not an adjustment database"
        raise RankadjustError(f"{file}: {hint}, it lacks the column {missing[0]!r}")
    return database
