"""Facts about printed values that their table does not say and that were taken all the same."""

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.tables.account import entries
from rankadjust.tables.tokens import DEFAULTS

# The name of a fact in the column `assumed` -> the column that holds what was taken.
_COLUMNS = {
    "data set": "dataset",
    **{name: name for name in ("model", "metric", "split", "side", "protocol", "unit")},
    "value": "value_as_printed",
}
# How many of several words that were taken for the same reason are named.
_NAMED = 3


def with_defaults_named(rows: pl.DataFrame) -> pl.DataFrame:
    """Say in the column `assumed` which empty cells of a tidy table get a default.

    rows: of `rankadjust.literature.results.read_results`. A published table already has the column.
    """
    if "assumed" in rows.columns:
        return rows
    defaults = [
        pl.when(_is_empty(rows, name)).then(pl.lit(f"{name} {DEFAULTS[name]} by default"))
        for name in ("split", "side", "protocol")
    ]
    return rows.with_columns(
        assumed=pl.concat_str(defaults, separator="; ", ignore_nulls=True).replace("", None)
    )


def _is_empty(rows: pl.DataFrame, name: str) -> pl.Expr:
    return pl.col(name).fill_null("").str.strip_chars() == "" if name in rows.columns else pl.lit(value=True)


def assumptions(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the facts that were taken, a row for each fact and reason of a file.

    Parameters
    ----------
    rescored
        Rows of `rankadjust.rescore` with the columns file and assumed, and grid where a published table was read.

    Returns
    -------
    pl.DataFrame
        The columns file, tables (the numbers of the tables concerned, None where the file has one), fact, taken (the
        first few of the words that were taken, None where there was none to take), why, values (the number of values
        concerned) and of (the number of values of the file).

    """
    texts = rescored["assumed"].drop_nulls().unique(maintain_order=True)
    said = [(text, fact, why) for text in texts for fact, why in entries(text).items()]
    facts = pl.DataFrame(said, schema=dict.fromkeys(("assumed", "fact", "why"), pl.String), orient="row")
    taken = pl.coalesce(
        pl.when(pl.col("fact") == fact).then(pl.col(column))
        for fact, column in _COLUMNS.items()
        if column in rescored.columns
    )
    grid = pl.col("grid") if "grid" in rescored.columns else pl.lit(None, dtype=pl.Int64)
    is_one_of_several = grid.drop_nulls().n_unique().over("file") > 1
    return (
        rescored.with_columns(
            of=pl.len().over("file").cast(pl.Int64),
            tables=pl.when(is_one_of_several).then(grid.cast(pl.String)),
        )
        .join(facts, on="assumed", maintain_order="left_right")
        .with_columns(taken=taken)
        .group_by("file", "fact", "why", maintain_order=True)
        .agg(_few("tables"), _few("taken"), pl.len().cast(pl.Int64).alias("values"), pl.first("of"))
        .select("file", "tables", "fact", "taken", "why", "values", "of")
    )


def _few(name: str) -> pl.Expr:
    """Return the first few distinct texts of a column, and how many more there are."""
    distinct = pl.col(name).drop_nulls().unique(maintain_order=True)
    more = distinct.len().cast(pl.Int64) - _NAMED
    rest = pl.when(more > 0).then(filled(" and {} more", more)).otherwise(pl.lit(""))
    return (distinct.head(_NAMED).str.join(", ") + rest).replace("", None).alias(name)
