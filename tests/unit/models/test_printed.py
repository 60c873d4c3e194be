"""What two printed values tell: the bounds against real ranks, and the verdicts against paired tests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import metric_value, resolve
from rankadjust.models.printed import (
    ALIKE,
    SEPARATE,
    UNKNOWN,
    compare_printed,
    largest_variance,
    smallest_variance,
)


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6),
    key=st.sampled_from(["mrr", "hits@1", "hits@10", "ndcg", "mrr@3"]),
    sides=st.sampled_from([1, 2]),
    alike=st.floats(0, 1),
)
def test_the_variance_of_real_ranks_is_within_the_bounds(seed, key, sides, alike):
    """Ranks of two models that agree as much as may be; docs/methods.md, "Two printed values"."""
    rng = np.random.default_rng(seed)
    metric = resolve(key)
    triples = int(rng.integers(2, 40))
    first = np.ceil(200 ** rng.random((triples, sides)))
    second = np.where(rng.random(first.shape) < alike, first, np.ceil(200 ** rng.random(first.shape)))
    of_triples = [metric.term(ranks, np.full_like(ranks, 200.0)).mean(axis=1) for ranks in (first, second)]
    a, b = (terms.mean() for terms in of_triples)
    assert a == pytest.approx(float(metric_value(metric, first.ravel(), np.full(first.size, 200.0))))
    variance = np.var(of_triples[0] - of_triples[1])
    assert variance <= largest_variance(a, b) + 1e-12
    assert variance >= smallest_variance(abs(a - b), 1 / sides if key.startswith("hits") else 0.0) - 1e-12
    # Never more than what the bounds of Bhatia and Davis on each model give.
    assert largest_variance(a, b) <= ((a * (1 - a)) ** 0.5 + (b * (1 - b)) ** 0.5) ** 2 + 1e-12


def test_the_largest_variance_is_reached():
    """Ten triples: Hits of 3 and 4 that are never of the same triple; Hits of 8 and 7 that never miss the same one."""
    for a, b in ((3, 4), (8, 7)):
        first = np.arange(10) < a
        second = np.arange(10) >= 10 - b
        assert np.var(first.astype(float) - second) == pytest.approx(largest_variance(a / 10, b / 10))


def test_verdicts():
    (pair,) = compare_printed(["0.353", "0.358"], dataset="FB15k-237", metric="mrr")
    assert (pair.better.text, pair.verdict, pair.clusters) == ("0.358", UNKNOWN, 20_466)
    # From 0.353 the bound of the difference d solves d = 1.96 sqrt((0.706 + d - d^2) / 20466).
    d = pair.enough
    assert d == pytest.approx(1.959964 * ((0.706 + d - d**2) / 20_466) ** 0.5, rel=1e-6)
    (pair,) = compare_printed(["0.353", "0.367"], dataset="FB15k-237", metric="mrr")
    assert pair.verdict == SEPARATE
    # Rounded, they may be as close as 0.3535 and 0.3665.
    assert pair.z_least == pytest.approx(0.013 * (20_466 / (0.7210 - 0.013**2)) ** 0.5, rel=1e-3)
    # Exact values: three of 2,148 tasks of Kinships more among the first ten cannot be significant.
    (pair,) = compare_printed([0.9, 0.9 + 3 / 2148], dataset="Kinships", metric="hits@10")
    assert pair.verdict == ALIKE
    assert pair.too_little == pytest.approx(0.5 * 3.8414588 / (1074 + 3.8414588), rel=1e-6)


def test_ranks_have_a_verdict_too():
    (pair,) = compare_printed(["170", "250"], dataset="FB15k-237", metric="mr")
    assert (pair.better.text, pair.verdict) == ("170", SEPARATE)
    assert compare_printed(["170", "171"], dataset="FB15k-237", metric="mr")[0].verdict == UNKNOWN


def test_a_verdict_holds_for_ranks_that_have_these_values():
    """Simulated models of every correlation on 1,074 triples: z of the paired differences is between the two bounds."""
    rng = np.random.default_rng(2)
    for alike in (0.0, 0.3, 0.9, 0.999):
        first = np.ceil(104 ** rng.random((1074, 2)))
        other = np.ceil(104 ** rng.random((1074, 2)) ** 1.2)
        second = np.where(rng.random(first.shape) < alike, first, other)
        for key in ("mrr", "hits@10"):
            metric = resolve(key)
            terms = [metric.term(ranks, np.full_like(ranks, 104.0)).mean(axis=1) for ranks in (first, second)]
            difference = terms[0] - terms[1]
            (pair,) = compare_printed([terms[0].mean(), terms[1].mean()], dataset="Kinships", metric=key)
            z = abs(difference.mean()) / (difference.std() / 1074**0.5)
            assert pair.z_least <= z * (1 + 1e-9)
            assert z <= pair.z_most * (1 + 1e-9)


@pytest.mark.parametrize(
    ("values", "metric", "message"),
    [
        (["0.3"], "mrr", "at least two"),
        (["20", "30"], "gmr", "no mean over the tasks"),
        (["0.3", "1.3"], "mrr", "cannot be its value"),
        (["0.3", "x"], "mrr", "is not a value"),
    ],
)
def test_mistakes(values, metric, message):
    with pytest.raises(RankadjustError, match=message):
        compare_printed(values, dataset="FB15k-237", metric=metric)
