"""How many tasks have how many candidates: all that a moment, a bound or a limit needs of an evaluation."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from rankadjust.base.arrays import ByContent, FloatArray
from rankadjust.base.errors import RankadjustError


@dataclass(frozen=True, eq=False)
class CandidateCounts(ByContent):
    """Distinct numbers of candidates (k,), ascending, and how many tasks have each (k,), all of them above 0."""

    counts: FloatArray
    tasks: FloatArray

    @property
    def total(self) -> float:
        """The number of tasks."""
        return float(self.tasks.sum())

    def sum(self, per_task: FloatArray) -> FloatArray:
        """Return the sum over all tasks of values given per count, (k,) or (k, t)."""
        weights = self.tasks.reshape(-1, *[1] * (per_task.ndim - 1))
        total: FloatArray = np.sum(weights * per_task, axis=0)
        return total

    @classmethod
    def of(cls, num_candidates: ArrayLike, tasks: ArrayLike) -> Self:
        """Take whole numbers (k,): candidates, which may repeat, and tasks.

        >>> CandidateCounts.of([5, 3, 5], [1, 2, 4]).tasks.tolist()
        [2.0, 5.0]
        """
        given, times = np.asarray(num_candidates, dtype=np.float64), np.asarray(tasks, dtype=np.float64)
        if given.ndim != 1 or given.shape != times.shape:
            raise RankadjustError("num_candidates and tasks must be lists of the same length")
        counts, place = np.unique(given[times > 0], return_inverse=True)
        return cls(counts, np.bincount(place, times[times > 0], counts.size).astype(np.float64))
