"""p under a random scorer, from draws, of the values of a small evaluation set."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from rankadjust.chance.drawn_scorer import FAR, MOST_TASKS, draws_reaching, p_of_draws, reason_with_draws
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.database.evaluation_set import EvaluationSet

_INVERSE_OF = {
    "inverse_arithmetic_mean_rank": "arithmetic_mean_rank",
    "harmonic_mean_rank": "inverse_harmonic_mean_rank",
    "inverse_geometric_mean_rank": "geometric_mean_rank",
    "inverse_median_rank": "median_rank",
}


def reaching_draws(row: Mapping[str, Any], metric: Metric, evaluation_set: EvaluationSet) -> int | None:
    """Return in how many draws a random scorer is at least as good, None without need to draw, or without counts.

    row: value, tasks, z, z_random_scorer, scores_used, variance_random_scorer and variance_static_scorer.
    """
    if row["tasks"] is None or row["tasks"] > MOST_TASKS:
        return None
    is_static = row["scores_used"] == "static"
    value = row["value"]
    if metric.additive:
        z = row["z_random_scorer"]
        variances = {metric.key: row["variance_static_scorer" if is_static else "variance_random_scorer"]}
    else:
        if metric.key in _INVERSE_OF and value > 0:
            # As good as x by one metric is as good as 1 / x by the other.
            value, metric = 1 / value, resolve(_INVERSE_OF[metric.key])
        z, variances = _like_means(row["z"], metric, evaluation_set)
    if z is None or abs(z) >= FAR:
        return None
    shared = "static_shared_pairs" if is_static else "shared_pairs"
    *names, side = evaluation_set.evaluation
    counts = evaluation_set.histograms.counts(*names).filter(
        (pl.col("tasks") > 0) & ((pl.col("side") == side) | pl.lit(side == "both"))
    )
    if not counts.height or shared not in counts.columns or counts[shared].null_count():
        return None
    rows = counts.select("side", "num_candidates", "tasks", shared).rows()
    exact = {key: variance**0.5 for key, variance in variances.items()}
    return draws_reaching(tuple(rows), metric, value, exact)


def _like_means(
    z: float | None, metric: Metric, evaluation_set: EvaluationSet
) -> tuple[float | None, dict[str, float]]:
    """Return an estimate of z under a random scorer, and the variances of the means that a metric goes with.

    The variance of a metric that is not a mean is not derived: GMR and the median go with MR and MRR. No z for data
    with times, which have two random scorers.
    """
    known = evaluation_set.moments([metric.key] if metric.additive else ["mr", "mrr"])
    columns = known.select("variance", "variance_random_scorer", "variance_static_scorer")
    independent, of_scorer, static = columns.cast(pl.Float64).fill_null(np.nan).to_numpy().T
    if z is None or not known.height or not np.array_equal(of_scorer, static):
        return None, {}
    ratio = np.sqrt(of_scorer / independent).max()
    return z / float(ratio), dict(zip(known["metric"], of_scorer.tolist(), strict=True))


def add_drawn_p(rows: pl.DataFrame, evaluation_set: EvaluationSet | None) -> pl.DataFrame:
    """Add p_random_scorer to rows of `evaluate`, null for averages over groups, and say where none is drawn."""
    kind = pl.Float64
    if evaluation_set is None:
        return rows.with_columns(p_random_scorer=pl.lit(None, kind))
    sides = {side: evaluation_set.of_side(side) for side in rows["side"].unique()}
    p_values = [
        p_of_draws(reaching_draws(row, resolve(row["metric"]), sides[row["side"]]))
        if row["average"] == "micro" and row["value"] is not None
        else None
        for row in rows.iter_rows(named=True)
    ]
    with_p = rows.with_columns(p_random_scorer=pl.Series(p_values, dtype=kind))
    reasons = [reason_with_draws(row, resolve(row["metric"])) for row in with_p.iter_rows(named=True)]
    return with_p.with_columns(reason_random_scorer=pl.Series(reasons, dtype=pl.String))
