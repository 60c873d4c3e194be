"""Choose the adjusted number to print beside each value.

docs/which-number.md has the rule. If adjustment moves no value of a column by more than 0.001 and a unit of its last
digit, the printed numbers need no adjustment, and the gain over counting is printed beside them. Else the index is
printed. A mean rank always gets its index, because its meaning depends on the number of candidates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.chance.metrics import resolve
from rankadjust.output.markup import as_precise

SCORES = ("recommended", "index", "gain")
"""The scores that a user can ask for: the recommended score for each column, or the same score everywhere."""

LEAST_MOVE = 0.001
"""The index is worth a column only if adjustment changes a value by more than this, whatever the number of digits."""

BEST, AS_GOOD = "best", "as good"
_PERCENT = 100
# Tools write sixteen digits of a value, and nobody reads them: this is the finest rounding that is shown.
_FINEST = 1e-4


def scored(
    rescored: pl.DataFrame, score: str = SCORES[0], marks: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return the rows with the adjusted number that belongs beside each value, and its mark.

    rescored: rows of `rankadjust.rescore`, with the columns grid and column if a published table was read. score: one
    of SCORES. marks: the mark of each row; None for no marks, since printed values alone cannot tell which model is
    better. Added are score ('index', 'gain', or None for no adjusted number), shown (the text of the score, in percent
    if the printed value is, with as many digits as the rounding leaves certain) and mark (BEST, AS_GOOD for a value
    that a test on ranks cannot distinguish from the best value, else empty). Raises RankadjustError for an unknown
    score.
    """
    if score not in SCORES:
        raise RankadjustError(f"unknown score '{score}'{did_you_mean(score, SCORES) or ''}")
    gain = pl.col("gain") if "gain" in rescored.columns else pl.lit(None, dtype=pl.Float64)
    of_column = ["grid", "column"] if "grid" in rescored.columns else ["dataset", "metric"]
    is_rank = pl.col("metric").is_in([key for key in _known(rescored) if not resolve(key).increasing])
    least = pl.max_horizontal(pl.col("value_high") - pl.col("value_low"), pl.lit(LEAST_MOVE))
    is_moved = is_rank | ((pl.col("index") - pl.col("value")).abs() > least)
    takes_index = is_moved.fill_null(value=False).any().over(of_column)
    has_index, has_gain = pl.col("index").is_not_null(), gain.is_not_null()
    if score == "recommended":
        has_index, has_gain = takes_index & has_index, ~takes_index & has_gain
    index = pl.when(has_index & pl.lit(score != "gain")).then(pl.lit("index"))
    wanted = pl.coalesce(index, pl.when(has_gain & pl.lit(score != "index")).then(pl.lit("gain")))
    # A mean rank has no percent sign. Its index is in percent if other values of its table are.
    is_percent = pl.col("unit") == "percent"
    in_table = is_percent.any().over("grid") if "grid" in rescored.columns else is_percent.any()
    rows = rescored.with_columns(score=wanted, in_percent=is_percent | (is_rank & in_table))
    texts = [_shown(row) for row in rows.iter_rows(named=True)]
    return rows.drop("in_percent").with_columns(
        pl.Series("shown", texts, dtype=pl.String),
        pl.Series("mark", marks or [""] * rows.height, dtype=pl.String),
    )


def _known(rescored: pl.DataFrame) -> list[str]:
    """Return the metrics of the adjusted rows; only of these metrics the direction is known."""
    return rescored.filter(pl.col("index").is_not_null())["metric"].unique(maintain_order=True).to_list()


def _shown(row: Mapping[str, Any]) -> str:
    """Return the text of a row's score."""
    if row["score"] is None:
        return ""
    value, width = row[row["score"]], row[f"{row['score']}_high"] - row[f"{row['score']}_low"]
    factor = _PERCENT if row["in_percent"] else 1
    return as_precise(factor * value, factor * max(width, _FINEST))
