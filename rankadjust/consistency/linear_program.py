"""Linear programs over shares, which are at least 0, solved by HiGHS.

Where a program changed a little, HiGHS starts from its last solution. Each model of a table has programs of its own, so
that no digit depends on the models before it.
"""

from enum import Enum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadjust.base.arrays import FloatArray

# Ranks up to a billion beside ranks of 1 are hard for some of the methods.
_METHODS = (("simplex", "choose"), ("simplex", "off"), ("ipm", "choose"))


class Solution(NamedTuple):
    """The least cost, the shares that have it, and the price of each row: how much a unit of room lowers the cost."""

    cost: float
    shares: FloatArray
    prices: FloatArray


class Unsolved(Enum):
    """Why there is no solution: no shares fulfil all rows, or no method of HiGHS decides."""

    IMPOSSIBLE = auto()
    UNDECIDED = auto()


class LinearProgram:
    """Shares of the least cost, where some sums of shares are given, and others (the rows) are limited."""

    def __init__(self, cost: FloatArray, equalities: FloatArray, right: FloatArray) -> None:
        """Take the cost of each share; equalities times shares equals right."""
        # Most values contradict no others and need no solver. The public class of highspy prints a banner.
        from highspy._core import HighsModelStatus, HighsStatus, _Highs

        self._solver, self._status, self._answer = _Highs(), HighsStatus, HighsModelStatus
        self._set("output_flag", False)
        self._set("threads", 1)
        self._equalities = right.size
        self._limit(equalities[:, :0], right, right)
        self.add_columns(cost, equalities)

    def add_columns(self, cost: FloatArray, matrix: FloatArray) -> None:
        """Add shares with their cost; matrix: what each of them adds to the equalities and to the rows."""
        least, most = np.zeros(cost.size), np.full(cost.size, np.inf)
        self._require(self._solver.addCols(cost.size, cost, least, most, *_packed(matrix.T)))

    def add_rows(self, matrix: FloatArray, room: FloatArray) -> None:
        """Add rows: matrix times shares is at most room."""
        self._limit(matrix, np.full(room.size, -np.inf), room)

    def change_cost(self, cost: FloatArray) -> None:
        """Replace the cost of all shares."""
        self._require(self._solver.changeColsCost(cost.size, np.arange(cost.size, dtype=np.int32), cost))

    def solve(self) -> Solution | Unsolved:
        """Return the shares of the least cost, or why there are none."""
        for method, presolve in _METHODS:
            self._set("solver", method)
            self._set("presolve", presolve)
            if self._solver.run() == self._status.kError:
                # Other code of this process may have started the threads of HiGHS.
                self._set("threads", 0)
                self._solver.run()
            answer = self._solver.getModelStatus()
            if answer == self._answer.kOptimal:
                return self._solution()
            if answer == self._answer.kInfeasible:
                return Unsolved.IMPOSSIBLE
            self._require(self._solver.clearSolver())
        return Unsolved.UNDECIDED

    def _solution(self) -> Solution:
        found = self._solver.getSolution()
        prices = -np.array(found.row_dual[self._equalities :], dtype=np.float64)
        return Solution(self._solver.getObjectiveValue(), np.array(found.col_value), prices)

    def _limit(self, matrix: FloatArray, least: FloatArray, most: FloatArray) -> None:
        self._require(self._solver.addRows(most.size, least, most, *_packed(matrix)))

    def _set(self, option: str, value: bool | int | str) -> None:
        self._require(self._solver.setOptionValue(option, value))

    def _require(self, status: object) -> None:
        if status == self._status.kError:
            raise RuntimeError("HiGHS refuses a linear program")


def _packed(matrix: FloatArray) -> tuple[int, NDArray[np.int32], NDArray[np.int32], FloatArray]:
    """Return the entries of the rows that are not 0: how many, where each row starts, their columns and values."""
    rows, columns = np.nonzero(matrix)
    starts = np.searchsorted(rows, np.arange(len(matrix)))
    return rows.size, starts.astype(np.int32), columns.astype(np.int32), matrix[rows, columns]
