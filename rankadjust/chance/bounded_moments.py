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
from rankadjust.base.vocabulary import SIDES, TASK_SIDES
from rankadjust.chance.metrics import Metric, share_beaten
from rankadjust.chance.moments import TABLE_SCHEMA, metric_moments
from rankadjust.chance.random_scorer import NULLS_SCHEMA
from rankadjust.chance.terms import mean_and_variance

_REASON = "without the training triples only bounds of the expectation are known"
_NO_COVARIANCE = "without the training triples it is not known which tasks share a query"
_BOUNDS = ("expectation_low", "expectation_high", "variance_low", "variance_high")
_UNKNOWN_REASONS = ("reason_random_scorer", "reason_static_scorer")
_SCHEMA = {**TABLE_SCHEMA, **NULLS_SCHEMA, **dict.fromkeys(_BOUNDS, pl.Float64)}

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
    rows = []
    for split in intervals["split"].unique(maintain_order=True):
        of_split = intervals.filter(split=split)
        of_side = {name: of_split.filter(side=name) for name in TASK_SIDES}
        summed = {name: _Tasks(of_side[name], total) for name, total in (totals or {}).get(split, {}).items()}
        for side in SIDES:
            names = TASK_SIDES if side == "both" else (side,)
            part = pl.concat(of_side[name] for name in names)
            if part.is_empty():
                continue
            known = [summed[name] for name in names if name in summed]
            for metric in metrics:
                bounds = _of_extremes(metric, part)
                if len(known) == len(names):
                    bounds |= _closer(metric, known)
                size = {"entities": part["entities"].max(), "tasks": part["tasks"].sum()}
                rows.append({"split": split, "side": side, "metric": metric.key, **size, **bounds})
    return pl.DataFrame(rows, _SCHEMA).with_columns(**dict.fromkeys(_UNKNOWN_REASONS, pl.lit(_NO_COVARIANCE)))


def _of_extremes(metric: Metric, part: pl.DataFrame) -> dict[str, str | float | None]:
    """Return method, reason and bounds from the moments at both extremes."""
    least, most = (metric_moments(metric, part[end], part["tasks"]) for end in ("least", "most"))
    row: dict[str, str | float | None] = {
        "method": f"bounds, {least.method}",
        "reason": least.reason or most.reason or _REASON,
    }
    if least.expectation is not None and most.expectation is not None:
        ends = sorted((least.expectation, most.expectation))
        row |= zip(_BOUNDS[:2], ends, strict=True)
        # If the variance of one task only rises or only falls with N, so does the variance of their mean.
        curves = _curves(metric, int(part["least"].to_numpy().min()), int(part["most"].to_numpy().max()))
        if curves is not None and _has_one_sign(np.diff(curves[1])):
            row |= zip(_BOUNDS[2:], sorted((least.variance or 0.0, most.variance or 0.0)), strict=True)
    return row


def _curves(metric: Metric, least: int, most: int) -> tuple[FloatArray, FloatArray] | None:
    """Return mean and variance of one task for N from `least` to `most`; None for a metric that is not a mean over all.

    Tasks that a metric leaves out would change their number.
    """
    is_mean = metric.additive and metric.has_moments and least >= max(metric.least_candidates, 1)
    return mean_and_variance(metric, np.arange(least, most + 1, dtype=np.float64)) if is_mean else None


def _has_one_sign(steps: FloatArray) -> bool:
    return bool((steps >= 0).all() or (steps <= 0).all())


# --- where the sum of all N is known ------------------------------------------------------------------------


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


def _closer(metric: Metric, parts: Sequence[_Tasks]) -> dict[str, float]:
    """Return the bounds of expectation and variance, as far as there are any."""
    least, most = min(part.least.min() for part in parts), max(part.most.max() for part in parts)
    curves = _curves(metric, int(least), int(most))
    if curves is None:
        return {}
    number = sum(int(part.tasks.sum()) for part in parts)
    bounds: dict[str, float] = {}
    for power, values in enumerate(curves, 1):
        bends = np.diff(values, 2)
        if not _has_one_sign(bends):
            continue
        sign = 1.0 if (bends >= 0).all() else -1.0

        def curve(counts: IntArray, values: FloatArray = sign * values) -> FloatArray:
            at_counts: FloatArray = values[counts - least]
            return at_counts

        least_sum = sum(part.least_sum(curve) for part in parts)
        largest_sum = sum(part.largest_sum(curve) for part in parts)
        ends = sorted(sign * total / number**power for total in (least_sum, largest_sum))
        bounds |= zip(_BOUNDS[2 * power - 2 :], ends, strict=False)
    return bounds
