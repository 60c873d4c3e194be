"""Whether the index of a printed value depends on a fact that nobody stated."""

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.base.vocabulary import KEY
from rankadjust.literature.statuses import USABLE
from rankadjust.tables.facts import is_taken

# A wrong word here means another value, or another number of candidates. A table that names no protocol may have ranked
# against a sample: with 50 negatives chance gives MRR 0.089 and Hits@10 0.2, whatever it gives among all entities.
_ALWAYS_MATTER = ("dataset", "metric", "protocol")
# These matter only where the constants differ.
_MAY_MATTER = ("split", "side")
# Rows of these origins have the same number of candidates in every task, on every side and in every split.
_CONSTANT = ("constant", "entities")


def add_certainty(rows: pl.DataFrame, database: pl.DataFrame) -> pl.DataFrame:
    """Give the status assumed to rows whose index depends on facts that were neither printed nor given.

    rows: rows with the columns of `rankadjust.database.arithmetic.add_adjusted`, and grades
    (`rankadjust.tables.facts.GRADED`). An assumed split or side does not change the status if no other evaluated
    split or side would move the index by more than half of its rounding interval.
    """
    if rows["grades"].null_count() == rows.height:
        return rows
    matters = [pl.when(is_taken(name)).then(pl.lit(name)) for name in _ALWAYS_MATTER]
    moving = _moving(rows, database)
    matters += [pl.when(is_taken(name) & moving).then(pl.lit(name)) for name in _MAY_MATTER]
    facts = pl.concat_list(matters).list.drop_nulls().list.join(", ").replace("", None)
    is_assumed = pl.col("status").is_in(USABLE) & pl.col("index").is_not_null() & facts.is_not_null()
    said = filled("assumed: {}", facts)
    return rows.with_columns(
        status=pl.when(is_assumed).then(pl.lit("assumed")).otherwise("status"),
        message=pl.when(is_assumed)
        .then(pl.concat_str(said, "message", separator="; ", ignore_nulls=True))
        .otherwise("message"),
    )


def _moving(rows: pl.DataFrame, database: pl.DataFrame) -> pl.Series:
    """Return whether replacing the assumed split or side by another would move the index of a row."""
    numbered = rows.with_row_index("_row").with_columns(
        is_taken(name).alias(f"_{name}") for name in _MAY_MATTER
    )
    asked = numbered.filter(pl.any_horizontal("_split", "_side") & ~pl.col("origin").is_in(_CONSTANT))
    # Sources say when a value is about the training triples, so training is not an alternative.
    others = database.filter(pl.col("split") != "training")
    chance = pl.coalesce("expectation", (pl.col("expectation_low") + pl.col("expectation_high")) / 2)
    constants = others.select(*KEY, "optimum", chance=chance)
    index = (pl.col("value") - pl.col("chance")) / (pl.col("optimum") - pl.col("chance"))
    width = (pl.col("index_high") - pl.col("index_low")).fill_null(0.0)
    same = [name for name in KEY if name not in _MAY_MATTER]
    moved = (
        asked.select("_row", *KEY, "_split", "_side", "value", "index", width=width)
        .join(constants, on=same, suffix="_other", maintain_order="left")
        .filter(*(pl.col(f"_{name}") | (pl.col(name) == pl.col(f"{name}_other")) for name in _MAY_MATTER))
        .group_by("_row")
        .agg(is_still=((index - pl.col("index")).abs() <= pl.col("width") / 2).all())
    )
    still = moved.filter("is_still")["_row"].to_list()
    return ~numbered["_row"].is_in([*still, *numbered.filter(pl.col("origin").is_in(_CONSTANT))["_row"]])
