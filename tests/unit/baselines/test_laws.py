"""Metrics of ranks up to the order of the tied: against enumeration, chance, and sums of more digits."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.baselines.sampled import Sampled
from rankadjust.baselines.tie_orders import RankSums, TieOrders
from rankadjust.chance.metrics import FAMILIES, Family, expand, metric_value, resolve
from rankadjust.chance.moments import metric_moments
from tests.searching import in_profile

METRICS = [
    metric
    for metric in expand(list(FAMILIES), [1, 2, 3, 10])
    if metric.has_moments and metric.term is not None
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


@pytest.mark.parametrize("counts", [[7, 20, 300], [5000, 40_000], [1, 2, 3]])
@pytest.mark.parametrize("tasks", [1, 40, 30_000])
def test_where_everything_is_tied_it_is_chance(counts, tasks):
    law = tie_orders([0] * len(counts), counts, counts, [tasks] * len(counts))
    for metric in METRICS:
        expected = metric_moments(metric, counts, [tasks] * len(counts))
        found = law.moments(metric)
        assert found.expectation == pytest.approx(expected.expectation, rel=1e-10), metric.key
        assert found.variance == pytest.approx(expected.variance, rel=1e-8), metric.key


def test_without_ties_a_metric_is_its_value():
    ranks = np.array([1.0, 4.0, 17.0, 5000.0, 31.0])
    law = tie_orders(ranks - 1, np.ones(5), np.full(5, 6000))
    for metric in METRICS:
        found = law.moments(metric)
        assert found.expectation == pytest.approx(
            float(metric_value(metric, ranks, np.full(5, 6000))), rel=1e-13
        )
        assert found.variance == 0, metric.key


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


@settings(max_examples=30)
@given(tasks=kinds(most=3), size=st.sampled_from([1, 60, 2000]))
def test_many_tasks_of_few_kinds_have_the_moments_of_their_sums(tasks, size):
    """The inverse of a sum of many, by the law of the sum itself: powers of the polynomials of each kind."""
    above, tied, _ = zip(*tasks, strict=True)
    law = tie_orders(above, tied, [sum(task) for task in tasks], [size] * len(tasks))
    sums = np.ones(1)
    for extra in tied:
        for _ in range(size):
            sums = np.convolve(sums, np.full(extra, 1 / extra))
            kept = np.flatnonzero(sums > 1e-40)
            assert kept.size
    total = size * len(tasks)
    rank_sums = size * sum(g + 1 for g in above) + np.arange(sums.size)
    values = total / rank_sums
    mean = (sums @ values) / sums.sum()
    found = law.moments(resolve("imr"))
    assert found.expectation == pytest.approx(mean, rel=1e-11)
    assert found.variance == pytest.approx(sums @ (values - mean) ** 2, rel=1e-7, abs=1e-17)


def test_a_term_that_depends_on_the_candidates_needs_no_closed_form():
    family = Family(
        "of_candidates", "", "", (), needs_candidates=True, term=lambda ranks, counts: ranks**0.5 / counts
    )
    metric = family.metric()
    law = tie_orders([0, 3], [5, 2], [8, 9])
    values = [np.arange(1.0, 6) ** 0.5 / 8, np.arange(4.0, 6) ** 0.5 / 9]
    found = law.moments(metric)
    assert found.expectation == pytest.approx(np.mean([each.mean() for each in values]), rel=1e-12)
    assert found.variance == pytest.approx(sum(each.var() for each in values) / 4, rel=1e-10)


# Sampled candidates


def law_of_samples(above, tied, candidates, negatives, replacement):
    """Return the probabilities of the ranks 1..q+1: every sample, and every order of the tied in it."""
    others = [0] * above + [1] * (tied - 1) + [2] * (candidates - above - tied)
    samples = (
        itertools.product(others, repeat=negatives)
        if replacement
        else itertools.combinations(others, negatives)
    )
    law = [Fraction(0)] * (negatives + 1)
    number = 0
    for sample in samples:
        number += 1
        better, equal = sample.count(0), sample.count(1)
        for rank in range(better, better + equal + 1):
            law[rank] += Fraction(1, equal + 1)
    return np.array([float(share / number) for share in law])


@pytest.mark.parametrize("replacement", [False, True])
@settings(max_examples=in_profile(40))
@given(tasks=kinds(most=2), negatives=st.integers(1, 3))
def test_every_sample_agrees(tasks, negatives, replacement):
    above, tied, _ = zip(*tasks, strict=True)
    candidates = [sum(task) for task in tasks]
    law = Sampled(
        *(np.array(each, np.float64) for each in (above, tied, candidates)),
        np.ones(len(tasks)),
        negatives,
        replacement,
    )
    if min(candidates) - 1 < (1 if replacement else negatives):
        assert "cannot be drawn" in law.moments(resolve("mrr")).reason
        return
    laws = [
        law_of_samples(g, m, n, negatives, replacement)
        for g, m, n in zip(above, tied, candidates, strict=True)
    ]
    ranks = np.array(list(itertools.product(range(1, negatives + 2), repeat=len(tasks))), np.float64)
    weights = np.array([math.prod(p) for p in itertools.product(*laws)])
    for metric in METRICS:
        values = metric_value(metric, ranks, np.full(len(tasks), negatives + 1))
        mean = weights @ values
        found = law.moments(metric)
        assert found.expectation == pytest.approx(mean, rel=1e-11), metric.key
        assert found.variance == pytest.approx(weights @ (values - mean) ** 2, rel=1e-9, abs=1e-13), (
            metric.key
        )


@pytest.mark.parametrize("replacement", [False, True])
def test_simulated_samples_agree(replacement):
    above, tied, candidates, negatives = 700, 400, 14_000, 50
    law = Sampled(*(np.array([float(each)]) for each in (above, tied, candidates, 1)), negatives, replacement)
    generator = np.random.default_rng(20260101)
    draws = 200_000
    if replacement:
        kinds = generator.multinomial(
            negatives, np.array([above, tied - 1, candidates - above - tied]) / (candidates - 1), size=draws
        )
    else:
        kinds = generator.multivariate_hypergeometric(
            [above, tied - 1, candidates - above - tied], negatives, size=draws
        )
    ranks = kinds[:, 0] + generator.integers(1, kinds[:, 1] + 2)
    for key in ("mr", "mrr", "hits@3", "ndcg", "auc"):
        metric = resolve(key)
        values = metric.term(ranks.astype(np.float64), np.full(draws, negatives + 1.0))
        found = law.moments(metric)
        assert abs(found.expectation - values.mean()) < 5 * values.std() / draws**0.5, key
        assert found.variance == pytest.approx(values.var(), rel=0.03), key


@pytest.mark.parametrize("negatives", [1, 49, 500])
def test_sampled_where_everything_is_tied_it_is_chance(negatives):
    candidates = np.array([501.0, 14_541.0, 4_000_000.0])
    law = Sampled(np.zeros(3), candidates, candidates, np.array([3.0, 20.0, 1.0]), negatives)
    for metric in METRICS:
        expected = metric_moments(metric, [negatives + 1], [24])
        found = law.moments(metric)
        assert found.expectation == pytest.approx(expected.expectation, rel=1e-9), metric.key
        assert found.variance == pytest.approx(expected.variance, rel=1e-8), metric.key
