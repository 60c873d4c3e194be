"""One task and two: mean, variance and covariance of a metric's term f(r), r uniform on 1..N.

Two tasks with a and b candidates that share the score of their true triple, and no negatives, have

    C(a, b) = integral_0^1 m_a(u) m_b(u) du - mu(a) mu(b),    m_N(u) = E f(1 + Binomial(N - 1, u)),

where u is the probability that a negative beats the truth. Sums of C over many pairs (a, b) are computed with
one rule in x = ln(u / (1 - u)) for all candidate counts: the cost grows with the number of distinct pairs, not with
the number of candidates (docs/methods-random-scorer.md, "Derivation").
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import NDArray
from scipy import sparse, special

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import Metric, Term, discounted_gain, hit, inverse_rank, rank, share_beaten
from rankadjust.chance.rank_sums import panels

# --- one task ---------------------------------------------------------------------------------------------


def mean_and_variance(metric: Metric, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance (k,) of a metric's term for tasks with the given numbers of candidates (k,).

    The counts are the metric's `least_candidates` or more. The variance is exactly 0 where the term is the same at
    every rank. Raises RankadjustError for a metric that is not a function of the mean of a term.
    """
    within = counts if metric.k is None else np.minimum(counts, float(metric.k))
    mean, variance = _within(metric, within, counts)
    # The rank is at most k with probability min(k, N) / N and uniform there, beyond the term is 0. The law of total
    # variance then has positive parts only.
    share = within / counts
    beyond = (counts - within) / counts
    return metric.scale * share * mean, metric.scale**2 * share * (variance + beyond * mean**2)


def method(metric: Metric) -> str:
    """Return how `mean_and_variance` finds them for a metric: "closed form" or "sum over ranks"."""
    return "closed form" if _has_closed_form(metric) else "sum over ranks"


def _has_closed_form(metric: Metric) -> bool:
    # The closed form of a term that depends on N is for ranks from 1 to N; with a cut at k they go up to k only.
    return metric.shape in _UNIFORM_MOMENTS and not (metric.needs_candidates and metric.k is not None)


def _within(metric: Metric, within: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the term without its scale, of `counts` (k,), for r uniform on 1..within (k,)."""
    shape = _shape(metric)
    if metric.needs_candidates and not _has_closed_form(metric):
        return _one_by_one(shape, within, counts)
    distinct, position = np.unique(within, return_inverse=True)
    moments = (
        _UNIFORM_MOMENTS[shape](distinct)
        if _has_closed_form(metric)
        else _sums_over_ranks(lambda ranks: shape(ranks, np.full_like(ranks, np.nan)), distinct)
    )
    mean, variance = (moment[position] for moment in moments)
    return mean, variance


def _one_by_one(shape: Term, within: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what `_within` does for a term that depends on N: the sums of one N are of no use for another."""
    moments = np.empty((2, counts.size))
    for row, count in enumerate(counts):

        def values(ranks: FloatArray, count: float = count) -> FloatArray:
            return shape(ranks, np.full_like(ranks, count))

        moments[:, [row]] = _sums_over_ranks(values, within[[row]])
    return moments[0], moments[1]


def _sums_over_ranks(
    values: Callable[[FloatArray], FloatArray], counts: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of smooth values of the ranks 1..N, for each N of `counts` (k,)."""
    mean, variance = np.empty_like(counts), np.empty_like(counts)
    for panel in panels(counts):
        # Centred at a value close to the mean, so that the difference below loses no digits.
        centre = float(values(np.array([panel.scale]))[0])

        def powers(ranks: FloatArray, centre: float = centre) -> FloatArray:
            deviation = values(ranks) - centre
            return np.stack([deviation, deviation**2], axis=1)

        first, second = (panel.sums(powers) / counts[panel.rows, None]).T
        mean[panel.rows] = centre + first
        variance[panel.rows] = second - first**2
    return mean, variance


def _of_inverse_rank(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = harmonic(counts) / counts
    mean_of_squares = (np.pi**2 / 6 - special.polygamma(1, counts + 1)) / counts
    return mean, np.where(counts == 1, 0.0, mean_of_squares - mean**2)


def harmonic(counts: FloatArray) -> FloatArray:
    """Return the harmonic numbers 1 + 1/2 + … + 1/N."""
    numbers: FloatArray = special.digamma(counts + 1) + np.euler_gamma
    return np.where(counts == 1, 1.0, numbers)


# Mean and variance for r uniform on 1..N in closed form; the sums over ranks give the same, more slowly.
_UNIFORM_MOMENTS: Mapping[Term | None, Callable[[FloatArray], tuple[FloatArray, FloatArray]]] = {
    rank: lambda counts: ((counts + 1) / 2, (counts - 1) * (counts + 1) / 12),
    inverse_rank: _of_inverse_rank,
    hit: lambda counts: (np.ones_like(counts), np.zeros_like(counts)),
    share_beaten: lambda counts: (np.full_like(counts, 0.5), (counts + 1) / (12 * (counts - 1))),
}


def _shape(metric: Metric) -> Term:
    if metric.shape is None:
        raise RankadjustError(f"{metric.label} is not a function of a mean over the tasks")
    return metric.shape


# --- two tasks that share the score of their true triple --------------------------------------------------

Conditional = Callable[[FloatArray], FloatArray]
"""A function of nodes x (q,). It returns m_N(u) = E[f(r) | score of the truth] for k candidate counts and s terms at
once, an array (s, k, q)."""

# Panels have at most this length in x, and so many nodes at least and at most. A cut at rank k needs so many times
# sqrt(k) of them in a panel of this length.
_PANEL = np.log(16)
_FEWEST_NODES = 20
_MOST_NODES = 300
_CUT_NODES = 9.0
# So many values of m_N(u) are in memory at a time, or one node for all counts where that is more.
_BLOCK = 2**18
# Of these, so many are added up together, term by term; after so many terms it is asked whether more of them count.
_PIECE = 2**14
_LOOK = 4


def has_covariance(metric: Metric) -> bool:
    """Return whether `covariance_sums` knows a metric: a mean of r, (N - r)/(N - 1), 1/r, nDCG, or up to a rank k."""
    if metric.k is not None:
        return not metric.needs_candidates
    return metric.shape in (*_COVARIANCES, inverse_rank, discounted_gain)


def covariance_sums(
    metrics: Sequence[Metric], first: FloatArray, second: FloatArray, weights: FloatArray
) -> list[float]:
    """Return the sum of weights * C(first, second) over pairs of tasks with one score of the truth, for each metric.

    first, second: candidate counts (k,); weights (k,). Pairs with a task of fewer candidates than the metric's least
    do not count. Metrics of one k share their probabilities.
    """
    groups: dict[tuple[int, int | None, Term | None], list[Metric]] = {}
    for metric in metrics:
        shared = metric.least_candidates, metric.k, metric.shape if metric.k is None else None
        groups.setdefault(shared, []).append(metric)
    sums: dict[Metric, float] = {}
    for (least, _, _), group in groups.items():
        counted = (first >= least) & (second >= least)
        sums |= zip(group, _sums(group, first[counted], second[counted], weights[counted]), strict=True)
    return [sums[metric] for metric in metrics]


def _sums(
    metrics: Sequence[Metric], first: FloatArray, second: FloatArray, weights: FloatArray
) -> list[float]:
    """Return the sums of metrics of one k, or of one term without a k."""
    shape, k = _shape(metrics[0]), metrics[0].k
    if not weights.any():
        return [0.0] * len(metrics)
    if k is None and shape in _COVARIANCES:
        total = float(weights @ _COVARIANCES[shape](first, second))
        return [metric.scale**2 * total for metric in metrics]
    # The distinct counts (n,), ascending, and the weights of their pairs (n, n).
    counts, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    matrix = sparse.csr_array(
        (weights, (place[: first.size], place[first.size :])), shape=(counts.size, counts.size)
    )
    terms, example, position = np.ones((1, 1)), np.zeros(1, np.intp), np.zeros(len(metrics), np.intp)
    if k is not None:
        ranks = np.arange(1.0, k + 1)
        shapes = [_shape(metric)(ranks, np.full_like(ranks, np.nan)) for metric in metrics]
        # Hits@k and precision@k have one shape, and at k = 1 all do.
        terms, example, position = np.unique(shapes, axis=0, return_index=True, return_inverse=True)
    conditional = conditional_means(shape, terms, k, counts)
    moments = [mean_and_variance(replace(metrics[int(each)], scale=1.0), counts) for each in example]
    mean, variance = (np.stack(each)[:, :, None] for each in zip(*moments, strict=True))
    totals = np.zeros(len(terms))
    x, node_weights = integration_nodes(float(counts[-1]), k or 1)
    step = max(1, _BLOCK // (len(terms) * counts.size))
    for start in range(0, x.size, step):
        block = slice(start, start + step)
        # A constant term has no covariance, so that 0 stays 0.
        centred = np.where(variance > 0, conditional(x[block]) - mean, 0.0)
        for term, values in enumerate(centred):
            totals[term] += (values * (matrix @ values)).sum(axis=0) @ node_weights[block]
    return [metric.scale**2 * float(totals[each]) for metric, each in zip(metrics, position, strict=True)]


# C(a, b) in closed form.
_COVARIANCES: Mapping[Term | None, Callable[[FloatArray, FloatArray], FloatArray]] = {
    rank: lambda a, b: (a - 1) * (b - 1) / 12,
    share_beaten: lambda a, _: np.full_like(a, 1 / 12),
}


def integration_nodes(largest: float, k: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes x and weights of a rule for integrals over u = 1 / (1 + exp(-x)) in (0, 1), (q,) each.

    It is for terms that are 0 beyond rank k (1: for terms without k) and counts up to `largest`.

    The integrand varies where u is between the orders of 1/N and 1: there Gauss-Legendre panels in x of equal length.
    It is analytic for |Im x| < pi/2. A cut at rank k makes m_N fall from 1 to 0 within about 1 / sqrt(k) in x, so that
    a panel needs of the order of sqrt(k) nodes. Beyond both ends of the panels m_N is smooth in u itself, and so one
    more panel in u is enough for each.
    """
    low, high = -np.log(largest), np.log(2.0 * k)
    needed = _CUT_NODES * k**0.5
    unit, share = _gauss_legendre(int(np.ceil(np.clip(needed, _FEWEST_NODES, _MOST_NODES))))
    length = _PANEL * min(1.0, _MOST_NODES / needed)
    edges = np.linspace(low, high, int(np.ceil((high - low) / length)) + 1)
    x = (edges[:-1, None] + np.diff(edges)[:, None] * unit).ravel()
    inner = (np.diff(edges)[:, None] * share).ravel() * special.expit(x) * special.expit(-x)
    below, above = special.expit(low), special.expit(-high)
    nodes = np.concatenate([special.logit(below * unit), x, -special.logit(above * unit)])
    return nodes, np.concatenate([below * share, inner, above * share])


@cache
def _gauss_legendre(points: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of the Gauss-Legendre rule on (0, 1)."""
    nodes, weights = legendre.leggauss(points)
    return (1 + nodes) / 2, weights / 2


def conditional_means(shape: Term, terms: FloatArray, k: int | None, counts: FloatArray) -> Conditional:
    """Return m_N(u) for ascending candidate counts (k,): of terms (s, k) up to rank k, else of 1/r or nDCG's term."""
    if k is not None:
        return lambda x: _mean_within(terms, counts, x)
    if shape is discounted_gain:
        return _mean_discounted_gain(counts)
    size = counts[:, None]
    # (1 - (1 - u)^N) / (N u).
    return lambda x: (-np.expm1(-size * np.logaddexp(0.0, x)) / (size * special.expit(x)))[None]


def _mean_within(terms: FloatArray, counts: FloatArray, x: FloatArray) -> FloatArray:
    """Return E[f(r); r <= k] = sum_{j < k} f(1 + j) P(Binomial(N - 1, u) = j) for the first k values of each f (s, k).

    counts (n,) ascending, x (q,); the result is (s, n, q). They are summed in pieces that fit the processor's cache.
    The x of a piece are alike: where few negatives are expected above the truth, few probabilities count.
    """
    k = terms.shape[1]
    mean = np.zeros((len(terms), counts.size, x.size))
    step = max(1, _PIECE // counts.size)
    for start in range(0, x.size, step):
        piece = slice(start, start + step)
        # With more negatives than this expected above the truth, r <= k has a probability below exp(-70).
        reached = (counts[:, None] - 1) * special.expit(x[piece]) <= k + 12 * np.sqrt(k) + 60
        rows = np.count_nonzero(reached.any(axis=1))
        if rows:
            mean[:, :rows, piece] = _first_terms(terms, counts[:rows, None] - 1, x[piece], reached[:rows])
    return mean


def _first_terms(
    terms: FloatArray, negatives: FloatArray, x: FloatArray, reached: NDArray[np.bool_]
) -> FloatArray:
    """Return the sums of `_mean_within` for negatives (n, 1) and x (q,), 0 where it is not reached (n, q).

    Each probability is a positive multiple of its predecessor. They are rescaled on the way, because the first
    may be far below the smallest float.
    """
    odds = np.exp(x)
    logarithm = -negatives * np.logaddexp(0.0, x)
    probability = reached.astype(np.float64)
    totals = terms[:, 0, None, None] * probability
    part = np.empty_like(probability)
    for j in range(1, terms.shape[1]):
        probability *= np.multiply((negatives - (j - 1)) / j, odds, out=part)
        for own, term in enumerate(terms):
            totals[own] += probability if term[j] == 1 else np.multiply(term[j], probability, out=part)
        # Binomial probabilities rise, then fall: from here on they are smaller still.
        if j % _LOOK == 0 and (probability <= 1e-18 * totals).all():
            break
        # Eight factors of at most 4e20 (k = 10^6) do not overflow.
        if j % 8 == 0:
            scale = np.maximum(probability, 1.0)
            probability /= scale
            totals /= scale
            logarithm += np.log(scale)
    summed: FloatArray = totals * np.exp(logarithm)
    return summed


# --- the discounted gain as a sum of exponentials -------------------------------------------------------------

# Step of the trapezoid rule in the logarithm of the rate; its error is exp(-pi^2 / step) = 7e-18. The rule goes so far
# beyond the rates that matter: exp(-33) = 5e-15.
_RATE_STEP = 0.25
_REACH = 33.0


def exponential_sum(largest: float) -> tuple[FloatArray, FloatArray]:
    """Return rates (s,) and weights (s,): 1 / log2(1 + r) = 1 + sum of weights (exp(-(r - 1) rates) - 1), r <= largest.

    1 / ln(1 + r) is a Stieltjes function (a pole at 0, a cut from -1 on), hence a mixture of exponentials:

        1 / ln(1 + r) = 1/r + integral_1^inf 1 / ((r + t) (ln^2(t - 1) + pi^2)) dt
                      = integral_0^inf exp(-r s) (1 + exp(-s) integral_0^inf exp(-y s) / (ln^2 y + pi^2) dy) ds

    The rates go from far below 1 / largest, where only constants are left out, to where exp(-rate) ends.
    """
    rates = np.exp(np.arange(-np.log(largest) - _REACH, 3.7, _RATE_STEP))
    log_y = np.arange(-2 * _REACH, np.log(largest) + _REACH + 4, _RATE_STEP)
    density = _RATE_STEP * np.exp(log_y) / (log_y**2 + np.pi**2)
    mixture = 1 + np.exp(-rates) * (np.exp(-rates[:, None] * np.exp(log_y)) @ density)
    return rates, _RATE_STEP * np.log(2) * rates * np.exp(-rates) * mixture


def _mean_discounted_gain(counts: FloatArray) -> Conditional:
    """Return m_N(u) of the discounted gain, from E exp(-(r - 1) s) = (1 - u (1 - exp(-s)))^(N - 1)."""
    rates, weights = exponential_sum(float(counts.max()))
    sampled, interpolation = _interpolation(counts)

    def conditional(x: FloatArray) -> FloatArray:
        means = np.empty((sampled.size, x.size))
        for column, u in enumerate(special.expit(x)):
            logarithms = np.log1p(u * np.expm1(-rates))
            means[:, column] = np.exp(np.outer(sampled - 1, logarithms)) @ weights
        means += 1.0 - weights.sum()
        mean: FloatArray = interpolation @ means
        return mean[None]

    return conditional


# From b to 2 b a function that is analytic and bounded for Re N > 0 is interpolated with an error of the order
# of (3 + sqrt 8)^-24 = 4e-19.
_POINTS = 24


def _interpolation(counts: FloatArray) -> tuple[FloatArray, sparse.csr_array]:
    """Return points (s,) and a matrix (k, s) that maps values at the points to values at k ascending counts.

    Between two powers of two, 24 Chebyshev points serve any number of counts; up to 24 counts are their own points.
    """
    octave = np.frexp(counts)[1]
    groups = [np.flatnonzero(octave == each) for each in np.unique(octave)]
    points, matrices = zip(*(_interpolation_within(counts[group]) for group in groups), strict=True)
    return np.concatenate(points), sparse.csr_array(sparse.block_diag(matrices, format="csr"))


def _interpolation_within(counts: FloatArray) -> tuple[FloatArray, sparse.csr_array]:
    if counts.size <= _POINTS:
        return counts, sparse.csr_array(sparse.eye_array(counts.size))
    centre, radius = (counts.max() + counts.min()) / 2, (counts.max() - counts.min()) / 2
    unit = chebyshev.chebpts1(_POINTS)
    to_coefficients = np.linalg.inv(chebyshev.chebvander(unit, _POINTS - 1))
    values = chebyshev.chebvander((counts - centre) / radius, _POINTS - 1) @ to_coefficients
    return centre + radius * unit, sparse.csr_array(values)
