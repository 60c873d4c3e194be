"""Probabilities of the middle ranks, and sums in equal steps that stand for sums over all x."""

import numpy as np
import pytest

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
    cdf, survival = tails(groups, x, order)
    both = no_rank_between(groups, x, gap, order)
    middle_cdf, middle_survival = tails(groups, x, order + 0.5)
    for place, at in enumerate(x):
        law = laws(counts, tasks, at, at)
        assert cdf[place] == pytest.approx(law[order:].sum(), rel=1e-10)
        assert survival[place] == pytest.approx(law[:order].sum(), rel=1e-10)
        # The mean of the tails of the two middle ranks.
        assert middle_cdf[place] == pytest.approx(law[order:].sum() - law[order] / 2, rel=1e-10)
        assert middle_survival[place] == pytest.approx(law[:order].sum() + law[order] / 2, rel=1e-10)
        expected = laws(counts, tasks, at, at + gap[place])[order]
        assert both[place] == pytest.approx(expected, rel=1e-10)
