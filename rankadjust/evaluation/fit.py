"""Whether ranks belong to the evaluation set that they are to be adjusted with.

They are judged by the number of tasks, the largest rank and the mean number of candidates.
"""

from collections.abc import Mapping

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TASK_SIDES, TIED
from rankadjust.database.evaluation_set import EvaluationSet


def on_side(tasks: pl.DataFrame, side: str) -> pl.DataFrame:
    """Return the tasks of a side. Tasks that do not say their side are taken to be of that side."""
    if side == "both":
        return tasks
    if "side" not in tasks.columns:
        return tasks.with_columns(side=pl.lit(side))
    rows = tasks.filter(side=side)
    if rows.is_empty():
        raise RankadjustError(
            f"none of the {tasks.height:,} ranks is of side {side}; look at the column side"
        )
    return rows


def check_fit(tasks: pl.DataFrame, evaluation_set: EvaluationSet) -> None:
    """Raise RankadjustError where a table of tasks cannot be of the evaluation set, of whatever side that is."""
    for side, rows in _by_side(tasks).items():
        if side not in evaluation_set.sides:
            raise RankadjustError(
                f"{evaluation_set} has no tasks of side {side}, only of {', '.join(evaluation_set.sides)}"
            )
        of_side = evaluation_set.of_side(side)
        _check_number(rows, of_side)
        _check_ranks(rows, of_side)
        _check_counts(rows, of_side)


def _by_side(tasks: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    if "side" not in tasks.columns:
        return {"both": tasks}
    sides = {side: tasks.filter(pl.col("side") == side) for side in TASK_SIDES}
    return {side: rows for side, rows in sides.items() if rows.height}


def _check_number(rows: pl.DataFrame, expected: EvaluationSet) -> None:
    if expected.tasks is not None and rows.height != expected.tasks:
        hint = (
            ""
            if expected.side != "both"
            else "; if all ranks are of one side, give side (--side head, --side tail)"
        )
        raise RankadjustError(
            f"{expected} has {expected.tasks:,} tasks of side {expected.side}, but there are {rows.height:,} ranks: "
            f"another data set, protocol or split?{hint}"
        )


def _check_ranks(rows: pl.DataFrame, expected: EvaluationSet) -> None:
    worst = max(rows[name].to_numpy().max() for name in ("rank", *TIED) if name in rows.columns)
    most = expected.largest_count
    if most is not None and worst > most:
        raise RankadjustError(
            f"a rank of side {expected.side} is {worst:,.10g}, but {expected} has at most {most:,} candidates there: "
            "another data set, protocol or split?"
        )


def _check_counts(rows: pl.DataFrame, expected: EvaluationSet) -> None:
    mean = expected.mean_count
    if "num_candidates" not in rows.columns or mean is None:
        return
    given = rows["num_candidates"].to_numpy().mean()
    if abs(given - mean) > 1e-9 * mean:
        raise RankadjustError(
            f"the mean of num_candidates of side {expected.side} is {given:,.10g}, but {expected} has {mean:,.10g}: "
            "another data set, protocol or split?"
        )
