"""Metrics of the same ranks under many weightings at once: a user's weights, groups of tasks, bootstrap samples.

A bootstrap sample says how often each unit (a task, or all tasks of a triple) is drawn; a unit that is drawn twice has
twice the weight. So the tasks are sorted by group and rank once, and tasks of one group with the same rank form a run.
From the counts of the units follows the weight of each run, and from these weights every metric: a mean is a matrix
product, a median is found by halving in the cumulative weights (docs/methods-intervals.md, "Weights").
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import NORMAL_QUARTILE, Metric
from rankadjust.chance.ties import mean_over_orders

# Half of the weight is met exactly only up to rounding.
_ROUNDING = 1e-12
# Rows of `Arrangement.terms`: the deviation of the rank from a number near the mean rank, and its square.
_DEVIATION, _SQUARE = 0, 1
_BLOCK = 2**22  # weights that are looked at together
# Multiplications of one matrix product. BLAS takes several threads for larger ones, and on a busy machine they
# spend ten times as long waiting for each other.
_PRODUCT = 2**19


@dataclass(frozen=True)
class Arrangement:
    """Some of the tasks, sorted by group and rank: g groups, u runs (the tasks of one group with one rank).

    ranks: of each run (u,), ascending within a group; None where the tasks have a range of ranks. A run then is the
        tasks of one group with one range, and metrics that are not functions of a mean do not exist.
    starts, ends: where the runs of each group begin and end (g,).
    in_run: the weight that each unit has in each run (u, units).
    metrics: the metrics to compute (m,).
    terms: all functions of the rank whose means are needed, at the rank of each run (t, u): the deviation from a
        number near the mean rank, its square, and the terms of the metrics.
    row: the row of `terms` that holds the term of a metric, by the metric's key.
    by_unit: for each metric whose term needs the number of candidates, by its key, of each group and unit the sums over
        its tasks of weight times term, and of the weight of those that have the term (g, units); empty where the
        numbers of candidates are not known.
    """

    ranks: FloatArray | None
    starts: IntArray
    ends: IntArray
    in_run: sparse.csr_array
    metrics: Sequence[Metric]
    terms: FloatArray
    row: Mapping[str, int]
    by_unit: Mapping[str, tuple[sparse.csr_array, sparse.csr_array]]


def arrange(
    metrics: Sequence[Metric],
    tasks: IntArray,
    ranks: FloatArray,
    counts: FloatArray,
    groups: IntArray,
    weights: FloatArray | None = None,
    units: IntArray | None = None,
    worst: FloatArray | None = None,
) -> Arrangement:
    """Return the arrangement of some of the tasks.

    tasks: their positions (n,). ranks, counts, groups, weights, units: of all tasks; counts are nan where not known,
    weights are 1 by default, and each task is a unit of its own by default. worst: where it is given, every whole rank
    from `ranks` to `worst` is equally likely, and a metric is computed from the terms' means over these ranks.
    """
    weights = np.ones(ranks.size) if weights is None else weights
    units = np.arange(ranks.size) if units is None else units
    last = ranks if worst is None else worst
    number = int(units.max()) + 1
    order = tasks[np.lexsort((last[tasks], ranks[tasks], groups[tasks]))]
    new_group = np.diff(groups[order], prepend=-1) != 0
    new_rank = (np.diff(ranks[order], prepend=-1) != 0) | (np.diff(last[order], prepend=-1) != 0)
    runs = np.flatnonzero(new_group | new_rank)
    starts = np.flatnonzero(new_group[runs])
    of_runs, last_of_runs = ranks[order][runs], last[order][runs]
    # Halves, like the ranks: their squares are exact, so that equal ranks have no variance at all.
    centred = of_runs - np.rint(2 * of_runs.mean()) / 2
    row, terms = _distinct_terms(metrics, of_runs, last_of_runs, [centred, centred**2])
    by_unit = {}
    if not np.isnan(counts[order]).any():
        by_group = np.flatnonzero(new_group)
        for metric in metrics:
            if metric.term is not None and metric.needs_candidates:
                term = mean_over_orders(metric, ranks[order], last[order], counts[order])
                exists = ~np.isnan(term)
                weight = np.where(exists, weights[order], 0.0)
                by_unit[metric.key] = (
                    _rows(weight * np.where(exists, term, 0.0), units[order], by_group, number),
                    _rows(weight, units[order], by_group, number),
                )
    return Arrangement(
        ranks=of_runs if worst is None else None,
        starts=starts,
        ends=np.append(starts[1:], runs.size),
        in_run=_rows(weights[order], units[order], runs, number),
        metrics=metrics,
        terms=terms,
        row=row,
        by_unit=by_unit,
    )


def _distinct_terms(
    metrics: Sequence[Metric], ranks: FloatArray, worst: FloatArray, first: Sequence[FloatArray]
) -> tuple[Mapping[str, int], FloatArray]:
    """Return the row of each metric that is a function of a mean, and all rows, `first` included.

    Metrics with the same term, such as MRR and HMR, share a row.
    """
    row: dict[str, int] = {}
    row_of_term: dict[bytes, int] = {}
    terms = list(first)
    unknown = np.full_like(ranks, np.nan)
    for metric in metrics:
        if metric.term is not None and not metric.needs_candidates:
            term = mean_over_orders(metric, ranks, worst, unknown)
            row[metric.key] = row_of_term.setdefault(term.tobytes(), len(terms))
            if row[metric.key] == len(terms):
                terms.append(term)
    return row, np.stack(terms)


def averages(tasks: Arrangement, counts: FloatArray) -> FloatArray:
    """Return the metrics (m, d), averaged over the groups, where each unit counts as often as `counts` (units, d) says.

    A group without weight, or where a metric does not exist, is left out; the result is nan where none is left.
    """
    values = _group_values(tasks, counts)
    exists = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: FloatArray = np.where(exists, values, 0.0).sum(axis=1) / exists.sum(axis=1)
    return mean


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


def _rows(values: FloatArray, columns: IntArray, starts: IntArray, width: int) -> sparse.csr_array:
    """Return a sparse matrix; its rows start at `starts` in values and columns."""
    if starts.size == 1 and columns.size > _BLOCK:
        # One row of sums, with a number for each column, takes less memory.
        return sparse.csr_array(np.bincount(columns, values, width)[None, :])
    return sparse.csr_array((values, columns, np.append(starts, columns.size)), shape=(starts.size, width))


def _group_values(tasks: Arrangement, counts: FloatArray) -> FloatArray:
    """Return the metrics of each group (m, g, d)."""
    of_runs = tasks.in_run @ counts
    cumulative = np.empty_like(of_runs)
    sums = np.empty((tasks.terms.shape[0], tasks.starts.size, counts.shape[1]))
    for group, (start, end) in enumerate(zip(tasks.starts, tasks.ends, strict=True)):
        np.cumsum(of_runs[start:end], axis=0, out=cumulative[start:end])
        sums[:, group] = product(tasks.terms[:, start:end], of_runs[start:end])
    total = cumulative[tasks.ends - 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / total
    distributions = (
        None if tasks.ranks is None else _Distributions(tasks, tasks.ranks, cumulative, total, means)
    )
    values = np.empty((len(tasks.metrics), *total.shape))
    for number, metric in enumerate(tasks.metrics):
        if metric.needs_candidates:
            values[number] = metric.link(_mean_by_unit(tasks, metric, counts))
        elif metric.term is None:
            values[number] = np.nan if distributions is None else _STATISTICS[metric.key](distributions)
        else:
            values[number] = metric.link(means[tasks.row[metric.key]])
    return values


def _mean_by_unit(tasks: Arrangement, metric: Metric, counts: FloatArray) -> FloatArray:
    """Return the mean of a term that needs the number of candidates (g, d), nan where that is not known."""
    if metric.key not in tasks.by_unit:
        return np.full((tasks.starts.size, counts.shape[1]), np.nan)
    terms, weights = tasks.by_unit[metric.key]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: FloatArray = (terms @ counts) / (weights @ counts)
    return mean


def sums_over_units(tasks: Arrangement, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Return of each unit the sums over its tasks of weight times term, and of the weight of those that count (units,).

    The ratio of the totals is the mean that a metric is a function of; the tasks must be one group.
    """
    if metric.needs_candidates:
        if metric.key not in tasks.by_unit:
            return np.zeros(tasks.in_run.shape[1]), np.zeros(tasks.in_run.shape[1])
        terms, weights = tasks.by_unit[metric.key]
        return terms.toarray()[0], weights.toarray()[0]
    return tasks.terms[tasks.row[metric.key]] @ tasks.in_run, np.ones(tasks.terms.shape[1]) @ tasks.in_run


@dataclass(frozen=True)
class _Distributions:
    """The distribution of the ranks of each group under each weighting: g groups, d weightings, u runs, t terms.

    ranks: of each run (u,). cumulative: weight of a run and of those before it in its group (u, d). total: weight of
    each group (g, d). means: of the terms (t, g, d).
    """

    tasks: Arrangement
    ranks: FloatArray
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
        weighting = np.arange(weight.shape[1])
        while (high - low > 1).any():
            middle = (low + high + 1) // 2
            enough = self.cumulative[middle, weighting] >= weight
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return self.ranks[high]

    def weight_before(self, run: IntArray, group: IntArray, weighting: IntArray) -> FloatArray:
        """Return the weight of the runs of a group before a run, for p runs at once (p,)."""
        return np.where(run > self.tasks.starts[group], self.cumulative[run - 1, weighting], 0.0)


def _variance(groups: _Distributions) -> FloatArray:
    variance: FloatArray = groups.means[_SQUARE] - groups.means[_DEVIATION] ** 2
    return np.maximum(variance, 0.0)


def _median_absolute_deviation(groups: _Distributions) -> FloatArray:
    """Return the median of the distances between the ranks and their median (g, d), as a standard deviation."""
    half = groups.total / 2
    # A group without weight has no median: only the other pairs of group and weighting are looked at.
    group, weighting = np.nonzero(half > 0)
    around = _Neighbourhoods(groups, group, weighting)
    half_of_pair = half[group, weighting]
    lower = around.radius_with(half_of_pair * (1 - _ROUNDING))
    # Where exactly half of the weight is within this distance, the median is the mean of it and the next distance.
    more_than_half = half_of_pair * (1 + _ROUNDING)
    met = around.weight_within(lower) <= more_than_half
    upper = lower.copy()
    upper[met] = _Neighbourhoods(groups, group[met], weighting[met]).radius_with(more_than_half[met])
    deviation = np.full_like(half, np.nan)
    deviation[group, weighting] = (lower + upper) / 2 / NORMAL_QUARTILE
    return deviation


@dataclass(frozen=True)
class _Neighbourhoods:
    """The ranks around the median, for p pairs of a group and a weighting: group (p,), weighting (p,)."""

    groups: _Distributions
    group: IntArray
    weighting: IntArray

    @cached_property
    def line(self) -> FloatArray:
        """The ranks of all groups on one line (u,), so far apart that a neighbourhood stays within its group.

        One search in the line then serves all groups at once.
        """
        tasks = self.groups.tasks
        line: FloatArray = self.groups.ranks + np.repeat(self.offset, tasks.ends - tasks.starts)
        return line

    @cached_property
    def offset(self) -> FloatArray:
        """How far each group is moved along the line (g,)."""
        offset: FloatArray = 4 * self.groups.ranks.max() * np.arange(self.groups.tasks.starts.size)
        return offset

    @cached_property
    def centre(self) -> FloatArray:
        """The median of each pair, on the line (p,)."""
        return self.groups.median[self.group, self.weighting] + self.offset[self.group]

    def weight_within(self, radius: FloatArray) -> FloatArray:
        """Return the weight of the ranks no further from the median than `radius` (p,)."""
        first = np.searchsorted(self.line, self.centre - radius, side="left")
        beyond = np.searchsorted(self.line, self.centre + radius, side="right")
        inside_or_before = self.groups.weight_before(beyond, self.group, self.weighting)
        return inside_or_before - self.groups.weight_before(first, self.group, self.weighting)

    def radius_with(self, weight: FloatArray) -> FloatArray:
        """Return the least radius (p,) within which the weight is at least `weight`.

        It is found by halving among the multiples of 1/4: ranks are whole or halves, so that medians are multiples
        of 1/4, and so are the distances.
        """
        tasks, ranks = self.groups.tasks, self.groups.ranks
        low = np.full(weight.shape, -1.0)
        high = np.ceil(4 * (ranks[tasks.ends - 1] - ranks[tasks.starts]))[self.group]
        while (high - low > 1).any():
            middle = np.floor((low + high + 1) / 2)
            enough = self.weight_within(middle / 4) >= weight
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high / 4


_STATISTICS: Mapping[str, Callable[[_Distributions], FloatArray]] = {
    "median_rank": lambda groups: groups.median,
    "inverse_median_rank": lambda groups: 1 / groups.median,
    "variance": _variance,
    "standard_deviation": lambda groups: np.sqrt(_variance(groups)),
    "median_absolute_deviation": _median_absolute_deviation,
}
