"""Metrics of ranks that are known up to the order of the tied: expectation and variance over all orders.

If G candidates are above the true answer and m are tied with it (itself included), every order of the tied is equally
likely, and the rank is uniform on G + 1 .. G + m. Orders of different tasks are independent. Let F(x) be the sum of a
term f over the ranks up to x. Then

    E f(r) = (F(G + m) - F(G)) / m,

and one table of F serves all tasks, splits, baselines and protocols. Section "Ties" of docs/methods-baselines.md has
the other metrics.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.metrics import Metric, Term, hit, rank, share_beaten
from rankadjust.chance.moments import Moments, log_sinhc, reciprocal_moments
from rankadjust.chance.rank_sums import mean_over_orders

Function = Callable[[FloatArray], FloatArray]

# A range of ranks is narrow if its length is at most this multiple of its lowest rank. A smooth term is averaged over
# a narrow range by the Gauss rule of three nodes; the error falls with the sixth power of _NARROW.
_NARROW = 1 / 16
# From this sum of reciprocal ranks on, the series of cumulants up to order _ORDERS replaces the generating function.
_LARGE = 20.0
_ORDERS = 8
_LAST = 60.0
# Smaller sums need tables by rank and node, or by range and node: this bounds their size.
_CELLS = 2**25
_BLOCK = 2**12


@dataclass(frozen=True)
class RankSums:
    """Tables of sums over the ranks 1..x, for every x up to `largest`; each table is made once."""

    largest: int
    _tables: dict[tuple[object, int], FloatArray] = field(default_factory=dict)

    def of(self, shape: Term, power: int) -> FloatArray:
        """Return the sums of a power of a term that does not depend on the number of candidates (largest + 1,)."""
        key = (shape, power)
        if key not in self._tables:
            ranks = np.arange(1.0, self.largest + 1)
            self._tables[key] = prefix_sums(shape(ranks, np.full_like(ranks, np.nan)) ** power)
        return self._tables[key]

    @cached_property
    def of_inverse_powers(self) -> FloatArray:
        """The sums of 1 / r^j for j = 0 .. _ORDERS (largest + 1, _ORDERS + 1)."""
        return prefix_sums(np.arange(1.0, self.largest + 1)[:, None] ** -np.arange(_ORDERS + 1.0))


def prefix_sums(values: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2, … values (n, …), by blocks, so that rounding errors stay few."""
    blocks = -(-len(values) // _BLOCK)
    padded = np.zeros((blocks * _BLOCK, *values.shape[1:]))
    padded[: len(values)] = values
    within = padded.reshape(blocks, _BLOCK, *values.shape[1:]).cumsum(axis=1)
    before = np.concatenate([np.zeros((1, *values.shape[1:])), within[:, -1].cumsum(axis=0)[:-1]])
    sums = (within + before[:, None]).reshape(padded.shape)[: len(values)]
    return np.concatenate([np.zeros((1, *values.shape[1:])), sums])


@dataclass(frozen=True)
class TieOrders:
    """The law of ranks that are uniform on above + 1 .. above + tied, independently.

    above, tied, candidates: the numbers of each kind of task (k,). tasks: how many tasks are of each kind (k,).
    """

    above: FloatArray
    tied: FloatArray
    candidates: FloatArray
    tasks: FloatArray
    sums: RankSums

    @property
    def total(self) -> float:
        """The number of tasks."""
        return float(self.tasks.sum())

    def sum(self, values: FloatArray) -> float:
        """Return the sum over all tasks of a value that each kind of task has (k,)."""
        return float(np.sum(self.tasks * values))

    def moments(self, metric: Metric) -> Moments:
        """Return expectation and variance of a metric over all orders of the tied."""
        if metric.additive:
            return self._mean_of_term(metric)
        method = _OTHERS.get(metric.family)
        if method is None:
            return Moments(None, None, "none", "not computed: the law of an order statistic of tied ranks")
        return method(self)

    def _mean_of_term(self, metric: Metric) -> Moments:
        counted = self.candidates >= metric.least_candidates
        if not counted.any():
            return Moments(None, None, "none", "every task has one candidate")
        law = self if counted.all() else self._only(counted)
        mean, variance = law._of_term(metric)
        total = law.total
        return Moments(float(law.sum(mean) / total), float(law.sum(variance) / total**2), "sum over ranks")

    def _only(self, kept: np.ndarray) -> "TieOrders":
        columns = ("above", "tied", "candidates", "tasks")
        return replace(self, **{name: getattr(self, name)[kept] for name in columns})

    def _of_term(self, metric: Metric) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a metric's term for each kind of task (k,)."""
        if metric.shape is share_beaten and metric.k is None:
            others = self.candidates - 1
            mean, variance = (self.candidates - self._middle) / others, self._variance_of_rank / others**2
            return metric.scale * mean, metric.scale**2 * variance
        if metric.needs_candidates:
            return self._one_by_one(metric)
        # The rank is at most k with this probability, and uniform there; beyond, the term is 0.
        last = self.above + self.tied if metric.k is None else np.minimum(self.above + self.tied, metric.k)
        within = np.maximum(last - self.above, 0.0)
        share = within / self.tied
        assert metric.shape is not None
        mean, variance = self._of_shape(metric.shape, within)
        return (metric.scale * share * mean, metric.scale**2 * share * (variance + (1 - share) * mean**2))

    def _one_by_one(self, metric: Metric) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance as `_of_term` does, for any term that depends on the number of candidates."""
        square = replace(
            metric,
            scale=metric.scale**2,
            shape=lambda ranks, counts: metric.shape(ranks, counts) ** 2,  # type: ignore[misc]
            term=lambda ranks, counts: metric.term(ranks, counts) ** 2,  # type: ignore[misc]
        )
        mean, mean_square = (
            mean_over_orders(each_metric, self.above + 1, self.above + self.tied, self.candidates)
            for each_metric in (metric, square)
        )
        return mean, np.where(self.tied > 1, np.maximum(mean_square - mean**2, 0.0), 0.0)

    def _of_shape(self, shape: Term, within: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (k,) of a term for r uniform on above + 1 .. above + within; 0 if within is 0."""
        if shape is hit:
            return np.where(within > 0, 1.0, 0.0), np.zeros_like(within)
        if shape is rank:
            return np.where(within > 0, self.above + (within + 1) / 2, 0.0), np.maximum(within**2 - 1, 0) / 12
        mean, variance = np.zeros((2, within.size))
        narrow = within <= _NARROW * (self.above + 1)
        rows = np.flatnonzero(~narrow & (within > 0))
        first, last = self.above[rows].astype(np.intp), (self.above + within)[rows].astype(np.intp)
        size = within[rows]
        once, twice = (
            (table[last] - table[first]) / size for table in (self.sums.of(shape, 1), self.sums.of(shape, 2))
        )
        mean[rows] = once
        variance[rows] = np.where(size > 1, np.maximum(twice - once**2, 0.0), 0.0)
        rows = np.flatnonzero(narrow & (within > 0))
        rule = _Three.of(self.above[rows], within[rows])
        centre, deviations = rule.values(lambda ranks: shape(ranks, np.full_like(ranks, np.nan)))
        shift = rule.mean(deviations)
        mean[rows] = centre + shift
        variance[rows] = rule.mean(deviations**2) - shift**2
        return mean, variance

    @property
    def _middle(self) -> FloatArray:
        return self.above + (self.tied + 1) / 2

    @property
    def _variance_of_rank(self) -> FloatArray:
        return (self.tied - 1) * (self.tied + 1) / 12

    # Metrics that are a function of a mean

    def geometric(self, sign: float) -> Moments:
        """Return the moments of prod r_i^(sign / n): products of means of powers, each in units of the middle rank."""
        power = sign / self.total
        middle = np.log(self._middle)
        first, second = (self._log_mean_power(factor * power, middle) for factor in (1, 2))
        expectation = np.exp(power * self.sum(middle) + self.sum(first))
        variance = expectation**2 * np.expm1(max(self.sum(second - 2 * first), 0.0))
        return Moments(float(expectation), float(variance), "power product")

    def _log_mean_power(self, power: float, middle: FloatArray) -> FloatArray:
        """Return ln E[(r / middle)^power] for each kind of task."""
        result = np.zeros_like(middle)
        narrow = self.tied <= _NARROW * (self.above + 1)
        rows = np.flatnonzero(~narrow & (self.tied > 1))
        if rows.size:
            table = prefix_sums(np.expm1(power * np.log(np.arange(1.0, self._largest + 1))))
            first, last = self.above[rows].astype(np.intp), (self.above + self.tied)[rows].astype(np.intp)
            result[rows] = np.log1p((table[last] - table[first]) / self.tied[rows]) - power * middle[rows]
        rows = np.flatnonzero(narrow & (self.tied > 1))
        rule = _Three.of(self.above[rows], self.tied[rows])
        _, deviations = rule.values(lambda ranks: np.expm1(power * (np.log(ranks) - middle[rows])))
        result[rows] = np.log1p(rule.mean(deviations))
        return result

    @property
    def _largest(self) -> int:
        return int((self.above + self.tied).max())

    def inverse_arithmetic(self) -> Moments:
        """Return the moments of n / sum of r: the generating function of a uniform rank has a closed form."""
        expected = self.sum(self._middle)
        tied, place = np.unique(self.tied, return_inverse=True)
        tasks = np.bincount(place, weights=self.tasks)
        if tied[-1] == 1:
            return Moments(self.total / expected, 0.0, "Laplace integral")

        def logs(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            centred = tasks @ (log_sinhc(tied[:, None] * t / 2) - log_sinhc(t / 2))
            return centred, centred - t * expected

        return reciprocal_moments(self.total, expected, self.sum(self.above + 1), logs)

    def harmonic(self) -> Moments:
        """Return the moments of n / sum of 1 / r."""
        mean, _ = self._of_shape(_inverse, self.tied)
        expected = self.sum(mean)
        smallest = self.sum(1 / (self.above + self.tied))
        if (self.tied == 1).all():
            return Moments(self.total / expected, 0.0, "Laplace integral")
        if expected >= _LARGE:
            return reciprocal_moments(
                self.total,
                expected,
                smallest,
                _series(expected, np.sum(self._cumulants() * self.tasks, axis=1)),
            )
        several = self._only(self.tied > 1)
        if max(several._largest, several.tied.size) > _CELLS // 2**8:
            return Moments(None, None, "none", "not computed: too many ranks for the generating function")

        def logs(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            centred = several.tasks @ several._log_transforms(t, mean[self.tied > 1])
            return centred, centred - t * expected

        return reciprocal_moments(self.total, expected, smallest, logs)

    def _cumulants(self) -> FloatArray:
        """Return the cumulants (_ORDERS + 1, k) of 1 / r for each kind of task, from order 2 on."""
        central = np.zeros((_ORDERS + 1, self.tied.size))
        narrow = self.tied <= _NARROW * (self.above + 1)
        rows = np.flatnonzero(~narrow & (self.tied > 1))
        first, last = self.above[rows].astype(np.intp), (self.above + self.tied)[rows].astype(np.intp)
        table = self.sums.of_inverse_powers
        # A row for each power, so that what follows goes through memory in order.
        raw = np.ascontiguousarray(((table[last] - table[first]) / self.tied[rows, None]).T)
        powers = _powers(-raw[1])
        for order in range(2, _ORDERS + 1):
            central[order, rows] = sum(comb(order, j) * raw[j] * powers[order - j] for j in range(order + 1))
        rows = np.flatnonzero(narrow & (self.tied > 1))
        rule = _Three.of(self.above[rows], self.tied[rows])
        _, deviations = rule.values(lambda ranks: 1 / ranks)
        shift = rule.mean(deviations)
        outer, middle = _powers(deviations - shift), _powers(-shift)
        for order in range(2, _ORDERS + 1):
            central[order, rows] = rule.mean(outer[order]) + (1 - 2 * rule.weight) * middle[order]
        cumulants = central.copy()
        for order in range(4, _ORDERS + 1):
            cumulants[order] -= sum(
                comb(order - 1, j - 1) * cumulants[j] * central[order - j] for j in range(2, order - 1)
            )
        return cumulants

    def _log_transforms(self, t: FloatArray, mean: FloatArray) -> FloatArray:
        """Return ln E[exp(-t (1 / r - mean))] for each kind of task and each t (k, q)."""
        first, last = self.above.astype(np.intp), (self.above + self.tied).astype(np.intp)
        ranks = np.arange(1.0, self._largest + 1)[:, None]
        result = np.empty((mean.size, t.size))
        step = max(1, _CELLS // 2**4 // max(ranks.size, mean.size))
        for start in range(0, t.size, step):
            own = t[start : start + step]
            table = prefix_sums(np.expm1(-own / ranks))
            excess = (table[last] - table[first]) / self.tied[:, None]
            result[:, start : start + step] = log_transform(excess, own * mean[:, None])
        return result


def _powers(base: FloatArray) -> FloatArray:
    """Return the powers of order 0 .. _ORDERS (_ORDERS + 1, …) by products, in less than half the time of `**`."""
    powers = np.broadcast_to(base, (_ORDERS + 1, *base.shape)).copy()
    powers[0] = 1.0
    return np.multiply.accumulate(powers, axis=0, out=powers)


def log_transform(excess: FloatArray, mean: FloatArray) -> FloatArray:
    """Return ln E[e^(m - x)] from E[e^-x] - 1 and the mean m of x, which is positive."""
    # For large t, E[e^-x] falls below the precision of the 1 that is subtracted: 1e-16 replaces it. The error is below
    # e^-36 of the integral.
    logs: FloatArray = np.log1p(np.maximum(excess, 1e-16 - 1)) + mean
    return logs


def _inverse(ranks: FloatArray, _: FloatArray) -> FloatArray:
    return 1 / ranks


def _series(expected: float, cumulants: FloatArray) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
    """Return the logarithms for `reciprocal_moments` from the cumulants of a large sum, of order 2 on."""

    def logs(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        s = t * expected
        centred, term = np.zeros_like(t), np.ones_like(t)
        for order, cumulant in enumerate(cumulants):
            centred += term * cumulant
            term *= -np.minimum(t, _LAST / expected) / (order + 1)
        # Beyond _LAST, both exponentials are negligible.
        centred[s > _LAST] = 0.0
        return centred, centred - s

    return logs


@dataclass(frozen=True)
class _Three:
    """The Gauss rule of three nodes for means over above + 1 .. above + size: the middle and a node on either side.

    It is exact for polynomials up to degree 5. weight: the weight of each outer node.
    """

    middle: FloatArray
    distance: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, above: FloatArray, size: FloatArray) -> "_Three":
        variance = (size**2 - 1) / 12
        square = np.maximum((3 * size**2 - 7) / 20, 1 / 4)
        return cls(above + (size + 1) / 2, np.sqrt(square), variance / (2 * square))

    def values(self, function: Function) -> tuple[FloatArray, FloatArray]:
        """Return the values (k,) in the middle, and the deviations from them at the outer nodes (2, k)."""
        centre = function(self.middle)
        outer = [function(self.middle + sign * self.distance) - centre for sign in (-1, 1)]
        return centre, np.stack(outer)

    def mean(self, outer: FloatArray) -> FloatArray:
        """Return the means (k,) of a function that is 0 in the middle and has the values `outer` (2, k) beside it."""
        mean: FloatArray = self.weight * outer.sum(axis=0)
        return mean


_OTHERS: dict[str, Callable[[TieOrders], Moments]] = {
    "geometric_mean_rank": lambda law: law.geometric(1.0),
    "inverse_geometric_mean_rank": lambda law: law.geometric(-1.0),
    "inverse_arithmetic_mean_rank": TieOrders.inverse_arithmetic,
    "harmonic_mean_rank": TieOrders.harmonic,
}
