"""Sums of smooth functions over the ranks 1..N, for many N at once and at a cost that grows with log N.

The ranks are cut into panels: {1}, {2}, (2, 4], (4, 8], … A short panel is summed rank by rank. On a longer one the
function is replaced by its interpolating polynomial at Gauss–Legendre nodes, and the polynomial is summed
exactly, also over a part of the panel. Functions such as ln x, 1/ln(1 + x) or exp(-t/x) are analytic for
Re x > 0, where they vary little on a panel: the error is below the rounding of float64 (docs/methods.md,
"Numerics").
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import Metric

# On (b, 2b] a function that is analytic and bounded for Re x > 0 is interpolated with an error of the order
# of (3 + sqrt 8)^-24 = 4e-19.
_NODES = 24
# Panels up to this length are summed rank by rank.
_LONGEST_EXACT = 32


@dataclass(frozen=True)
class Panel:
    """The candidate counts that lie in one panel (scale, 2 scale], and how to sum over the ranks up to each.

    rows: positions of these counts in the array that was asked for, shape (r,). scale: lower end of the panel
    (1 for the panel {1}). The sums are below_weights @ f(below_nodes) + own_weights @ f(own_nodes).
    """

    rows: NDArray[np.intp]
    scale: float
    below_nodes: FloatArray
    below_weights: FloatArray
    own_nodes: FloatArray
    own_weights: FloatArray

    def sums(self, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return sum_{j=1..N} f(j) for each count of the panel.

        function maps nodes (q,) to values (q,) or (q, t); the result has shape (r,) or (r, t).
        """
        return self.sums_of(function(self.nodes))

    @property
    def nodes(self) -> FloatArray:
        """The nodes (q,) of the sums. The next panel begins with the same nodes."""
        return np.concatenate([self.below_nodes, self.own_nodes])

    def sums_of(self, values: FloatArray) -> FloatArray:
        """Return the sums for values (q,) or (q, t) at the nodes; further values may follow."""
        start = self.below_nodes.size
        below: FloatArray = self.below_weights @ values[:start]
        own: FloatArray = self.own_weights @ values[start : start + self.own_nodes.size]
        return below + own


def panels(num_candidates: FloatArray) -> Sequence[Panel]:
    """Return the panels that hold at least one of the candidate counts (k,), whole numbers from 1 to 2^52."""
    return _panels(num_candidates.tobytes())


# Several metrics ask for the counts of the same split and side.
@lru_cache(maxsize=32)
def _panels(given: bytes) -> Sequence[Panel]:
    num_candidates = np.frombuffer(given)
    kept = []
    # frexp: N - 1 = m 2^e with m in [0.5, 1), so that N lies in (2^(e-1), 2^e]; e = 0 for N = 1.
    exponents = np.frexp(num_candidates - 1.0)[1]
    nodes = [np.empty(0)]
    weights = [np.empty(0)]
    for exponent in range(int(exponents.max(initial=-1)) + 1):
        start = 2 ** (exponent - 1) if exponent else 0
        length = max(start, 1)
        own_nodes = _own_nodes(start, length)
        rows = np.flatnonzero(exponents == exponent)
        if rows.size:
            kept.append(
                Panel(
                    rows=rows,
                    scale=float(length),
                    below_nodes=np.concatenate(nodes),
                    below_weights=np.concatenate(weights),
                    own_nodes=own_nodes,
                    own_weights=_own_weights(length, num_candidates[rows] - start),
                )
            )
        nodes.append(own_nodes)
        weights.append(_all_weights(length))
    return kept


@dataclass(frozen=True)
class GaussSums:
    """Gauss rules for sums over 0..L-1, one rule per length.

    nodes, weights: (k, points); sum_{j<L} p(j) = weights @ p(nodes) for polynomials of degree below 2 points.
    basis: (k, points, points); basis[:, d] @ f(nodes) is the component of f along the normed polynomial of
    degree d, as root mean square over the range.
    """

    nodes: FloatArray
    weights: FloatArray
    basis: FloatArray


def gauss_sums(lengths: FloatArray, points: int) -> GaussSums:
    """Return Gauss rules for sums over 0..L-1 for each of the lengths (k,).

    Where L <= points the nodes with a weight are the integers themselves. For lengths that are not whole numbers
    the rule gives what the polynomial in L gives that the sum is for whole L. The nodes are eigenvalues of the Jacobi
    matrix of the discrete Chebyshev polynomials, the weights come from its eigenvectors (Golub and Welsch 1969).
    """
    degrees = np.arange(1.0, points)
    squares = degrees**2 * (lengths[:, None] ** 2 - degrees**2) / (4 * (4 * degrees**2 - 1))
    jacobi = np.zeros((lengths.size, points, points))
    index = np.arange(points - 1)
    # No polynomial follows after L: zeros split the matrix, and the part that is split off has no weight.
    jacobi[:, index + 1, index] = np.sqrt(np.maximum(squares, 0.0))
    nodes, vectors = np.linalg.eigh(jacobi)
    nodes += (lengths[:, None] - 1) / 2
    whole = lengths[:, None] == np.floor(lengths[:, None])
    return GaussSums(
        # The nodes then are the whole numbers 0..L-1, and the middle of the range for nodes without a weight: all of
        # them halves, so that what the eigenvalues miss is rounded away.
        nodes=np.where(whole & (lengths[:, None] <= points), np.round(2 * nodes) / 2, nodes),
        weights=lengths[:, None] * vectors[:, 0, :] ** 2,
        basis=vectors * vectors[:, :1, :],
    )


def _own_nodes(start: int, length: int) -> FloatArray:
    if length <= _LONGEST_EXACT:
        return np.arange(start + 1.0, start + length + 1.0)
    return start + (length + 1 + length * _legendre()[0]) / 2


def _own_weights(length: int, counts: FloatArray) -> FloatArray:
    """Return weights (k, q) that sum a function over the first `counts` (k,) ranks of a panel."""
    if length <= _LONGEST_EXACT:
        return np.where(np.arange(length) < counts[:, None], 1.0, 0.0)
    rule = gauss_sums(counts, _NODES // 2)
    scaled = (2 * rule.nodes + 1 - length) / length
    polynomials: FloatArray = np.einsum("kg,kgd->kd", rule.weights, legendre.legvander(scaled, _NODES - 1))
    return polynomials @ _legendre()[1]


@cache
def _all_weights(length: int) -> FloatArray:
    """Return the weights (q,) that sum a function over all ranks of a panel."""
    weights: FloatArray = _own_weights(length, np.array([float(length)]))[0]
    weights.setflags(write=False)
    return weights


@cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    """Return the nodes on [-1, 1] and the matrix from values at the nodes to Legendre coefficients."""
    nodes, weights = legendre.leggauss(_NODES)
    degrees = np.arange(_NODES)
    return nodes, (legendre.legvander(nodes, _NODES - 1) * weights[:, None] * (degrees + 0.5)).T


# --- means over the orders of tied candidates -----------------------------------------------------------------

# On the ranks from s to 2 s a function that is analytic and bounded for Re r > 0 is summed by 12 Gauss nodes with an
# error of the order of (3 + sqrt 8)^-24 = 4e-19 (docs/methods.md, "Numerics").
_TIED_NODES = 12


def mean_over_orders(
    metric: Metric, optimistic: FloatArray, pessimistic: FloatArray, counts: FloatArray
) -> FloatArray:
    """Return the mean of a metric's term over the whole ranks from optimistic to pessimistic, each of shape (n,).

    Of tied candidates every order is as good as any other, so that the rank of the true answer is uniform on these
    ranks. Where everything ties (from 1 to N) the result is the expectation under the independent null: a scorer that
    gives every candidate the same score is at chance exactly.

    counts: numbers of candidates (n,), nan where not known; only a term that needs them looks at them. Where the
    two ranks are equal the result is the term, also of a half. Raises RankadjustError for a metric without a term.
    """
    if metric.term is None or metric.shape is None:
        raise RankadjustError(f"{metric.label} is not a function of a mean over the tasks; leave it out")
    # A copy: the term of MR is the ranks themselves.
    mean = np.array(metric.term(optimistic, counts))
    tied = np.flatnonzero(pessimistic > optimistic)
    best, worst, count = optimistic[tied], pessimistic[tied], counts[tied]
    # Beyond rank k the term is 0.
    last = worst if metric.k is None else np.minimum(worst, float(metric.k))
    total = np.zeros(tied.size)
    start = best.copy()
    left = np.flatnonzero(start <= last)
    while left.size:
        end = np.minimum(2 * start[left], last[left])
        lengths, position = np.unique(end - start[left] + 1, return_inverse=True)
        rule = gauss_sums(lengths, _TIED_NODES)
        # Up to 12 ranks are their own nodes, with a weight of 1; the rule knows that up to rounding.
        weights = np.where(lengths[:, None] <= _TIED_NODES, np.rint(rule.weights), rule.weights)
        ranks = start[left][:, None] + rule.nodes[position]
        values = metric.shape(ranks, np.broadcast_to(count[left][:, None], ranks.shape))
        total[left] += (weights[position] * values).sum(axis=1)
        start[left] = end + 1
        left = left[start[left] <= last[left]]
    mean[tied] = metric.scale * total / (worst - best + 1)
    return mean
