"""Metrics of the same ranks under many weightings at once: bootstrap samples, tasks left out, clusters swapped.

A weighting says how often each unit counts (a unit is a task, a triple, a query, …); a unit that is drawn twice counts
twice. A mean over the tasks is a ratio of two sums over units, and a matrix product gives it for thousands of
weightings. A median is found in the cumulative weights of the sorted ranks (docs/methods-intervals.md, "Weights").
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import NORMAL_QUARTILE, Metric
from rankadjust.chance.rank_sums import mean_over_orders

MEDIANS = ("median_rank", "inverse_median_rank")
# Half of the weight is met exactly only up to rounding.
_ROUNDING = 1e-12
_BLOCK = 2**22  # weights that are looked at together
# Multiplications of one matrix product. BLAS takes several threads for larger ones, and on a busy machine they
# spend ten times as long waiting for each other.
_PRODUCT = 2**19


@dataclass(frozen=True)
class RankedTasks:
    """n tasks, with an array (n,) of each of four facts.

    best, worst: of which every whole rank between them is equally likely. counts: numbers of candidates, nan where not
    known. weights: how much each task counts.
    """

    best: FloatArray
    worst: FloatArray
    counts: FloatArray
    weights: FloatArray

    @cached_property
    def tied(self) -> bool:
        """Whether a task has a range of ranks, so that metrics without a term do not exist."""
        return not np.array_equal(self.best, self.worst)

    def term(self, metric: Metric) -> FloatArray:
        """Return the term of each task (n,); nan where it does not count."""
        return mean_over_orders(metric, self.best, self.worst, self.counts)

    def at(self, places: IntArray) -> "RankedTasks":
        """Return some of the tasks."""
        return RankedTasks(
            *(each[places] for each in (self.best, self.worst, self.counts, self.weights)),
        )


@dataclass(frozen=True)
class UnitMeans:
    """m metrics that are functions of a mean, as sums over units.

    terms, weights: the sums of weight times term, and of the weights of the tasks that count, of each unit (m, units).
    """

    metrics: Sequence[Metric]
    terms: FloatArray
    weights: FloatArray

    @classmethod
    def of(
        cls, metrics: Sequence[Metric], tasks: RankedTasks, units: IntArray, number: int | None = None
    ) -> "UnitMeans":
        """Return the sums over units: the number of each task's (n,), and how many there are, some without tasks."""
        number = int(units.max()) + 1 if number is None else number
        sums = np.empty((2, len(metrics), number))
        for place, metric in enumerate(metrics):
            term = tasks.term(metric)
            counts = ~np.isnan(term)
            sums[0, place] = np.bincount(units, tasks.weights * np.where(counts, term, 0.0), number)
            sums[1, place] = np.bincount(units, tasks.weights * counts, number)
        terms, weights = sums
        if (weights == weights[:1]).all():
            # The same tasks count for every metric: one row, seen m times.
            weights = np.broadcast_to(weights[:1].copy(), weights.shape)
        return cls(metrics, terms, weights)

    def at(self, counts: FloatArray) -> FloatArray:
        """Return the means (m, d) where each unit counts as often as `counts` (units, d) says; nan without tasks."""
        weights = self.weights if self.weights.strides[0] else self.weights[:1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return product(self.terms, counts) / product(weights, counts)

    def pick(self, places: Sequence[int]) -> "UnitMeans":
        """Return some of the metrics."""
        chosen = [*places]
        return UnitMeans([self.metrics[place] for place in chosen], self.terms[chosen], self.weights[chosen])

    def minus(self, other: "UnitMeans") -> "UnitMeans":
        """Return the differences to another model's means of the same tasks, as means over the same units."""
        with np.errstate(invalid="ignore", divide="ignore"):
            scale = self.weights.sum(axis=1, keepdims=True) / other.weights.sum(axis=1, keepdims=True)
        return UnitMeans(self.metrics, self.terms - scale * other.terms, self.weights)

    def mean_and_error(self, counts: FloatArray, strata: Sequence[IntArray]) -> FloatArray:
        """Return each mean and its standard error in each sample (2, m, d).

        counts: how often a sample has each unit (units, d). strata: the units that are drawn among themselves. A mean
        is a ratio of two sums over the units of the strata: its error is that of the linear part of the ratio.
        """
        # Deviations from the mean of all tasks: fewer digits are lost in the squares.
        centre = self.terms.sum(axis=1, keepdims=True) / self.weights.sum(axis=1, keepdims=True)
        sums = [self._sums(stratum, centre, counts) for stratum in strata]
        total, weight = np.sum([part[:2] for part in sums], axis=0)
        variance = np.zeros_like(total)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = total / weight
            for stratum, (first, second, squares, mixed, weights_squared) in zip(strata, sums, strict=True):
                spread = squares - 2 * mean * mixed + mean**2 * weights_squared
                spread -= (first - mean * second) ** 2 / stratum.size
                variance += spread * stratum.size / max(stratum.size - 1, 1)
            error = np.sqrt(np.maximum(variance, 0.0)) / weight
        return np.stack([centre + mean, error])

    def _sums(self, stratum: IntArray, centre: FloatArray, counts: FloatArray) -> FloatArray:
        """Return the sums over a stratum of the deviations, of the weights, and of their products (5, m, d).

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


@dataclass(frozen=True)
class Medians:
    """The distinct ranks, ascending (u,), and the weight that each unit has at each of them (u, units)."""

    ranks: FloatArray
    at_rank: sparse.csr_array

    @classmethod
    def of(cls, tasks: RankedTasks, units: IntArray, number: int) -> "Medians":
        """Return the ranks of tasks without ranges, sorted; units, number: as for `UnitMeans.of`."""
        order = np.lexsort((tasks.best,))
        starts = np.flatnonzero(np.diff(tasks.best[order], prepend=-1) != 0)
        shape = (starts.size, number)
        rows = sparse.csr_array(
            (tasks.weights[order], units[order], np.append(starts, order.size)), shape=shape
        )
        return cls(tasks.best[order][starts], rows)

    def at(self, counts: FloatArray) -> FloatArray:
        """Return the medians (d,) where each unit counts as often as `counts` (units, d) says; nan without weight."""
        cumulative = np.cumsum(self.at_rank @ counts, axis=0)
        half = cumulative[-1] / 2
        lower, upper = (
            self.ranks[(cumulative >= half * (1 + sign * _ROUNDING)).argmax(axis=0)] for sign in (-1, 1)
        )
        return np.where(half > 0, (lower + upper) / 2, np.nan)


class Weighted:
    """The metrics of some tasks as functions of how often each unit counts: first the means, then the medians."""

    def __init__(
        self, metrics: Sequence[Metric], tasks: RankedTasks, units: IntArray, number: int | None = None
    ) -> None:
        """Take metrics that are functions of a mean or of the median, and units as `UnitMeans.of` takes them."""
        self.units = int(units.max()) + 1 if number is None else number
        self.means = UnitMeans.of(
            [each for each in metrics if each.term is not None], tasks, units, self.units
        )
        self.of_ranks = [metric for metric in metrics if metric.key in MEDIANS]
        self.metrics = [*self.means.metrics, *self.of_ranks]
        self._medians = Medians.of(tasks, units, self.units) if self.of_ranks and not tasks.tied else None

    def before_links(self, counts: FloatArray) -> FloatArray:
        """Return the metrics, the means in place of their functions (m, d), for counts (units, d)."""
        means = self.means.at(counts)
        if not self.of_ranks:
            return means
        known = np.full(counts.shape[1], np.nan) if self._medians is None else self._medians.at(counts)
        return np.concatenate([means, *(_of_median(metric, known)[None] for metric in self.of_ranks)])

    def at(self, counts: FloatArray) -> FloatArray:
        """Return the metrics (m, d) for counts (units, d)."""
        return self.linked(self.before_links(counts))

    def linked(self, means: FloatArray) -> FloatArray:
        """Return the metrics whose values before the links are (m, d)."""
        return np.stack([metric.link(mean) for metric, mean in zip(self.metrics, means, strict=True)])

    def once(self) -> FloatArray:
        """Return the metrics (m,) where each unit counts once."""
        return self.at(np.ones((self.units, 1)))[:, 0]


def _of_median(metric: Metric, medians: FloatArray) -> FloatArray:
    return 1 / medians if metric.key == "inverse_median_rank" else medians


def statistic(metric: Metric, ranks: FloatArray, weights: FloatArray) -> float:
    """Return a metric that is not a function of a mean: a median or a measure of dispersion of weighted ranks (n,).

    >>> from rankadjust.chance.metrics import resolve
    >>> statistic(resolve("variance"), np.array([1.0, 3.0]), np.ones(2))
    1.0
    """
    if metric.key in MEDIANS:
        return float(_of_median(metric, np.array(_median(ranks, weights))))
    if metric.key == "median_absolute_deviation":
        return float(_median(np.abs(ranks - _median(ranks, weights)), weights) / NORMAL_QUARTILE)
    # Halves, like the ranks: their squares are exact, so that equal ranks have no variance at all.
    deviations = ranks - np.rint(2 * ranks.mean()) / 2
    mean, square = weights @ deviations / weights.sum(), weights @ deviations**2 / weights.sum()
    variance = max(float(square - mean**2), 0.0)
    return variance if metric.key == "variance" else float(np.sqrt(variance))


def _median(values: FloatArray, weights: FloatArray) -> float:
    """Return the value with half of the weight on each side, the mean of two where the halves meet."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    half = cumulative[-1] / 2
    places = np.searchsorted(cumulative, [half * (1 - _ROUNDING), half * (1 + _ROUNDING)])
    return float(values[order][places].mean())


def macro_average(metric: Metric, tasks: RankedTasks, groups: IntArray) -> float:
    """Return the mean of a metric over the groups where it exists, by the number of each task's group (n,)."""
    if metric.term is not None:
        sums = UnitMeans.of([metric], tasks, groups)
        with np.errstate(invalid="ignore", divide="ignore"):
            of_groups = metric.link(sums.terms[0] / sums.weights[0])
    elif tasks.tied:
        return np.nan
    else:
        parts = [tasks.at(np.flatnonzero(groups == group)) for group in np.unique(groups[tasks.weights > 0])]
        of_groups = np.array([statistic(metric, part.best, part.weights) for part in parts])
    known = of_groups[~np.isnan(of_groups)]
    return float(known.mean()) if known.size else np.nan


def product(matrix: FloatArray, weights: FloatArray) -> FloatArray:
    """Return matrix (k, n) @ weights (n, d), in pieces that BLAS multiplies in one thread."""
    total = np.zeros((matrix.shape[0], weights.shape[1]))
    for rows in pieces(matrix.shape[1], total.size):
        total += matrix[:, rows] @ weights[rows]
    return total


def pieces(number: int, size: int) -> Iterator[slice]:
    """Split n products, whose sum has `size` numbers, into pieces that BLAS multiplies in one thread."""
    step = max(1, _PRODUCT // max(size, 1))
    for start in range(0, number, step):
        yield slice(start, start + step)


def in_blocks(draws: int, tasks: int) -> Iterator[int]:
    """Split a number of weightings so that a matrix (tasks, weightings) stays small."""
    step = max(1, _BLOCK // tasks)
    for start in range(0, draws, step):
        yield min(step, draws - start)
