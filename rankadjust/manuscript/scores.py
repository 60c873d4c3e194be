"""Choose the adjusted number to print beside each value, and mark the values that may be as good as the best.

docs/which-number.md has the rule. If adjustment moves no value of a column by more than 0.001 and a unit of its last
digit, the printed numbers need no adjustment, and the gain over counting is printed beside them. Else the index is
printed. A mean rank always gets its index, because its meaning depends on the number of candidates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.models.printed import LEVEL, compare_printed
from rankadjust.models.several import holm
from rankadjust.output.rendering import as_precise

SCORES = ("recommended", "index", "gain")
"""The scores that a user can ask for: the recommended score for each column, or the same score everywhere."""

LEAST_MOVE = 0.001
"""The index is worth a column only if adjustment changes a value by more than this, whatever the number of digits."""

BEST, AS_GOOD = "best", "as good"
_EVALUATION = ("dataset", "protocol", "split", "side", "metric", "candidates")
_PERCENT = 100
# Tools write sixteen digits of a value, and nobody reads them: this is the finest rounding that is shown.
_FINEST = 1e-4


def scored(
    rescored: pl.DataFrame, constants: Constants, score: str = SCORES[0], marks: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return the rows with the adjusted number that belongs beside each value, and its mark.

    Parameters
    ----------
    rescored
        Rows of `rankadjust.rescore`, with the columns grid and column if a published table was read.
    constants
        The constants that the rows were re-scored with.
    score
        One of SCORES.
    marks
        The mark of each row; None computes the marks from the printed values.

    Returns
    -------
    pl.DataFrame
        The rows with three more columns: score ('index', 'gain', or None for no adjusted number), shown (the text of
        the score, in percent if the printed value is, with as many digits as the rounding leaves certain) and mark
        (BEST, AS_GOOD for a value that the printed values cannot distinguish from the best value, else empty).

    Raises
    ------
    RankadjustError
        For an unknown score.

    """
    if score not in SCORES:
        raise RankadjustError(f"unknown score '{score}'{did_you_mean(score, SCORES) or ''}")
    gain = pl.col("gain") if "gain" in rescored.columns else pl.lit(None, dtype=pl.Float64)
    of_column = ["grid", "column"] if "grid" in rescored.columns else ["dataset", "metric"]
    is_rank = pl.col("metric").is_in([key for key in _known(rescored) if not resolve(key).increasing])
    least = pl.max_horizontal(pl.col("value_high") - pl.col("value_low"), pl.lit(LEAST_MOVE))
    is_moved = is_rank | ((pl.col("index") - pl.col("value")).abs() > least)
    takes_index = is_moved.fill_null(value=False).any().over(of_column) if score == "recommended" else None
    has_index, has_gain = pl.col("index").is_not_null(), gain.is_not_null()
    wanted = {
        "recommended": pl.when(takes_index & has_index)
        .then(pl.lit("index"))
        .when(~takes_index & has_gain)
        .then(pl.lit("gain"))
        if takes_index is not None
        else None,
        "index": pl.when(has_index).then(pl.lit("index")),
        "gain": pl.when(has_gain).then(pl.lit("gain")),
    }[score]
    # A mean rank has no percent sign. Its index is in percent if other values of its table are.
    is_percent = pl.col("unit") == "percent"
    in_table = is_percent.any().over("grid") if "grid" in rescored.columns else is_percent.any()
    rows = rescored.with_columns(score=wanted, in_percent=is_percent | (is_rank & in_table))
    texts = [_shown(row) for row in rows.iter_rows(named=True)]
    return rows.drop("in_percent").with_columns(
        pl.Series("shown", texts, dtype=pl.String),
        pl.Series("mark", marks_of_values(rows, constants) if marks is None else marks, dtype=pl.String),
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


def marks_of_values(rows: pl.DataFrame, constants: Constants) -> list[str]:
    """Return the mark of each row: the best value of its table and evaluation, and values that may be as good."""
    marks = [""] * rows.height
    grid = ["grid"] if "grid" in rows.columns else []
    known = rows.with_row_index("place").filter(pl.col("index").is_not_null())
    groups = known.group_by(
        [*grid, *(name for name in _EVALUATION if name in rows.columns)], maintain_order=True
    )
    for _, group in groups:
        if group.height > 1:
            for place, mark in _marks_of(group, constants).items():
                marks[place] = mark
    return marks


def _marks_of(group: pl.DataFrame, constants: Constants) -> dict[int, str]:
    """Return the marks of the values of one evaluation by their place."""
    about = group.row(0, named=True)
    metric = resolve(about["metric"])
    best = group["value"].max() if metric.increasing else group["value"].min()
    marks = dict.fromkeys(group.filter(pl.col("value") == best)["place"].to_list(), BEST)
    texts = {row["place"]: _typed(row) for row in group.iter_rows(named=True)}
    top = texts[next(iter(marks))]
    try:
        evaluation_set = evaluation_set_of(
            about["dataset"], about["protocol"], about["split"], about["side"], constants
        )
    except RankadjustError:
        return marks
    others = {place: text for place, text in texts.items() if place not in marks}
    p = holm(np.array([_p(top, text, metric.key, evaluation_set) for text in others.values()]))
    marks |= {place: AS_GOOD for place, at_most in zip(others, p, strict=True) if at_most > LEVEL}
    return marks


def _p(best: str, other: str, metric: str, evaluation_set: EvaluationSet) -> float:
    """Return the largest p that the ranks of two values allow; 1 if nothing is known."""
    try:
        (pair,) = compare_printed([best, other], dataset=evaluation_set, metric=metric)
    except RankadjustError:
        return 1.0
    return 1.0 if pair.p is None else pair.p


def _typed(row: Mapping[str, Any]) -> str:
    """Return a printed value as it is typed: with its percent sign."""
    text = str(row["value_as_printed"]).rstrip("% ")
    return f"{text}%" if row["unit"] == "percent" else text
