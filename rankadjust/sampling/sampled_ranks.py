"""What a value printed for sampled negatives says of the full ranks.

The sampled ranks S_1..S_n of n tasks are independent. The printed value is the mean P of f(S_i), scaled to lie between
0 and 1. Given the full ranks, Markov's inequality bounds P from above for every t > 0: with probability at least 1 - d,

    t P - mean of ln E exp(t f(S)) <= ln(1/d) / n.

The t that is best for these ranks does not depend on the draws. If the inequality is true at that t, it is true at
every t (Chernoff's bound, which is below the bounds of Hoeffding, Bernstein and Bennett). The mean on the left is a
mean over the full ranks, so each t gives a row of the linear program. No law is assumed to be normal, and no variance
is estimated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.draw import Draw
from rankadjust.chance.metrics import MEAN_OF_VALUE, Metric
from rankadjust.sampling.shares import Rows, Tasks

# Ratio of neighbouring t; the best t of this grid is as good as the best of all t within 1 %.
_RATIO = 1.35
# A greater t improves the bounds little: a probability of exp(-64) does not matter.
_GREATEST = 64.0


@dataclass(frozen=True)
class Printed:
    """A printed value of a metric among sampled negatives; low, high: the ends of its rounding interval."""

    metric: Metric
    low: float
    high: float


class SampledMean:
    """The term of a metric as a function of the sampled rank, from 0 to 1, and the rows that follow from its law."""

    def __init__(self, metric: Metric, draw: Draw, tasks: Tasks) -> None:
        """Take a metric that is a function of a mean over the tasks."""
        assert metric.term is not None
        ranks = np.arange(1.0, draw.negatives + 2)
        term = np.asarray(metric.term(ranks, np.full_like(ranks, draw.negatives + 1)), dtype=np.float64)
        self._least, self._span = term.min(), np.ptp(term) or 1.0
        self._unit = (term - self._least) / self._span
        self._back = MEAN_OF_VALUE[metric.link]
        self._draw, self._tasks = draw, tasks
        # By the least t: rows of -ln E exp(t f) / t at all t, then rows of -ln E exp(-t f) / t.
        self._tilted: dict[float, FloatArray] = {}

    def _ends(self, printed: Printed) -> tuple[float, float]:
        ends = (self._back(np.array([printed.low, printed.high])) - self._least) / self._span
        return float(ends.min()), float(ends.max())

    def rows(self, printed: Printed, surprise: float) -> Rows:
        """Return the rows of the linear program that a printed value gives, after `tilt_together`.

        surprise: ln(1/d), where d is the probability that the draws violate the rows on one side.
        """
        low, high = self._ends(printed)
        tilts = _tilts(surprise / self._tasks.number)
        slack = surprise / self._tasks.number / tilts
        return Rows(self._tilted[tilts[0]], np.concatenate([slack - low, slack + high]))


def tilt_together(means: Sequence[SampledMean], surprise: float) -> None:
    """Compute the rows of several metrics of one draw and one list of tasks at once.

    Most of the time goes into the probabilities of the sampled ranks, which all metrics share.
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
        rates: FloatArray = -np.log(draw.means(ranks, counts, tilted)) / scale
        return rates

    rows = np.ascontiguousarray(tasks.lower(exponents).T)
    for mean, own in zip(missing, np.split(rows, len(missing)), strict=True):
        mean._tilted[tilts[0]] = own


def _tilts(surprise: float) -> FloatArray:
    """Return a grid of t, from the best t for the greatest variance to the best t for the least variance."""
    least = np.sqrt(8 * surprise) / 2
    greatest = max(_GREATEST, 4 * least)
    # The grid has powers of a fixed ratio and starts at every fourth power, so that other models and metrics often have
    # the same grid and share the results for it.
    first, last = (np.log(end) / np.log(_RATIO) for end in (least, greatest))
    tilts: FloatArray = _RATIO ** np.arange(4 * np.floor(first / 4), np.ceil(last) + 1)
    return tilts
