"""The law of a sampled rank, against all draws and scipy.stats."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy

from rankadjust.chance.draw import Draw


def sampled_ranks(rank, candidates, negatives, replacement):
    """Every equally likely sampled rank: the others are 1..N without the true answer, and those below it are better."""
    others = [place for place in range(1, candidates + 1) if place != rank]
    draws = product(others, repeat=negatives) if replacement else combinations(others, negatives)
    return [1 + sum(place < rank for place in draw) for draw in draws]


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize(("candidates", "negatives"), [(2, 1), (5, 2), (6, 5), (7, 3)])
def test_every_draw_is_counted(candidates, negatives, replacement):
    ranks = np.arange(1.0, candidates + 1)
    found = Draw(negatives, replacement).probabilities(ranks, np.full_like(ranks, candidates))
    for rank, law in zip(ranks, found, strict=True):
        every = sampled_ranks(int(rank), candidates, negatives, replacement)
        shares = np.bincount(every, minlength=negatives + 2)[1:] / len(every)
        # Ratios of whole numbers: rounding only.
        np.testing.assert_allclose(law, shares, atol=1e-15)


def test_many_negatives_of_many_candidates_have_the_laws_of_scipy():
    others, better = 2_500_603.0, np.array([0.0, 1.0, 3190.0, 1_000_000.0, 2_500_603.0])
    places = np.arange(501)
    candidates = np.full_like(better, others + 1)
    found = Draw(500).probabilities(better + 1, candidates)
    # scipy takes logarithms of factorials of millions, which cost it eight digits.
    expected = [scipy.stats.hypergeom(others, one, 500).pmf(places) for one in better]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    found = Draw(500, replacement=True).probabilities(better + 1, candidates)
    expected = [scipy.stats.binom(500, one / others).pmf(places) for one in better]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14)
