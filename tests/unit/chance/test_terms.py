"""Moments of a term for one task, and the covariance of two tasks that share the score of their true triple.

Exact values: sums of Beta integrals in rational arithmetic or with 30 digits (mpmath).
"""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
import scipy

from rankadjust.chance.metrics import FAMILIES, expand, resolve
from rankadjust.chance.terms import (
    conditional_means,
    covariance_sums,
    exponential_sum,
    has_covariance,
)

METRICS = [metric for metric in expand(list(FAMILIES), [1, 3, 10]) if metric.term]
COVARYING = [metric.key for metric in METRICS if metric.additive and has_covariance(metric)]
LARGE = [(1000, 1001), (10**8, 3), (10**8, 10**8), (10**8, 10**5)]


def covariance_sum(metric, first, second, weights):
    return covariance_sums([metric], first, second, weights)[0]


def covariance(metric, a, b):
    return covariance_sum(resolve(metric), np.array([float(a)]), np.array([float(b)]), np.ones(1))


def beta_covariance(terms, a, b):
    """Return C(a, b) from the values f(1), f(2), … (beyond the last 0) as a sum of Beta integrals.

    The integral over u of the probabilities of i and j better negatives is
    C(a-1, i) C(b-1, j) / C(a+b-2, i+j) / (a+b-1).
    """
    first, second = terms[:a], terms[:b]
    total = sum(
        f * g * Fraction(comb(a - 1, i) * comb(b - 1, j), comb(a + b - 2, i + j))
        for i, f in enumerate(first)
        for j, g in enumerate(second)
    )
    return total / (a + b - 1) - sum(first) / a * (sum(second) / b)


@pytest.mark.parametrize(("a", "b"), [(2, 2), (2, 3), (5, 14), (11, 12), (14, 14), (4, 40)])
@pytest.mark.parametrize("metric", [key for key in COVARYING if key != "auc"])
def test_covariance_against_beta_integrals(metric, a, b):
    terms = resolve(metric).term(np.arange(1.0, 41.0), np.full(40, np.nan))
    # The floats themselves are the exact terms here: no rounding of f enters the comparison.
    exact = beta_covariance([Fraction(value) for value in terms], a, b)
    value = covariance(metric, a, b)
    assert value == covariance(metric, b, a) or value == pytest.approx(covariance(metric, b, a), rel=1e-13)
    if min(a, b) <= (resolve(metric).k or 1) and metric.startswith(("hits", "precision")):
        assert value == 0.0
    else:
        assert value == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), LARGE)
@pytest.mark.parametrize("k", [1, 3, 5, 10, 60])
def test_hits_up_to_a_hundred_million_candidates(k, a, b):
    if min(a, b) <= k:
        assert covariance(f"hits@{k}", a, b) == 0.0
        return
    exact = beta_covariance([Fraction(1)] * k, a, b)
    assert covariance(f"hits@{k}", a, b) == pytest.approx(float(exact), rel=2e-13)


def test_metrics_that_share_probabilities_have_the_sums_that_they_have_alone():
    """In one list: several k, terms without k, two metrics of one shape, scales, another least number of candidates."""
    metrics = [resolve(name) for name in (*COVARYING, "precision@5", "hits@5", "ndcg@5")]
    first, second = np.array([1.0, 4.0, 9.0, 14.0, 300.0]), np.array([7.0, 2.0, 14.0, 14.0, 14_541.0])
    weights = np.array([1.0, 0.5, 2.0, 3.0, 1.5])
    together = covariance_sums(metrics, first, second, weights)
    alone = [covariance_sum(metric, first, second, weights) for metric in metrics]
    assert together == pytest.approx(alone, rel=1e-13)


@pytest.mark.parametrize(("a", "b"), LARGE)
def test_reciprocal_rank_up_to_a_hundred_million_candidates(a, b):
    with mpmath.workdps(25):

        def integrand(x):
            u = mpmath.exp(x)
            return mpmath.fprod(-mpmath.expm1(n * mpmath.log1p(-u)) / (n * u) for n in (a, b)) * u

        low = -mpmath.log(max(a, b)) - 40
        points = [low, *range(int(low) + 25, 0, 4), mpmath.mpf(0)]
        exact = mpmath.quad(integrand, points) - mpmath.harmonic(a) * mpmath.harmonic(b) / a / b
    # Below the lowest point the integrand is exp(x): exp(-40) / N is left out.
    assert covariance("mrr", a, b) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("metric", ["mrr", "ndcg", "mrr@10", "hits@1", "hits@300", "ndcg@300"])
def test_conditional_mean_against_the_binomial_law(metric):
    metric = resolve(metric)
    counts = np.array([1.0, 2.0, 9.0, 10.0, 301.0, 2000.0, 5000.0])
    x = np.array([-40.0, -9.0, -7.0, -3.0, 0.0, 2.0, 30.0])
    up_to = np.arange(1.0, (metric.k or 1) + 1)
    conditional = conditional_means(metric.shape, metric.shape(up_to, up_to)[None], metric.k, counts)
    # One node at a time: a sum that ends early for one of them ends early for all.
    values = np.column_stack([conditional(each)[0] for each in np.split(x, x.size)])
    for row, count in enumerate(counts):
        ranks = np.arange(1, count + 1)
        terms = metric.term(ranks, np.full_like(ranks, np.nan))
        probabilities = scipy.stats.binom.pmf(ranks[:, None] - 1, count - 1, 1 / (1 + np.exp(-x)))
        assert values[row] == pytest.approx(terms @ probabilities, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("size", [30, 1000])
def test_many_counts_are_interpolated_without_loss(size):
    counts = np.unique(np.round(np.geomspace(1, 10**8, size)))
    x = np.linspace(-25, 20, 7)

    def means(counts):
        return conditional_means(resolve("ndcg").shape, np.ones((1, 1)), None, counts)(x)[0]

    together = means(counts)
    one_by_one = [means(counts[[row]])[0] for row in range(0, counts.size, 29)]
    assert together[::29] == pytest.approx(np.array(one_by_one), rel=1e-12)


@pytest.mark.parametrize("largest", [1.0, 2.0, 14.0, 14_541.0, 1e8])
def test_the_discounted_gain_is_a_sum_of_exponentials(largest):
    rates, weights = exponential_sum(largest)
    ranks = np.unique(np.round(np.geomspace(1, largest, 300)))
    values = 1.0 + np.expm1(-np.outer(ranks - 1, rates)) @ weights
    assert values == pytest.approx(1 / np.log2(1 + ranks), rel=1e-12, abs=1e-12)
