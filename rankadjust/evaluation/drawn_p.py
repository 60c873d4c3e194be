"""p under a random scorer, from draws, of the values of a small evaluation set."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from rankadjust.chance.drawn_scorer import DRAWS, FAR, MOST_TASKS, draws_reaching
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.database.evaluation_set import EvaluationSet


def p_of_draws(reached: int | None) -> float | None:
    """Return p from the number of draws that are at least as good."""
    return None if reached is None else (1 + reached) / (1 + DRAWS)


def reaching_draws(row: Mapping[str, Any], metric: Metric, evaluation_set: EvaluationSet) -> int | None:
    """Return in how many draws a random scorer is at least as good, None without need to draw, or without counts.

    row: value, tasks, z_random_scorer, scores_used, variance_random_scorer and variance_static_scorer.
    """
    z = row["z_random_scorer"]
    if z is None or abs(z) >= FAR or row["tasks"] > MOST_TASKS:
        return None
    is_static = row["scores_used"] == "static"
    shared = "static_shared_pairs" if is_static else "shared_pairs"
    *names, side = evaluation_set.evaluation
    counts = evaluation_set.histograms.counts(*names).filter(
        (pl.col("tasks") > 0) & ((pl.col("side") == side) | pl.lit(side == "both"))
    )
    if not counts.height or shared not in counts.columns or counts[shared].null_count():
        return None
    rows = counts.select("side", "num_candidates", "tasks", shared).rows()
    spread = row["variance_static_scorer" if is_static else "variance_random_scorer"] ** 0.5
    return draws_reaching(tuple(rows), metric, row["value"], spread)


def add_drawn_p(rows: pl.DataFrame, evaluation_set: EvaluationSet | None) -> pl.DataFrame:
    """Add p_random_scorer to rows of `evaluate`, null for averages over groups."""
    kind = pl.Float64
    if evaluation_set is None:
        return rows.with_columns(p_random_scorer=pl.lit(None, kind))
    sides = {side: evaluation_set.of_side(side) for side in rows["side"].unique()}
    found = [
        p_of_draws(reaching_draws(row, resolve(row["metric"]), sides[row["side"]]))
        if row["average"] == "micro" and row["value"] is not None
        else None
        for row in rows.iter_rows(named=True)
    ]
    return rows.with_columns(p_random_scorer=pl.Series(found, dtype=kind))
