"""p of equal means, whatever the laws of the ranks are (docs/methods-compare.md, "Two printed values").

A mean of terms with a range allows a p-value that asks for nothing but independent clusters, and two printed values
bound it: so no pair of rank files contradicts a verdict on mean ranks.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric

# So many times the typical cluster's square is the scale at which the bound is sharpest: about the least sum of squares
# that can make a difference significant.
_SHARPEST = 9.0


def p_of_equal_means(lead: FloatArray | float, squares: FloatArray | float, typical: float) -> FloatArray:
    """Return bounds of the probability that sums with equal means differ so much (normal mixture, Robbins 1970).

    Half of it bounds the probability in either direction.

    lead: the difference of the sums, in units of the range of a term. squares: the sum over the tasks, and the ways of
    clustering them, of the difference (at most 1) times the size of the task's cluster. typical: the mean size of the
    cluster of a task, the largest of all ways.
    """
    scale = _SHARPEST * typical**2
    z = lead / np.sqrt(squares + scale)
    bounds: FloatArray = np.minimum(
        1.0, np.exp(0.5 * np.log1p(squares / scale) - z * z / 2) / ndtr(np.abs(z))
    )
    return bounds


def p_of_terms(differences: FloatArray, ways: Sequence[IntArray]) -> float:
    """Return p of equal means from the differences of the tasks' terms (n,), each from -1 to 1.

    ways: the cluster of each task, for one or two ways of clustering them.
    """
    sizes = [np.bincount(way)[way] for way in ways]
    squares = float(sum(np.abs(differences) @ size for size in sizes))
    typical = float(max(size.mean() for size in sizes))
    return float(p_of_equal_means(float(differences.sum()), squares, typical))


def range_of_term(metric: Metric, most: float) -> float:
    """Return how far apart the terms of the first and the last rank are; nan where the number of candidates is."""
    if metric.term is None:
        return np.nan
    ranks = np.array([1.0, most])
    first, last = metric.term(ranks, np.full_like(ranks, most))
    return float(abs(first - last))
