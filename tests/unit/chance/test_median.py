"""Probabilities of the middle ranks, and sums in equal steps that stand for sums over all x."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankadjust.chance.median import _even_nodes
from rankadjust.chance.poisson_binomial import TaskGroups, no_rank_between, tails


def laws(counts, tasks, x, y):
    """Return P(k ranks <= x, the others > y) for k = 0..n, adding one task at a time."""
    law = np.ones(1)
    for count in np.repeat(counts, tasks):
        law = np.convolve(law, [max(1 - y / count, 0), min(x / count, 1)])
    return law


MANY = {
    "like one another": (np.arange(912.0, 923), np.array([3, 1, 1, 8, 20, 40, 55, 30, 20, 8, 2])),
    "far from each other": (np.round(np.geomspace(700, 20_000, 40)), np.full(40, 12)),
    "some of them small": (
        np.append([3.0, 40.0], np.arange(800.0, 1000)),
        np.append([9, 7], np.ones(200, int)),
    ),
}


@pytest.mark.parametrize("kind", MANY)
def test_probabilities_are_those_of_the_law_of_the_number_of_ranks(kind):
    """Against the law of K(x), tail by tail."""
    counts, tasks = MANY[kind]
    order = int(tasks.sum()) // 2
    groups = TaskGroups.of(counts, tasks.astype(float))
    x = np.array([200.0, 333.0, 421.0, 500.0, 690.0])
    gap = np.array([0.0, 1.0, 5.0, 17.0, 0.0])
    found, both = tails(groups, x, order), no_rank_between(groups, x, gap, order)
    middle = tails(groups, x, order + 0.5)
    for place, at in enumerate(x):
        law = laws(counts, tasks, at, at)
        assert found.cdf[place] == pytest.approx(law[order:].sum(), rel=1e-10)
        assert found.survival[place] == pytest.approx(law[:order].sum(), rel=1e-10)
        # The mean of the tails of the two middle ranks.
        assert middle.cdf[place] == pytest.approx(law[order:].sum() - law[order] / 2, rel=1e-10)
        assert middle.survival[place] == pytest.approx(law[:order].sum() + law[order] / 2, rel=1e-10)
        expected = laws(counts, tasks, at, at + gap[place])[order]
        assert both[place] == pytest.approx(expected, rel=1e-10)


@settings(deadline=None, max_examples=30)
@given(st.floats(2, 1e6), st.floats(12.5, 40), st.floats(12.5, 40), st.sampled_from([1e-6, 1e-9]))
def test_equal_steps_stand_for_the_sum_over_all_x(deviation, below, above, tolerance):
    """A bell of whatever width and place: the sums over all x of the normal density times 1, x and x^2."""
    centre = below * deviation
    bell = stats.norm(centre, deviation).pdf
    low, high = 0, int(centre + above * deviation)
    x, weights, values = _even_nodes(bell, low, high, tolerance)
    assert x.size <= max(256, 12 * int(np.log2(high)))
    assert values == pytest.approx(bell(x))
    moments = [weights * values @ ((x - centre) / deviation) ** power for power in range(3)]
    # For a normal law the sum over all x is the integral but for exp(-2 pi^2 deviation^2).
    assert moments == pytest.approx([1.0, 0.0, 1.0], abs=10 * tolerance)
