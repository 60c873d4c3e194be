"""Metrics of ranks that are known up to the order of the tied: expectation and variance over all orders.

If G candidates are above the true answer and m are tied with it (itself included), every order of the tied is equally
likely, and the rank is uniform on G + 1 .. G + m. Orders of different tasks are independent. Let F(x) be the sum of a
term f over the ranks up to x. Then

    E f(r) = (F(G + m) - F(G)) / m,

and one table of F serves all tasks, splits, baselines and protocols (docs/methods-baselines.md, "Ties").
"""

from dataclasses import dataclass, field, replace

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.metrics import Metric, Term, hit, rank, share_beaten
from rankadjust.chance.moments import Moments

# A range of ranks is narrow if its length is at most this multiple of its lowest rank. A smooth term is averaged over
# a narrow range by the Gauss rule of three nodes; the error falls with the sixth power of _NARROW.
_NARROW = 1 / 16
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


def prefix_sums(values: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2, … values (n,), by blocks, so that rounding errors stay few."""
    padded = np.zeros((-(-values.size // _BLOCK), _BLOCK))
    padded.flat[: values.size] = values
    within = padded.cumsum(axis=1)
    before = np.append(0.0, within[:, -1].cumsum())[:-1]
    return np.append(0.0, (within + before[:, None]).ravel()[: values.size])


def not_a_mean(metric: Metric) -> Moments:
    """Return why a metric that is not a mean over the tasks has no value."""
    what = (
        "a function of a mean over the tasks"
        if metric.term
        else "the law of an order statistic of tied ranks"
    )
    return Moments(None, None, "none", f"not computed: {what}")


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

    def moments(self, metric: Metric) -> Moments:
        """Return expectation and variance of a metric over all orders of the tied."""
        if not metric.additive:
            return not_a_mean(metric)
        if metric.needs_candidates and metric.shape is not share_beaten:
            return Moments(
                None, None, "none", "not computed: a term that depends on the number of candidates"
            )
        counted = self.candidates >= metric.least_candidates
        if not counted.any():
            return Moments(None, None, "none", "every task has one candidate")
        columns = ("above", "tied", "candidates", "tasks")
        law = replace(self, **{name: getattr(self, name)[counted] for name in columns})
        mean, variance = (float(np.sum(law.tasks * each)) for each in law._of_term(metric))
        total = float(law.tasks.sum())
        return Moments(mean / total, variance / total**2, "sum over ranks")

    def _of_term(self, metric: Metric) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a metric's term for each kind of task (k,)."""
        if metric.shape is share_beaten:
            others = self.candidates - 1
            mean = (self.candidates - self.above - (self.tied + 1) / 2) / others
            variance = (self.tied - 1) * (self.tied + 1) / 12 / others**2
            return metric.scale * mean, metric.scale**2 * variance
        # The rank is at most k with this probability, and uniform there; beyond, the term is 0.
        last = self.above + self.tied if metric.k is None else np.minimum(self.above + self.tied, metric.k)
        within = np.maximum(last - self.above, 0.0)
        share = within / self.tied
        assert metric.shape is not None
        mean, variance = self._of_shape(metric.shape, within)
        return (metric.scale * share * mean, metric.scale**2 * share * (variance + (1 - share) * mean**2))

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
        mean[rows], variance[rows] = _by_three_nodes(shape, self.above[rows], within[rows])
        return mean, variance


def _by_three_nodes(shape: Term, above: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance (k,) of a smooth term over the ranks above + 1 .. above + size.

    The Gauss rule of three nodes, the middle and one on either side, is exact for polynomials up to degree 5.
    """
    middle = above + (size + 1) / 2
    square = np.maximum((3 * size**2 - 7) / 20, 1 / 4)
    weight = (size**2 - 1) / 12 / (2 * square)
    nodes = np.stack([middle, middle - np.sqrt(square), middle + np.sqrt(square)])
    centre, *outer = shape(nodes, np.full_like(nodes, np.nan))
    deviations = np.stack(outer) - centre
    shift = weight * deviations.sum(axis=0)
    return centre + shift, weight * (deviations**2).sum(axis=0) - shift**2
