"""Metrics of the same ranks under many weightings at once: a user's weights, groups of tasks, bootstrap samples.

Tasks are sorted once. A weighting then needs the weight of each distinct rank, and every metric comes from those:
means as a matrix product, medians by halving cumulative weights (docs/evaluate.md, "Weights").
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankadjust.chance.metrics import Metric

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Half of the weight is met exactly only up to rounding.
_ROUNDING = 1e-12
# The median absolute deviation of a normal variable, in standard deviations.
_NORMAL_QUARTILE = 0.6744897501960817
_BLOCK = 2**22  # weights that are looked at together
# Multiplications of one matrix product. BLAS takes several threads for larger ones, and on a busy machine they
# spend ten times as long waiting for each other.
_PRODUCT = 2**19


@dataclass(frozen=True)
class Arrangement:
    """Some of the tasks by group and rank. A run is the tasks of one group with one rank.

    ranks: the rank of each run (u,), ascending within a group. starts, ends: the runs of each group (g,).
    in_run: which tasks are in which run (u, all tasks). metrics: what is to be computed (m,). terms: everything
    that is averaged (t, u): distance to some centre, its square, and the terms of the metrics; row: where in
    `terms` a metric's is. beaten, counted: the AUC's term and whether a task counts for it, by group (g, all
    tasks); None where the candidates are not known.
    """

    ranks: FloatArray
    starts: IntArray
    ends: IntArray
    in_run: sparse.csr_array
    metrics: Sequence[Metric]
    terms: FloatArray
    row: Mapping[str, int]
    beaten: sparse.csr_array | None
    counted: sparse.csr_array | None


def arrange(
    metrics: Sequence[Metric], tasks: IntArray, ranks: FloatArray, counts: FloatArray, groups: IntArray
) -> Arrangement:
    """Return the arrangement of some of the tasks.

    tasks: their positions (n,). ranks, counts, groups: of all tasks; counts are nan where not known.
    """
    order = tasks[np.lexsort((ranks[tasks], groups[tasks]))]
    new_group = np.diff(groups[order], prepend=-1) != 0
    runs = np.flatnonzero(new_group | (np.diff(ranks[order], prepend=-1) != 0))
    starts = np.flatnonzero(new_group[runs])
    of_runs = ranks[order][runs]
    # Halves, like the ranks: their squares are exact, so that equal ranks have no variance at all.
    centred = of_runs - np.rint(2 * of_runs.mean()) / 2
    rows, terms = _distinct_terms(metrics, of_runs, [centred, centred**2])
    beaten = counted = None
    if not np.isnan(counts[order]).any():
        others = counts[order] - 1
        share = (counts[order] - ranks[order]) / np.maximum(others, 1)
        by_group = np.flatnonzero(new_group)
        beaten = _rows(share, order, by_group, ranks.size)
        counted = _rows(np.where(others > 0, 1.0, 0.0), order, by_group, ranks.size)
    return Arrangement(
        ranks=of_runs,
        starts=starts,
        ends=np.append(starts[1:], runs.size),
        in_run=_rows(np.ones(order.size), order, runs, ranks.size),
        metrics=metrics,
        terms=terms,
        row=rows,
        beaten=beaten,
        counted=counted,
    )


def _distinct_terms(
    metrics: Sequence[Metric], ranks: FloatArray, first: Sequence[FloatArray]
) -> tuple[Mapping[str, int], FloatArray]:
    """Return the row of each metric that is a function of a mean, and the rows; MRR and HMR share one."""
    rows: dict[str, int] = {}
    place: dict[bytes, int] = {}
    terms = list(first)
    unknown = np.full_like(ranks, np.nan)
    for metric in metrics:
        if metric.term is not None and metric.family != "auc":
            term = metric.term(ranks, unknown)
            rows[metric.key] = place.setdefault(term.tobytes(), len(terms))
            if rows[metric.key] == len(terms):
                terms.append(term)
    return rows, np.stack(terms)


def averages(tasks: Arrangement, weights: FloatArray) -> FloatArray:
    """Return the metrics (m, d) under each of the weightings (all tasks, d): the mean over the groups.

    A group without weight, or where a metric does not exist, is left out; the result is nan where none is left.
    """
    values = _group_values(tasks, weights)
    exists = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: FloatArray = np.where(exists, values, 0.0).sum(axis=1) / exists.sum(axis=1)
    return mean


def in_blocks(draws: int, tasks: int) -> Iterator[int]:
    """Split a number of weightings so that a matrix (tasks, weightings) stays small."""
    step = max(1, _BLOCK // tasks)
    for start in range(0, draws, step):
        yield min(step, draws - start)


def _rows(values: FloatArray, columns: IntArray, starts: IntArray, width: int) -> sparse.csr_array:
    """Return a sparse matrix of which each row starts at one of `starts` in values and columns."""
    return sparse.csr_array((values, columns, np.append(starts, columns.size)), shape=(starts.size, width))


def _group_values(tasks: Arrangement, weights: FloatArray) -> FloatArray:
    """Return the metrics of each group (m, g, d)."""
    of_runs = tasks.in_run @ weights
    cumulative = np.empty_like(of_runs)
    sums = np.zeros((tasks.terms.shape[0], tasks.starts.size, weights.shape[1]))
    step = max(1, _PRODUCT // sums[:, 0].size)
    for group, (start, end) in enumerate(zip(tasks.starts, tasks.ends, strict=True)):
        np.cumsum(of_runs[start:end], axis=0, out=cumulative[start:end])
        for first in range(start, end, step):
            runs = slice(first, min(first + step, end))
            sums[:, group] += tasks.terms[:, runs] @ of_runs[runs]
    total = cumulative[tasks.ends - 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / total
    distributions = _Distributions(tasks, cumulative, total, means)
    values = np.empty((len(tasks.metrics), *total.shape))
    for number, metric in enumerate(tasks.metrics):
        if metric.family == "auc":
            values[number] = _auc(tasks, weights)
        elif metric.term is None:
            values[number] = _STATISTICS[metric.key](distributions)
        else:
            values[number] = metric.link(means[tasks.row[metric.key]])
    return values


def _auc(tasks: Arrangement, weights: FloatArray) -> FloatArray:
    if tasks.beaten is None or tasks.counted is None:
        return np.full((tasks.starts.size, weights.shape[1]), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        share: FloatArray = (tasks.beaten @ weights) / (tasks.counted @ weights)
    return share


@dataclass(frozen=True)
class _Distributions:
    """Cumulative weights of the runs within each group (u, d), totals (g, d), and means of the terms (t, g, d)."""

    tasks: Arrangement
    cumulative: FloatArray
    total: FloatArray
    means: FloatArray

    @cached_property
    def median(self) -> FloatArray:
        """The rank with half of the weight on each side (g, d); the mean of two where the halves meet."""
        half = self.total / 2
        median = (self.rank_at(half * (1 - _ROUNDING)) + self.rank_at(half * (1 + _ROUNDING))) / 2
        return np.where(half > 0, median, np.nan)

    def rank_at(self, weight: FloatArray) -> FloatArray:
        """Return the first rank of each group at which its cumulative weight reaches `weight` (g, d)."""
        low = np.broadcast_to(self.tasks.starts[:, None] - 1, weight.shape)
        high = np.broadcast_to(self.tasks.ends[:, None] - 1, weight.shape)
        draw = np.arange(weight.shape[1])
        while (high - low > 1).any():
            middle = (low + high + 1) // 2
            enough = self.cumulative[middle, draw] >= weight
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return self.tasks.ranks[high]

    def weight_below(self, places: IntArray, groups: IntArray, draws: IntArray) -> FloatArray:
        """Return the weight of the runs of a group before a place among all runs, in one draw (p,)."""
        return np.where(places > self.tasks.starts[groups], self.cumulative[places - 1, draws], 0.0)


def _variance(groups: _Distributions) -> FloatArray:
    # The first two terms are the distance to some centre and its square.
    variance: FloatArray = groups.means[1] - groups.means[0] ** 2
    return np.maximum(variance, 0.0)


def _median_absolute_deviation(groups: _Distributions) -> FloatArray:
    """Return the median distance to the median (g, d)."""
    half = groups.total / 2
    group, draw = np.nonzero(half > 0)
    lower, within = _distance_at(groups, group, draw, half[group, draw] * (1 - _ROUNDING))
    # Where exactly half of the weight is within, the median lies between this distance and the next.
    above_half = half[group, draw] * (1 + _ROUNDING)
    tied = within <= above_half
    upper = lower.copy()
    upper[tied], _ = _distance_at(groups, group[tied], draw[tied], above_half[tied])
    deviation = np.full_like(half, np.nan)
    deviation[group, draw] = (lower + upper) / 2 / _NORMAL_QUARTILE
    return deviation


def _distance_at(
    groups: _Distributions, group: IntArray, draw: IntArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least distance (p,) to the median of a group within which the weight is at least `weight`.

    Also the weight within. Found by halving: ranks and medians of two ranks are multiples of 1/4.
    """
    tasks = groups.tasks
    # Numbers that put the groups one after the other, so far apart that no distance leads to another group.
    apart = 4 * tasks.ranks.max() * np.arange(tasks.starts.size)
    line = tasks.ranks + np.repeat(apart, tasks.ends - tasks.starts)
    centre = groups.median[group, draw] + apart[group]

    def weight_within(quarters: FloatArray) -> FloatArray:
        first = np.searchsorted(line, centre - quarters / 4, side="left")
        beyond = np.searchsorted(line, centre + quarters / 4, side="right")
        return groups.weight_below(beyond, group, draw) - groups.weight_below(first, group, draw)

    low = np.full(weight.shape, -1.0)
    high = np.ceil(4 * (tasks.ranks[tasks.ends - 1] - tasks.ranks[tasks.starts]))[group]
    while (high - low > 1).any():
        middle = np.floor((low + high + 1) / 2)
        enough = weight_within(middle) >= weight
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high / 4, weight_within(high)


_STATISTICS: Mapping[str, Callable[[_Distributions], FloatArray]] = {
    "median_rank": lambda groups: groups.median,
    "inverse_median_rank": lambda groups: 1 / groups.median,
    "variance": _variance,
    "standard_deviation": lambda groups: np.sqrt(_variance(groups)),
    "median_absolute_deviation": _median_absolute_deviation,
}
