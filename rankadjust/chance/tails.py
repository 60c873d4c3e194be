"""How likely chance is to reach a value: P(M at least as good as m) under the independent null, as log10.

The metrics with a term are functions of a sum of losses over the tasks (rankadjust.chance.tilting); Hits@k, precision@k
and the median are events of a Poisson-binomial law (rankadjust.chance.poisson_binomial). docs/methods.md, "p-values".
"""

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.median import log_median_tail
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.chance.poisson_binomial import TaskGroups, log_at_least
from rankadjust.chance.tilting import CutLosses, Losses, RankLosses, SmoothLosses, log_lower_tails

FloatArray = NDArray[np.float64]

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
            self._laws[metric.key] = _LAWS[metric.family](metric, self.counts, self.tasks)
        return self._laws[metric.key]

    def why_not(self, metric: Metric) -> str | None:
        """Return why there is no p of a metric, None where there is one."""
        if metric.family not in _EVENTS:
            return f"no p: the law of {metric.key} under chance is not derived"
        if self.counts.size == 0 or self.counts[0] < 1:
            return "no p: there are no tasks, or some without candidates"
        if metric.family == "auc" and self.counts[-1] == 1:
            return "no p: every task has one candidate"
        return None

    def log10_p(self, metric: Metric | str, values: ArrayLike) -> FloatArray:
        """Return log10 P(M at least as good as the value) for each of the values (q,).

        It is finite and at most 0 for every value in the metric's range, also far beyond the smallest float, and nan
        elsewhere or where `why_not` gives a reason.
        """
        metric = resolve(metric) if isinstance(metric, str) else metric
        # The same printed value may stand in many rows.
        distinct, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
        logs = np.full(distinct.shape, np.nan)
        possible = (distinct >= metric.lower) & (distinct <= metric.upper)
        if self.why_not(metric) is None and possible.any():
            found = _EVENTS[metric.family](self, metric, distinct[possible]) / np.log(10)
            # No minus sign before 0.
            logs[possible] = np.minimum(found, 0.0) + 0.0
        return logs[place]


# --- laws of losses ---------------------------------------------------------------------------------------

_Law = Callable[[Metric, FloatArray, FloatArray], Losses]


def _rank_losses(_: Metric, counts: FloatArray, tasks: FloatArray) -> Losses:
    return RankLosses(counts, tasks, np.ones_like(counts), whole=True)


def _area_losses(_: Metric, counts: FloatArray, tasks: FloatArray) -> Losses:
    counted = counts > 1
    counts, tasks = counts[counted], tasks[counted]
    # With one number of candidates the losses are whole numbers of 1 / (N - 1).
    same = counts.size == 1
    return RankLosses(counts, tasks, np.ones(1) if same else 1 / (counts - 1), whole=same)


def _inverse_rank(ranks: FloatArray) -> FloatArray:
    return 1 / ranks


def _minus_log_rank(ranks: FloatArray) -> FloatArray:
    return -np.log(ranks)


def _discounted_gain(ranks: FloatArray) -> FloatArray:
    return 1 / np.log2(1 + ranks)


def _smooth(gain: Callable[[FloatArray], FloatArray]) -> _Law:
    return lambda _, counts, tasks: SmoothLosses(counts, tasks, gain, reciprocal=gain is _inverse_rank)


def _cut(gain: Callable[[FloatArray], FloatArray]) -> _Law:
    def law(metric: Metric, counts: FloatArray, tasks: FloatArray) -> Losses:
        gains = gain(np.arange(1.0, (metric.k or 0) + 1))
        return CutLosses(counts, tasks, gains, reciprocal=gain is _inverse_rank)

    return law


_LAWS: Mapping[str, _Law] = {
    "arithmetic_mean_rank": _rank_losses,
    "inverse_arithmetic_mean_rank": _rank_losses,
    "inverse_harmonic_mean_rank": _smooth(_inverse_rank),
    "harmonic_mean_rank": _smooth(_inverse_rank),
    "geometric_mean_rank": _smooth(_minus_log_rank),
    "inverse_geometric_mean_rank": _smooth(_minus_log_rank),
    "ndcg": _smooth(_discounted_gain),
    "inverse_harmonic_mean_rank_at_k": _cut(_inverse_rank),
    "ndcg_at_k": _cut(_discounted_gain),
    "auc": _area_losses,
}

# --- events -----------------------------------------------------------------------------------------------

_Event = Callable[[ChanceTails, Metric, FloatArray], FloatArray]
"""From values (q,) of a metric to ln P(at least as good)."""


def _mean_loss(loss: Callable[[FloatArray], FloatArray]) -> _Event:
    """Return the event that the mean of the losses is at most loss(value)."""

    def event(tails: ChanceTails, metric: Metric, values: FloatArray) -> FloatArray:
        law = tails.law(metric)
        with np.errstate(divide="ignore"):
            means = loss(values)
        bounds = law.tasks.sum() * (means + _ROUNDING * (1 + means))
        if metric.family == "auc" and law.whole:
            bounds *= law.counts[0] - 1
        result = np.zeros_like(values)
        finite = np.isfinite(bounds)
        result[finite] = log_lower_tails(law, np.maximum(bounds[finite], 0.0))
        return result

    return event


def _hits(tails: ChanceTails, metric: Metric, values: FloatArray) -> FloatArray:
    """Return ln P(at least so many ranks up to k)."""
    number = values / metric.optimum * tails.tasks.sum()
    least = np.ceil(number - _COUNT_ROUNDING * np.maximum(number, 1.0))
    return log_at_least(tails.groups, np.full_like(values, float(metric.k or 0)), least)


def _median(tails: ChanceTails, _: Metric, values: FloatArray) -> FloatArray:
    return np.array([log_median_tail(tails.groups, value * (1 + _ROUNDING)) for value in values])


def _inverse_median(tails: ChanceTails, metric: Metric, values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return _median(tails, metric, np.minimum(1 / values, tails.counts[-1]))


_EVENTS: Mapping[str, _Event] = {
    "arithmetic_mean_rank": _mean_loss(lambda value: value - 1),
    "inverse_arithmetic_mean_rank": _mean_loss(lambda value: 1 / value - 1),
    "inverse_harmonic_mean_rank": _mean_loss(lambda value: 1 - value),
    "harmonic_mean_rank": _mean_loss(lambda value: 1 - 1 / value),
    "geometric_mean_rank": _mean_loss(np.log),
    "inverse_geometric_mean_rank": _mean_loss(lambda value: -np.log(value)),
    "ndcg": _mean_loss(lambda value: 1 - value),
    "inverse_harmonic_mean_rank_at_k": _mean_loss(lambda value: 1 - value),
    "ndcg_at_k": _mean_loss(lambda value: 1 - value),
    "auc": _mean_loss(lambda value: 1 - value),
    "hits_at_k": _hits,
    "precision_at_k": _hits,
    "median_rank": _median,
    "inverse_median_rank": _inverse_median,
}
