"""Metrics of ranks up to the order of the tied: against enumeration, chance, and sums of more digits."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.baselines.sampled import sampled_moments
from rankadjust.baselines.tie_orders import RankSums, TieOrders
from rankadjust.chance.metrics import FAMILIES, Family, expand, metric_value, resolve
from rankadjust.chance.moments import metric_moments
from tests.searching import in_profile

METRICS = [
    metric
    for metric in expand(list(FAMILIES), [1, 2, 3, 10])
    # A term that depends on N, other than AUC's, has no sum over the orders of the tied.
    if metric.additive and (not metric.needs_candidates or metric.key == "auc")
]


def tie_orders(above, tied, candidates, tasks=None):
    columns = [np.array(each, np.float64) for each in (above, tied, candidates)]
    tasks = np.ones(len(above)) if tasks is None else np.array(tasks, np.float64)
    return TieOrders(*columns, tasks, RankSums(int(max(columns[2]))))


@st.composite
def kinds(draw, most=4):
    """Draw tasks: candidates above the true answer, tied with it, and below."""
    task = st.tuples(st.integers(0, 9), st.integers(1, 4), st.integers(0, 5))
    return draw(st.lists(task, min_size=1, max_size=most))


@settings(max_examples=in_profile(150))
@given(tasks=kinds())
def test_every_order_of_the_tied_agrees(tasks):
    above, tied, _below = zip(*tasks, strict=True)
    candidates = [sum(task) for task in tasks]
    law = tie_orders(above, tied, candidates)
    ranks = np.array(list(itertools.product(*(range(g + 1, g + m + 1) for g, m, _ in tasks))), np.float64)
    for metric in METRICS:
        if metric.needs_candidates and max(candidates) == 1:
            assert law.moments(metric).expectation is None
            continue
        values = metric_value(metric, ranks, candidates)
        found = law.moments(metric)
        assert found.expectation == pytest.approx(values.mean(), rel=1e-11, abs=1e-300), metric.key
        assert found.variance == pytest.approx(values.var(), rel=1e-9, abs=1e-14), metric.key
        if set(tied) == {1}:
            assert found.variance == 0, metric.key


@pytest.mark.parametrize("counts", [[7, 20, 300], [5000, 40_000], [1, 2, 3]])
def test_where_everything_is_tied_it_is_chance(counts):
    law = tie_orders([0] * len(counts), counts, counts, [40] * len(counts))
    for metric in METRICS:
        expected = metric_moments(metric, counts, [40] * len(counts))
        found = law.moments(metric)
        assert found.expectation == pytest.approx(expected.expectation, rel=1e-10), metric.key
        assert found.variance == pytest.approx(expected.variance, rel=1e-8), metric.key


@pytest.mark.parametrize(
    ("above", "tied"), [(10_000, 600), (10_000, 700), (999_999, 2), (63, 4), (31, 2), (5, 90_000)]
)
def test_ranges_far_down_have_the_sums_of_exact_arithmetic(above, tied):
    law = tie_orders([above], [tied], [2_000_000])
    for key in ("mrr", "ndcg", "mrr@10000", "hits@10100"):
        metric = resolve(key)
        values = metric.term(np.arange(above + 1.0, above + tied + 1), np.full(tied, 2e6))
        mean = math.fsum(values) / tied
        found = law.moments(metric)
        assert found.expectation == pytest.approx(mean, rel=1e-12), key
        variance = math.fsum((values - mean) ** 2) / tied
        assert found.variance == pytest.approx(variance, rel=1e-7, abs=1e-18), key


def test_a_new_term_that_depends_on_the_candidates_has_a_reason():
    family = Family(
        "of_candidates", "", "", (), needs_candidates=True, term=lambda ranks, counts: ranks / counts
    )
    assert "depends on the number of candidates" in tie_orders([0], [5], [8]).moments(family.metric()).reason


@pytest.mark.parametrize(("name", "reason"), [("median", "order statistic"), ("hmr", "function of a mean")])
def test_what_is_no_mean_has_a_reason(name, reason):
    columns = [np.array([each]) for each in (0.0, 2.0, 9.0, 1.0)]
    for found in (
        tie_orders([0], [2], [9]).moments(resolve(name)),
        *sampled_moments([resolve(name)], *columns, 3),
    ):
        assert found.expectation is None
        assert reason in found.reason


def law_of_samples(above, tied, candidates, negatives):
    """Return the probabilities of the ranks 1..q+1: every sample, and every order of the tied in it."""
    others = [0] * above + [1] * (tied - 1) + [2] * (candidates - above - tied)
    law = [Fraction(0)] * (negatives + 1)
    samples = list(itertools.combinations(others, negatives))
    for sample in samples:
        better, equal = sample.count(0), sample.count(1)
        for rank in range(better, better + equal + 1):
            law[rank] += Fraction(1, equal + 1)
    return np.array([float(share / len(samples)) for share in law])


@settings(max_examples=in_profile(40))
@given(tasks=kinds(most=2), negatives=st.integers(1, 3))
def test_every_sample_agrees(tasks, negatives):
    above, tied, _ = zip(*tasks, strict=True)
    candidates = [sum(task) for task in tasks]
    columns = [np.array(each, np.float64) for each in (above, tied, candidates, [1] * len(tasks))]
    moments = sampled_moments(METRICS, *columns, negatives)
    if min(candidates) - 1 < negatives:
        assert all("cannot be drawn" in found.reason for found in moments)
        return
    laws = [law_of_samples(g, m, n, negatives) for g, m, n in zip(above, tied, candidates, strict=True)]
    ranks = np.array(list(itertools.product(range(1, negatives + 2), repeat=len(tasks))), np.float64)
    weights = np.array([math.prod(p) for p in itertools.product(*laws)])
    for metric, found in zip(METRICS, moments, strict=True):
        values = metric_value(metric, ranks, np.full(len(tasks), negatives + 1))
        mean = weights @ values
        assert found.expectation == pytest.approx(mean, rel=1e-11), metric.key
        variance = weights @ (values - mean) ** 2
        assert found.variance == pytest.approx(variance, rel=1e-9, abs=1e-13), metric.key


@pytest.mark.parametrize("negatives", [1, 49, 500])
def test_sampled_where_everything_is_tied_it_is_chance(negatives):
    candidates = np.array([501.0, 14_541.0, 4_000_000.0])
    moments = sampled_moments(
        METRICS, np.zeros(3), candidates, candidates, np.array([3.0, 20.0, 1.0]), negatives
    )
    for metric, found in zip(METRICS, moments, strict=True):
        expected = metric_moments(metric, [negatives + 1], [24])
        assert found.expectation == pytest.approx(expected.expectation, rel=1e-9), metric.key
        assert found.variance == pytest.approx(expected.variance, rel=1e-8), metric.key
