"""p of differences: against every swap made by hand, and against the law of p under models that are equal."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from rankadjust.chance.metrics import expand, metric_value
from rankadjust.evaluation.weighting import RankedTasks, UnitMeans, Weighted
from rankadjust.models.p_values import flip_means, flip_ranks, is_exact, p_of_equal_means, swaps

MEANS = expand(["mr", "mrr", "hits@3", "ndcg", "auc", "gmr", "igmr", "hmr", "imr"], [3])
RANKS = expand(["median", "inverse_median"], [3])


def difference(metrics, ranks, counts, units):
    one, other = (
        UnitMeans.of(metrics, RankedTasks(each, each, counts, np.ones(each.size)), units) for each in ranks
    )
    return one.minus(other)


@pytest.fixture(scope="module")
def case():
    """Fourteen tasks in five clusters of different sizes, and the ranks of two models."""
    rng = np.random.default_rng(5)
    units = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 4, 4, 4])
    counts = rng.integers(20, 60, units.size).astype(float)
    ranks = np.ceil(counts * rng.random((2, units.size)) ** np.array([[3.0], [1.5]]))
    return units, counts, ranks


def by_hand(metric, units, counts, ranks, swapped):
    """Return how many swaps, the rows of `swapped`, make a difference as large as the one seen."""
    differences = []
    for row in [[0] * 5, *swapped]:
        own = np.array(row)[units]
        first, second = np.where(own, ranks[1], ranks[0]), np.where(own, ranks[0], ranks[1])
        differences.append(
            abs(float(metric_value(metric, first, counts)) - float(metric_value(metric, second, counts)))
        )
    return np.sum(np.array(differences[1:]) >= differences[0] * (1 - 1e-9))


def both_p(units, counts, ranks, flips, seed):
    """Return p of MEANS and of RANKS."""
    tasks = RankedTasks(ranks.ravel(), ranks.ravel(), np.tile(counts, 2), np.ones(ranks.size))
    both = Weighted(RANKS, tasks, np.concatenate([2 * units, 2 * units + 1]))
    p = flip_means(difference(MEANS, ranks, counts, units), flips, seed)
    return [*p, *flip_ranks(both.at, int(units.max()) + 1, flips, seed)]


def test_all_swaps_are_those_made_by_hand(case):
    every = [*itertools.product([0, 1], repeat=5)]
    assert both_p(*case, 32, 0) == pytest.approx([by_hand(each, *case, every) / 32 for each in MEANS + RANKS])


def test_what_was_seen_counts_as_one_of_the_swaps_that_are_drawn(case):
    """Phipson and Smyth (2010): p is (1 + those that reach the difference) / (1 + those drawn)."""
    # All 32 are listed unless fewer are allowed.
    assert not is_exact(5, 31)
    drawn = np.concatenate(list(swaps(5, 31, 3)), axis=1)
    assert drawn.shape == (5, 31)
    expected = [(1 + by_hand(each, *case, drawn.T)) / 32 for each in MEANS + RANKS]
    assert both_p(*case, 31, 3) == pytest.approx(expected, rel=1e-12)


def test_p_of_a_difference_that_no_drawn_swap_reaches_is_not_zero():
    """One model has rank 1 throughout, the other 2 to 41: two of the 2^40 swaps reach that, and none of 99 drawn."""
    ranks = np.stack([np.ones(40), np.arange(2.0, 42.0)])
    p = dict(zip(MEANS + RANKS, both_p(np.arange(40), np.full(40, 100.0), ranks, 99, 0), strict=True))
    assert [*p.values()] == pytest.approx([1 / 100] * len(p), rel=1e-12)


def test_swaps_do_not_depend_on_the_size_of_the_blocks():
    whole = np.concatenate(list(swaps(40, 1000, 1)), axis=1)
    pieces = np.concatenate(list(swaps(40, 1000, 1, columns=2**14)), axis=1)
    assert (whole == pieces).all()
    assert whole.mean() == pytest.approx(0.5, abs=0.01)
    assert not (whole == np.concatenate(list(swaps(40, 1000, 2)), axis=1)).all()


def test_models_that_are_equal_are_rejected_as_often_as_the_level_says():
    """300 pairs of models with a common difficulty: p is at most 0.05 in 5 % of them, give or take 2.5 %."""
    rng = np.random.default_rng(11)
    (mrr,) = expand(["mrr"], [1])
    found = []
    for seed in range(300):
        hard = rng.standard_normal((30, 1))
        ranks = np.ceil(np.exp(1.5 * (hard + rng.standard_normal((2, 30, 2))) + 1))
        units = np.repeat(np.arange(30), 2)
        of_mrr = difference([mrr], ranks.reshape(2, -1), np.full(60, np.nan), units)
        found.append(flip_means(of_mrr, 199, seed)[0])
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.025)
    assert np.mean(np.array(found) <= 0.5) == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("law", ["rare and last", "whole clusters", "one side varies more"])
def test_models_with_equal_means_hardly_ever_have_a_small_p_of_equal_means(law):
    """The p that asks for no law of the ranks: of 2,000 pairs with equal means at most 5 % below 0.05."""
    rng = np.random.default_rng(len(law))
    small = 0
    for _ in range(2000):
        triples, way = 200, np.arange(200)
        if law == "rare and last":
            differences = (rng.random(triples) < 0.02) - np.full(triples, 0.02)
        elif law == "whole clusters":
            way = np.repeat(np.arange(20), 10)
            differences = rng.choice([-1.0, 1.0], 20)[way]
        else:
            differences = np.where(rng.random(triples) < 0.1, rng.choice([-1.0, 1.0], triples), 0.0)
        small += p_of_equal_means(differences, [way]) <= 0.05
    assert small <= 100


def test_p_of_equal_means_by_hand():
    """Robbins's mixture over positive numbers with the scale 9, doubled: sqrt(1 + 18 / 9) exp(-z^2 / 2) / Phi(z)."""
    differences = np.concatenate([np.ones(15), -np.ones(3)])
    z = 12 / (18 + 9) ** 0.5
    expected = 3**0.5 * np.exp(-z * z / 2) / norm.cdf(z)
    assert p_of_equal_means(differences, [np.arange(18)]) == pytest.approx(expected)
    assert p_of_equal_means(np.tile([1.0, -1.0], 9), [np.arange(18)]) == 1.0
    # Clusters of two: the same differences, twice as much in common.
    assert p_of_equal_means(np.ones(12), [np.repeat(np.arange(6), 2)]) == pytest.approx(
        (1 + 24 / 36) ** 0.5 * np.exp(-144 / 120) / norm.cdf(12 / 60**0.5)
    )
