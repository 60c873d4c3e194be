"""The least and the greatest value that a metric can have: no rank is above the number of candidates of its task.

Where the term of a metric only rises or only falls with the rank, its mean is between its values for two rankings:
every true answer first, and every true answer last (docs/metrics.md, "Bounds"). Tied ranks are means of ranks up
to N, so the bounds hold for them too.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import Metric, Term, identity, inverse, resolve

# Printed at full precision, values still carry the noise of single precision.
_TOLERANCE = 1e-6


class Attainable(NamedTuple):
    """The least and the greatest value that a metric has for any ranks."""

    least: float
    greatest: float

    def is_below(self, high: float) -> bool:
        """Return whether values up to `high` are too small to be attained."""
        return high < self.least - _TOLERANCE * abs(self.least)

    def is_above(self, low: float) -> bool:
        """Return whether values from `low` on are too great to be attained."""
        return low > self.greatest + _TOLERANCE * abs(self.greatest)

    def excludes(self, low: float, high: float) -> bool:
        """Return whether no value from `low` to `high` is attained."""
        return self.is_below(high) or self.is_above(low)


def attainable(metric: Metric | str, num_candidates: ArrayLike, tasks: ArrayLike) -> Attainable | None:
    """Return the bounds of a metric's values; None for measures of dispersion, and where no task counts.

    num_candidates: numbers of candidates (k,), the true answer included, in any order; tasks: how many tasks have
    each (k,). The term of a metric has to rise or fall with the rank, up to its k where there is one.
    Raises RankadjustError where there are fewer than one candidate or the lists differ in length.
    """
    metric = resolve(metric) if isinstance(metric, str) else metric
    counts, times = np.asarray(num_candidates, dtype=np.float64), np.asarray(tasks, dtype=np.float64)
    if counts.ndim != 1 or counts.shape != times.shape:
        raise RankadjustError("num_candidates and tasks must be lists of the same length")
    if np.any(counts < 1):
        raise RankadjustError("every task has at least one candidate, the true answer")
    if not ((times > 0) & (counts >= metric.least_candidates)).any():
        return None
    least, greatest = attainable_by_group(metric, counts, times, np.zeros(counts.size), 1)
    return None if np.isnan(least[0]) else Attainable(float(least[0]), float(greatest[0]))


def attainable_by_group(
    metric: Metric, num_candidates: ArrayLike, tasks: ArrayLike, group: ArrayLike, groups: int
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest value of a metric for many histograms at once, (groups,) each.

    num_candidates, tasks: as of `attainable`; group: which of the histograms, from 0 on, each entry (k,) belongs to.
    nan where `attainable` gives None.
    """
    counts, times = np.asarray(num_candidates, dtype=np.float64), np.asarray(tasks, dtype=np.float64)
    place = np.asarray(group, dtype=np.int64)
    counted = (times > 0) & (counts >= metric.least_candidates)
    counts, times, place = counts[counted], times[counted], place[counted]
    if metric.term is not None:
        terms = _term_ends(metric.term, metric.k, counts)
        totals = [np.bincount(place, end * times, groups) for end in terms]
        with np.errstate(invalid="ignore"):
            ends = metric.link(np.stack(totals) / np.bincount(place, times, groups))
    elif metric.key in _OF_MEDIAN:
        medians = _medians(counts, times, place, groups)
        ends = _OF_MEDIAN[metric.key](np.stack([np.where(np.isnan(medians), np.nan, 1.0), medians]))
    else:
        return np.full(groups, np.nan), np.full(groups, np.nan)
    return ends.min(axis=0), ends.max(axis=0)


def _term_ends(term: Term, k: int | None, counts: FloatArray) -> FloatArray:
    """Return the least and the greatest term of a task with each number of candidates, (2, k)."""
    ranks = [np.ones_like(counts), counts]
    if k is not None:
        # A term that rises is greatest at k, just before the cut.
        ranks.append(np.minimum(counts, k))
    terms = np.array([term(rank, counts) for rank in ranks])
    return np.stack([terms.min(axis=0), terms.max(axis=0)])


def _medians(counts: FloatArray, tasks: FloatArray, place: IntArray, groups: int) -> FloatArray:
    """Return the median of the numbers of candidates of each group, nan where it has no task."""
    order = np.lexsort((counts, place))
    reached = np.cumsum(tasks[order])
    of_group = np.bincount(place, tasks, groups)
    before = np.cumsum(of_group) - of_group
    middle = before + np.array([np.floor((of_group + 1) / 2), np.floor(of_group / 2) + 1])
    medians = counts[order][np.searchsorted(reached, middle).clip(max=counts.size - 1)].mean(axis=0)
    return np.where(of_group > 0, medians, np.nan)


_OF_MEDIAN: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "median_rank": identity,
    "inverse_median_rank": inverse,
}
