"""The least and the greatest value that a metric can have: no rank is above the number of candidates of its task.

Where the term of a metric only rises or only falls with the rank, its mean is between its values for two rankings:
every true answer first, and every true answer last (docs/metrics.md, "Bounds"). Tied ranks are means of ranks up
to N, so the bounds hold for them too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.metrics import Metric, resolve

# Printed at full precision, values still carry the noise of single precision.
_TOLERANCE = 1e-6


class Attainable(NamedTuple):
    """The least and the greatest value that a metric has for any ranks."""

    least: float
    greatest: float

    def is_below(self, high: float) -> bool:
        """Return whether values up to `high` are too small to be attained."""
        return high < self.least - _TOLERANCE * abs(self.least)

    def excludes(self, low: float, high: float) -> bool:
        """Return whether no value from `low` to `high` is attained."""
        return self.is_below(high) or low > self.greatest + _TOLERANCE * abs(self.greatest)


def attainable(
    metric: Metric | str, num_candidates: ArrayLike, tasks: ArrayLike, first: int = 1
) -> Attainable | None:
    """Return the bounds of a metric's values; None for measures of dispersion, and where no task counts.

    num_candidates: numbers of candidates (k,), the true answer included, in any order; tasks: how many tasks have
    each (k,); first: the rank of the best. The term of a metric has to rise or fall with the rank, up to its k where
    there is one.
    Raises RankadjustError where there are fewer than one candidate or the lists differ in length.
    """
    metric = resolve(metric) if isinstance(metric, str) else metric
    pooled = CandidateCounts.of(num_candidates, tasks)
    if (pooled.counts < 1).any():
        raise RankadjustError("every task has at least one candidate, the true answer")
    counted = pooled.counts >= metric.least_candidates
    if not counted.any():
        return None
    counts, times = pooled.counts[counted], pooled.tasks[counted]
    if metric.term is not None:
        # A term that rises to its cut is greatest at k, just before it.
        ranks = [np.full_like(counts, first), counts, np.minimum(counts, metric.k or np.inf)]
        terms = np.array([metric.term(rank, counts) for rank in ranks])
        means = np.stack([terms.min(axis=0) @ times, terms.max(axis=0) @ times]) / times.sum()
        ends = metric.link(means)
    elif metric.key in ("median_rank", "inverse_median_rank"):
        middle = [np.floor((times.sum() + 1) / 2), np.floor(times.sum() / 2) + 1]
        worst = counts[np.searchsorted(np.cumsum(times), middle)].mean()
        ends = np.array([first, worst])
        ends = ends if metric.key == "median_rank" else 1 / ends
    else:
        return None
    return Attainable(float(ends.min()), float(ends.max()))
