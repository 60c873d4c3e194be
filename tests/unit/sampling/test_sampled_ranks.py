"""The law of a sampled rank, against all draws and scipy.stats; and what full ranks print among sampled negatives."""

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
import scipy

from rankadjust import RankadjustError, to_sampled
from rankadjust.chance.draw import Draw
from rankadjust.chance.metrics import metric_value


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


@pytest.mark.parametrize("negatives", ["without-replacement", "with-replacement"])
def test_full_ranks_print_the_mean_over_all_draws(negatives):
    ranks, counts, q = [1, 3, 2, 5], [5, 4, 6, 5], 2
    every = [
        sampled_ranks(rank, count, q, negatives == "with-replacement")
        for rank, count in zip(ranks, counts, strict=True)
    ]
    draws = np.array(list(product(*every)))
    found = to_sampled(
        ranks,
        sampled=q,
        num_candidates=counts,
        negatives=negatives,
        metrics=["mrr", "mr", "hits@1", "ndcg", "auc"],
    )
    for row in found.iter_rows(named=True):
        values = metric_value(row["metric"], draws, q + 1)
        assert row["expectation"] == pytest.approx(values.mean(), abs=1e-12)
        assert row["standard_deviation"] == pytest.approx(values.std(), abs=1e-9)
        assert row["full"] == pytest.approx(metric_value(row["metric"], ranks, counts), abs=1e-15)


def test_tied_ranks_are_taken_at_both_ends():
    tied = pl.DataFrame({"optimistic": [1, 2], "pessimistic": [3, 2], "num_candidates": [5, 5]})
    found = to_sampled(tied, sampled=2, metrics=["mr"])
    # The expected sampled rank is 1 + q (R - 1)/(N - 1).
    assert found["rank_type"].to_list() == ["optimistic", "pessimistic"]
    assert found["expectation"].to_list() == pytest.approx([1 + 2 * 0.5 / 4, 1 + 2 * 1.5 / 4])


@pytest.mark.parametrize(
    ("ranks", "options", "message"),
    [
        ([1.5], {"num_candidates": 5}, "the mean of tied ones"),
        ([1], {}, "among how many candidates"),
        ([1], {"num_candidates": 2}, "2 negatives cannot be drawn"),
        ([1], {"num_candidates": 5, "metrics": ["gmr"]}, "not a mean over the tasks"),
        ([1], {"dataset": "Nations"}, "different numbers of candidates"),
    ],
)
def test_what_has_no_exact_expectation_is_refused(ranks, options, message):
    with pytest.raises(RankadjustError, match=message):
        to_sampled(ranks, sampled=2, **options)
