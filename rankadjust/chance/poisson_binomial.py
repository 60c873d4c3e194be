"""Probabilities of the number of ranks up to x, where ranks are independent and uniform on 1..N.

K(x), the number of ranks up to x, is a sum of independent indicators with probabilities min(x / N, 1)
(Poisson-binomial). Its probabilities are coefficients of a generating function, read off a circle through its
saddle point, so that small ones keep their relative accuracy (docs/methods.md, "Numerics").
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rankadjust.base.arrays import ComplexArray, FloatArray

IndexArray = NDArray[np.intp]
_Numbers = TypeVar("_Numbers", FloatArray, ComplexArray)

# ln(1 + c / N) is summed as a power series over the N > _REACH |c|: for n = 1e8 the rest is n 3^-41 / 41 < 1e-13.
_REACH = 3.0
_TERMS = 40

# A sum of indicators is within 8.5 standard deviations and 25 of its mean but for a share below 1e-15; its
# generating function on the circle is below e^-36 of its maximum beyond the angle 8.5 / standard deviation, if that is
# large.
_DEVIATIONS = 8.5
_MARGIN = 25.0
_ANGLE = 8.5

# Newton's method ends when the tilted means are this close to their targets, in standard deviations.
_NEWTON_STEPS = 12
_DIFFERENCE = 1e-3
_CLOSE = 0.05

_ROWS = 128  # points evaluated together
_FACTORS = 16  # candidate counts that are looked at together
_LARGEST_TAU = 40.0


@dataclass(frozen=True)
class TaskGroups:
    """Distinct counts N (k,) with their tasks m (k,), and sums over the first or the last of them.

    certain, logs: sums of m and m ln N over the first j groups (k + 1,). If x is the count of group j, or just above,
    the ranks of these tasks are up to x for certain.
    tails: sums of m_i (N_j / N_i)^r over the groups i >= j (k + 1, _TERMS + 1).
    """

    counts: FloatArray
    tasks: FloatArray
    certain: FloatArray
    logs: FloatArray
    tails: FloatArray

    @classmethod
    def of(cls, counts: FloatArray, tasks: FloatArray) -> "TaskGroups":
        """Prepare the sums for distinct counts (k,), ascending, with positive numbers of tasks (k,)."""
        tails = np.zeros((counts.size + 1, _TERMS + 1))
        powers = np.arange(_TERMS + 1)
        ratios = np.append(counts[:-1] / counts[1:], 0.0)
        for j in range(counts.size - 1, -1, -1):
            tails[j] = tasks[j] + ratios[j] ** powers * tails[j + 1]
        return cls(
            counts=counts,
            tasks=tasks,
            certain=np.append(0.0, np.cumsum(tasks)),
            logs=np.append(0.0, np.cumsum(tasks * np.log(counts))),
            tails=tails,
        )

    def beyond(self, x: FloatArray) -> IndexArray:
        """Return the first group with more than x candidates, for each x."""
        return np.searchsorted(self.counts, x, side="right")

    def mean(self, x: FloatArray) -> FloatArray:
        """Return the mean of K(x), the sum of m min(x / N, 1), for each x."""
        beyond = self.beyond(x)
        following = np.append(self.counts, np.inf)[beyond]
        mean: FloatArray = self.certain[beyond] + x * self.tails[beyond, 1] / following
        return mean

    def log_product(self, first: IndexArray, shift: _Numbers) -> _Numbers:
        """Return the sum over groups i >= first of m_i ln(1 + shift / N_i), first (b,), shift (b, q)."""
        # From this group on ln(1 + shift / N) is summed as a power series, for all rows.
        reach = int(np.searchsorted(self.counts, _REACH * float(np.abs(shift).max())))
        end = max(reach, int(first.max()))
        result = np.zeros_like(shift)
        for at in range(int(first.min()), end, _FACTORS):
            index = np.arange(at, min(at + _FACTORS, end))
            # 1 / N (b, f), and 0 for groups before the first.
            inverse = np.where(index >= first[:, None], 1 / self.counts[index], 0.0)
            logs = np.log(1 + shift[:, None, :] * inverse[:, :, None])
            result += np.einsum("bfq,f->bq", logs, self.tasks[index])
        if end < self.counts.size:
            ratio = -shift / self.counts[end]
            # So many terms leave as little out as _TERMS do where the ratio is 1 / _REACH.
            largest = max(float(np.abs(ratio).max()), np.finfo(np.float64).tiny)
            terms = min(_TERMS, int(np.ceil(_TERMS * np.log(_REACH) / -np.log(largest))))
            series = np.zeros_like(shift)
            for term in range(terms, 0, -1):
                series += self.tails[end, term] / term
                series *= ratio
            result -= series
        return result


# --- circles through the saddle point ---------------------------------------------------------------------


def _saddles(
    groups: TaskGroups, x: FloatArray, gap: FloatArray, target: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return tau of the circles |z| = e^tau on which the tilted K(x) has the mean `target`, and its standard deviation.

    K(x) is given that no rank is in (x, x + gap]; both results are (b,).

    Newton's method from the solution for equal counts; the probability does not depend on how well it succeeds,
    only its rounding error does.
    """
    first = groups.beyond(x + gap)
    certain = groups.certain[first]
    uncertain = groups.certain[-1] - certain
    share = np.clip((target - certain) / uncertain, 1e-9, 1 - 1e-9)
    typical = groups.counts[first] * uncertain / groups.tails[first, 1]
    odds = share / (1 - share) * np.maximum(typical - x - gap, 1e-9 * typical)
    tau = np.clip(np.log(odds / x), -_LARGEST_TAU, _LARGEST_TAU)
    steps = _DIFFERENCE * np.array([-1.0, 0.0, 1.0])
    for _ in range(_NEWTON_STEPS):
        # Mean and variance are the derivatives of ln G, taken as differences.
        below, here, above = groups.log_product(first, (x * np.exp(tau + steps[:, None]) - x - gap).T).T
        mean = certain + (above - below) / (2 * _DIFFERENCE)
        variance = np.maximum((above - 2 * here + below) / _DIFFERENCE**2, 1e-12)
        deviation = np.sqrt(variance)
        if np.all(np.abs(target - mean) < _CLOSE * deviation):
            break
        tau = np.clip(tau + np.clip((target - mean) / variance, -2.0, 2.0), -_LARGEST_TAU, _LARGEST_TAU)
    return tau, deviation


@dataclass(frozen=True)
class _Circles:
    """The generating function G(z) of K(x) on circles |z| = e^tau, at equally spaced points with angles 0 to pi.

    log_z, log_values: ln z and ln G(z) (b, q). weights: of the mean over the whole circle (b, q): points stand for
    their mirror images, and those where G is negligible have no weight. width: so many coefficients of G on either
    side of the saddle point do not vanish (b, 1).
    """

    log_z: ComplexArray
    log_values: ComplexArray
    weights: FloatArray
    width: FloatArray

    def coefficient(self, power: FloatArray) -> FloatArray:
        """Return the coefficient of z^power (b,): the mean of G(z) z^-power over the circle."""
        values = np.exp(self.log_values - power[:, None] * self.log_z)
        mean: FloatArray = np.sum(self.weights * values.real, axis=1)
        return mean

    def sum_from(self, power: FloatArray, step: FloatArray) -> FloatArray:
        """Return the sum of the coefficients of z^k for k = power, power + step, power + 2 step, …; step is 1 or -1.

        It is the mean over the circle of G(z) z^-power times the geometric series of z^-step, as far as `width`.
        """
        values = np.exp(self.log_values - power[:, None] * self.log_z)
        log_ratio = -step[:, None] * self.log_z
        is_one = log_ratio == 0
        log_ratio[is_one] = -1.0
        series = np.where(is_one, self.width, np.expm1(self.width * log_ratio) / np.expm1(log_ratio))
        total: FloatArray = np.sum(self.weights * (series * values).real, axis=1)
        return total


def _circles(
    groups: TaskGroups, x: FloatArray, gap: FloatArray, tau: FloatArray, deviation: FloatArray, *, sums: bool
) -> _Circles:
    """Return the generating functions of K(x), restricted to no rank in (x, x + gap], for x and gap (b,).

    sums: whether sums of coefficients are wanted. As many points as coefficients that do not vanish keep a single one
    apart from the others.
    """
    below, first = groups.beyond(x), groups.beyond(x + gap)
    uncertain = groups.certain[-1] - groups.certain[below]
    width = np.minimum(np.ceil(_DEVIATIONS * deviation + _MARGIN), uncertain + 1)[:, None]
    # An odd number, so that all points but the first come in pairs.
    points = 2 * width + 1 if sums else 2 * np.floor(width / 2) + 1
    used = np.minimum((points - 1) / 2, np.ceil(_ANGLE / deviation[:, None] * points / (2 * np.pi)))
    index = np.arange(used.max() + 1)
    log_z = tau[:, None] + 2j * np.pi * index / points
    # A task with N <= x contributes the factor z, one with x < N <= x + gap the factor x z / N, and any other
    # (N - x - gap + x z) / N = 1 + (x (z - 1) - gap) / N.
    log_values = groups.log_product(first, x[:, None] * np.expm1(log_z) - gap[:, None])
    log_values += groups.certain[first][:, None] * log_z
    passed = groups.certain[first] - groups.certain[below]
    log_values += (passed * np.log(x) - groups.logs[first] + groups.logs[below])[:, None]
    weights = np.where(index == 0, 1.0, 2.0) * (index <= used) / points
    return _Circles(log_z, log_values, weights, width)


def _blocks(size: int, length: int) -> Iterator[slice]:
    for start in range(0, size, length):
        yield slice(start, start + length)


def tails(groups: TaskGroups, x: FloatArray, order: float) -> tuple[FloatArray, FloatArray]:
    """Return P(X <= x) and P(X > x), X the order-th smallest rank, at x (k,), real numbers from 1 on, ascending.

    An order of l + 1/2 stands for the l-th and the next: the tails are the means of theirs. The smaller tail is
    computed, the other is its complement.
    """
    certain = groups.certain[groups.beyond(x)]
    open_ = np.flatnonzero(certain < order)
    cdf = np.ones_like(x)
    survival = np.zeros_like(x)
    for block in _blocks(open_.size, _ROWS):
        rows = open_[block]
        gap = np.zeros(rows.size)
        tau, deviation = _saddles(groups, x[rows], gap, np.full(rows.size, order - 0.5))
        # K(x) is likely too large left of the saddle point z = 1: then X > x is the rare event.
        above = tau < 0
        circles = _circles(groups, x[rows], gap, tau, deviation, sums=True)
        # X > x where K(x) is order - 1 or less, X <= x where it is order or more.
        power = np.where(above, np.ceil(order) - 1.0, np.floor(order))
        tail = circles.sum_from(power, np.where(above, -1.0, 1.0))
        if order % 1:
            # Where K(x) = l, the l-th rank is up to x and the next is not.
            tail -= circles.coefficient(power) / 2
        tail = np.clip(tail, 0.0, 1.0)
        survival[rows] = np.where(above, tail, 1 - tail)
        cdf[rows] = np.where(above, 1 - tail, tail)
    return cdf, survival


def no_rank_between(groups: TaskGroups, x: FloatArray, gap: FloatArray, order: int) -> FloatArray:
    """Return P(K(x) = order, no rank in (x, x + gap]) for x and gap (k,)."""
    possible = np.flatnonzero(groups.certain[groups.beyond(x + gap)] <= order)
    result = np.zeros_like(x)
    for block in _blocks(possible.size, _ROWS):
        rows = possible[block]
        saddles = _saddles(groups, x[rows], gap[rows], np.full(rows.size, float(order)))
        circles = _circles(groups, x[rows], gap[rows], *saddles, sums=False)
        result[rows] = np.maximum(circles.coefficient(np.full(rows.size, float(order))), 0.0)
    return result


def log_bound(groups: TaskGroups, x: FloatArray, order: int, direction: float) -> FloatArray:
    """Return Chernoff's bound on ln P(X > x) for direction 1, on ln P(X <= x) for -1, x (k,) ascending."""
    first = groups.beyond(x)
    certain = groups.certain[first]
    bound = np.full_like(x, -np.inf if direction > 0 else 0.0)
    rows = np.flatnonzero(certain < order)
    if rows.size:
        gap = np.zeros(rows.size)
        tau, _ = _saddles(groups, x[rows], gap, np.full(rows.size, order - 0.5))
        logs = groups.log_product(first[rows], (x[rows] * np.expm1(tau))[:, None])[:, 0]
        power = order - (1.0 if direction > 0 else 0.0)
        # On the other side of z = 1 the bound is the trivial one.
        bound[rows] = np.where(direction * tau < 0, logs + (certain[rows] - power) * tau, 0.0)
    return bound
