"""Bounds of expectation and variance where the number of candidates of every task is known within bounds only.

Every metric is a monotone function of each rank, and a uniform rank on 1..N grows with N: so the expectation is
monotone in every N, and lies between its values at the two extremes. The variance of a mean of terms is the mean of
their variances over the number of tasks; where the variance of one term is monotone over all N in question, so is
their mean. docs/methods.md, "Without training triples", has the proof.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from rankadjust.base.frames import filled
from rankadjust.base.vocabulary import SIDES
from rankadjust.chance.metrics import Metric
from rankadjust.chance.moments import moments_table
from rankadjust.chance.terms import mean_and_variance

_REASON = "without the training triples only bounds of the expectation are known"
_NO_COVARIANCE = "without the training triples it is not known which tasks share a query"
_KEY = ["split", "side", "metric"]


def bounded_moments(intervals: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
    """Return the rows of a data set for `rankadjust.database.store.assemble`, without data set and protocol.

    intervals: split, side, entities, least, most, tasks, as `candidate_intervals` makes them. Expectation and variance
    are null; expectation_low and expectation_high bound the expectation, variance_low and variance_high the variance
    where a bound is known.
    """
    of_least, of_most = (
        moments_table(intervals.with_columns(num_candidates=pl.col(end)), metrics)
        for end in ("least", "most")
    )
    joined = of_least.join(of_most, on=_KEY, suffix="_most", maintain_order="left")
    both = pl.col("expectation").is_not_null() & pl.col("expectation_most").is_not_null()
    low, high = (
        pl.when(both).then(function("expectation", "expectation_most"))
        for function in (pl.min_horizontal, pl.max_horizontal)
    )
    monotone = joined.join(_monotone(intervals, metrics), on=_KEY, how="left", maintain_order="left")
    has_bounds = both & pl.col("is_monotone")
    unknown = pl.lit(None, pl.Float64)
    return monotone.select(
        *_KEY,
        "entities",
        "tasks",
        expectation=unknown,
        variance=unknown,
        method=filled("bounds, {}", "method"),
        reason=pl.coalesce("reason", "reason_most", pl.lit(_REASON)),
        variance_random_scorer=unknown,
        reason_random_scorer=pl.lit(_NO_COVARIANCE),
        variance_static_scorer=unknown,
        reason_static_scorer=pl.lit(_NO_COVARIANCE),
        expectation_low=low,
        expectation_high=high,
        variance_low=pl.when(has_bounds).then(pl.min_horizontal("variance", "variance_most")),
        variance_high=pl.when(has_bounds).then(pl.max_horizontal("variance", "variance_most")),
    )


def _monotone(intervals: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
    """Return for each split, side and metric whether the variance of one task is monotone over all N in question."""
    rows = []
    for split in intervals["split"].unique(maintain_order=True):
        for side in SIDES:
            part = intervals.filter(
                pl.col("split") == split, (pl.col("side") == side) | pl.lit(side == "both")
            )
            if part.height:
                least, most = part.select(pl.col("least").min(), pl.col("most").max()).row(0)
                rows += [
                    (split, side, metric.key, _is_monotone(metric, int(least), int(most)))
                    for metric in metrics
                ]
    return pl.DataFrame(rows, schema=[*_KEY, "is_monotone"], orient="row")


def _is_monotone(metric: Metric, least: int, most: int) -> bool:
    """Return whether the variance of one task only rises or only falls as N goes from `least` to `most`.

    Metrics that are not means of terms have no bounds; tasks that a metric leaves out would change their number.
    """
    if not metric.additive or not metric.has_moments or least < max(metric.least_candidates, 1):
        return False
    _, variance = mean_and_variance(metric, np.arange(least, most + 1, dtype=np.float64))
    steps = np.diff(variance)
    return bool((steps >= 0).all() or (steps <= 0).all())
