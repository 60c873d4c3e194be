"""Ends of 95 % confidence intervals from bootstrap samples (docs/methods-intervals.md).

Two methods, both better than the quantiles of the samples where ranks are skewed (Efron and Tibshirani 1993, chapters
12 and 14): studentised, for means that depend much on the worst ranks; BCa for everything else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric
from rankadjust.evaluation.weighting import pieces

# The ends of a 95 % interval.
_QUANTILES = np.array([0.025, 0.975])
# A metric is studentised where the worse half of the ranks makes up at least this share of its term's range.
_LONG_TAIL = 0.1
_MANY_CANDIDATES = 1e6
# An error this small beside that of all tasks is rounding: the sample has no spread.
_NO_SPREAD = 1e-9
# Where a larger share of the samples has no spread, they cannot be studentised.
_MOST_WITHOUT_SPREAD = 0.005


@lru_cache(maxsize=256)
def has_long_tail(metric: Metric) -> bool:
    """Return whether a few tasks with bad ranks may decide a metric.

    So it is where the term f of the metric still changes among the worse half of the ranks 1..N:
    |f(N/2) - f(N)| / |f(1) - f(N)| is 0.5 for MR, IMR and AUC at N = 10^6, but 0.05 for GMR, 0.003 for nDCG, 10^-6 for
    MRR and 0 for Hits@k.
    """
    if metric.term is None:
        return False
    ranks = np.array([1.0, _MANY_CANDIDATES / 2, _MANY_CANDIDATES])
    first, middle, last = metric.term(ranks, np.full_like(ranks, _MANY_CANDIDATES))
    return bool(abs(middle - last) >= _LONG_TAIL * abs(first - last))


def bias_corrected(values: FloatArray, samples: FloatArray, left_out: Sequence[FloatArray]) -> FloatArray:
    """Return the ends (m, 2) of the BCa intervals (bias-corrected and accelerated) of some metrics.

    values: of the metrics (m,). samples: bootstrap samples (m, draws). left_out: for each stratum the metrics with one
    part of the stratum left out (m, parts).
    """
    with np.errstate(invalid="ignore"):
        present = (~np.isnan(samples)).sum(axis=1)
        below = ((samples < values[:, None]).sum(axis=1) + (samples <= values[:, None]).sum(axis=1)) / 2
    # Half a sample at least on either side: the quantile of 0 is infinite.
    share = np.clip(below / np.maximum(present, 1), 0.5 / (present + 1), 1 - 0.5 / (present + 1))
    bias = special.ndtri(share)[:, None]
    moved = bias + special.ndtri(_QUANTILES)
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = special.ndtr(bias + moved / (1 - _acceleration(left_out)[:, None] * moved))
    return _quantiles(samples, levels)


def _acceleration(left_out: Sequence[FloatArray]) -> FloatArray:
    """Return how fast the standard error changes with the metric (m,): a sixth of the skewness of the influence."""
    # A stratum of one unit has no parts, and numpy warns of the mean of nothing.
    influence = np.concatenate(
        [values.sum(axis=1, keepdims=True) / max(values.shape[1], 1) - values for values in left_out], axis=1
    )
    influence = np.nan_to_num(influence)
    squares = (influence**2).sum(axis=1)
    cubes = (influence**3).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration: FloatArray = np.where(squares > 0, cubes / squares**1.5 / 6, 0.0)
    return np.nan_to_num(acceleration)


def _quantiles(samples: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the quantiles (m, 2) of each row of samples at its own levels (m, 2); nan where there are none."""
    ends = np.full((samples.shape[0], 2), np.nan)
    for number, values in enumerate(samples):
        present = values[~np.isnan(values)]
        if present.size:
            ends[number] = np.quantile(present, levels[number])
    return ends


@dataclass(frozen=True)
class UnitMeans:
    """k weighted means over tasks, as sums over units.

    terms, weights: the sums of weight times term, and of the weights, of each unit (k, units). lowest, highest: what
    each mean can be (k,). strata: the units that are drawn among themselves.
    """

    terms: FloatArray
    weights: FloatArray
    lowest: FloatArray
    highest: FloatArray
    strata: Sequence[IntArray]

    def mean_and_error(self, counts: FloatArray) -> FloatArray:
        """Return each mean and its standard error in each sample (2, k, d); counts: how often it has a unit (units, d).

        A mean is a ratio of two sums over the units of the strata: its error is the error of the linear part of the
        ratio.
        """
        # Deviations from the mean of all tasks: fewer digits are lost in the squares.
        centre = self.terms.sum(axis=1, keepdims=True) / self.weights.sum(axis=1, keepdims=True)
        sums = [self._sums(stratum, centre, counts) for stratum in self.strata]
        total, weight = np.sum([part[:2] for part in sums], axis=0)
        variance = np.zeros_like(total)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = total / weight
            for stratum, (first, second, squares, mixed, weights_squared) in zip(
                self.strata, sums, strict=True
            ):
                spread = squares - 2 * mean * mixed + mean**2 * weights_squared
                spread -= (first - mean * second) ** 2 / stratum.size
                variance += spread * stratum.size / max(stratum.size - 1, 1)
            error = np.sqrt(np.maximum(variance, 0.0)) / weight
        return np.stack([centre + mean, error])

    def _sums(self, stratum: IntArray, centre: FloatArray, counts: FloatArray) -> FloatArray:
        """Return the sums over a stratum of the deviations, of the weights, and of their products (5, k, d).

        They are made piece by piece: at once they would need five times the memory of the terms.
        """
        total = np.zeros((5 * centre.size, counts.shape[1]))
        for piece in pieces(stratum.size, total.size):
            units = stratum[piece]
            weights = self.weights.take(units, axis=1)
            deviations = self.terms.take(units, axis=1) - centre * weights
            products = [deviations, weights, deviations**2, deviations * weights, weights**2]
            total += np.concatenate(products) @ counts[units]
        return total.reshape(5, -1, counts.shape[1])


def skewed_p(means: UnitMeans, stretch: FloatArray) -> FloatArray:
    """Return two-sided p of means that are 0 (k,): Student's t, freed of skewness by Hall's transformation (1992).

    stretch: by how much the standard errors are too small, since units may depend on each other (k,). nan where a mean
    has no spread.
    """
    units = means.terms.shape[1]
    mean, error = means.mean_and_error(np.ones((units, 1)))[:, :, 0]
    parts = means.terms - mean[:, None] * means.weights
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = (parts**3).sum(axis=1) / (parts**2).sum(axis=1) ** 1.5
        t = mean / (error * stretch)
        moved = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    p: FloatArray = 2 * special.stdtr(max(units - 1, 1), -np.abs(moved))
    return p


def studentised(means: UnitMeans, sampled: FloatArray) -> FloatArray:
    """Return the ends (k, 2) of the studentised intervals of means; nan where too many samples have no spread.

    sampled: mean and error of each in the bootstrap samples (2, k, draws). No end is beyond what a mean can be.
    """
    units = means.terms.shape[1]
    own, own_error = means.mean_and_error(np.ones((units, 1)))[:, :, 0]
    ends = np.full((own.size, 2), np.nan)
    for number, (mean, error) in enumerate(zip(own, own_error, strict=True)):
        values, errors = sampled[:, number]
        varied = errors > _NO_SPREAD * error
        if error > 0 and np.mean(varied) >= 1 - _MOST_WITHOUT_SPREAD:
            ratios = (values[varied] - mean) / errors[varied]
            ends[number] = mean - error * np.quantile(ratios, _QUANTILES[::-1])
    return np.clip(ends, means.lowest[:, None], means.highest[:, None])
