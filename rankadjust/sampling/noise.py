"""What a value that is printed for sampled ranks says about the full ranks, with the noise of the draws.

The sampled ranks S_1..S_n of n tasks are independent, and what is printed is the mean P of f(S_t), from 0 to 1 here.
Given the full ranks, Markov's inequality bounds P from above for every t > 0: with probability at least 1 - d,

    t P - mean of ln E exp(t f(S)) <= ln(1/d) / n,

at the t that is best for these ranks, which the draws do not change; and so at every t (Chernoff's bound, which is
below those of Hoeffding, Bernstein and Bennett). The mean is one over the full ranks: each t gives a row of the linear
program. No law is taken for normal, and no variance is estimated (docs/sampled.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.metrics import Metric
from rankadjust.chance.tails import MEAN_OF_VALUE
from rankadjust.sampling.law import Draw
from rankadjust.sampling.shares import Rows, Tasks

# Neighbouring t are this far apart; the best of them is as good as the best t within 1 %.
_RATIO = 1.35
# A greater t says little more: exp(-64) is no probability that matters.
_GREATEST = 64.0
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Printed:
    """A printed value of a metric among sampled negatives; low, high: the ends of its rounding interval."""

    metric: Metric
    low: float
    high: float


class SampledMean:
    """The term of a metric as a function of the sampled rank, from 0 to 1, and its laws at the columns of tasks."""

    def __init__(self, metric: Metric, draw: Draw, tasks: Tasks) -> None:
        """Take a metric that is a function of a mean over the tasks."""
        assert metric.term is not None
        ranks = np.arange(1.0, draw.negatives + 2)
        term = np.asarray(metric.term(ranks, np.full_like(ranks, draw.negatives + 1)), dtype=np.float64)
        self._least, self._span = term.min(), np.ptp(term) or 1.0
        self._unit = (term - self._least) / self._span
        self._back = MEAN_OF_VALUE[metric.link]
        self._draw, self._tasks = draw, tasks
        self._of_limit: FloatArray | None = None
        # By the least t: rows of -ln E exp(t f) / t at all t, then rows of -ln E exp(-t f) / t.
        self._tilted: dict[float, FloatArray] = {}

    def rows(self, printed: Printed, surprise: float | None) -> Rows:
        """Return what a printed value says.

        surprise: ln(1/d) for the probability d that the draws are beyond the rows on one side; None for the limit of
        many draws, where what is printed is what is expected.
        """
        ends = (self._back(np.array([printed.low, printed.high])) - self._least) / self._span
        low, high = float(ends.min()), float(ends.max())
        if surprise is None:
            weights = self._limit()
            return Rows(weights, np.array([high + _ROUNDING, -low + _ROUNDING]))
        tilt_together([self], surprise)
        tilts = _tilts(surprise / self._tasks.number)
        slack = surprise / self._tasks.number / tilts
        return Rows(self._tilted[tilts[0]], np.concatenate([slack - low, slack + high]))

    def _limit(self) -> FloatArray:
        if self._of_limit is None:
            both = np.stack([self._unit, -self._unit], axis=1)
            self._of_limit = self._tasks.lower(lambda ranks, counts: self._draw.means(ranks, counts, both)).T
        return self._of_limit


def tilt_together(means: Sequence[SampledMean], surprise: float) -> None:
    """Compute the rows of several metrics of one draw and one list of tasks at once.

    The probabilities of the sampled ranks take most of the time, and all metrics have the same.
    """
    draw, tasks = means[0]._draw, means[0]._tasks
    tilts = _tilts(surprise / tasks.number)
    missing = [mean for mean in means if tilts[0] not in mean._tilted]
    if not missing:
        return
    signed = np.concatenate([tilts, -tilts])
    tilted = np.exp(np.concatenate([np.outer(mean._unit, signed) for mean in missing], axis=1))
    scale = np.tile(np.abs(signed), len(missing))

    def exponents(ranks: FloatArray, counts: FloatArray) -> FloatArray:
        found: FloatArray = -np.log(draw.means(ranks, counts, tilted)) / scale
        return found

    rows = np.ascontiguousarray(tasks.lower(exponents).T)
    for mean, own in zip(missing, np.split(rows, len(missing)), strict=True):
        mean._tilted[tilts[0]] = own


def _tilts(surprise: float) -> FloatArray:
    """Return values of t, from what is best for the greatest variance to what is best for the least."""
    least = np.sqrt(8 * surprise) / 2
    greatest = max(_GREATEST, 4 * least)
    # Powers of one number, from every fourth on: values of other models and metrics share what is computed for them.
    first, last = (np.log(end) / np.log(_RATIO) for end in (least, greatest))
    tilts: FloatArray = _RATIO ** np.arange(4 * np.floor(first / 4), np.ceil(last) + 1)
    return tilts
