"""Choose a few points for a distribution of ranks, so that a small linear program covers every distribution.

A mean of f over the tasks is the sum of f over the ranks, weighted with their shares. The shares of ranks between two
neighbouring points are moved to these two points, with an equal mean of ln r. This moves the mean of f by at most the
distance between f and its chord between the points, as functions of ln r. `Grid.bounds` adds this distance on the safe
side. Ranks never cross a threshold, since a threshold and the smallest rank above it are both points
(docs/checking.md, "Why impossible is a proof").
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rankadjust.base.arrays import FloatArray

RankFunction = Callable[[FloatArray], FloatArray]

# If the greatest rank is at most this, every rank is a point.
_COMPLETE = 128
# Otherwise the distance of neighbouring points is this share of the rank: chords are wrong by some 0.05 %.
_SPACING = 1 / 16
# Places between two points where the distance from the chord is measured, and a margin for the places not measured.
_PLACES = (np.arange(16) + 0.5) / 16
_MARGIN = 1.05


@dataclass(frozen=True, eq=False)
class Grid:
    """Ascending ranks (p,), multiples of `step` (1, or 1/2 with ties), from 1 to the greatest rank.

    `rank_grid` returns the same grid for the same ranks, so that what was computed on it can be looked up.
    """

    points: FloatArray
    step: float

    def values(self, function: RankFunction) -> FloatArray:
        """Return the function at the points, (p, ...)."""
        values: FloatArray = np.asarray(function(self.points), dtype=np.float64)
        return values

    def bounds(self, function: RankFunction) -> tuple[FloatArray, FloatArray]:
        """Return two arrays of weights (p, ...): every distribution has a mean between the means that they give.

        function: smooth between neighbouring points. It may have several values for each rank, along further axes.
        """
        return self.lower(function), self.values(function) + self._distance(function, -1.0)

    def lower(self, function: RankFunction) -> FloatArray:
        """Return the first array of `bounds`."""
        values: FloatArray = self.values(function) - self._distance(function, 1.0)
        return values

    def _distance(self, function: RankFunction, sign: float) -> FloatArray:
        """Return how far a chord that begins or ends at each point is above the function (below it, for sign -1)."""
        left, right = self.points[:-1], self.points[1:]
        wide = np.flatnonzero(right - left > 1.5 * self.step)
        if not wide.size:
            return np.zeros(1)
        ends = np.log(left[wide, None]), np.log(right[wide, None])
        between = function(np.exp(ends[0] + _PLACES * (ends[1] - ends[0])))
        at_left, at_right = function(left[wide])[:, None], function(right[wide])[:, None]
        places = _PLACES.reshape(-1, *np.ones(between.ndim - 2, dtype=np.int64))
        chord = at_left + places * (at_right - at_left)
        none = np.zeros((1, *between.shape[2:]))
        most = np.zeros((left.size, *between.shape[2:]))
        most[wide] = _MARGIN * np.maximum(sign * (chord - between), 0.0).max(axis=1)
        distance: FloatArray = np.maximum(np.concatenate([most, none]), np.concatenate([none, most]))
        return distance


@lru_cache(maxsize=256)
def rank_grid(
    step: float,
    most: float,
    thresholds: tuple[float, ...],
    complete: float = _COMPLETE,
    spacing: float = _SPACING,
) -> Grid:
    """Return the points for ranks that are multiples of `step` up to `most`.

    thresholds: ranks that statements mention; each of them, and the next rank above it, is a point. complete: if `most`
    is at most this, every rank is a point. spacing: otherwise the distance of points, as a share of the rank.
    """
    below = np.floor(np.asarray(thresholds, dtype=np.float64) / step + 1e-9) * step
    points = np.concatenate([_spaced(step, most, complete, spacing), below, below + step])
    return Grid(np.unique(points[(points >= 1) & (points <= most)]), step)


@lru_cache(maxsize=256)
def _spaced(step: float, most: float, complete: float, spacing: float) -> FloatArray:
    if most <= complete:
        return np.append(np.arange(1.0, most, step), most)
    points, rank = [], 1.0
    while rank < most:
        points.append(rank)
        rank += max(step, np.floor(rank * spacing / step) * step)
    return np.array([*points, most])


class Averaged:
    """A function g(m), the mean of f over the ranks 2..m, for whole numbers m up to `most`; f(1) at m = 1.

    Any distribution that does not increase over the ranks from 2 on is a mixture of rank 1 and the uniform
    distributions on 2..m.
    """

    def __init__(self, function: RankFunction, most: int) -> None:
        """Compute all means once; most >= 2."""
        values = function(np.arange(1.0, most + 1))
        sums = np.cumsum(values[1:])
        self._means = np.concatenate([values[:1], sums / np.arange(1, most)])

    def __call__(self, ranks: FloatArray) -> FloatArray:
        """Return g at the ranks; between whole numbers, g is a straight line."""
        place = np.clip(ranks - 1, 0, self._means.size - 1)
        below = np.minimum(place.astype(np.int64), self._means.size - 2)
        means: FloatArray = self._means[below] + (place - below) * (
            self._means[below + 1] - self._means[below]
        )
        return means


def thresholds_of(ranks: Iterable[float]) -> tuple[float, ...]:
    """Return the finite ranks in the form that `rank_grid` expects: ascending, each once."""
    return tuple(sorted({float(rank) for rank in ranks if np.isfinite(rank)}))
