"""Exact moments of the median, and of its inverse, of independent ranks that are uniform on 1..N.

Expectations are sums over x of probabilities that a middle rank is beyond x. These are smooth in x but at the candidate
counts, so that few x stand for all: Gauss sums on intervals between the candidate counts (docs/methods.md, "Numerics").
"""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.poisson_binomial import TaskGroups, log_bound, no_rank_between, tails
from rankadjust.chance.rank_sums import gauss_sums

# Tails below this share of the largest are left out: it leaves room for weights up to (1e8)^2.
_NEGLIGIBLE = 1e-32

# An interval is halved until the two highest of its coefficients are below this share of the largest value. The
# Gauss sum is exact to twice the degree, where coefficients are about the square of it.
_POINTS = 12
_SMOOTH = 1e-8
_PIECES = 4
_GAP_POINTS = 12
# Of the second moment of the gap, this share may be left out.
_TOLERANCE = 1e-12


def median_moments(counts: FloatArray, tasks: FloatArray) -> tuple[float, float, float, float]:
    """Return expectation and variance of the median rank, then of its inverse.

    counts: distinct numbers of candidates (k,), ascending; tasks: positive numbers of tasks (k,). The median of
    an even number of ranks is the mean of the two middle ones.
    """
    groups = TaskGroups.of(counts, tasks)
    total = int(groups.certain[-1])
    lower, upper = (total + 1) // 2, total // 2 + 1
    (centre, low), (_, high) = _reach(groups, lower, -1), _reach(groups, upper, 1)
    sums = _tail_sums(groups, (lower + upper) / 2, low, centre, high)
    if lower < upper:
        sums -= _gap_sums(groups, lower, low, centre, high)
    variance, inverse_variance = (max(float(sums[at + 1] - sums[at] ** 2), 0.0) for at in (0, 2))
    return float(centre + sums[0]), variance, float(1 / centre + sums[2]), inverse_variance


# --- the four functions of the median: s - c, (s - c)^2, 1/s - 1/c, (1/s - 1/c)^2 --------------------------


def _first_differences(x: FloatArray, c: float) -> FloatArray:
    """Return f(x + 1) - f(x) for the four functions, with a last axis of 4."""
    step = -1 / (x * (x + 1))
    both = (c - x) / (c * x) + (c - x - 1) / (c * (x + 1))
    return np.stack([np.ones_like(x), 2 * (x - c) + 1, step, step * both], axis=-1)


def _second_differences(s: FloatArray, c: float) -> FloatArray:
    """Return f(s) + f(s + 1) - 2 f(s + 1/2) for the four functions, with a last axis of 4."""
    square = (s + 0.5) ** 2
    product = s * (s + 1)
    inverse = 0.5 / ((s + 0.5) * product)
    inverse_square = (1.5 * square - 0.125) / (square * product**2) - 2 / c * inverse
    return np.stack([np.zeros_like(s), np.full_like(s, 0.5), inverse, inverse_square], axis=-1)


# --- where an order statistic is uncertain ----------------------------------------------------------------


def _reach(groups: TaskGroups, order: int, direction: int) -> tuple[int, int]:
    """Return a point close to the median of an order statistic, and how far its law reaches in a direction, 1 or -1."""
    last = int(groups.counts[-1])
    # The first x of 1..last at which as many ranks are expected, or last.
    centre = 1 + bisect_left(range(1, last), order - 0.5, key=lambda x: groups.mean(np.array([x]))[0])
    cdf, survival = tails(groups, np.array([max(centre - 1.0, 1.0), centre]), order)
    largest = float(max(cdf[0] if centre > 1 else 0.0, survival[1]))
    if largest == 0:
        return centre, centre
    step, end = max(1, round(centre / float(groups.certain[-1]) ** 0.5)), last if direction > 0 else 1
    # Steps that grow by an eighth of the way.
    ways = step * (1.125 ** np.arange(np.log(max(abs(end - centre) / step, 1)) / np.log(1.125)))
    points = centre + direction * np.unique(np.ceil(ways))
    # The points have to ascend.
    bounds = log_bound(groups, points[::direction], order, direction)[::direction]
    beyond = points[bounds <= np.log(largest * _NEGLIGIBLE)]
    return centre, int(beyond[0]) if beyond.size else end


# --- sums over x ------------------------------------------------------------------------------------------


def _tail_sums(groups: TaskGroups, order: float, low: int, centre: int, high: int) -> FloatArray:
    """Return E f(X) - f(b) for the four functions f, X an order statistic and b the centre.

    It is the sum over x >= b of (f(x + 1) - f(x)) P(X > x) minus the sum over x < b of the same with P(X <= x). For
    an order of l + 1/2 it is the mean of two (`tails`).
    """
    sums = np.zeros(4)
    for is_above, start, end in ((False, low, centre), (True, centre, high)):

        def tail(x: FloatArray, is_above: bool = is_above) -> FloatArray:
            cdf, survival = tails(groups, x, order)
            return survival if is_above else -cdf

        # Cut at first into pieces of the length that most of them end with.
        cuts = np.round(np.linspace(start, end, _PIECES + 1))
        x, weights, values = _smooth_nodes(tail, start, end, np.append(groups.counts, cuts))
        sums += (weights * values) @ _first_differences(x, float(centre))
    return sums


def _smooth_nodes(
    function: Callable[[FloatArray], FloatArray], low: int, high: int, kinks: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return nodes and weights (k,) for sums over low <= x < high, and the function at the nodes.

    Intervals end at kinks, and are halved until the function is smooth on each.
    """
    # Between powers of 2, 1 / x is smooth, too.
    edges = np.unique(np.concatenate([[low, high], kinks, 2.0 ** np.arange(53)]))
    edges = edges[(edges >= low) & (edges <= high)]
    starts, lengths = edges[:-1], np.diff(edges)
    largest = 0.0
    parts = [(np.empty(0), np.empty(0), np.empty(0))]
    while starts.size:
        rule = gauss_sums(lengths, _POINTS)
        x = starts[:, None] + rule.nodes
        values = function(x.ravel()).reshape(x.shape)
        largest = max(largest, float(np.abs(values).max()))
        highest = np.abs(np.einsum("kdp,kp->kd", rule.basis[:, -2:, :], values)).max(axis=1)
        smooth = (lengths <= _POINTS) | (highest <= _SMOOTH * largest)
        parts.append((x[smooth].ravel(), rule.weights[smooth].ravel(), values[smooth].ravel()))
        half = np.floor(lengths[~smooth] / 2)
        starts = np.column_stack([starts[~smooth], starts[~smooth] + half]).ravel()
        lengths = np.column_stack([half, lengths[~smooth] - half]).ravel()
    nodes, weights, at_nodes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return nodes, weights, at_nodes


def _gap_sums(groups: TaskGroups, order: int, low: int, centre: int, high: int) -> FloatArray:
    """Return what the mean of f(X) and f(Y) exceeds E f((X + Y) / 2) by, for the four f; X, Y the middle ranks.

    With d(s) = f(s) + f(s + 1) - 2 f(s + 1/2) it is the sum over x of d(x) / 2 P(X <= x < Y), plus the sum over
    x < y of d((x + y) / 2) P(X <= x, Y > y).

    An x counts if it adds the square of _TOLERANCE, or more, to one of the sums.
    """

    def between(x: FloatArray) -> FloatArray:
        return no_rank_between(groups, x, np.zeros_like(x), order)

    x, weights, mass = _smooth_nodes(between, low, high, groups.counts)
    parts = (weights * mass)[:, None] * _second_differences(x, float(centre)) / 2
    sums: FloatArray = parts.sum(axis=0)
    kept = (np.abs(parts) > _TOLERANCE**2 * np.abs(sums)).any(axis=1)
    x, weights, mass = x[kept], weights[kept], mass[kept]
    kinks = np.append(groups.counts[groups.counts <= high], np.inf)
    # For each x the y lie in intervals that double in length and end at kinks. An x is done when what is left of its
    # probability is below the tolerance.
    # The first gaps y - x are short against the mean gap, and against x because of 1 / s. What is short enough is
    # summed exactly.
    first = groups.beyond(x)
    length = np.ceil(np.minimum(2 * groups.counts[first] / groups.tails[first, 1], x / 2))
    start, length = np.ones_like(x), np.maximum(length, _GAP_POINTS)
    end = np.floor(groups.counts[-1]) - x
    while x.size:
        following = kinks[np.searchsorted(kinks, x + start, side="right")]
        limit = np.minimum(end, following - x + 1)
        stop = start + length
        # No rest shorter than 2: between whole numbers its rule would reach beyond the kink.
        stop = np.where(stop >= limit, limit, np.minimum(stop, limit - 2))
        rule = gauss_sums(stop - start, _GAP_POINTS)
        gaps = start[:, None] + rule.nodes
        at = np.broadcast_to(x[:, None], gaps.shape)
        probability = no_rank_between(groups, at.ravel(), gaps.ravel(), order).reshape(gaps.shape)
        parts = weights[:, None] * rule.weights * probability
        sums += np.einsum("kp,kpf->f", parts, _second_differences(at + gaps / 2, float(centre)))
        mass = mass + 2 * np.sum(rule.weights * probability, axis=1)
        goes_on = (stop < end) & (probability[:, -1] * (end - stop) > _TOLERANCE * mass)
        # An interval may have ended early.
        length = np.maximum(2 * (stop - start), _GAP_POINTS)
        x, weights, mass, start, length, end = (
            values[goes_on] for values in (x, weights, mass, stop, length, end)
        )
    return sums
