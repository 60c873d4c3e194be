"""The least mean of a function over all full ranks that printed values allow: a linear program over shares of ranks.

Tasks with the same (or a similar) number of candidates form a group. The unknowns are the share of each rank among the
tasks of a group. Each row limits the ranks: the mean of a function over all tasks is at most a number. HiGHS finds dual
prices for the rows. The bound is then computed from the prices and is valid for any prices, so that an error of the
solver cannot make it too narrow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.consistency.linear_program import LinearProgram, Unsolved
from rankadjust.consistency.rank_grid import Grid, rank_grid

BoolArray = NDArray[np.bool_]
TaskFunction = Callable[[FloatArray, FloatArray], FloatArray]
"""f(ranks (m,), candidates (m,)) with one value each (m,), or several (m, k)."""

# If the ranks need no more columns than this, every rank has a column. Else the distance of neighbouring columns is
# this share of the rank.
_COLUMNS = 30_000
_SPACING = 1 / 64
# Tasks with similar numbers of candidates form a group. If the distinct numbers add up to at most _FEW, each number has
# its own group. Else the ratio of the numbers in a group is at most _ALIKE, or larger to have about _GROUPS groups.
_FEW = 3000
_GROUPS = 8
_ALIKE = 1.01
# Greatest number of rounds that add columns and rows. The first round has one row in _FEW_ROWS, and columns that are
# _FEW_COLUMNS times their rank apart.
_ROUNDS = 60
_FEW_ROWS, _FEW_COLUMNS = 12, 1.0
# Greatest distance of a bound from the best bound, relative to the function's span: nobody prints more digits.
_CLOSE = 1e-5


@dataclass(frozen=True)
class Group:
    """A number of tasks, each with `least` to `most` candidates."""

    least: float
    most: float
    tasks: float


class Tasks:
    """Tasks in groups by their number of candidates, and the ranks that each group can have."""

    def __init__(
        self, counts: Sequence[float], times: Sequence[float], thresholds: tuple[float, ...]
    ) -> None:
        """Take the distinct numbers of candidates (ascending) and how many tasks have each.

        thresholds: ranks at which some metric jumps.
        """
        self.counts, self.times = np.asarray(counts, np.float64), np.asarray(times, np.float64)
        self.groups = _grouped(self.counts, self.times, self.counts.sum() <= _FEW)
        complete = _COLUMNS if sum(group.most for group in self.groups) <= _COLUMNS else 0
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
        """Return weights for the columns, (p,) or (p, k), whose mean never exceeds the mean of the function.

        The function is monotone in the number of candidates.
        """
        return np.concatenate(
            [_lower(group, grid, function) for group, grid in zip(self.groups, self.grids, strict=True)]
        )

    def few_columns(self) -> BoolArray:
        """Return which columns the first round uses: ranks at growing distances."""
        chosen = [
            np.isin(grid.points, rank_grid(1.0, group.most, (group.least,), spacing=_FEW_COLUMNS).points)
            for group, grid in zip(self.groups, self.grids, strict=True)
        ]
        return np.concatenate(chosen)


def _grouped(counts: FloatArray, times: FloatArray, singly: bool) -> list[Group]:
    ratio = 1.0 if singly else max(_ALIKE, (counts[-1] / counts[0]) ** (1 / _GROUPS))
    groups: list[Group] = []
    for count, tasks in zip(counts.tolist(), times.tolist(), strict=True):
        if groups and count <= ratio * groups[-1].least:
            groups[-1] = Group(groups[-1].least, count, groups[-1].tasks + tasks)
        else:
            groups.append(Group(count, count, tasks))
    return groups


def _lower(group: Group, grid: Grid, function: TaskFunction) -> FloatArray:
    def of_ranks(ranks: FloatArray) -> FloatArray:
        flat = ranks.ravel()
        values = function(flat, np.full_like(flat, group.most))
        if group.least < group.most:
            # A task of this rank has at least as many candidates as the rank.
            values = np.minimum(values, function(flat, np.maximum(flat, group.least)))
        return values.reshape(*ranks.shape, *values.shape[1:])

    return grid.lower(of_ranks)


@dataclass(frozen=True)
class Rows:
    """Known inequalities: the mean of each row of weights (k, columns) is at most its room (k,)."""

    weights: FloatArray
    room: FloatArray

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """Return the rows of all parts."""
        return cls(
            np.concatenate([part.weights for part in parts]), np.concatenate([part.room for part in parts])
        )


class LeastMeans:
    """The least mean of functions over all full ranks that fulfil the rows.

    The linear program starts with a few columns and rows. Each round adds columns that the prices call for, and rows
    that the solution breaks, until there are none. A bound that leaves out rows is still valid.
    """

    def __init__(self, tasks: Tasks, rows: Rows) -> None:
        """Take tasks and rows."""
        self._tasks, self._rows = tasks, rows
        self._owner = tasks.owner
        self._shares = np.array([group.tasks for group in tasks.groups]) / tasks.number
        self._masses = (self._owner == np.arange(self._shares.size)[:, None]).astype(np.float64)
        self._columns = np.flatnonzero(tasks.few_columns())
        number = rows.room.size
        self._chosen = np.arange(0, number, _FEW_ROWS if number > 2 * _FEW_ROWS else 1)
        self._program: LinearProgram | None = None

    def least(self, function: TaskFunction) -> float | None:
        """Return a lower bound of the mean of the function, or None if no ranks fulfil the rows."""
        weights = self._tasks.lower(function)
        scale = np.ptp(weights) or 1.0
        least = self._least(weights / scale)
        return None if least is None else least * scale

    def _least(self, weights: FloatArray) -> float | None:
        best = self.proved(weights, np.zeros(self._rows.room.size))[0]
        program = self._of(weights)
        for _ in range(_ROUNDS):
            solution = program.solve()
            if solution is Unsolved.UNDECIDED:
                break
            if solution is Unsolved.IMPOSSIBLE:
                if self._columns.size == self._owner.size:
                    return None
                self._add_columns(program, weights, np.setdiff1d(np.arange(self._owner.size), self._columns))
                continue
            prices = np.zeros(self._rows.room.size)
            prices[self._chosen] = np.maximum(solution.prices, 0.0)
            proved, missing = self.proved(weights, prices)
            best = max(best, proved)
            broken = self._broken(solution.shares)
            if solution.cost - proved <= _CLOSE:
                missing = missing[:0]
            if not missing.size and not broken.size:
                break
            self._add_columns(program, weights, missing)
            self._add_rows(program, broken)
        return best

    def _of(self, weights: FloatArray) -> LinearProgram:
        """Return the program of the least mean of these weights, with the columns and rows of the means before it."""
        cost = weights[self._columns]
        if self._program is None:
            self._program = LinearProgram(cost, self._masses[:, self._columns], self._shares)
            self._program.add_rows(
                self._rows.weights[np.ix_(self._chosen, self._columns)], self._rows.room[self._chosen]
            )
        else:
            self._program.change_cost(cost)
        return self._program

    def _add_columns(self, program: LinearProgram, weights: FloatArray, added: IntArray) -> None:
        if added.size:
            entries = [self._masses[:, added], self._rows.weights[np.ix_(self._chosen, added)]]
            program.add_columns(weights[added], np.concatenate(entries))
            self._columns = np.append(self._columns, added)

    def _add_rows(self, program: LinearProgram, added: IntArray) -> None:
        if added.size:
            program.add_rows(self._rows.weights[np.ix_(added, self._columns)], self._rows.room[added])
            self._chosen = np.append(self._chosen, added)

    def proved(self, weights: FloatArray, prices: FloatArray) -> tuple[float, IntArray]:
        """Return the lower bound of the mean that prices of at least 0 prove, and the columns to add.

        A column is added if it is cheaper than every column in use of its group, and not dearer than its neighbours.
        """
        is_priced = prices > 0
        priced = weights + prices[is_priced] @ self._rows.weights[is_priced]
        least, known = (np.full(self._shares.size, np.inf) for _ in range(2))
        np.minimum.at(least, self._owner, priced)
        np.minimum.at(known, self._owner[self._columns], priced[self._columns])
        is_cheaper = priced < known[self._owner] - _CLOSE
        bound = float(least @ self._shares - prices @ self._rows.room)
        return bound, np.flatnonzero(_peaks(-priced) & is_cheaper)

    def _broken(self, shares: FloatArray) -> IntArray:
        """Return the left-out rows that the shares break, if they break the neighbouring rows by no more."""
        excess = self._rows.weights[:, self._columns] @ shares - self._rows.room
        is_left_out = np.ones(excess.size, dtype=np.bool_)
        is_left_out[self._chosen] = False
        return np.flatnonzero(_peaks(excess) & (excess > _CLOSE) & is_left_out)


def _peaks(values: FloatArray) -> BoolArray:
    around = np.concatenate([[-np.inf], values, [-np.inf]])
    is_peak: BoolArray = (values >= around[:-2]) & (values >= around[2:])
    return is_peak
