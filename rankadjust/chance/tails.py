"""How likely chance is to reach a value: P(M at least as good as m) under the independent null, as log10.

The metrics with a term are functions of a sum of losses over the tasks (rankadjust.chance.tilting); Hits@k, precision@k
and the median are events of a Poisson-binomial law (rankadjust.chance.poisson_binomial). docs/methods.md, "p-values".
"""

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.median import log_median_tail
from rankadjust.chance.metrics import (
    Metric,
    exp_of_minus,
    hit,
    identity,
    inverse,
    inverse_rank,
    rank,
    resolve,
    share_beaten,
)
from rankadjust.chance.poisson_binomial import TaskGroups, log_at_least
from rankadjust.chance.tilting import CutLosses, Losses, RankLosses, SmoothLosses, log_lower_tails

# A value that was computed from ranks is right to this share: nothing that equals it may be left out.
_ROUNDING = 1e-12
_COUNT_ROUNDING = 1e-9


class ChanceTails:
    """The tails of every metric for one histogram of candidates.

    counts: distinct numbers of candidates (k,), ascending; tasks: how many tasks have each (k,). What the metrics
    share is prepared once.
    """

    def __init__(self, num_candidates: ArrayLike, tasks: ArrayLike) -> None:
        """Take whole numbers (k,): candidates, which may repeat, and tasks."""
        given, times = np.asarray(num_candidates, dtype=np.float64), np.asarray(tasks, dtype=np.float64)
        if given.ndim != 1 or given.shape != times.shape:
            raise RankadjustError("num_candidates and tasks must be lists of the same length")
        counts, place = np.unique(given[times > 0], return_inverse=True)
        self.counts: FloatArray = counts
        self.tasks: FloatArray = np.bincount(place, times[times > 0], counts.size).astype(np.float64)
        self._laws: dict[str, Losses] = {}

    @cached_property
    def groups(self) -> TaskGroups:
        """What the Poisson-binomial law needs."""
        return TaskGroups.of(self.counts, self.tasks)

    def law(self, metric: Metric) -> Losses:
        """Return the law of the losses of a metric with a term."""
        if metric.key not in self._laws:
            self._laws[metric.key] = _law(metric, self.counts, self.tasks)
        return self._laws[metric.key]

    def why_not(self, metric: Metric) -> str | None:
        """Return why a metric has no p, None where it has."""
        if metric.key not in _MEDIANS and not _has_law(metric):
            return f"no p: the law of {metric.label} under chance is not derived"
        if self.counts.size == 0 or self.counts[0] < 1:
            return "no p: there are no tasks, or some without candidates"
        if self.counts[-1] < metric.least_candidates:
            return "no p: no task has another candidate than the true answer"
        return None

    def log10_p(self, metric: Metric | str, values: ArrayLike) -> FloatArray:
        """Return log10 P(M at least as good as the value) for each of the values (q,).

        It is finite and at most 0 for every value in the metric's range, also far beyond the smallest float, and nan
        elsewhere or where `why_not` gives a reason.
        """
        metric = resolve(metric) if isinstance(metric, str) else metric
        # The same printed value may occur in many rows.
        distinct, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
        logs = np.full(distinct.shape, np.nan)
        possible = (distinct >= metric.lower) & (distinct <= metric.upper)
        if self.why_not(metric) is None and possible.any():
            log_p = _log_p(self, metric, distinct[possible]) / np.log(10)
            # No minus sign before 0.
            logs[possible] = np.minimum(log_p, 0.0) + 0.0
        return logs[place]

    def log10_p_of(self, metric: Metric, value: float) -> tuple[float | None, str | None]:
        """Return log10 of p of one value, or None and why there is none."""
        log = float(self.log10_p(metric, [value])[0])
        return None if np.isnan(log) else log, self.why_not(metric)


# --- laws of losses ---------------------------------------------------------------------------------------

# What the mean of the term is, where the metric has a value.
MEAN_OF_VALUE: Mapping[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]] = {
    identity: identity,
    inverse: inverse,
    np.exp: np.log,
    exp_of_minus: lambda value: -np.log(value),
}


def _law(metric: Metric, counts: FloatArray, tasks: FloatArray) -> Losses:
    """Return the law of the losses |f(1) - f(r)| of a metric's term f."""
    counted = counts >= metric.least_candidates
    counts, tasks = counts[counted], tasks[counted]
    if metric.shape is rank:
        return RankLosses(counts, tasks, np.ones_like(counts))
    if metric.shape is share_beaten:
        return RankLosses(counts, tasks, 1 / (counts - 1))
    sign = _sign(metric)
    reciprocal = metric.shape is inverse_rank

    def gain(ranks: FloatArray) -> FloatArray:
        return sign * _term(metric, ranks)

    if metric.k is None:
        return SmoothLosses(counts, tasks, gain, reciprocal)
    return CutLosses(counts, tasks, gain(np.arange(1.0, metric.k + 1)), reciprocal)


def _term(metric: Metric, ranks: FloatArray) -> FloatArray:
    if metric.term is None:
        raise RankadjustError(f"{metric.label} is not a function of a mean over the tasks")
    return metric.term(ranks, np.full_like(ranks, np.nan))


def _sign(metric: Metric) -> float:
    """Return 1 where the term falls with the rank, -1 where it rises."""
    if metric.shape is share_beaten:
        return 1.0
    first, last = _term(metric, np.array([1.0, 1e6]))
    return 1.0 if first >= last else -1.0


def _has_law(metric: Metric) -> bool:
    known = metric.link in MEAN_OF_VALUE and (metric.shape is share_beaten or not metric.needs_candidates)
    cut = metric.k is not None and metric.needs_candidates
    return metric.shape is not None and known and not cut


# --- events -----------------------------------------------------------------------------------------------


def _log_p(tails: ChanceTails, metric: Metric, values: FloatArray) -> FloatArray:
    """Return ln P(at least as good) for values (q,) in the metric's range."""
    if metric.shape is hit and metric.k is not None:
        return _hits(tails, metric, values)
    if metric.key in _MEDIANS:
        # No rank is above the largest count.
        with np.errstate(divide="ignore", over="ignore"):
            medians = np.minimum(_MEDIANS[metric.key](values), tails.counts[-1])
        return np.array([log_median_tail(tails.groups, median * (1 + _ROUNDING)) for median in medians])
    return _mean_loss(tails, metric, values)


def _mean_loss(tails: ChanceTails, metric: Metric, values: FloatArray) -> FloatArray:
    """Return ln P(the sum of the losses is at most what the value says)."""
    law = tails.law(metric)
    best = 1.0 if metric.shape is share_beaten else float(_term(metric, np.ones(1))[0])
    # A loss beyond all floats is beyond all sums of losses: p is 1.
    with np.errstate(divide="ignore", over="ignore"):
        losses = _sign(metric) * (best - MEAN_OF_VALUE[metric.link](values))
        bounds = law.tasks.sum() * (losses + _ROUNDING * (abs(best) + np.abs(losses)))
    result = np.zeros_like(values)
    finite = np.isfinite(bounds)
    result[finite] = log_lower_tails(law, np.maximum(bounds[finite], 0.0))
    return result


def _hits(tails: ChanceTails, metric: Metric, values: FloatArray) -> FloatArray:
    """Return ln P(at least so many ranks up to k)."""
    number = values / metric.optimum * tails.tasks.sum()
    least = np.ceil(number - _COUNT_ROUNDING * np.maximum(number, 1.0))
    return log_at_least(tails.groups, np.full_like(values, float(metric.k or 0)), least)


_MEDIANS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "median_rank": identity,
    "inverse_median_rank": inverse,
}
