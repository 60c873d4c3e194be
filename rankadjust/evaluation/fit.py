"""Whether ranks belong to the evaluation set that they are to be adjusted with.

The number of tasks, the largest rank and the mean number of candidates tell.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TASK_SIDES
from rankadjust.database.evaluation_sets import CANDIDATES, EvaluationSet, beside_database, load_candidates
from rankadjust.evaluation.rank_files import TIED


def check_fit(
    tasks: pl.DataFrame,
    evaluation_set: EvaluationSet,
    database: pl.DataFrame | str | Path | None,
    candidates: pl.DataFrame | str | Path | None,
) -> None:
    """Raise RankadjustError where a table of tasks cannot be of the evaluation set.

    database, candidates: as `evaluate` takes them; the candidates bound the ranks more closely than the database.
    """
    largest = _largest_counts(evaluation_set, database, candidates)
    for side, rows in _by_side(tasks).items():
        constants = evaluation_set.constants.filter(pl.col("side") == side)
        if constants.is_empty():
            has = ", ".join(evaluation_set.constants["side"].unique().sort().to_list())
            raise RankadjustError(f"{evaluation_set} has no tasks of side {side}, only of {has}")
        _check_number(rows, side, evaluation_set, constants)
        _check_ranks(rows, side, evaluation_set, largest.get(side))
        _check_counts(rows, side, evaluation_set, constants)


def _by_side(tasks: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    if "side" not in tasks.columns:
        return {"both": tasks}
    sides = {side: tasks.filter(pl.col("side") == side) for side in TASK_SIDES}
    return {side: rows for side, rows in sides.items() if rows.height}


def _largest_counts(
    evaluation_set: EvaluationSet,
    database: pl.DataFrame | str | Path | None,
    candidates: pl.DataFrame | str | Path | None,
) -> Mapping[str, int]:
    """Return the largest number of candidates of each side: of the histogram, or else the number of entities."""
    entities = evaluation_set.constants.group_by("side").agg(pl.col("entities").max()).drop_nulls()
    largest: dict[str, int] = dict(entities.iter_rows())
    if candidates is None and not isinstance(database, pl.DataFrame):
        beside = beside_database(database, CANDIDATES)
        candidates = beside if beside.exists() else None
    if candidates is not None:
        histogram = candidates if isinstance(candidates, pl.DataFrame) else load_candidates(candidates)
        largest |= _of_histogram(histogram, evaluation_set)
    return largest


def _of_histogram(histogram: pl.DataFrame, evaluation_set: EvaluationSet) -> Mapping[str, int]:
    chosen = histogram.filter(
        pl.col("dataset") == evaluation_set.dataset,
        pl.col("protocol") == evaluation_set.protocol,
        pl.col("split") == evaluation_set.split,
    )
    sides = dict(chosen.group_by("side").agg(pl.col("num_candidates").max()).iter_rows())
    return sides | ({"both": max(sides.values())} if sides else {})


def _check_number(
    rows: pl.DataFrame, side: str, evaluation_set: EvaluationSet, constants: pl.DataFrame
) -> None:
    known = constants["tasks"].drop_nulls().unique().to_list()
    if known and rows.height not in known:
        hint = "" if side != "both" else "; if these are ranks of one side, add the column side"
        raise RankadjustError(
            f"{evaluation_set} has {known[0]:,} tasks of side {side}, but there are {rows.height:,} ranks: "
            f"another data set, protocol or split?{hint}"
        )


def _check_ranks(rows: pl.DataFrame, side: str, evaluation_set: EvaluationSet, most: int | None) -> None:
    worst = max(rows[name].to_numpy().max() for name in ("rank", *TIED) if name in rows.columns)
    if most is not None and worst > most:
        raise RankadjustError(
            f"a rank of side {side} is {worst:,.10g}, but {evaluation_set} has at most {most:,} candidates there: "
            "another data set, protocol or split?"
        )


def _check_counts(
    rows: pl.DataFrame, side: str, evaluation_set: EvaluationSet, constants: pl.DataFrame
) -> None:
    mean_rank = constants.filter(pl.col("metric") == "arithmetic_mean_rank")["expectation"].drop_nulls()
    if "num_candidates" not in rows.columns or mean_rank.is_empty():
        return
    # The expected mean rank is half of (mean N + 1).
    expected, given = 2 * mean_rank[0] - 1, rows["num_candidates"].to_numpy().mean()
    if abs(given - expected) > 1e-9 * expected:
        raise RankadjustError(
            f"the mean of num_candidates of side {side} is {given:,.10g}, but {evaluation_set} has {expected:,.10g}: "
            "another data set, protocol or split?"
        )
