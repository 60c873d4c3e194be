"""Ranks moved to points: no mean leaves the bounds, and no share crosses a threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.consistency.rank_grid import Averaged, rank_grid
from tests.searching import in_profile

FUNCTIONS = {
    "r": lambda ranks: ranks,
    "1/r": lambda ranks: 1 / ranks,
    "ln r": np.log,
    "r^2": lambda ranks: ranks**2,
    "nDCG": lambda ranks: 1 / np.log2(1 + ranks),
    "Hits@10": lambda ranks: (ranks <= 10).astype(float),
    "Hits@1000": lambda ranks: (ranks <= 1000).astype(float),
}


def moved(points, ranks):
    """Return the shares at the points when each rank goes to its neighbours, at equal mean of ln r."""
    above = np.clip(np.searchsorted(points, ranks), 1, points.size - 1)
    low, high = points[above - 1], points[above]
    share = (np.log(high) - np.log(ranks)) / (np.log(high) - np.log(low))
    return (
        np.bincount(above - 1, share, points.size) + np.bincount(above, 1 - share, points.size)
    ) / ranks.size


@settings(max_examples=in_profile(100))
@given(
    ranks=st.lists(st.integers(2, 29_082), min_size=1, max_size=20),
    step=st.sampled_from([0.5, 1.0]),
    name=st.sampled_from(list(FUNCTIONS)),
)
def test_the_mean_of_a_function_stays_within_the_bounds(ranks, step, name):
    function = FUNCTIONS[name]
    grid = rank_grid(step, 14_541.0, (10.0, 1000.0))
    ranks = np.floor(np.array(ranks) / 2 / step) * step
    ranks = np.maximum(ranks, 1.0)
    shares = moved(grid.points, ranks)
    lower, upper = grid.bounds(function)
    mean = function(ranks).mean()
    assert shares @ lower - 1e-9 * abs(mean) <= mean <= shares @ upper + 1e-9 * abs(mean)
    if name.startswith("Hits"):
        assert shares @ grid.values(function) == pytest.approx(mean, abs=1e-12)


def test_points_are_few_and_close():
    points = rank_grid(1.0, 40_943.0, (1.0, 3.0, 10.0, 100.0)).points
    assert points.size < 180
    # 1/16 apart, and chords of r and 1/r are then wrong by less than (1/16)^2 / 8 = 0.05 %.
    assert (np.diff(points) <= np.maximum(1, points[:-1] / 16)).all()
    grid = rank_grid(1.0, 40_943.0, ())
    for name in ("r", "1/r"):
        lower, upper = grid.bounds(FUNCTIONS[name])
        assert ((upper - lower) / grid.values(FUNCTIONS[name])).max() < 6e-4


def test_the_mean_over_the_ranks_from_2_on():
    average = Averaged(lambda ranks: 1 / ranks, 5)
    expected = [
        1,
        1 / 2,
        (1 / 2 + 1 / 3) / 2,
        (1 / 2 + 1 / 3 + 1 / 4) / 3,
        (1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 4,
    ]
    np.testing.assert_allclose(average(np.arange(1.0, 6)), expected, rtol=1e-15)
    assert average(np.array([2.5])) == pytest.approx((expected[1] + expected[2]) / 2)
