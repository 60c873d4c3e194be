"""The adjustment database: one row per data set, protocol, split, side and metric."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import shipped
from rankadjust.base.sealed import Seal, TableKind, read_seal, read_sealed, write_sealed
from rankadjust.base.vocabulary import KEY
from rankadjust.database.adjustments import COEFFICIENTS, Z_OF_VARIANCE, add_coefficients
from rankadjust.database.arithmetic import BOUNDS

SCHEMA = pl.Schema(
    {
        **dict.fromkeys(KEY, pl.String),
        **dict.fromkeys(("entities", "tasks"), pl.Int64),
        **dict.fromkeys(("expectation", *Z_OF_VARIANCE, "optimum"), pl.Float64),
        **{name: pl.Float64 for names in COEFFICIENTS.values() for name in names if name is not None},
        **dict.fromkeys(("method", "reason", "reason_random_scorer", "reason_static_scorer"), pl.String),
        # Of data sets without training triples, whose expectation and variance are not known.
        **dict.fromkeys(BOUNDS, pl.Float64),
    }
)
# `schema` counts the layouts of this table: raise it with every change of SCHEMA.
ADJUSTMENTS = TableKind(
    name="adjustments",
    schema=2,
    columns=SCHEMA,
    what="an adjustment database",
    remake="'snakemake --cores all database' makes one",
)
RELEASED = "resources/database/adjustments.parquet"


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


def with_released(computed: pl.DataFrame, released: pl.DataFrame | None) -> pl.DataFrame:
    """Return the rows of a run's database, and released rows for keys that it lacks.

    The column origin says which: computed or released.
    """
    own = computed.with_columns(origin=pl.lit("computed"))
    if released is None:
        return own
    others = released.select(SCHEMA.names()).join(computed, on=KEY, how="anti")
    return pl.concat([own, others.with_columns(origin=pl.lit("released"))])


def write_database(database: pl.DataFrame, path: str | Path) -> None:
    """Write a database as Parquet, sealed: with version, schema and a digest of its values in the metadata."""
    write_sealed(database, path, ADJUSTMENTS)


def load_database(path: str | Path | None = None, dataset: str | None = None) -> pl.DataFrame:
    """Return a database as a frame.

    Parameters
    ----------
    path : str or Path, optional
        A file that a run or a release wrote; None means the released one.
    dataset : str, optional
        Only the rows of this data set, by the name that it has there; of the released database they come at once.

    Returns
    -------
    polars.DataFrame
        With the columns of `rankadjust.database.store.SCHEMA`, a row for each evaluation set and metric.

    Raises
    ------
    RankadjustError
        If the file is missing or is not an adjustment database, or another version made it with other columns. If its
        values have changed since they were written, or it has no digest that would show a change.

    Examples
    --------
    >>> database = load_database()
    >>> nations = database.filter(dataset="Nations", protocol="filtered", split="testing", side="both")
    >>> nations.filter(metric="hits_at_1").select("tasks", pl.col("expectation").round(4)).rows()
    [(402, 0.1671)]

    """
    file = shipped(RELEASED) if path is None else Path(path)
    database, seal = read_sealed(file, ADJUSTMENTS, dataset)
    if seal is None:
        raise RankadjustError(
            f"{file}: it has no digest, so that its values cannot be checked; {ADJUSTMENTS.remake}, and "
            "rankadjust.database.store.write_database writes one from a frame"
        )
    return database


def released_seal() -> Seal | None:
    """Return version, schema and digest of the released database, None where it is missing or has none."""
    try:
        return read_seal(shipped(RELEASED))
    except (OSError, pl.exceptions.PolarsError):
        return None
