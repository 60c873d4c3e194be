"""Exact expectation and variance of every metric when ranks are independent and uniform on 1..N.

Everything is computed from the histogram of candidate counts: N and the number of tasks with that N. No loop over
tasks, no sampling. docs/methods.md, "Exact moments" and "Numerics", derives each formula.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.median import median_moments
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.chance.rank_laws import against_itself, of_draws
from rankadjust.chance.rank_sums import panels
from rankadjust.chance.terms import harmonic, mean_and_variance, method
from rankadjust.counting.protocols import Protocol, get_protocol


@dataclass(frozen=True)
class Moments:
    """Expectation and variance of a metric, how they were computed, and why they are missing where they are."""

    expectation: float | None
    variance: float | None
    method: str
    reason: str | None = None


def metric_moments(
    metric: str | Metric, num_candidates: ArrayLike, tasks: ArrayLike | None = None
) -> Moments:
    """Return the exact expectation and variance of a metric under independent ranks.

    Parameters
    ----------
    metric : str or Metric
        Key or alias.
    num_candidates : array of int, shape (k,)
        Numbers of candidates, the true answer included.
    tasks : array of int, shape (k,), optional
        How many tasks have each number; one each by default.

    Returns
    -------
    Moments
        expectation and variance, in the unit of the metric. Where there is nothing to compute (no tasks, a task without
        candidates, a metric without exact moments) both are None and reason says why.

    Raises
    ------
    RankadjustError
        For an unknown metric, negative or fractional numbers, and unequal shapes.

    Examples
    --------
    >>> metric_moments("mr", [3, 5], [1, 1]).expectation
    2.5

    """
    metric = resolve(metric) if isinstance(metric, str) else metric
    counts = _whole_numbers("num_candidates", num_candidates)
    multiplicity = np.ones_like(counts) if tasks is None else _whole_numbers("tasks", tasks)
    return _moments(metric, CandidateCounts.of(counts, multiplicity))


def moments_table(
    histogram: pl.DataFrame, metrics: Sequence[Metric], protocol: str | Protocol = "filtered"
) -> pl.DataFrame:
    """Return the moments of all metrics for each split and side (head, tail, both) of a histogram.

    histogram: columns split, side (head or tail), entities, num_candidates, tasks, as `count_candidates` makes
    them; "both" is the two sides pooled. The result has one row per split (in the order of the histogram), side and
    metric: split, side, metric, entities, tasks, expectation, variance (null where there are none), method, reason.
    protocol: says the law of the ranks; where they are not uniform on 1..N there are the columns optimum,
    expectation_low and expectation_high, too.
    """
    rules = get_protocol(protocol) if isinstance(protocol, str) else protocol
    is_uniform = rules.counting != "twice" and rules.drawn == "without-replacement"
    rows: list[tuple[object, ...]] = []
    for split in histogram["split"].unique(maintain_order=True):
        of_split = histogram.filter(pl.col("split") == split)
        for side in dict.fromkeys([*of_split["side"], "both"]):
            part = of_split if side == "both" else of_split.filter(pl.col("side") == side)
            if part.is_empty():
                continue
            pooled = CandidateCounts.of(part["num_candidates"].to_numpy(), part["tasks"].to_numpy())
            entities = part["entities"].max()
            for metric in metrics:
                # Much faster than `astuple`, which copies every field.
                uniform = vars(_moments(metric, pooled)).values() if is_uniform else ()
                values = uniform or _of_law(metric, pooled, rules)
                rows.append((split, side, metric.key, entities, int(pooled.total), *values))
    of_law = dict.fromkeys(("optimum", "expectation_low", "expectation_high"), pl.Float64)
    return pl.DataFrame(rows, schema={**TABLE_SCHEMA, **({} if is_uniform else of_law)}, orient="row")


_NOT_A_MEAN = "not a mean over the tasks: it is derived for ranks that are uniform on 1..N alone"
_OWN_NEGATIVE = (
    "the true answer may be its own negative, and a sorting routine decides that tie: only bounds are known"
)


def _of_law(metric: Metric, histogram: CandidateCounts, protocol: Protocol) -> tuple[object, ...]:
    """Return the moments of a metric, its optimum and the bounds of its expectation, for ranks of another law."""
    if not metric.additive or metric.term is None:
        return (None, None, "none", _NOT_A_MEAN, metric.optimum, None, None)
    if protocol.negatives is None:
        best = metric.term(np.full_like(histogram.counts, 2.0), histogram.counts + 1)
        optimum = float(histogram.sum(best) / histogram.total)
        moments = _moments(replace(against_itself(metric), optimum=optimum), histogram)
        return (*vars(moments).values(), optimum, None, None)
    itself = protocol.drawn == "with-true-answer"
    (low, high), variance = of_draws(metric, histogram, protocol.negatives, itself=itself)
    if itself:
        return (None, None, "bounds, sum over ranks", _OWN_NEGATIVE, metric.optimum, low, high)
    return (low, variance, "sum over ranks", None, metric.optimum, None, None)


TABLE_SCHEMA = {
    **dict.fromkeys(("split", "side", "metric"), pl.String),
    "entities": pl.Int64,
    "tasks": pl.Int64,
    "expectation": pl.Float64,
    "variance": pl.Float64,
    "method": pl.String,
    "reason": pl.String,
}


def _whole_numbers(name: str, values: ArrayLike) -> FloatArray:
    """Return values as a flat float64 array; RankadjustError where one is negative or not whole."""
    given = np.atleast_1d(np.asarray(values))
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iuf"):
        raise RankadjustError(f"{name} must be a list of whole numbers")
    numbers = given.astype(np.float64)
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers == np.floor(numbers)) & (numbers < 2**52)))
    if wrong.size:
        raise RankadjustError(
            f"{name}[{wrong[0]}] is {given[wrong[0]]}; it must be a whole number from 0 to 2^52"
        )
    return numbers


# Protocols of a data set often have the same histogram.
@lru_cache(maxsize=1024)
def _moments(metric: Metric, histogram: CandidateCounts) -> Moments:
    if not metric.has_moments:
        return Moments(None, None, "none", "no exact moments are known for this metric")
    if histogram.counts.size == 0:
        return Moments(None, None, "none", "there are no tasks")
    if histogram.counts[0] < 1:
        return Moments(None, None, "none", "some tasks have no candidates")
    moments = _mean_of_term if metric.additive else _METHODS[metric.family]
    return moments(metric, histogram)


# --- additive metrics -------------------------------------------------------------------------------------


def _mean_of_term(metric: Metric, histogram: CandidateCounts) -> Moments:
    """Return the moments of a metric that is the mean of a term over the tasks."""
    counted = histogram.counts >= metric.least_candidates
    if not counted.any():
        return Moments(None, None, "none", "every task has one candidate")
    histogram = CandidateCounts(histogram.counts[counted], histogram.tasks[counted])
    mean, variance = mean_and_variance(metric, histogram.counts)
    # A variance of exactly 0 means that the term is the same at every rank, hence what it is at rank 1. Where that
    # holds for all tasks the expectation is the optimum itself, not a sum that is rounded.
    if not variance.any():
        return Moments(metric.optimum, 0.0, method(metric))
    total = histogram.total
    return Moments(
        float(histogram.sum(mean) / total), float(histogram.sum(variance) / total / total), method(metric)
    )


# --- geometric means: products of powers ------------------------------------------------------------------


def _power_product(sign: float) -> Callable[[Metric, CandidateCounts], Moments]:
    """Return the method for M = prod r_i^(sign / n): E[M^s] is a product of means of powers.

    With a = sign / n, ln E[r^a] = a E[ln r] + psi(a); psi is computed without cancellation.
    """

    def moments(_: Metric, histogram: CandidateCounts) -> Moments:
        powers = sign / histogram.total * np.array([1.0, 2.0])
        mean_log, excess = _log_power_means(histogram.counts, powers)
        first, second = histogram.sum(excess)
        expectation = np.exp(powers[0] * histogram.sum(mean_log) + first)
        variance = expectation**2 * np.expm1(second - 2 * first)
        return Moments(float(expectation), float(variance), "power product")

    return moments


def _log_power_means(counts: FloatArray, powers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return E[ln r] (k,) and psi(a) = ln E[r^a] - a E[ln r] (k, t) for each of the powers a (t,)."""
    mean_log = np.empty_like(counts)
    excess = np.empty((counts.size, powers.size))
    for panel in panels(counts):
        # With ranks in units of the panel's lower end, E[ln r] is of order 1 like its standard deviation.
        def terms(ranks: FloatArray, scale: float = panel.scale) -> FloatArray:
            logs = np.log(ranks / scale)
            exponents = powers * logs[:, None]
            return np.column_stack([logs, np.expm1(exponents), _expm1_excess(exponents)])

        means = panel.sums(terms) / counts[panel.rows, None]
        log, shift, curvature = means[:, :1], means[:, 1 : 1 + powers.size], means[:, 1 + powers.size :]
        mean_log[panel.rows] = np.log(panel.scale) + log[:, 0]
        excess[panel.rows] = np.where(
            np.abs(shift) < 0.5, curvature + _log1p_excess(shift), np.log1p(shift) - powers * log
        )
    return mean_log, excess


def _expm1_excess(x: FloatArray) -> FloatArray:
    """Return e^x - 1 - x without loss of digits."""
    small = np.clip(x, -0.5, 0.5)
    series = np.ones_like(small)
    for divisor in range(16, 2, -1):
        series = 1 + series * small / divisor
    return np.where(np.abs(x) < 0.5, small**2 / 2 * series, np.expm1(x) - x)


def _log1p_excess(x: FloatArray) -> FloatArray:
    """Return ln(1 + x) - x without loss of digits for |x| <= 1/2; beyond, what it is at the nearer end."""
    small = np.clip(x, -0.5, 0.5)
    # ln(1 + x) = 2 artanh z with z = x / (2 + x); |z| <= 1/3.
    z = small / (2 + small)
    series = np.zeros_like(z)
    for odd in range(33, 1, -2):
        series = series * z**2 + 1 / odd
    excess: FloatArray = z * (2 * z**2 * series - small)
    return excess


# --- reciprocals of means: Laplace integrals ----------------------------------------------------------------

_Transform = Callable[
    [FloatArray, FloatArray], Iterator[tuple[slice | NDArray[np.intp], FloatArray, FloatArray]]
]
"""From candidate counts (k,) and t (q,) to ln E[e^(-t (g - E[g]))] and ln E[e^(-t g)], both (rows, q).

They come in blocks; the first member of each says which of the counts are its rows."""

# Blocks of rows keep each temporary array below 16 MB.
_BLOCK = 2**21

# Step and lower end of the double-exponential rule s = exp(x - exp(-x)); below the lower end s^3 < 1e-26.
_STEP = 1 / 12
_START = -3.0


def _reciprocal(
    means: Callable[[FloatArray], FloatArray],
    least: Callable[[FloatArray], FloatArray],
    transform: _Transform,
) -> Callable[[Metric, CandidateCounts], Moments]:
    """Return the method for M = n / S, S the sum of a positive term g(r) over the tasks.

    means, least: from candidate counts (k,) to the mean and the smallest value of g (k,) each. transform: see
    _Transform. E[1/S] and E[1/S^2] are the integrals over t > 0 of E[e^(-t S)] and t E[e^(-t S)]. With s = t E[S] the
    expectation under the integral is e^-s e^D, where D is small. Let A be the integral of e^-s (e^D - 1) and B that of
    s e^-s (e^D - 1); then E = n / E[S] (1 + A) and Var = (n / E[S])^2 (B - 2 A - A^2), without any cancellation
    (H. Takahasi, M. Mori, Publ. RIMS 9, 1974).
    """

    def moments(_: Metric, histogram: CandidateCounts) -> Moments:
        expected_sum = float(histogram.sum(means(histogram.counts)))
        smallest_sum = float(histogram.sum(least(histogram.counts)))
        # E[e^(-t S)] <= e^(-t min S): nothing is left beyond t = 40 / min S.
        end = np.log(40 * expected_sum / smallest_sum)
        x = np.arange(_START, end + _STEP, _STEP)
        s = np.exp(x - np.exp(-x))
        centred, plain = np.zeros_like(s), np.zeros_like(s)
        for rows, centred_logs, plain_logs in transform(histogram.counts, s / expected_sum):
            centred += histogram.tasks[rows] @ centred_logs
            plain += histogram.tasks[rows] @ plain_logs
        # e^-s (e^D - 1). Where D is large, e^D may overflow; e^(D - s), which is the logarithm `plain`, does not.
        small = np.exp(-s) * np.expm1(np.minimum(centred, 1))
        kernel = np.where(centred < 1, small, np.exp(plain) - np.exp(-s))
        weights = _STEP * s * (1 + np.exp(-x)) * kernel
        a = weights.sum()
        # One integral: the difference of B and 2 A would lose digits.
        b_minus_2a = ((s - 2) * weights).sum()
        scale = histogram.total / expected_sum
        return Moments(float(scale * (1 + a)), float(scale**2 * (b_minus_2a - a**2)), "Laplace integral")

    return moments


def _rank_transform(counts: FloatArray, t: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """Ranks have a closed form: centred it is ln [sinh(N t / 2) / (N sinh(t / 2))]."""
    for rows in _blocks(counts.size, t.size):
        number = counts[rows, None]
        centred = log_sinhc(number * t / 2) - log_sinhc(t / 2)
        # Far out the centred form is a small difference of large numbers; the geometric series is not.
        mean = t * (number + 1) / 2
        far = -t + np.log(np.expm1(-t * number) / np.expm1(-t)) - np.log(number)
        yield rows, centred, np.where(mean < 1, centred - mean, far)


def log_sinhc(x: FloatArray) -> FloatArray:
    """Return ln(sinh(x) / x) for x > 0 without loss of digits."""
    square = np.minimum(x, 1.0) ** 2
    series = np.ones_like(square)
    for even in range(18, 2, -2):
        series = 1 + series * square / (even * (even + 1))
    large = np.maximum(x, 1.0)
    beyond: FloatArray = large - np.log(2 * large) + np.log1p(-np.exp(-2 * large))
    return np.where(x < 1, np.log1p(square / 6 * series), beyond)


def _inverse_rank_transform(
    counts: FloatArray, t: FloatArray
) -> Iterator[tuple[NDArray[np.intp], FloatArray, FloatArray]]:
    """Inverse ranks: sums of e^(-t / j) over the ranks, shared by all counts."""
    cut = panels(counts)
    exponents = -t / cut[-1].nodes[:, None]
    excess_values, plain_values = _expm1_excess(exponents), np.exp(exponents)
    for panel in cut:
        excess_sums, plain_sums = panel.sums_of(excess_values), panel.sums_of(plain_values)
        for block in _blocks(panel.rows.size, t.size):
            rows = panel.rows[block]
            number = counts[rows, None]
            mean = t * harmonic(number) / number
            excess = excess_sums[block] / number
            near = excess + _log1p_excess(np.maximum(excess - mean, -0.5))
            far = np.log(np.maximum(plain_sums[block] / number, np.finfo(np.float64).tiny))
            centred = np.where(mean < 0.5, near, mean + far)
            logs = np.where(mean < 0.5, near - mean, far)
            single = number == 1
            yield rows, np.where(single, 0.0, centred), np.where(single, -t, logs)


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK // columns)
    for start in range(0, rows, step):
        yield slice(start, start + step)


# --- order statistics -------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _median(histogram: CandidateCounts) -> tuple[float, ...]:
    """Return the moments of the median and its inverse, computed together."""
    return median_moments(histogram.counts, histogram.tasks)


def _of_median(metric: Metric, histogram: CandidateCounts) -> Moments:
    expectation, variance, *of_inverse = _median(histogram)
    if metric.family == "inverse_median_rank":
        expectation, variance = of_inverse
    return Moments(expectation, variance, "Poisson-binomial")


# Metrics that are not the mean of a term. The others need only their term.
_METHODS: Mapping[str, Callable[[Metric, CandidateCounts], Moments]] = {
    "geometric_mean_rank": _power_product(1.0),
    "inverse_geometric_mean_rank": _power_product(-1.0),
    "harmonic_mean_rank": _reciprocal(
        lambda counts: harmonic(counts) / counts, lambda counts: 1 / counts, _inverse_rank_transform
    ),
    "inverse_arithmetic_mean_rank": _reciprocal(
        lambda counts: (counts + 1) / 2, np.ones_like, _rank_transform
    ),
    "median_rank": _of_median,
    "inverse_median_rank": _of_median,
}
