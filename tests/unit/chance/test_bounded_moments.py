"""Bounds of expectation and variance: they hold for every N within, and are exact where N is known."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.chance.bounded_moments import bounded_moments
from rankadjust.chance.metrics import FAMILIES, expand
from rankadjust.chance.moments import moments_table

METRICS = expand([family.key for family in FAMILIES.values() if family.has_moments], [1, 3])

# Of each task: the side, the least number of candidates, how many more there may be, and how many there are.
TASKS = st.lists(
    st.tuples(st.sampled_from(["head", "tail"]), st.integers(1, 30), st.integers(0, 20), st.floats(0, 1)),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(tasks=TASKS)
def test_whatever_the_numbers_of_candidates_are_the_moments_are_within(tasks):
    rows = [(side, least, least + more, round(least + share * more)) for side, least, more, share in tasks]
    frame = pl.DataFrame(rows, schema=["side", "least", "most", "num_candidates"], orient="row").with_columns(
        split=pl.lit("testing"), entities=pl.lit(60), tasks=pl.lit(1)
    )
    frame = frame.sort("side")
    bounds = bounded_moments(frame.drop("num_candidates"), METRICS)
    both = moments_table(frame, METRICS).join(bounds, on=["split", "side", "metric"], suffix="_bounds")
    assert both.height == bounds.height
    assert bounds.select(pl.col("expectation", "variance").null_count().sum()).row(0) == (bounds.height,) * 2
    for name in ("expectation", "variance"):
        low, value, high = (pl.col(column) for column in (f"{name}_low", name, f"{name}_high"))
        # Reciprocals of sums of few ranks are good to 1e-12, a median of few to 1e-9 (metrics.md, 4).
        outside = both.filter(~value.is_between(low * (1 - 1e-9), high * (1 + 1e-9)))
        assert outside.is_empty(), outside


def test_where_n_is_known_the_bounds_are_the_moments():
    frame = pl.DataFrame(
        {
            "split": ["testing"] * 2,
            "side": ["head", "tail"],
            "entities": [90, 90],
            "least": [40, 50],
            "most": [40, 50],
            "tasks": [7, 7],
        }
    )
    bounds = bounded_moments(frame, METRICS)
    exact = moments_table(frame.rename({"least": "num_candidates"}), METRICS)
    assert bounds["expectation_low"].equals(exact["expectation"], check_names=False)
    assert bounds["expectation_high"].equals(exact["expectation"], check_names=False)
    additive = pl.Series([metric.additive for metric in METRICS * 3])
    assert bounds["variance_low"].is_not_null().equals(additive, check_names=False)
    assert bounds.filter(additive)["variance_low"].equals(
        exact.filter(additive)["variance"], check_names=False
    )


def test_a_variance_that_rises_and_falls_has_no_bounds():
    # k (N - k) / N^2 is 0 at N = k, largest at 2 k and falls from there on.
    frame = pl.DataFrame(
        {"split": "testing", "side": "tail", "entities": 90, "least": [3, 6], "most": [9, 9], "tasks": 1}
    )
    hits = expand(["hits_at_3"], [])
    rising_and_falling, falling = (bounded_moments(frame[row], hits) for row in (0, 1))
    assert rising_and_falling["variance_low"].to_list() == [None, None]
    assert falling["variance_low"].to_list() == pytest.approx([3 * 6 / 81] * 2)
    assert falling["variance_high"].to_list() == pytest.approx([1 / 4] * 2)
    assert rising_and_falling["expectation_low"].to_list() == pytest.approx([1 / 3] * 2)
    assert rising_and_falling["expectation_high"].to_list() == [1, 1]
