"""Facts about printed values that their table does not state, so that rankadjust assumed them."""

from collections.abc import Mapping

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.tables.facts import (
    DEFAULT,
    DEFAULTS,
    GRADED,
    Fact,
    as_given,
    is_taken,
    reasons_in,
    reasons_joined,
)

# The name of a fact -> the column that holds the assumed word.
_COLUMNS = {name: {"value": "value_as_printed"}.get(name, name) for name in GRADED}
# The facts that an option of the command line can state.
_OPTIONS = ("dataset", "model", "split", "side", "protocol")
# How many of the words that were assumed for the same reason are named.
_NAMED = 3


def with_defaults_named(rows: pl.DataFrame) -> pl.DataFrame:
    """Name in the column `assumed` the empty cells of a tidy table that get a default.

    rows: rows of `rankadjust.literature.result_files.read_results`. A published table already has the column.
    """
    if "assumed" in rows.columns:
        return rows
    defaults = [
        pl.when(_is_empty(rows, name)).then(pl.lit(reasons_joined({name: Fact(DEFAULTS[name], DEFAULT).why})))
        for name in ("split", "side")
    ]
    # The protocol is the usual one of the data set, or the code base says it.
    is_usual = _is_empty(rows, "protocol") & _is_empty(rows, "evaluator")
    defaults.append(pl.when(is_usual).then(pl.lit("protocol: usual")))
    return rows.with_columns(
        assumed=pl.concat_str(defaults, separator="; ", ignore_nulls=True).replace("", None)
    )


def _is_empty(rows: pl.DataFrame, name: str) -> pl.Expr:
    return pl.col(name).fill_null("").str.strip_chars() == "" if name in rows.columns else pl.lit(value=True)


def assumptions(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the assumed facts: one row for each file, fact and reason.

    Parameters
    ----------
    rescored
        Rows of `rankadjust.rescore` with the columns file and assumed, and also grid if a published table was read.

    Returns
    -------
    pl.DataFrame
        The columns file, tables (the numbers of the tables concerned, None if the file has a single table), fact,
        taken (the first few assumed words, None if a word is missing), why, values (how many values are
        concerned), of (how many values the file has) and write (the option, or the line of a sidecar, that states the
        fact; None if it would not be right for the whole file).

    """
    texts = rescored["assumed"].drop_nulls().unique(maintain_order=True)
    said = [(text, fact, why) for text in texts for fact, why in reasons_in(text).items()]
    facts = pl.DataFrame(said, schema=dict.fromkeys(("assumed", "fact", "why"), pl.String), orient="row")
    taken = pl.coalesce(
        pl.when(pl.col("fact") == fact).then(pl.col(column))
        for fact, column in _COLUMNS.items()
        if column in rescored.columns
    )
    grid = pl.col("grid") if "grid" in rescored.columns else pl.lit(None, dtype=pl.Int64)
    is_one_of_several = grid.drop_nulls().n_unique().over("file") > 1
    words = pl.col("taken").drop_nulls().unique()
    single = pl.when(words.len() == 1).then(words.first())
    return (
        rescored.with_columns(
            of=pl.len().over("file").cast(pl.Int64),
            tables=pl.when(is_one_of_several).then(grid.cast(pl.String)),
        )
        .join(facts, on="assumed", maintain_order="left_right")
        .with_columns(taken=taken)
        .group_by("file", "fact", "why", maintain_order=True)
        .agg(_few("tables"), _few("taken"), pl.first("of"), single=single, values=pl.len().cast(pl.Int64))
        .select("file", "tables", "fact", "taken", "why", "values", "of", write=_to_write())
    )


def _to_write() -> pl.Expr:
    """Return the option or sidecar line that states a fact for a whole file, None if only some values lack the fact."""
    column = pl.col("fact")
    word = pl.coalesce("single", pl.when(pl.col("taken").is_null()).then(pl.lit("NAME")))
    option = filled(
        "--{} {}", column, pl.when(word.str.contains(" ")).then(filled("'{}'", word)).otherwise(word)
    )
    line = filled("{}: {}", column, word)
    return pl.when(pl.col("values") == pl.col("of")).then(
        pl.when(column.is_in(_OPTIONS)).then(option).when(column.is_in(["metric", "unit"])).then(line)
    )


def _few(name: str) -> pl.Expr:
    """Return the first few distinct texts of a column and the number of the others."""
    distinct = pl.col(name).drop_nulls().unique(maintain_order=True)
    more = distinct.len().cast(pl.Int64) - _NAMED
    rest = pl.when(more > 0).then(filled(" and {} more", more)).otherwise(pl.lit(""))
    return (distinct.head(_NAMED).str.join(", ") + rest).replace("", None).alias(name)


def with_given(rows: pl.DataFrame, given: Mapping[str, str]) -> pl.DataFrame:
    """Fill in the given facts where the cells of a tidy table do not state them.

    A cell states a fact unless the cell is empty or the column grades calls the fact inferred or a default.
    """
    is_graded = "grades" in rows.columns
    for name, fact in given.items():
        is_open = _is_empty(rows, name)
        is_open |= is_taken(name) if is_graded else pl.lit(value=False)
        stated = pl.col(name) if name in rows.columns else pl.lit(None, dtype=pl.String)
        rows = rows.with_columns(pl.when(is_open).then(pl.lit(fact)).otherwise(stated).alias(name))
    rows = rows.with_columns(grades=as_given(given)) if is_graded else rows
    if "assumed" not in rows.columns:
        return rows
    left = {
        text: reasons_joined({name: why for name, why in reasons_in(text).items() if name not in given})
        for text in rows["assumed"].drop_nulls().unique(maintain_order=True)
    }
    return rows.with_columns(pl.col("assumed").replace(left))


def accepted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with every inferred fact and every default graded as given."""
    return rows.with_columns(grades=as_given()) if "grades" in rows.columns else rows
