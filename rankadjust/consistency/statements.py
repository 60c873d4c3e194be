"""Translate each printed value into a demand on the distribution of ranks: an interval for a mean over the tasks.

MRR 0.50, for example, says that the mean of 1/r is from 0.495 to 0.505. Every demand is necessary: ranks that have the
printed value fulfil it. A metric that is not a mean over the tasks (a median, GMR), or whose terms depend on the number
of candidates (AUC), demands nothing. docs/checking.md, "Why impossible is a proof", says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.metrics import Metric
from rankadjust.consistency.rank_grid import RankFunction

# Values printed at full precision still carry the noise of single precision.
TOLERANCE = 1e-6
# Shares and means of shares use this scale where the printed value is smaller.
_LEAST_SCALE = 1e-2


@dataclass(frozen=True)
class TaskCounts:
    """A list of ranking tasks.

    counts, times: the distinct numbers of candidates, ascending, and how many tasks have each; empty if unknown. most:
    the greatest number of candidates, inf if unknown.
    """

    counts: FloatArray
    times: FloatArray
    most: float

    @property
    def number(self) -> float | None:
        """The number of tasks, None if it is unknown."""
        return float(self.times.sum()) if self.times.size else None

    def shares_above(self, ranks: Sequence[float]) -> FloatArray:
        """Return the shares of tasks with more candidates than each rank; no larger shares of ranks are above it."""
        if not self.times.size:
            return (np.asarray(ranks) < self.most).astype(np.float64)
        up_to = np.append(0.0, np.cumsum(self.times))
        within = up_to[np.searchsorted(self.counts, ranks, side="right")]
        shares: FloatArray = (up_to[-1] - within) / up_to[-1]
        return shares


@dataclass(frozen=True)
class Interval:
    """A printed value: `key` distinguishes it from its model's other values, `side` names the tasks of its mean.

    low, high: the ends of its rounding interval in the unit of the metric.
    """

    key: str
    metric: Metric
    side: str
    low: float
    high: float


@dataclass(frozen=True)
class Demand:
    """The mean of a function of the rank over the tasks is in [low, high].

    jump: the rank after which the function jumps, if it does. scale: the size by which an excess is divided.
    """

    function: RankFunction
    low: float
    high: float
    scale: float
    jump: float | None


def demand_of(value: Interval) -> Demand | None:
    """Return the demand of a printed value; None if a value of this metric demands nothing of the ranks."""
    metric = value.metric
    if not metric.additive or metric.term is None or metric.needs_candidates:
        return None
    margin = TOLERANCE * max(abs(value.low), abs(value.high))
    low, high = (max(end, metric.lower) for end in (value.low - margin, value.high + margin))
    scale = max(_LEAST_SCALE, abs(low), abs(high))
    return Demand(_of_ranks(metric), low, high, scale, None if metric.k is None else float(metric.k))


@lru_cache(maxsize=256)
def _of_ranks(metric: Metric) -> RankFunction:
    """Return the term of a metric as a function of ranks alone, the same function whenever it is asked for."""
    nothing = np.array(np.nan)

    def of_ranks(ranks: FloatArray) -> FloatArray:
        assert metric.term is not None
        return np.asarray(metric.term(ranks, nothing), dtype=np.float64)

    return of_ranks
