"""p under the independent null: exact enumeration and convolution, identities, and a stored simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import fft

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import Family, metric_value, resolve
from rankadjust.chance.tails import ChanceTails
from rankadjust.chance.tilting import _fast_length

KEYS = [
    "mr", "mrr", "mrr@2", "hits@1", "hits@2", "precision@3", "ndcg", "ndcg@3", "auc",
    "gmr", "igmr", "hmr", "imr", "median", "inverse_median",
]  # fmt: skip


def p_of(counts, key, value):
    return float(ChanceTails(counts, np.ones(len(counts))).log10_p(key, [value])[0])


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("counts", [[5], [2, 3], [1, 4, 2, 3], [3] * 5], ids=str)
def test_every_outcome_of_few_tasks(key, counts):
    """All equally likely rankings are listed, and those at least as good are counted."""
    metric = resolve(key)
    rankings = np.array(list(itertools.product(*(range(1, count + 1) for count in counts))), dtype=float)
    values = metric_value(metric, rankings, np.array(counts))
    attained = np.unique(np.round(values, 9))
    for value in attained[:: max(1, len(attained) // 3)]:
        # Values that are equal but for rounding are one.
        exact = values[np.abs(values - value).argmin()]
        good = values >= exact - 1e-9 if metric.increasing else values <= exact + 1e-9
        truth = Fraction(int(good.sum()), len(rankings))
        assert p_of(counts, key, exact) == pytest.approx(math.log10(truth), abs=1e-6)


def convolved(terms, tasks):
    """Return the number of rankings for each sum of whole terms, as exact integers."""
    ways = np.ones(1, dtype=object)
    for _ in range(tasks):
        longer = np.zeros(ways.size + max(terms), dtype=object)
        for term in terms:
            longer[term : term + ways.size] += ways
        ways = longer
    return ways


def attained(key, tasks, candidates, least):
    """Return some values of a metric between p = 10^least and 0.9, and log10 p of each, from exact integers.

    Sums of whole numbers (of 1 / lcm for MRR) are convolved.
    """
    ranks = range(1, candidates + 1)
    unit = math.lcm(*ranks)
    terms = {"mr": [rank - 1 for rank in ranks], "mrr": [unit - unit // rank for rank in ranks]}
    losses = terms.get(key, [int(rank > 1) for rank in ranks])
    ways = np.cumsum(convolved(losses, tasks))
    total = candidates**tasks
    logs = np.array([math.log10(Fraction(int(way), total)) if way else -np.inf for way in ways])
    places = np.flatnonzero((np.diff(logs, prepend=-np.inf) > 1e-12) & (logs > least) & (logs < -0.05))
    chosen = places[:: max(1, len(places) // 6)]
    means = chosen / tasks
    return {"mr": 1 + means, "mrr": 1 - means / unit}.get(key, 1 - means), logs[chosen]


@pytest.mark.parametrize(("tasks", "candidates"), [(30, 4), (60, 4), (200, 2), (120, 3), (49, 8)], ids=str)
@pytest.mark.parametrize("key", ["mr", "mrr", "hits@1"])
def test_many_tasks_against_exact_convolution(key, tasks, candidates):
    values, logs = attained(key, tasks, candidates, -8)
    assert ChanceTails([candidates], [tasks]).log10_p(key, values) == pytest.approx(logs, abs=0.02)


@pytest.mark.parametrize(("tasks", "candidates"), [(49, 3), (60, 4)], ids=str)
@pytest.mark.parametrize("key", ["mr", "mrr"])
def test_far_out_a_coarse_lattice_is_inverted(key, tasks, candidates):
    """Down to p = 1e-25. The formula for nearly normal laws would be 0.01 off for MRR where it leaves out 0.03."""
    values, logs = attained(key, tasks, candidates, -25)
    assert ChanceTails([candidates], [tasks]).log10_p(key, values) == pytest.approx(logs, abs=1e-3)


@pytest.mark.parametrize(
    ("key", "term"), [("gmr", math.log), ("ndcg", lambda rank: 1 - 1 / math.log2(1 + rank))]
)
def test_far_out_a_law_that_is_not_close_to_normal_is_inverted(key, term):
    """60 tasks of 3 candidates: trinomial probabilities in whole numbers, down to p = 1e-22.

    There the terms that the formula for nearly normal laws leaves out are 0.06 and 0.02, and it would be 0.15 and 0.07
    off in log10 p.
    """
    tasks, second, third = 60, term(2), term(3)
    losses = {
        (twos, threes): twos * second + threes * third
        for twos in range(tasks + 1)
        for threes in range(tasks + 1 - twos)
    }
    means = [share * (second + third) / 3 for share in (0.1, 0.2)]
    logs = []
    for mean in means:
        ways = sum(
            math.comb(tasks, twos) * math.comb(tasks - twos, threes)
            for (twos, threes), loss in losses.items()
            if loss <= tasks * mean
        )
        logs.append(math.log10(ways) - tasks * math.log10(3))
    values = np.exp(means) if key == "gmr" else 1 - np.array(means)
    assert ChanceTails([3], [tasks]).log10_p(key, values) == pytest.approx(logs, abs=0.01)


def test_hits_are_exact_far_out():
    """1,000 tasks of 7 candidates: binomial probabilities in exact fractions, down to the perfect ranking."""
    tails = ChanceTails([7], [1000])
    for hits in (150, 400, 900, 1000):
        ways = sum(math.comb(1000, count) * 6 ** (1000 - count) for count in range(hits, 1001))
        truth = math.log10(ways) - 1000 * math.log10(7)
        assert tails.log10_p("hits@1", [hits / 1000])[0] == pytest.approx(truth, rel=1e-10)


def test_median_of_many_tasks_is_exact():
    """Tasks of 10 candidates: the number of ranks up to x is binomial. For an even number both middle ranks count."""
    truth = sum(math.comb(101, count) * 2**count * 8 ** (101 - count) for count in range(51, 102))
    odd = ChanceTails([10], [101]).log10_p("median", [2])[0]
    assert odd == pytest.approx(math.log10(truth) - 101, rel=1e-10)
    even = ChanceTails([10], [100])
    # Both middle ranks are 1, that is, 51 ranks at least.
    ways = sum(math.comb(100, count) * 9 ** (100 - count) for count in range(51, 101))
    assert even.log10_p("median", [1])[0] == pytest.approx(math.log10(ways) - 100, rel=1e-10)
    # Or they are 1 and 2: 50 ranks are 1, and of the other 50, from 2 to 10, one is 2 at least.
    ways += math.comb(100, 50) * (9**50 - 8**50)
    assert even.log10_p("median", [1.5])[0] == pytest.approx(math.log10(ways) - 100, rel=1e-10)
    assert even.log10_p("inverse_median", [2 / 3])[0] == pytest.approx(math.log10(ways) - 100, rel=1e-10)


@pytest.mark.parametrize("key", KEYS)
def test_the_perfect_ranking_has_one_chance_in_the_product_of_the_candidates(key):
    tails = ChanceTails([14541, 300, 12], [20000, 900, 70])
    metric = resolve(key)
    truth = -(20000 * math.log10(14541) + 900 * math.log10(300) + 70 * math.log10(12))
    if key in ("mrr@2", "hits@1", "ndcg@3", "mr", "mrr", "ndcg", "auc", "gmr", "igmr", "hmr", "imr"):
        assert tails.log10_p(key, [metric.optimum])[0] == pytest.approx(truth, rel=1e-12)
    else:
        assert truth < tails.log10_p(key, [metric.optimum])[0] < 0


@example(histogram={1: 1}, key="imr", shares=[0.0, 2.2e-309])
@example(histogram={1: 4}, key="imr", shares=[0.0, 2.2250738585072014e-308])
@example(histogram={1: 1}, key="inverse_median", shares=[0.0, 2.2e-309])
@settings(max_examples=10, deadline=None)
@given(
    histogram=st.dictionaries(st.integers(1, 20_000), st.integers(1, 3000), min_size=1, max_size=4),
    key=st.sampled_from(KEYS),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=3),
)
def test_p_is_finite_and_falls_as_the_value_gets_better(histogram, key, shares):
    metric = resolve(key)
    tails = ChanceTails(list(histogram), list(histogram.values()))
    worst = 0.0 if metric.increasing else float(max(histogram))
    values = [worst + share * (metric.optimum - worst) for share in sorted(shares)]
    found = tails.log10_p(key, values)
    if tails.why_not(metric) is not None:
        assert np.isnan(found).all()
        return
    assert np.isfinite(found).all()
    assert (found <= 0).all()
    # Between two methods for one law p may differ by what both are accurate to.
    assert (np.diff(found) <= 0.05 + 0.01 * np.abs(found[1:])).all()


def test_what_is_no_value_has_no_p():
    tails = ChanceTails([10], [100])
    assert np.isnan(tails.log10_p("mrr", [-0.1, 1.1, math.nan])).all()
    assert np.isnan(tails.log10_p("standard_deviation", [2.0])).all()
    assert (
        tails.why_not(resolve("standard_deviation"))
        == "no p: the law of Standard deviation under chance is not derived"
    )
    assert (
        ChanceTails([1], [5]).why_not(resolve("auc"))
        == "no p: no task has another candidate than the true answer"
    )
    assert (
        ChanceTails([], []).why_not(resolve("mrr")) == "no p: there are no tasks, or some without candidates"
    )
    with pytest.raises(RankadjustError, match="same length"):
        ChanceTails([1, 2], [1])


def test_a_metric_that_is_added_has_its_p():
    """The mean of r^-1/2 of two tasks with three candidates: 5 of 9 rankings have one rank 1 at least."""
    family = Family("root", "R", "", (), increasing=True, term=lambda ranks, _: 1 / np.sqrt(ranks))
    worst = (1 + 3**-0.5) / 2
    assert p_of([3, 3], family.metric(), worst) == pytest.approx(math.log10(Fraction(5, 9)), abs=1e-9)


@pytest.mark.parametrize(
    ("key", "tasks"),
    [
        # MRR of seven tasks is what a grid that is too coarse shows.
        *(("mr", 40), ("mrr", 7), ("ndcg", 40), ("ndcg@10", 7), ("auc", 40), ("gmr", 7)),
        *(
            pytest.param(key, tasks, marks=pytest.mark.slow)
            for key, tasks in (("mr", 7), ("mrr", 40), ("ndcg", 7), ("ndcg@10", 40), ("auc", 7), ("gmr", 40))
        ),
    ],
)
def test_few_tasks_of_many_different_candidates(key, tasks, monkeypatch):
    """The grid is as fine as it must be: ten times the points change log10 p by less than 0.02, or 0.5 %."""
    rng = np.random.default_rng(tasks)
    counts = rng.integers(2, 9000, tasks)
    metric = resolve(key)
    ranks = np.ceil(counts * rng.random((3, tasks)) ** np.array([[1.0], [2.0], [5.0]]))
    values = metric_value(metric, ranks, counts)
    together = ChanceTails(counts, np.ones(tasks)).log10_p(metric, values)
    alone = [p_of(counts, metric.key, value) for value in values]
    assert together == pytest.approx(alone, abs=0.01)
    for name in ("_FINEST", "_COARSEST"):
        monkeypatch.setattr(f"rankadjust.chance.tilting.{name}", 2**18)
    assert alone[2] == pytest.approx(p_of(counts, metric.key, values[2]), abs=0.02, rel=0.005)


def test_lengths_of_transforms_are_those_that_scipy_calls_fast():
    """scipy.fft, which takes a while to be imported, has the same rule for real transforms."""
    for least in [1, 2, 7, 100, 131_073, 131_090, 70_001, 99_999]:
        assert _fast_length(least) == fft.next_fast_len(least, real=True)
