"""Bounds of expectation and variance where the number of candidates of every task is known within bounds only.

Every metric is a monotone function of each rank, and a uniform rank on 1..N grows with N: so the expectation is
monotone in every N, and lies between its values at the two extremes. The variance of a mean of terms is the mean of
their variances over the number of tasks; where the variance of one term is monotone over all N in question, so is
their mean.

Where the sum of all N is known as well, the mean of a convex or concave function of N has closer bounds: it is least
where the N are as equal as their bounds allow, and largest where nearly all of them are at one end.
docs/methods.md, "Without training triples", has the proofs.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.frames import filled
from rankadjust.base.vocabulary import SIDES, TASK_SIDES
from rankadjust.chance.metrics import Metric, share_beaten
from rankadjust.chance.moments import moments_table
from rankadjust.chance.terms import mean_and_variance

_REASON = "without the training triples only bounds of the expectation are known"
_NO_COVARIANCE = "without the training triples it is not known which tasks share a query"
_KEY = ["split", "side", "metric"]
_BOUNDS = ("expectation_low", "expectation_high", "variance_low", "variance_high")

# The sum of the candidates of all tasks, by split and side.
Totals = Mapping[str, Mapping[str, int]]
_Curve = Callable[[IntArray], FloatArray]


def bounded_moments(
    intervals: pl.DataFrame, metrics: Sequence[Metric], totals: Totals | None = None
) -> pl.DataFrame:
    """Return the rows of a data set for `rankadjust.database.store.assemble`, without data set and protocol.

    intervals: split, side, entities, least, most, tasks, as `candidate_intervals` makes them. totals: the sum of N over
    the tasks of a split and side, where it is known. Expectation and variance are null; expectation_low and
    expectation_high bound the expectation, variance_low and variance_high the variance where a bound is known.

    Raises RankadjustError where no N within the intervals have such a sum. Metrics that are not monotone in N (an
    estimate of Hits@10 among 50) have no rows.
    """
    metrics = [each for each in metrics if not each.needs_candidates or each.shape is share_beaten]
    bounds = _of_extremes(intervals, metrics)
    closer = _of_totals(intervals, metrics, totals or {})
    return bounds.join(closer, on=_KEY, how="left", maintain_order="left").select(
        pl.coalesce(f"{name}_closer", name).alias(name) if name in _BOUNDS else name
        for name in bounds.columns
    )


def _of_extremes(intervals: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
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
    """Return whether the variance of one task only rises or only falls as N goes from `least` to `most`."""
    return _is_mean_of_terms(metric, least) and _has_one_sign(np.diff(_curves(metric, least, most)[1]))


def _is_mean_of_terms(metric: Metric, least: int) -> bool:
    """Return whether the moments are means over all tasks; tasks that a metric leaves out would change their number."""
    return metric.additive and metric.has_moments and least >= max(metric.least_candidates, 1)


def _curves(metric: Metric, least: int, most: int) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of one task for N from `least` to `most`."""
    return mean_and_variance(metric, np.arange(least, most + 1, dtype=np.float64))


def _has_one_sign(steps: FloatArray) -> bool:
    return bool((steps >= 0).all() or (steps <= 0).all())


# --- where the sum of all N is known ------------------------------------------------------------------------


def _of_totals(intervals: pl.DataFrame, metrics: Sequence[Metric], totals: Totals) -> pl.DataFrame:
    """Return the closer bounds of every split, side and metric whose sums are known: columns <name>_closer."""
    rows = []
    for split, by_side in totals.items():
        # A null moment closes nothing: its columns stay null and the bounds of the extremes hold.
        sides = {
            side: _Tasks(intervals.filter(split=split, side=side), total) for side, total in by_side.items()
        }
        for side in SIDES:
            parts = [sides[name] for name in (TASK_SIDES if side == "both" else (side,)) if name in sides]
            if len(parts) == (len(TASK_SIDES) if side == "both" else 1):
                rows += [(split, side, metric.key, *_closer(metric, parts)) for metric in metrics]
    schema = {**dict.fromkeys(_KEY, pl.String), **{f"{name}_closer": pl.Float64 for name in _BOUNDS}}
    return pl.DataFrame(rows, schema=schema, orient="row")


class _Tasks:
    """The tasks of a split and side: between which N each is, and the sum of all N."""

    def __init__(self, intervals: pl.DataFrame, total: int) -> None:
        """intervals: least, most, tasks."""
        self.least, self.most, self.tasks = (
            intervals[name].to_numpy() for name in ("least", "most", "tasks")
        )
        self.total = total
        low, high = int(self.tasks @ self.least), int(self.tasks @ self.most)
        if not low <= total <= high:
            raise RankadjustError(
                f"the sum of the candidates of all tasks is given as {total:,}, and the ranges allow {low:,} to "
                f"{high:,}; the sum is of another data set, split or protocol"
            )

    def least_sum(self, curve: _Curve) -> float:
        """Return the least sum of a convex curve over the tasks: all N at one level, where their bounds allow it."""
        level, end = int(self.least.min()), int(self.most.max())
        while end - level > 1:
            middle = (level + end) // 2
            level, end = (
                (middle, end)
                if int(self.tasks @ np.clip(middle, self.least, self.most)) <= self.total
                else (level, middle)
            )
        counts = np.clip(level, self.least, self.most)
        raised = self.total - int(self.tasks @ counts)
        step = float(np.diff(curve(np.array([level, level + 1])))[0]) if raised else 0.0
        return float(self.tasks @ curve(counts)) + raised * step

    def largest_sum(self, curve: _Curve) -> float:
        """Return a bound on the sum of a convex curve: below its chords, those that rise most filled first."""
        low, width = curve(self.least), self.most - self.least
        slope = (curve(self.most) - low) / np.maximum(width, 1)
        order = np.argsort(-slope, kind="stable")
        room = (self.tasks * width)[order]
        left = self.total - int(self.tasks @ self.least)
        filled_up = np.clip(left - (np.cumsum(room) - room), 0, room)
        return float(self.tasks @ low) + float(filled_up @ slope[order])


def _closer(metric: Metric, parts: Sequence[_Tasks]) -> tuple[float | None, ...]:
    """Return the bounds of expectation and variance, in the order of _BOUNDS; None where there is none."""
    least, most = min(part.least.min() for part in parts), max(part.most.max() for part in parts)
    if not _is_mean_of_terms(metric, least):
        return (None,) * len(_BOUNDS)
    number = sum(int(part.tasks.sum()) for part in parts)
    bounds: list[float | None] = []
    for power, values in enumerate(_curves(metric, least, most), 1):
        bends = np.diff(values, 2)
        if not _has_one_sign(bends):
            bounds += [None, None]
            continue
        sign = 1.0 if (bends >= 0).all() else -1.0

        def curve(counts: IntArray, values: FloatArray = sign * values) -> FloatArray:
            at_counts: FloatArray = values[counts - least]
            return at_counts

        least_sum = sum(part.least_sum(curve) for part in parts)
        largest_sum = sum(part.largest_sum(curve) for part in parts)
        bounds += sorted(sign * total / number**power for total in (least_sum, largest_sum))
    return tuple(bounds)
