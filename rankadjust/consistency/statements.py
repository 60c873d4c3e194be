"""Translate each printed value into statements about the distribution of ranks: intervals for means over the tasks.

* For a metric with a term f, the link takes the rounding interval back to an interval for the mean of f: 0.5 for MRR
  and 2 for HMR are the same statement. For AUC, the term is known up to the N of each task.
* A median of at most x means that at least half of the ranks are at most x. A median of at least y means that at least
  half are at least y. Both hold for even and odd n.

Every statement is necessary: ranks that have the printed value fulfil it. docs/methods.md, "Consistency", has the
proofs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.metrics import MEAN_OF_VALUE, Metric, share_beaten
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
    """The mean of a function over the tasks is in [low, high].

    lower, upper: functions of the rank that enclose the function, for the tasks of a side. thresholds: ranks where the
    function jumps. scale: the size by which an excess is divided.
    """

    lower: RankFunction
    upper: RankFunction
    low: float
    high: float
    scale: float
    thresholds: tuple[float, ...] = ()


@dataclass(frozen=True)
class Statement:
    """The demands of a printed value, by the tasks of a side."""

    name: str
    side: str
    demands_of: Callable[[TaskCounts], tuple[Demand, ...]]


def statement_of(value: Interval) -> Statement | None:
    """Return the statement of a printed value; None if a value of this metric says nothing of the ranks."""
    metric = value.metric
    margin = TOLERANCE * max(abs(value.low), abs(value.high))
    low, high = value.low - margin, value.high + margin
    if metric.shape is share_beaten:
        return Statement(value.key, value.side, lambda tasks: _auc(tasks, low, high))
    if metric.key == "median_rank":
        demands = _median(low, high)
    elif metric.key == "inverse_median_rank":
        demands = _median(1 / high if high > 0 else np.inf, 1 / low if low > 0 else np.inf)
    elif metric.needs_candidates or (demand := mean_demand(metric, low, high)) is None:
        return None
    else:
        demands = (demand,)
    return Statement(value.key, value.side, lambda _: demands)


def mean_demand(metric: Metric, low: float, high: float) -> Demand | None:
    """Return the interval for the mean of a term; None if the metric has no term or its link no known inverse."""
    back = MEAN_OF_VALUE.get(metric.link)
    if back is None or metric.term is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = back(np.maximum(np.array([low, high]), metric.lower))
    of_ranks = _of_ranks(metric)
    jumps = () if metric.k is None else (float(metric.k),)
    return _demand(of_ranks, of_ranks, float(ends.min()), float(ends.max()), jumps)


@lru_cache(maxsize=256)
def _of_ranks(metric: Metric) -> RankFunction:
    """Return the term of a metric as a function of ranks alone, the same function whenever it is asked for."""
    nothing = np.array(np.nan)

    def of_ranks(ranks: FloatArray) -> FloatArray:
        assert metric.term is not None
        return np.asarray(metric.term(ranks, nothing), dtype=np.float64)

    return of_ranks


def _demand(
    lower: RankFunction, upper: RankFunction, low: float, high: float, thresholds: tuple[float, ...] = ()
) -> Demand:
    known = [abs(end) for end in (low, high) if np.isfinite(end)]
    return Demand(lower, upper, low, high, max([_LEAST_SCALE, *known]), thresholds)


def share_demand(holds: RankFunction, least: float, thresholds: tuple[float, ...]) -> Demand:
    """Return the demand that at least a share `least` of the ranks is in the set where `holds` is 1, and not 0."""
    return Demand(holds, holds, least, np.inf, 1.0, thresholds)


def at_most(rank: float) -> RankFunction:
    """Return the function that is 1 for ranks up to `rank`, 0 above."""
    return lambda ranks: (ranks <= rank).astype(np.float64)


def at_least(rank: float) -> RankFunction:
    """Return the function that is 1 for ranks from `rank` on, 0 below."""
    return lambda ranks: (ranks >= rank).astype(np.float64)


def _median(low: float, high: float) -> tuple[Demand, ...]:
    # The next rank below `low` is clearly lower, so that any point just below `low` serves as the threshold.
    ends = tuple(end for end in (np.nextafter(low, 0.0), high) if np.isfinite(end))
    demands = [share_demand(at_least(low), 0.5, ends)]
    if np.isfinite(high):
        demands.append(share_demand(at_most(high), 0.5, ends))
    return tuple(demands)


def _auc(tasks: TaskCounts, low: float, high: float) -> tuple[Demand, ...]:
    """Return the demand for the mean of 1 - (r - 1)/(N - 1); AUC leaves out tasks with a single candidate.

    N is between the rank and the greatest N. With e the share of tasks left out, and a term of 1 for each of them, the
    mean over all tasks is e + (1 - e) AUC.
    """
    least = float(tasks.counts[tasks.counts > 1].min()) if np.any(tasks.counts > 1) else 2.0
    most, alone = (
        max(tasks.most, 2.0),
        1.0 - float(tasks.shares_above((1.0,))[0]) if tasks.times.size else 0.0,
    )

    def lower(ranks: FloatArray) -> FloatArray:
        values: FloatArray = 1.0 - (ranks - 1) / (np.maximum(ranks, least) - 1)
        return values

    def upper(ranks: FloatArray) -> FloatArray:
        return 1.0 - (ranks - 1) / (most - 1)

    if not tasks.times.size:
        return ()
    return (_demand(lower, upper, alone + (1 - alone) * low, alone + (1 - alone) * high, (least,)),)
