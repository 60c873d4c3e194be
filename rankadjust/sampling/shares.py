"""The least mean of a function over all full ranks that printed values allow: a linear program over shares of ranks.

The unknowns are, for tasks with the same (or a similar) number of candidates, the shares of their ranks. What is said
of the ranks are rows: the mean of a function over all tasks is at most a number. HiGHS finds prices for the rows; the
bound is then computed from the prices, and holds for any prices, so that no error of the solver makes it too narrow.
Where there are so few tasks that all their ranks can be listed, they are listed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, prod

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.consistency.grid import Grid, rank_grid
from rankadjust.consistency.program import least_cost, prices_of

BoolArray = NDArray[np.bool_]
TaskFunction = Callable[[FloatArray, FloatArray], FloatArray]
"""f(ranks (m,), candidates (m,)) with one value each (m,), or several (m, k)."""

# Up to so many columns every rank has its own; else points are this share of the rank apart.
_COLUMNS = 3000
_SPACING = 1 / 64
# Tasks with other numbers of candidates are put together in so many groups.
_GROUPS = 8
# All ranks of the tasks are listed up to so many lists (the order of tasks with the same N does not matter).
_LISTS = 100_000
# Columns enter in so many rounds at most, and no more where the bound is this close, relative to the function's span.
_ROUNDS = 60
_CLOSE = 1e-11
# What is equal but for rounding errors.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Group:
    """Tasks of which each has from `least` to `most` candidates; tasks: how many."""

    least: float
    most: float
    tasks: float


class Tasks:
    """Tasks in groups by their number of candidates, and the ranks that each group can have."""

    def __init__(
        self, counts: Sequence[float], times: Sequence[float], thresholds: tuple[float, ...]
    ) -> None:
        """Take the distinct numbers of candidates (ascending) and how many tasks have each.

        thresholds: ranks where any function jumps that is asked about.
        """
        self.counts, self.times = np.asarray(counts, np.float64), np.asarray(times, np.float64)
        is_listed = self.counts.sum() <= _COLUMNS
        self.groups = _single(self.counts, self.times) if is_listed else _grouped(self.counts, self.times)
        complete = _COLUMNS if is_listed or len(self.groups) == 1 else 0
        self.grids = [
            rank_grid(1.0, group.most, tuple(sorted({*thresholds, group.least})), complete, _SPACING)
            for group in self.groups
        ]

    @property
    def number(self) -> float:
        """How many tasks there are."""
        return float(self.times.sum())

    @property
    def owner(self) -> IntArray:
        """The group of each column."""
        return np.repeat(np.arange(len(self.grids)), [grid.points.size for grid in self.grids])

    def lower(self, function: TaskFunction) -> FloatArray:
        """Return weights for the columns, (p,) or (p, k), whose mean is nowhere above that of the function.

        The function is monotone in the number of candidates.
        """
        return np.concatenate(
            [_lower(group, grid, function) for group, grid in zip(self.groups, self.grids, strict=True)]
        )

    def few_columns(self) -> BoolArray:
        """Return which columns stand for all to begin with: ranks at growing distances."""
        chosen = [
            np.isin(grid.points, rank_grid(1.0, group.most, (group.least,)).points)
            for group, grid in zip(self.groups, self.grids, strict=True)
        ]
        return np.concatenate(chosen)

    def indicator(self, least: float, most: float) -> FloatArray:
        """Return 1 for the columns with ranks from least to most, which are thresholds, else 0."""
        points = np.concatenate([grid.points for grid in self.grids])
        return ((points >= least) & (points <= most)).astype(np.float64)


def _single(counts: FloatArray, times: FloatArray) -> list[Group]:
    return [Group(float(count), float(count), float(time)) for count, time in zip(counts, times, strict=True)]


def _grouped(counts: FloatArray, times: FloatArray) -> list[Group]:
    if counts.size <= _GROUPS:
        return _single(counts, times)
    reached = np.cumsum(times) / times.sum()
    ends = np.unique(np.searchsorted(reached, np.linspace(0, 1, _GROUPS + 1)[1:] - _ROUNDING))
    starts = np.concatenate([[0], ends[:-1] + 1])
    return [
        Group(float(counts[start]), float(counts[end]), float(times[start : end + 1].sum()))
        for start, end in zip(starts, ends, strict=True)
    ]


def _lower(group: Group, grid: Grid, function: TaskFunction) -> FloatArray:
    def of_ranks(ranks: FloatArray) -> FloatArray:
        flat = ranks.ravel()
        found = function(flat, np.full_like(flat, group.most))
        if group.least < group.most:
            # A rank has at least as many candidates.
            found = np.minimum(found, function(flat, np.maximum(flat, group.least)))
        return found.reshape(*ranks.shape, *found.shape[1:])

    return grid.lower(of_ranks)


@dataclass(frozen=True)
class Rows:
    """What is known: the mean of each row of weights (k, columns) is at most its room (k,)."""

    weights: FloatArray
    room: FloatArray


def least_mean(tasks: Tasks, function: TaskFunction, rows: Rows) -> float | None:
    """Return a number that no mean of the function is below where all rows hold, None where no ranks fulfil them."""
    weights = tasks.lower(function)
    if can_be_listed(tasks):
        return _least_listed(tasks, weights, rows)
    return _Priced(tasks, weights, rows).bound()


class _Priced:
    """The program over all columns, solved over a few of them: more enter until the prices leave none out."""

    def __init__(self, tasks: Tasks, weights: FloatArray, rows: Rows) -> None:
        self._scale = np.ptp(weights) or 1.0
        self._weights, self._rows = weights / self._scale, rows
        self._owner = tasks.owner
        self._shares = np.array([group.tasks for group in tasks.groups]) / tasks.number
        self._masses = (self._owner == np.arange(self._shares.size)[:, None]).astype(np.float64)
        self._used = tasks.few_columns()

    def bound(self) -> float | None:
        """Return the bound, None where no shares fulfil the rows."""
        best = self._proved(np.zeros(len(self._rows.room)))[0]
        for _ in range(_ROUNDS):
            found = self._solve()
            if found is None:
                break
            if found.fun is None:
                if self._used.all():
                    return None
                self._used[:] = True
                continue
            proved, missing = self._proved(np.maximum(prices_of(found), 0.0))
            best = max(best, proved)
            if found.fun - proved <= _CLOSE or not missing.any():
                break
            self._used |= missing
        return best * self._scale

    def _solve(self) -> OptimizeResult | None:
        used = self._used
        return least_cost(
            self._weights[used],
            self._rows.weights[:, used],
            self._rows.room,
            self._masses[:, used],
            self._shares,
        )

    def _proved(self, prices: FloatArray) -> tuple[float, BoolArray]:
        """Return what prices of at least 0 prove: no shares have a lower mean; and which columns are the cheapest.

        These are, of all columns beside each other that are cheaper than any used one, the cheapest.
        """
        priced = self._weights + prices @ self._rows.weights
        least, known = (np.full(self._shares.size, np.inf) for _ in range(2))
        np.minimum.at(least, self._owner, priced)
        np.minimum.at(known, self._owner[self._used], priced[self._used])
        around = np.concatenate([[np.inf], priced, [np.inf]])
        is_lowest = (priced <= around[:-2]) & (priced <= around[2:])
        is_cheaper = priced < known[self._owner] - _CLOSE
        return float(least @ self._shares - prices @ self._rows.room), is_lowest & is_cheaper & ~self._used


def can_be_listed(tasks: Tasks) -> bool:
    """Tell whether the ranks of all tasks can be listed: few tasks, and every rank of theirs a column."""
    sizes = [grid.points.size for grid in tasks.grids]
    if any(
        size != group.most or group.tasks != int(group.tasks)
        for size, group in zip(sizes, tasks.groups, strict=True)
    ):
        return False
    lists = (
        comb(int(group.tasks) + size - 1, size - 1) for size, group in zip(sizes, tasks.groups, strict=True)
    )
    return prod(min(number, _LISTS + 1) for number in lists) <= _LISTS


def _least_listed(tasks: Tasks, weights: FloatArray, rows: Rows) -> float | None:
    sums = np.zeros((1, 1 + len(rows.room)))
    for place, group in enumerate(tasks.groups):
        own = np.flatnonzero(tasks.owner == place)
        values = np.vstack([weights[own], rows.weights[:, own]]).T
        lists = np.array(list(combinations_with_replacement(range(own.size), int(group.tasks))))
        sums = (sums[:, None] + values[lists].sum(axis=1)[None]).reshape(-1, sums.shape[1])
    means = sums / tasks.number
    fulfilled = np.all(means[:, 1:] <= rows.room + _ROUNDING, axis=1)
    return float(means[fulfilled, 0].min()) if fulfilled.any() else None
