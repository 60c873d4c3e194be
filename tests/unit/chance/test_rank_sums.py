"""The mean of a term over all orders of tied candidates: against the sum rank by rank, and against chance."""

import itertools

import numpy as np
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import FAMILIES, expand, resolve
from rankadjust.chance.rank_sums import mean_over_orders

METRICS = [metric for metric in expand(list(FAMILIES), [1, 3, 10, 1000]) if metric.term is not None]
# Ends of ranges in every octave, short and long, and up to where a rank-by-rank sum is still quick.
RANGES = [(o, p) for o, p in itertools.product((1, 2, 3, 7, 8, 100, 1023), repeat=2) if o <= p]
RANGES += [(1, 20_000), (5, 16_384), (15_000, 20_000)]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_the_mean_is_that_of_all_ranks_in_between(metric):
    best, worst = np.array(RANGES, dtype=float).T
    counts = np.full_like(best, 20_000)
    expected = [
        float(metric.term(np.arange(o, p + 1.0), np.full(p - o + 1, 20_000.0)).mean()) for o, p in RANGES
    ]
    # The reference sums up to 20,000 numbers pairwise: 1e-14.
    found = mean_over_orders(metric, best, worst, counts)
    # Far down the polynomial of an estimated hit is all but 0.
    least = 1e-24 if metric.needs_candidates else 1e-300
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=least)
    np.testing.assert_array_equal(best, [o for o, _ in RANGES])


def test_without_ties_the_mean_is_the_term_to_the_bit():
    ranks = np.array([1.0, 2.5, 7.0, 14_541.0])
    counts = np.full_like(ranks, 14_541)
    for metric in METRICS:
        np.testing.assert_array_equal(
            mean_over_orders(metric, ranks, ranks, counts), metric.term(ranks, counts)
        )


def test_a_median_has_no_mean_over_orders():
    with pytest.raises(RankadjustError, match="Median rank is not a function"):
        mean_over_orders(resolve("median"), np.ones(1), np.ones(1), np.ones(1))
