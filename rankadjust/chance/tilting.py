"""Lower tails of sums of independent losses, from their exact cumulant generating function.

A task with N candidates has the loss l(r) >= 0, zero for rank 1 and rising with r, where r is uniform on 1..N. For
the sum L over all tasks, P(L <= x) is computed in logarithms, in one of three ways (docs/methods.md, "p-values"):

* few tasks: the law on a grid, tilted by exp(-t L) and convolved by FFT;
* a tilted law that is close to normal: the saddlepoint formula of Lugannani and Rice (1980);
* otherwise: the inversion integral of the transform along the line through the saddle point.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from rankadjust.base.arrays import ComplexArray, FloatArray
from rankadjust.chance.rank_sums import Panel, panels

# Where the numbers come from: each has its reason above it, and benchmarks/tail_constants.csv shows p
# and time with half and with twice the number. None of them moves log10 p by more than 0.03 where p is above 1e-10,
# but for _FEW_TASKS (0.07).

# Few tasks: the law on a grid, since no normal law is near yet. Every task, and every loss, takes time.
_FEW_TASKS = 48
_MOST_LOSSES = 10**7
# x is raised by some steps of the grid, by one a task with so few tasks. The grid is as fine as keeps what that adds to
# ln p below _RAISED (0.002 in log10 p), or below this share of ln p where p is tiny.
_FEWEST_TASKS = 8
_RAISED = 0.005
_SHARE_RAISED = 2e-4
# And the raise below this share of x, lest sums of a few large losses are counted that are above it.
_WINDOW = 5e-4
# The numbers of points that bound the time, and the raise with the fewest tasks.
_FINEST = 2**15
_COARSEST = 2**14
# 1/r for r up to 10 are multiples of 1 / 2520, their least common multiple: the large steps of the law are exact then.
_COMMON = 2520
_LARGEST_RECIPROCAL = 10
# Two spectra that differ in so few places: adding these is quicker than a transform.
_FEW_CHANGES = 3
# Bounds share a grid where none is larger than another by this factor, or their tilts at x differ by more than e^5.
_LIKE = 1.5
_LIKE_TILT = 5.0
# The FFT wraps around: sums past its end alias onto smaller sums, damped by e^-32 = 1e-14. A larger tilt would cost
# digits: half of it is undone at x.
_ALIASING = 32.0

# Lugannani and Rice's formula is used where the first terms that it leaves out are below these. On a lattice the
# integral is a short exact sum, so that the formula has to be better to be preferred.
_NEAR_NORMAL = 0.02
_NEAR_NORMAL_ON_LATTICE = 0.003
# Below p = 1e-30 the formula's error of some tenths is nothing beside log10 p, and the integral may be costly.
_FORMULA_ONLY = -30 * np.log(10)
# Close to the expectation, with t below so many standard deviations, the formula is a difference of large terms.
_LEAST_TILT = 0.1
# From here on seven terms of the asymptotic series of Mills' ratio are exact: the next is 15!! / 12^16 = 1e-11.
_FAR = 12.0

# The inversion integral ends where the transform has fallen to this share of its largest value, or after so many
# points; where it has not fallen to _SMALL by then, L has atoms.
_NEGLIGIBLE = 1e-10
_SMALL = 1e-5
_POINTS = 2**14
# Points are taken so many at a time at first; _WORK times 16 bytes bound what is in memory, and the time.
_BLOCK = 64
_WORK = 2**22
# Phases up to which 24 nodes interpolate exp(-z l(r)) on a panel: a polynomial of degree 23 turns three times.
_PHASE = 20.0

# A bound, or a loss, that is this close below a point is that point: rounding of sums of up to 10^7 losses, and of one.
_ON_LATTICE = 1e-9
_ON_GRID = 1e-6

# Further on the wrong side of the expectation p is at least 1 - 1 / (1 + 10^2) = 0.99 (Cantelli's inequality).
_CERTAIN = 10.0
# Far more than Newton's method, or halving a bracket of all floats, ever takes.
_STEPS = 200


class Losses(Protocol):
    """The law of the losses of all tasks."""

    @property
    def counts(self) -> FloatArray:
        """Distinct numbers of candidates (k,), ascending."""

    @property
    def tasks(self) -> FloatArray:
        """How many tasks have each number of candidates (k,)."""

    @property
    def span(self) -> float:
        """The number that every loss is a whole multiple of; 0 where there is none, or a very small one."""

    @property
    def second(self) -> float:
        """The least loss above 0."""

    @property
    def reciprocal(self) -> bool:
        """Whether the losses are 1 - 1/r (or 1)."""

    def cumulants(self, t: FloatArray) -> FloatArray:
        """Return K(t) = ln E exp(-t L) and its first four derivatives (5, q) for t >= 0 (q,)."""

    def log_transform(self, z: ComplexArray) -> ComplexArray:
        """Return ln E exp(-z L) (q,) for z (q,) with Re z > 0."""

    def of_task(self, count: float) -> FloatArray:
        """Return the loss of each rank 1..count."""

    def largest_frequency(self) -> float:
        """Return the largest |Im z| where `log_transform` is exact."""


@dataclass(frozen=True)
class RankLosses:
    """l(r) = scale (r - 1) with one scale for each number of candidates, (k,): MR (scale 1) and AUC (1 / (N - 1))."""

    counts: FloatArray
    tasks: FloatArray
    scale: FloatArray
    reciprocal: bool = False

    @property
    def span(self) -> float:
        """The scale, where all tasks have the same."""
        return float(self.scale[0]) if (self.scale == self.scale[0]).all() else 0.0

    @property
    def second(self) -> float:
        """The least loss above 0."""
        return float(self.scale[self.counts > 1].min(initial=np.inf))

    def cumulants(self, t: FloatArray) -> FloatArray:
        """Return Lambda(t s N) - Lambda(t s), s the scale, and derivatives; Lambda(x) = ln((1 - e^-x) / x)."""
        step = self.scale[:, None] * t
        powers = self.scale[:, None] ** np.arange(5)
        whole, single = _log_mean_exponential(step * self.counts[:, None]), _log_mean_exponential(step)
        growth = self.counts[:, None] ** np.arange(5)
        total: FloatArray = np.einsum("k,kj,jkq->jq", self.tasks, powers * growth, whole)
        total -= np.einsum("k,kj,jkq->jq", self.tasks, powers, single)
        return total

    def log_transform(self, z: ComplexArray) -> ComplexArray:
        """Return the sum over the tasks of ln((1 - e^(-z s N)) / (N (1 - e^(-z s)))), a geometric sum."""
        total = np.zeros_like(z)
        for rows in _rows(self.counts.size, z.size):
            step = self.scale[rows, None] * z
            number = self.counts[rows, None]
            total += self.tasks[rows] @ np.log(np.expm1(-step * number) / (number * np.expm1(-step)))
        return total

    def of_task(self, count: float) -> FloatArray:
        """Return the loss of each rank 1..count."""
        scale = self.scale[np.searchsorted(self.counts, count)]
        losses: FloatArray = np.arange(float(count)) * float(scale)
        return losses

    def largest_frequency(self) -> float:
        """Return infinity: a geometric sum is exact for every z."""
        return np.inf


@dataclass(frozen=True)
class SmoothLosses:
    """l(r) = gain(1) - gain(r) for a smooth gain such as 1/r, 1/log2(1 + r) or -ln r."""

    counts: FloatArray
    tasks: FloatArray
    gain: Callable[[FloatArray], FloatArray]
    reciprocal: bool

    @property
    def span(self) -> float:
        """That of 1/1..1/N for the largest N."""
        return _reciprocal_span(float(self.counts[-1])) if self.reciprocal else 0.0

    @property
    def second(self) -> float:
        """The least loss above 0."""
        first, second = self.gain(np.array([1.0, 2.0]))
        return float(first - second)

    @cached_property
    def _first(self) -> float:
        return float(self.gain(np.array([1.0]))[0])

    @cached_property
    def _panels(self) -> list[Panel]:
        return list(panels(self.counts))

    def cumulants(self, t: FloatArray) -> FloatArray:
        """Return K(t) and its derivatives: cumulants of the gain where rank r has the weight exp(-t l(r))."""
        total = np.zeros((5, t.size))
        for panel in self._panels:

            def terms(ranks: FloatArray) -> FloatArray:
                gain = self.gain(ranks)[:, None, None]
                weights = np.exp(t * (gain - self._first))
                return (weights * gain ** np.arange(5)[:, None]).reshape(ranks.size, 5 * t.size)

            sums = panel.sums(terms).reshape(-1, 5, t.size) / self.counts[panel.rows, None, None]
            total += _weighted_cumulants(self.tasks[panel.rows], sums)
        total[1] -= self.tasks.sum() * self._first
        return total

    def log_transform(self, z: ComplexArray) -> ComplexArray:
        """Return ln E exp(-z L) (q,) for z (q,) with Re z > 0."""
        total = np.zeros_like(z)
        for panel in self._panels:

            def parts(ranks: FloatArray) -> FloatArray:
                values = np.exp((self.gain(ranks)[:, None] - self._first) * z)
                return np.concatenate([values.real, values.imag], axis=1)

            real, imaginary = np.split(panel.sums(parts) / self.counts[panel.rows, None], 2, axis=1)
            total += self.tasks[panel.rows] @ np.log(real + 1j * imaginary)
        return total

    def of_task(self, count: float) -> FloatArray:
        """Return the loss of each rank 1..count."""
        return self._first - self.gain(np.arange(1.0, count + 1))

    def largest_frequency(self) -> float:
        """Return the limit of the first panel that is interpolated, from 32 to 64: there the gain varies most."""
        if self.counts[-1] <= 32:
            return np.inf
        low, high = self.gain(np.array([32.0, 64.0]))
        return _PHASE / float(low - high)


@dataclass(frozen=True)
class CutLosses:
    """l(r) = gain(1) - gain(r), with the gains (k,) of the ranks 1..k and 0 beyond: MRR@k and nDCG@k."""

    counts: FloatArray
    tasks: FloatArray
    gains: FloatArray
    reciprocal: bool

    @property
    def span(self) -> float:
        """That of 1/1..1/k."""
        return _reciprocal_span(float(self.gains.size)) if self.reciprocal else 0.0

    @property
    def second(self) -> float:
        """The least loss above 0."""
        return float(self.gains[0] - self.gains[1]) if self.gains.size > 1 else float(self.gains[0])

    @cached_property
    def _within(self) -> FloatArray:
        return np.minimum(self.counts, float(self.gains.size))

    def _sums(self, values: FloatArray) -> FloatArray:
        """Return sums of values (k, ...) over the ranks up to k, for each number of candidates."""
        return np.asarray(np.cumsum(values, axis=0))[self._within.astype(np.int64) - 1]

    def cumulants(self, t: FloatArray) -> FloatArray:
        """Return K(t) = ln E exp(-t L) and its first four derivatives (5, q) for t >= 0 (q,)."""
        gains = self.gains[:, None, None]
        values = np.exp(t * (gains - self.gains[0])) * gains ** np.arange(5)[:, None]
        sums = self._sums(values)
        sums[:, 0, :] += (self.counts - self._within)[:, None] * np.exp(-t * self.gains[0])
        total = _weighted_cumulants(self.tasks, sums / self.counts[:, None, None])
        total[1] -= self.tasks.sum() * self.gains[0]
        return total

    def log_transform(self, z: ComplexArray) -> ComplexArray:
        """Return ln E exp(-z L) (q,) for z (q,) with Re z > 0."""
        sums = np.cumsum(np.exp((self.gains[:, None] - self.gains[0]) * z), axis=0)
        total = np.zeros_like(z)
        for rows in _rows(self.counts.size, z.size):
            inside = sums[self._within[rows].astype(np.int64) - 1]
            outside = (self.counts[rows] - self._within[rows])[:, None] * np.exp(-z * self.gains[0])
            total += self.tasks[rows] @ np.log((inside + outside) / self.counts[rows, None])
        return total

    def of_task(self, count: float) -> FloatArray:
        """Return the loss of each rank 1..count."""
        losses = np.full(int(count), self.gains[0])
        within = min(int(count), self.gains.size)
        losses[:within] = self.gains[0] - self.gains[:within]
        return losses

    def largest_frequency(self) -> float:
        """Return infinity: a finite sum is exact for every z."""
        return np.inf


def log_lower_tails(law: Losses, bounds: FloatArray) -> FloatArray:
    """Return ln P(L <= x) for bounds x >= 0 (q,); 0 where p is at least 0.99 by Cantelli's inequality."""
    result = np.zeros_like(bounds)
    at_chance = law.cumulants(np.zeros(1))[:, 0]
    mean, deviation = -at_chance[1], float(np.sqrt(at_chance[2]))
    if law.counts[-1] == 1 or deviation == 0:
        return result
    span = law.span
    limits = np.floor(bounds / span + _ON_LATTICE) * span if span else bounds
    perfect = limits < law.second * (1 - 1e-9)
    result[perfect] = -float(law.tasks @ np.log(law.counts))
    open_ = np.flatnonzero(~perfect & (limits < mean + _CERTAIN * deviation))
    x = limits[open_]
    if x.size == 0:
        return result
    # Where x is not in a tail, any tilt will do.
    far = max(mean - deviation, mean / 2)
    if law.tasks.sum() <= _FEW_TASKS and law.counts.sum() <= _MOST_LOSSES:
        saddles = _saddles(law, np.minimum(x, far))
        for alike in _alike(x, saddles):
            result[open_[alike]] = np.minimum(_convolved(law, x[alike], saddles[alike]), 0.0)
        return result
    near = x > far
    shift = span / 2
    saddles = _saddles(law, np.where(near, far, x + shift))
    formula, error = _lugannani_rice(law, x + shift, saddles)
    limit = _NEAR_NORMAL_ON_LATTICE if span else _NEAR_NORMAL
    inverted = near | ((error > limit) & (formula > _FORMULA_ONLY))
    formula[inverted] = [
        _inverted(law, float(at), float(t)) for at, t in zip(x[inverted], saddles[inverted], strict=True)
    ]
    result[open_] = np.minimum(formula, 0.0)
    return result


def _saddles(law: Losses, x: FloatArray) -> FloatArray:
    """Return t (q,) where the tilted law has the mean x (q,), 0 < x < E[L]: Newton's method on ln E_t[L].

    Where a step would leave the bracket, the bracket is halved, or doubled as long as it is open.
    """
    low, high = np.zeros_like(x), np.full_like(x, np.inf)
    first = law.cumulants(np.zeros(1))[:, 0]
    scale = 1 / np.sqrt(first[2])
    t: FloatArray = np.clip((-first[1] - x) / first[2], 0.0, scale)
    for _ in range(_STEPS):
        _, slope, curvature, *_ = law.cumulants(t)
        mean = -slope
        missing = np.log(np.maximum(mean, 1e-300) / x)
        if np.all(np.abs(mean - x) < 1e-3 * np.sqrt(np.maximum(curvature, 0.0)) + 1e-12 * x):
            break
        low, high = np.where(missing > 0, t, low), np.where(missing > 0, high, t)
        step = t + missing * mean / np.maximum(curvature, 1e-300)
        inside = (step > low) & (step < high) & (step < 4 * t + scale)
        t = np.where(inside, step, np.where(np.isinf(high), 2 * t + scale, (low + high) / 2))
    return t


# --- a tilted law that is close to normal -----------------------------------------------------------------


def _lugannani_rice(law: Losses, x: FloatArray, saddles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ln P(L <= x) (q,) and the size of the first terms left out (q,).

    Without a lattice the next term of the expansion is added (Daniels 1987, section 4). On a lattice x comes with
    the continuity correction of half a step, and u has its form for a lattice (section 6 there).
    """
    log, _, variance, third, fourth = law.cumulants(saddles)
    w = np.sqrt(2 * np.maximum(-(log + saddles * x), 1e-12))
    deviation = np.maximum(np.sqrt(variance), 1e-300)
    skewness, kurtosis = third / deviation**3, fourth / variance**2
    correction = kurtosis / 8 - 5 * skewness**2 / 24
    error = np.abs(kurtosis) / 8 + 5 * skewness**2 / 24
    # Where t is so small that a term is not finite, the formula is not used.
    error = np.where(saddles * deviation < _LEAST_TILT, np.inf, error)
    if law.span:
        half = np.minimum(saddles * law.span / 2, 700.0)
        u = np.maximum(2 * np.sinh(half) / law.span * deviation, 1e-6)
        factor = 1 / u - 1 / w
    else:
        u = np.maximum(saddles * deviation, 1e-6)
        factor = 1 / u - 1 / w + correction / u - skewness / (2 * u**2) - 1 / u**3 + 1 / w**3
    mills = _mills_ratio(w)
    bracket = np.maximum(mills + factor, 1e-300)
    return -(w**2) / 2 - np.log(2 * np.pi) / 2 + np.log(bracket), error


def _mills_ratio(w: FloatArray) -> FloatArray:
    """Return P(Z > w) / phi(w) of the standard normal law for w > 0, from its asymptotic series beyond 12."""
    near = np.minimum(w, _FAR)
    tail = np.array([math.erfc(each / math.sqrt(2)) for each in near])
    far = np.maximum(w, _FAR)
    series = np.ones_like(far)
    for order in range(13, 0, -2):
        series = 1 - order * series / far**2
    return np.where(w < _FAR, np.sqrt(np.pi / 2) * np.exp(near**2 / 2) * tail, series / far)


# --- any law: the inversion integral ----------------------------------------------------------------------


def _inverted(law: Losses, x: float, t: float) -> float:
    """Return ln P(L <= x) from its integral along Re z = t, by equal steps (docs/methods.md, "p-values").

    Where the transform does not fall off within the points that are spent (atoms), a normal law much narrower than L
    is added, and x raised by four of its standard deviations: p then errs upwards.
    """
    _, _, variance, *_ = law.cumulants(np.array([t]))[:, 0]
    window = 25 / t + 25 * float(np.sqrt(variance))
    start = law.log_transform(np.array([t + 0j]))[0].real
    span = law.span
    # On a lattice, points around the whole circle are an odd number, and each but the first stands for two.
    points = 2 * int(np.ceil(window / (2 * span))) + 1 if span else np.inf
    step = 2 * np.pi / (points * span) if span else 2 * np.pi / window
    allowed = int(min(_POINTS, max(_WORK // law.counts.size, _BLOCK), law.largest_frequency() / step))
    last = int(min(allowed, (points - 1) / 2))
    terms: list[ComplexArray] = []
    begin, block = 0, _BLOCK
    fallen = False
    while begin <= last and not fallen:
        frequency = np.arange(begin, min(begin + block, last + 1)) * step
        z: ComplexArray = (t + 1j * frequency).astype(np.complex128)
        terms.append(np.exp(law.log_transform(z) - start + 1j * frequency * x))
        fallen = bool(np.abs(terms[-1]).max() < _NEGLIGIBLE)
        begin, block = begin + block, 2 * block
    values = np.concatenate(terms)
    frequency = np.arange(values.size) * step
    z = (t + 1j * frequency).astype(np.complex128)
    raised = x
    exact = fallen or last == (points - 1) / 2
    if not exact and np.abs(values[-_BLOCK:]).max() > _SMALL:
        width = 6 / float(frequency[-1])
        raised = x + 4 * width
        # The added normal law has the transform exp((width z)^2 / 2) at z.
        values = values * np.exp((width * z) ** 2 / 2 + 1j * frequency * (raised - x))
    kernel = values * span / -np.expm1(-span * z) if span and exact else values / z
    weights = np.where(frequency == 0, 0.5, 1.0)
    total = float((weights * kernel.real).sum()) * step / np.pi
    return float(start + t * raised + np.log(max(total, 1e-300)))


# --- few tasks: the law itself ----------------------------------------------------------------------------


def _alike(x: FloatArray, saddles: FloatArray) -> Iterator[NDArray[np.intp]]:
    """Yield the positions of bounds (q,) that are so alike that a single tilted law serves them all."""
    left = np.argsort(x)
    while left.size:
        first = left[0]
        alike = (x[left] <= _LIKE * x[first]) & (
            np.abs(saddles[left] - saddles[first]) * x[left] <= _LIKE_TILT
        )
        yield left[alike]
        left = left[~alike]


def _convolved(law: Losses, x: FloatArray, saddles: FloatArray) -> FloatArray:
    """Return ln P(L <= x) for bounds (q,), ascending and alike, from the law on a grid.

    A loss between two points of the grid is split between them, so that means stay. Losses above x are left out,
    because any of them takes the sum above x. x is raised by the largest possible rounding error of the sum, so that
    p errs upwards. The transform has twice as many points as there are up to x; the tilt makes what is beyond
    negligible.
    """
    step, slack = min(_grid(law, float(each), float(t)) for each, t in zip(x, saddles, strict=True))
    lasts = (x / step + slack).astype(np.int64)
    last = int(lasts[-1])
    size = _fast_length(2 * (last + 2))
    t = max(float(saddles[-1]), _ALIASING / (size * step))
    tilt = np.exp(-t * step * np.arange(last + 2))
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    scale = 0.0
    spectra = _Spectra(last + 2, size)
    for count, tasks in zip(law.counts, law.tasks, strict=True):
        place = law.of_task(float(count)) / step
        nearest = np.round(place)
        place = np.where(np.abs(place - nearest) < _ON_GRID, nearest, place)
        place = place[place <= last]
        below = place.astype(np.int64)
        share = place - below
        masses = np.bincount(below, 1 - share, last + 2) + np.bincount(below + 1, share, last + 2)
        masses = masses[: last + 2] * tilt
        total = float(masses.sum())
        scale += float(tasks) * np.log(total / float(count))
        spectrum = spectra.of(masses) / total
        # Quicker than a complex power.
        for _ in range(int(tasks)):
            product *= spectrum
    law_of_sum = np.fft.irfft(product, size)[: last + 1]
    untilt = np.exp(t * step * (np.arange(last + 1) - last))
    sums = np.cumsum(law_of_sum * untilt)[lasts]
    log_sums: FloatArray = scale + t * step * last + np.log(np.maximum(sums, 1e-300))
    return log_sums


def _fast_length(least: int) -> int:
    """Return the smallest product of powers of 2, 3 and 5 that is at least so large: FFTs of such lengths are quick."""
    powers = (int(3**three * 5**five) for three in range(13) for five in range(9))
    return min(power << max(0, math.ceil(math.log2(least / power))) for power in powers)


class _Spectra:
    """Spectra of one law of masses after the other; where a law differs from the last in few places, these are added.

    Tasks with similar numbers of candidates have nearly the same losses: 1 - 1/r of another thousand ranks lie between
    the same two points.
    """

    def __init__(self, length: int, size: int) -> None:
        """Take the number of masses and the size of the transform."""
        self._masses: FloatArray = np.zeros(length)
        self._size = size
        self._spectrum: ComplexArray = np.zeros(size // 2 + 1, dtype=np.complex128)
        self._of_one: dict[int, ComplexArray] = {}

    def of(self, masses: FloatArray) -> ComplexArray:
        """Return the transform of masses (length,), which stays valid until the next call."""
        changed = np.flatnonzero(masses != self._masses)
        if changed.size > _FEW_CHANGES:
            self._spectrum = np.fft.rfft(masses, self._size)
        else:
            for place in changed.tolist():
                self._spectrum += (masses[place] - self._masses[place]) * self._one_at(place)
        self._masses = masses
        return self._spectrum

    def _one_at(self, place: int) -> ComplexArray:
        """Return the transform of a mass of 1 at one place."""
        if place not in self._of_one:
            alone = np.zeros(place + 1)
            alone[place] = 1.0
            self._of_one[place] = np.fft.rfft(alone, self._size)
        return self._of_one[place]


def _grid(law: Losses, x: float, saddle: float) -> tuple[float, float]:
    """Return the step of the grid, and by how many steps x is raised.

    ln P(L <= x) rises by about t for each unit of x, t the saddle point.
    """
    number = float(law.tasks.sum())
    few = number <= _FEWEST_TASKS
    raised_by = number if few else float(np.sqrt(number))
    log_bound = float(law.cumulants(np.array([saddle]))[0, 0]) + saddle * x
    allowed = max(_RAISED, _SHARE_RAISED * -log_bound)
    least = max(_COARSEST if few else 0, raised_by / _WINDOW)
    points = float(np.clip(saddle * x * raised_by / allowed, least, _FINEST))
    if law.span and x <= points * law.span:
        # Rounded up: x is on the lattice.
        return law.span, 0.5
    if law.reciprocal:
        # The small terms between two points are many and smooth.
        return 1 / (_COMMON * float(np.ceil(_COARSEST / (_COMMON * x)))), raised_by if few else 0.5
    # Most tasks have a loss near the largest one: on the grid, this is exact.
    largest = float(law.of_task(float(law.counts[-1]))[-1])
    return largest / float(np.ceil(points * largest / x)), raised_by


# --- parts ------------------------------------------------------------------------------------------------


def _weighted_cumulants(tasks: FloatArray, moments: FloatArray) -> FloatArray:
    """Return ln of the moments of order 0, and the cumulants of order 1 to 4, summed over the tasks: (5, q).

    moments: raw moments of order 0 to 4 of each number of candidates, (k, 5, q).
    """
    zeroth = moments[:, 0]
    first, second, third, fourth = (moments[:, order] / zeroth for order in range(1, 5))
    variance = np.maximum(second - first**2, 0.0)
    cumulants = (
        np.log(zeroth),
        first,
        variance,
        third - 3 * second * first + 2 * first**3,
        fourth - 4 * third * first - 3 * second**2 + 12 * second * first**2 - 6 * first**4,
    )
    return np.stack([tasks @ each for each in cumulants])


# The Bernoulli numbers B_2, B_4, ... B_24.
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
    854513 / 138, -236364091 / 2730,
)  # fmt: skip


def _mean_exponential_series() -> Polynomial:
    """Return the series of ln((1 - e^-x) / x): -x/2, and B_2j / (2j (2j)!) x^2j for j = 1..12; |x| < 2 pi."""
    coefficients = np.zeros(25)
    coefficients[1] = -0.5
    for even, number in zip(range(2, 25, 2), _BERNOULLI, strict=True):
        coefficients[even] = number / (even * math.factorial(even))
    return Polynomial(coefficients)


_SERIES = [_mean_exponential_series().deriv(order) for order in range(1, 5)]
_SERIES.insert(0, _mean_exponential_series())


def _log_mean_exponential(x: FloatArray) -> FloatArray:
    """Return ln((1 - e^-x) / x) and its first four derivatives, with a first axis of 5, for x >= 0."""
    small = np.minimum(x, 1.0)
    large = np.maximum(x, 1.0)
    q = np.exp(-large)
    rest = -np.expm1(-large)
    far = (
        np.log(rest / large),
        q / rest - 1 / large,
        1 / large**2 - q / rest**2,
        q * (1 + q) / rest**3 - 2 / large**3,
        6 / large**4 - q * (1 + 4 * q + q**2) / rest**4,
    )
    return np.stack(
        [np.where(x < 1, series(small), beyond) for series, beyond in zip(_SERIES, far, strict=True)]
    )


def _reciprocal_span(largest: float) -> float:
    """Return 1 / lcm(1..n), 0 for n above 10."""
    return 1 / math.lcm(*range(1, int(largest) + 1)) if largest <= _LARGEST_RECIPROCAL else 0.0


def _rows(size: int, columns: int) -> Iterator[slice]:
    """Yield blocks of rows that keep each temporary array below 16 MB."""
    step = max(1, 2**20 // columns)
    for start in range(0, size, step):
        yield slice(start, start + step)
