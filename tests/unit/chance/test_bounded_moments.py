"""Bounds of expectation and variance: they hold for every N within, and are exact where N is known."""

from itertools import product

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.bounded_moments import bounded_moments
from rankadjust.chance.metrics import FAMILIES, expand
from rankadjust.chance.moments import moments_table
from tests.searching import in_profile

METRICS = expand([family.key for family in FAMILIES.values() if family.has_moments], [1, 3])

# Of each task: the side, the least number of candidates, how many more there may be, and how many there are.
TASKS = st.lists(
    st.tuples(st.sampled_from(["head", "tail"]), st.integers(1, 30), st.integers(0, 20), st.floats(0, 1)),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=in_profile(60))
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


ADDITIVE = [metric for metric in METRICS if metric.additive]


@settings(max_examples=in_profile(40))
@given(
    tasks=st.lists(
        st.tuples(st.sampled_from(["head", "tail"]), st.integers(4, 30), st.integers(0, 3)),
        min_size=1,
        max_size=4,
    ),
    data=st.data(),
)
def test_a_known_sum_bounds_all_candidates_with_that_sum(tasks, data):
    """Against a list of all numbers of candidates that the intervals allow, each with its exact moments."""
    tasks = sorted(tasks)
    choices = list(product(*(range(least, least + more + 1) for _, least, more in tasks)))
    chosen = data.draw(st.sampled_from(choices))

    def sums(counts):
        by_side = {}
        for (side, _, _), count in zip(tasks, counts, strict=True):
            by_side[side] = by_side.get(side, 0) + count
        return by_side

    frame = pl.DataFrame(tasks, schema=["side", "least", "most"], orient="row").with_columns(
        split=pl.lit("testing"), entities=pl.lit(60), tasks=pl.lit(1), most=pl.col("least") + pl.col("most")
    )
    bounds = bounded_moments(frame, ADDITIVE, {"testing": sums(chosen)})
    wide = bounded_moments(frame, ADDITIVE)
    exact = pl.concat(
        moments_table(frame.with_columns(num_candidates=pl.Series(counts)), ADDITIVE)
        for counts in choices
        if sums(counts) == sums(chosen)
    )
    ends = exact.group_by("split", "side", "metric").agg(
        pl.col("expectation", "variance").min().name.suffix("_least"),
        pl.col("expectation", "variance").max().name.suffix("_most"),
    )
    both = bounds.join(ends, on=["split", "side", "metric"], validate="1:1").join(
        wide, on=["split", "side", "metric"], suffix="_wide"
    )
    # Of several sides all sums are needed: without tasks on one side there is nothing closer for both.
    for name in ("expectation", "variance"):
        low, high = pl.col(f"{name}_low"), pl.col(f"{name}_high")
        slack = 1e-12 * pl.max_horizontal(high.abs(), 1e-3)
        assert both.filter(low > pl.col(f"{name}_least") + slack).is_empty()
        assert both.filter(high < pl.col(f"{name}_most") - slack).is_empty()
        assert both.filter(low < pl.col(f"{name}_low_wide") - slack).is_empty()
    mean_rank = bounds.filter(metric="arithmetic_mean_rank").filter(
        (pl.col("side") != "both") | pl.lit(frame["side"].n_unique() == 2)
    )
    assert mean_rank["expectation_low"].to_list() == pytest.approx(mean_rank["expectation_high"].to_list())


def test_the_lower_bound_of_a_convex_metric_is_reached_by_equal_numbers_of_candidates():
    # Three tasks of 10 to 20 candidates, 44 in all: 1 / N is least with 15, 15 and 14, and at most with 20, 14, 10,
    # where the chord of the task between the ends has 1/10 - 4/200.
    frame = pl.DataFrame(
        {"split": "testing", "side": "tail", "entities": 90, "least": [10], "most": [20], "tasks": [3]}
    )
    rows = bounded_moments(frame, expand(["hits_at_1"], []), {"testing": {"tail": 44}}).filter(side="tail")
    assert rows["expectation_low"].to_list() == pytest.approx([(2 / 15 + 1 / 14) / 3], rel=1e-12)
    assert rows["expectation_high"].to_list() == pytest.approx([(1 / 20 + 1 / 10 + 0.08) / 3], rel=1e-12)


def test_a_sum_that_no_candidates_have_is_refused():
    frame = pl.DataFrame(
        {"split": "testing", "side": "tail", "entities": 90, "least": [10], "most": [20], "tasks": [3]}
    )
    with pytest.raises(RankadjustError, match="given as 61, and the ranges allow 30 to 60"):
        bounded_moments(frame, METRICS, {"testing": {"tail": 61}})


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
