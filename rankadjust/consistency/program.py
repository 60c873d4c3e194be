"""Can any ranks have all printed values? A linear program over the shares of ranks decides.

The unknowns are, for each list of tasks, the shares of its ranks at the points of a grid, or, where shares may not
increase with the rank, the shares of uniform distributions on 2..m. A printed value is two rows that are at most 0 for
all ranks that have it, and a slack. The least sum of the slacks is 0 if some distribution has all values; otherwise it
measures by how much the values miss each other. HiGHS solves it (docs/checking.md has the proof).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.consistency.linear_program import LinearProgram, Solution
from rankadjust.consistency.rank_grid import Averaged, Grid, RankFunction, rank_grid, thresholds_of
from rankadjust.consistency.statements import Demand, Interval, TaskCounts, demand_of

# The greatest rank if nothing bounds it: more than any data set has entities.
_UNKNOWN = 1e9
# Above this greatest rank, decreasing shares are not tested: their sums would take too long.
MOST_AVERAGED = 2_000_000
# At how many ranks the shares of ranks above are compared with the numbers of candidates.
_CANDIDATE_POINTS = 24
# Slacks up to this size are noise of the solver; every interval has already been widened by 1e-6 of its value.
_NOISE = 1e-6
# An excess beyond so many standard deviations is more than chance does in the ranks of a few tasks.
_SURPRISING = 5.0
# Assumed number of tasks where it is unknown: small, so that chance explains more.
_FEW_TASKS = 1000.0


class Ranks(Enum):
    """The possible ranks: multiples of 1/2, as ties may give, or whole with shares that do not increase from 2 on."""

    HALVES = 0.5
    DECREASING = 1.0


@dataclass(frozen=True)
class Excess:
    """How far the printed values miss each other, relative to their size; surprise: in standard deviations."""

    amount: float
    surprise: float


class Program:
    """The linear program of the values of one model.

    tasks: the disjoint lists of tasks, by name; of several lists the numbers of tasks are known. parts_of: side of a
    value -> the names of its lists.
    """

    def __init__(
        self,
        tasks: Mapping[str, TaskCounts],
        parts_of: Mapping[str, Sequence[str]],
        values: Sequence[Interval],
        ranks: Ranks,
    ) -> None:
        """Set up the rows of all values once; each question then chooses among them."""
        self._tasks, self._parts_of, self._ranks = tasks, parts_of, ranks
        self._parts = list(tasks)
        known = [(value, demand) for value in values if (demand := demand_of(value)) is not None]
        self._demands = {value.key: (value.side, demand) for value, demand in known}
        most = max(of_part.most for of_part in tasks.values())
        self._most = float(np.floor(most)) if np.isfinite(most) else _UNKNOWN
        jumps = [demand.jump for _, demand in known if demand.jump is not None]
        self._candidate_ranks = {part: _candidate_ranks(of_part, jumps) for part, of_part in tasks.items()}
        self._jumps = thresholds_of(
            [*jumps, *(rank for ranks in self._candidate_ranks.values() for rank in ranks)]
        )
        self._rows = {name: self._missed(*said) for name, said in self._demands.items()}
        self._excesses: dict[tuple[str, ...], Excess] = {}

    @property
    def names(self) -> list[str]:
        """The keys of the values that restrict the ranks."""
        return list(self._rows)

    @cached_property
    def grid(self) -> Grid:
        """The points on which the ranks are put."""
        return rank_grid(self._ranks.value, self._most, self._jumps)

    def excess(self, names: Iterable[str]) -> Excess:
        """Return by how much the values with these names miss each other."""
        used = tuple(self._used(names))
        if used not in self._excesses:
            self._excesses[used] = self._excess(used) if used else Excess(0.0, 0.0)
        return self._excesses[used]

    def _excess(self, used: tuple[str, ...]) -> Excess:
        rows = np.concatenate([self._rows[name] for name in used])
        owner = np.repeat(np.arange(len(used)), 2)
        slack = -(owner[:, None] == np.arange(len(used))).astype(np.float64)
        limits = self._limits
        matrix = np.block([[rows[:, 0], slack], [limits, np.zeros((len(limits), len(used)))]])
        cost = np.concatenate([np.zeros(rows.shape[2]), np.ones(len(used))])
        program = LinearProgram(cost, *self._masses(len(used)))
        program.add_rows(matrix, np.zeros(len(matrix)))
        solution = program.solve()
        if not isinstance(solution, Solution):
            # With slacks, some shares always fulfil all rows: here the solver failed, which proves nothing.
            return Excess(0.0, 0.0)
        amount = solution.cost
        if amount <= _NOISE:
            return Excess(0.0, 0.0)
        return Excess(amount, self._surprise(solution.prices[: len(rows)] @ rows[:, 1], amount))

    def clashes(self, names: Iterable[str]) -> bool:
        """Return whether no ranks have the values with these names (or, for DECREASING, hardly any ranks)."""
        used = tuple(self._used(names))
        excess = self.excess(used)
        return excess.amount > 0 and (not self._is_averaged or excess.surprise > _SURPRISING)

    def irreducible(self, names: Sequence[str]) -> list[str]:
        """Return a minimal clashing subset: without any one of its names the rest are consistent."""
        needed = list(names)
        for name in names:
            rest = [other for other in needed if other != name]
            if self.clashes(rest):
                needed = rest
        return needed

    def allowed(self, name: str, names: Iterable[str]) -> tuple[float, float] | None:
        """Return the interval that the values with some names leave for another value, None if they already clash."""
        side, demand = self._demands[name]
        used = self._used(names)
        lower, upper = self._bounds(demand)
        rows = [self._rows[name][:, 0] for name in used]
        matrix = np.concatenate([*rows, self._limits]) if rows else self._limits
        program = LinearProgram(self._on(side, lower), *self._masses(0, side))
        # The numerical noise may violate rows by this much.
        program.add_rows(matrix, np.full(len(matrix), _NOISE))
        ends = []
        for sign, weights in ((1.0, lower), (-1.0, upper)):
            program.change_cost(self._on(side, sign * weights))
            solution = program.solve()
            if not isinstance(solution, Solution):
                return None
            ends.append(sign * solution.cost)
        return ends[0], ends[1]

    # --- rows --------------------------------------------------------------------------------------------------

    def _used(self, names: Iterable[str]) -> list[str]:
        """Return the names that have rows."""
        given = set(names)
        return [name for name in self.names if name in given]

    def _missed(self, side: str, demand: Demand) -> FloatArray:
        """Return how far ranks at each point are below the low end of a demand, and above the high end.

        Each end has two rows: first a lower bound for all ranks that the point represents, then the value at the point:
        (2, 2, parts x points).
        """
        lower, upper = self._bounds(demand)
        values = self.grid.values(demand.function)
        ends = [[demand.low - upper, demand.low - values], [lower - demand.high, values - demand.high]]
        return self._on(side, np.array(ends) / demand.scale)

    @property
    def _is_averaged(self) -> bool:
        return self._ranks is Ranks.DECREASING

    @property
    def _columns(self) -> int:
        return self.grid.points.size

    def _bounds(self, demand: Demand) -> tuple[FloatArray, FloatArray]:
        most = max(int(self._most), 2) if self._is_averaged else None
        return _bounds_on(self.grid, demand.function, most)

    @cached_property
    def _limits(self) -> FloatArray:
        """Rows at most 0: for each r, the share of a list's ranks above r is at most its share of tasks with N > r."""
        blocks = []
        for place, part in enumerate(self._parts):
            # If the columns are distributions on 2..m, their greatest rank is m.
            ranks = self._candidate_ranks[part][-1:] if self._is_averaged else self._candidate_ranks[part]
            block = np.zeros((len(ranks), len(self._parts), self._columns))
            # No points lie between a threshold and the next rank, so that the share above it is exact.
            is_above = self.grid.points > np.reshape(ranks, (-1, 1))
            block[:, place] = is_above - self._tasks[part].shares_above(ranks)[:, None]
            blocks.append(block.reshape(len(ranks), len(self._parts) * self._columns))
        return np.concatenate(blocks)

    def _masses(self, slacks: int, side: str | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the equalities: each list has its share of the tasks of a side (None: of all tasks)."""
        weights = np.array(
            [of_part.number if len(self._parts) > 1 else 1.0 for of_part in self._tasks.values()]
        )
        about = [part in self._parts_of[side] if side else True for part in self._parts]
        masses = np.kron(np.eye(len(self._parts)), np.ones(self._columns))
        return np.hstack([masses, np.zeros((len(masses), slacks))]), weights / weights[about].sum()

    def _on(self, side: str, weights: FloatArray) -> FloatArray:
        """Return weights (..., points) for the columns of the lists that make up a side, 0 for the others."""
        is_of_side = np.array([part in self._parts_of[side] for part in self._parts], dtype=np.float64)
        return np.asarray(np.kron(is_of_side, weights), dtype=np.float64)

    def _surprise(self, missed: FloatArray, amount: float) -> float:
        """Return the excess in standard deviations, for ranks drawn from a possible distribution.

        missed: the rows' values at each rank, weighted with the rows' prices. As printed, its mean over the tasks is at
        most 0; under any possible distribution, the mean is at least the excess. Its variance is at most
        (max - mean)(mean - min).
        """
        if not self._is_averaged:
            return np.inf
        numbers = [of_part.number for of_part in self._tasks.values()]
        tasks = sum([_FEW_TASKS if number is None else number for number in numbers])
        variance = max((missed.max() - amount) * (amount - missed.min()), 1e-300)
        return float(amount / np.sqrt(variance / tasks))


@lru_cache(maxsize=2048)
def _bounds_on(grid: Grid, function: RankFunction, most: int | None) -> tuple[FloatArray, FloatArray]:
    """Return `Grid.bounds` of a function, or of its means over the ranks 2..m where m is at most `most`.

    The models of a table have the same metrics among the same candidates, so that most bounds are known already.
    """
    return grid.bounds(function if most is None else Averaged(function, most))


def _candidate_ranks(tasks: TaskCounts, jumps: Sequence[float]) -> tuple[float, ...]:
    """Return the ranks r at which the share of ranks above r is compared with the tasks' numbers of candidates."""
    if not tasks.times.size:
        return (tasks.most,) if np.isfinite(tasks.most) else ()
    counts = tasks.counts
    if counts.size > _CANDIDATE_POINTS:
        reached = np.cumsum(tasks.times) / tasks.times.sum()
        wanted = np.searchsorted(reached, np.linspace(0.0, 1.0, _CANDIDATE_POINTS), side="left")
        counts = counts[np.unique(np.minimum(wanted, counts.size - 1))]
    least = float(tasks.counts[0])
    # Below the least N, all ranks may be above, so that no rank there needs a comparison.
    near = [jump for jump in jumps if least <= jump < tasks.most]
    return thresholds_of([*counts, *near])
