"""Sign flips: against every swap made by hand, and against the law of p under models that are equal."""

import itertools

import numpy as np
import pytest

from rankadjust.chance.metrics import expand, metric_value
from rankadjust.evaluation.weighting import arrange
from rankadjust.models.means import ClusterMeans
from rankadjust.models.sign_flips import flip_means, flip_ranks, is_exact, swaps

MEANS = expand(["mr", "mrr", "hits@3", "ndcg", "auc", "gmr", "igmr", "hmr", "imr"], [3])
RANKS = expand(["median", "inverse_median", "std", "variance", "mad"], [3])


def arranged(metrics, ranks, counts, units):
    return arrange(
        metrics, np.arange(ranks.size), ranks, counts, np.zeros(ranks.size, dtype=np.int64), units=units
    )


@pytest.fixture(scope="module")
def case():
    """Fourteen tasks in five clusters of different sizes, and the ranks of two models."""
    rng = np.random.default_rng(5)
    units = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 4, 4, 4])
    counts = rng.integers(20, 60, units.size).astype(float)
    ranks = np.ceil(counts * rng.random((2, units.size)) ** np.array([[3.0], [1.5]]))
    return units, counts, ranks


def by_hand(metric, units, counts, ranks):
    """Return the share of all swaps whose difference is as large as the one seen."""
    differences = []
    for swapped in itertools.product([0, 1], repeat=5):
        own = np.array(swapped)[units]
        first, second = np.where(own, ranks[1], ranks[0]), np.where(own, ranks[0], ranks[1])
        differences.append(
            abs(float(metric_value(metric, first, counts)) - float(metric_value(metric, second, counts)))
        )
    return np.mean(np.array(differences) >= differences[0] * (1 - 1e-9))


def test_all_swaps_are_those_made_by_hand(case):
    units, counts, ranks = case
    one, other = (ClusterMeans.of(arranged(MEANS, each, counts, units)) for each in ranks)
    assert flip_means(one, other, 32, 0) == pytest.approx([by_hand(each, *case) for each in MEANS])
    both = arranged(RANKS, ranks.ravel(), np.tile(counts, 2), np.concatenate([2 * units, 2 * units + 1]))
    assert flip_ranks(both, 32, 0) == pytest.approx([by_hand(each, *case) for each in RANKS])


def test_drawn_swaps_approach_all_of_them(case):
    units, counts, ranks = case
    one, other = (ClusterMeans.of(arranged(MEANS, each, counts, units)) for each in ranks)
    drawn = np.concatenate(list(swaps(5, 31, 3)), axis=1)
    assert drawn.shape == (5, 31)
    assert not is_exact(5, 31)
    # All 32 are listed unless fewer are allowed. 31 that are drawn know p to a standard error of 0.09.
    assert flip_means(one, other, 31, 3) == pytest.approx(flip_means(one, other, 32, 3), abs=0.3)
    assert (flip_means(one, other, 31, 3) >= 1 / 32).all()


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
        one, other = (
            ClusterMeans.of(arranged([mrr], each.ravel(), np.full(60, np.nan), units)) for each in ranks
        )
        found.append(flip_means(one, other, 199, seed)[0])
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.025)
    assert np.mean(np.array(found) <= 0.5) == pytest.approx(0.5, abs=0.06)
