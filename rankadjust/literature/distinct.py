"""Results that several sources print, counted once.

A result is the set of values that a source prints for a model in one evaluation. A result repeats a result of another
source if that source prints every value of it too. Examples are the README and the documentation of a project, or a
table that takes rows from another paper. Two equal values of at least three digits make a copy if the models have the
same name; three are needed if the names differ.
"""

import polars as pl

from rankadjust.base.vocabulary import EVALUATION
from rankadjust.literature.copies import LEAST_EQUAL_DIGITS, SAME_NAMED, SAME_UNNAMED, digits
from rankadjust.literature.runs import add_run

_KEY = [*EVALUATION, "metric", "equal"]


def distinct_results(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows without results that repeat a result of another source.

    rescored: rows of `rankadjust.literature.rescore.rescore`. Of equal results the first without a caveat is kept, or
    the first if all have caveats. A result is dropped in favour of another that has the same values and more.
    """
    rows = add_run(rescored).with_columns(equal=pl.col("value").round_sig_figs(10))
    values = (
        rows.unique([*_KEY, "run"], keep="first", maintain_order=True)
        .with_row_index("order")
        .with_columns(
            size=pl.len().over("run"),
            rank=_rank(rows).over("run"),
            telling=digits() >= LEAST_EQUAL_DIGITS,
            name=pl.col("model").str.to_lowercase(),
        )
        .select("run", "source", *_KEY, "size", "rank", "telling", "name")
    )
    repeated = _pairs(values).filter(
        pl.col("same") == pl.col("size"),
        pl.col("telling") >= pl.when("named").then(SAME_NAMED).otherwise(SAME_UNNAMED),
        (pl.col("size_other") > pl.col("size"))
        | ((pl.col("size_other") == pl.col("size")) & (pl.col("rank_other") < pl.col("rank"))),
    )
    return rescored.filter(~rows["run"].is_in(repeated["run"].unique().implode()))


def _rank(rows: pl.DataFrame) -> pl.Expr:
    """Return the place of a result among equal results: results without a caveat come first."""
    place = pl.col("order").cast(pl.Int64).min()
    return place + pl.col("caveat").is_not_null().any() * rows.height if "caveat" in rows.columns else place


def _pairs(values: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of results of two sources with values in common, and the number of these values."""
    return (
        values.join(values, on=_KEY, suffix="_other")
        .filter(pl.col("source").ne_missing(pl.col("source_other")))
        .group_by("run", "run_other")
        .agg(
            *(pl.col(name).first() for name in ("size", "size_other", "rank", "rank_other")),
            same=pl.len(),
            telling=pl.col("telling").sum(),
            named=pl.col("name").first() == pl.col("name_other").first(),
        )
    )
