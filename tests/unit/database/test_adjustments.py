"""Adjustments: affine functions with constants of the evaluation set."""

import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.database.arithmetic import BOUNDS, add_adjusted, add_coefficients, stated_scores
from tests.searching import in_profile

TEXTS = ("reason", "reason_random_scorer", "reason_static_scorer", "scores")


def adjusted(metric, value, expectation, variance, low=None, high=None, **more):
    """Return the row of a value with these moments; what is not given of a random scorer is not a column."""
    given = {
        "metric": metric,
        "expectation": expectation,
        "variance": variance,
        "variance_random_scorer": None,
    }
    row = given | {"reason": None, "value": value, "value_low": low, "value_high": high} | more
    schema = {name: pl.String if name in ("metric", *TEXTS) else pl.Float64 for name in row}
    return add_adjusted(add_coefficients(pl.DataFrame([row], schema=schema))).row(0, named=True)


@given(st.floats(1.0001, 1e9))
def test_a_perfect_ranking_has_index_one_and_chance_zero_exactly(expectation):
    """Not 0.9999999999999999, and -1e-17: the index is a quotient of differences."""
    for value, index in ((1.0, 1.0), (expectation, 0.0)):
        assert adjusted("arithmetic_mean_rank", value, expectation, 1.0)["index"] == index


def test_ratio_is_for_ranks_only():
    assert adjusted("arithmetic_mean_rank", 4.0, 5.0, 1.0)["ratio"] == 0.8
    assert adjusted("inverse_harmonic_mean_rank", 0.5, 0.4, 0.01)["ratio"] is None


def test_rounding_interval_is_scaled_along_and_ends_are_swapped_for_falling_metrics():
    row = adjusted("arithmetic_mean_rank", 4.0, 5.0, 1.0, low=3.5, high=4.5)
    assert (row["index_low"], row["index"], row["index_high"]) == (0.125, 0.25, 0.375)
    row = adjusted("inverse_harmonic_mean_rank", 0.5, 0.2, 1.0, low=0.45, high=0.55)
    assert row["index_low"] < row["index"] < row["index_high"]


@pytest.mark.parametrize(
    ("constants", "nulls", "reason"),
    [
        ((1.0, 0.0), {"index", "z"}, "chance already reaches the optimum: no index and no z"),
        # Whatever the expectation is rounded to: what does not vary has no index.
        ((0.9999999999999999, 0.0), {"index", "z"}, "chance already reaches the optimum: no index and no z"),
        (
            (1 - 1e-7, 1e-9),
            {"index"},
            "the expectation is within a millionth of the optimum: no index",
        ),
        ((1 - 1e-5, 1e-9), set(), None),
        ((None, None), {"index", "z"}, "no task"),
    ],
)
def test_what_does_not_exist_is_null_with_a_reason(constants, nulls, reason):
    row = adjusted("hits_at_10", 0.7, *constants, reason="no task" if constants[0] is None else None)
    assert {name for name in ("index", "z") if row[name] is None} == nulls
    assert row["reason"] == reason


KEYS = [
    "arithmetic_mean_rank",
    "inverse_harmonic_mean_rank",
    "hits_at_10",
    "geometric_mean_rank",
    "median_rank",
]


@given(
    key=st.sampled_from(KEYS),
    expectation=st.floats(1.5, 1e6),
    deviation=st.floats(1e-6, 1e3),
    steps=st.floats(-100, 100),
)
def test_affine_round_trip(key, expectation, deviation, steps):
    metric = resolve(key)
    if metric.increasing:
        expectation = 1 / expectation
    value = expectation + steps * deviation
    row = adjusted(key, value, expectation, deviation**2)
    sign = 1 if metric.increasing else -1
    scale = max(abs(value), abs(expectation), 1)
    assert row["z"] == pytest.approx(sign * steps, rel=1e-9, abs=1e-12 * scale / deviation)
    back = (row["index"] - row["index_offset"]) / row["index_scale"]
    assert back == pytest.approx(value, rel=1e-9, abs=1e-9 * scale)
    best = adjusted(key, metric.optimum, expectation, deviation**2)
    assert best["index"] == pytest.approx(1, rel=1e-9)
    chance = adjusted(key, expectation, expectation, deviation**2)
    assert chance["index"] == pytest.approx(0, abs=1e-12)
    # Both say the same: better than chance.
    if abs(steps) > 1e-3:
        assert (row["index"] > 0) == (row["z"] > 0)


@pytest.mark.parametrize(
    ("scores", "static", "reason_static", "z", "used", "reason"),
    [
        ("per_time", 4.0, None, 2.0, "per_time", None),
        ("static", 4.0, None, 1.0, "static", None),
        # What nobody said is taken for the larger variance; nothing promises which of the two is larger.
        (None, 4.0, None, 1.0, "static", "nothing says .*static scorer, which varies more"),
        (None, 0.25, None, 2.0, "per_time", "nothing says "),
        ("per_time", None, "not derived", 2.0, "per_time", None),
        ("static", None, "not derived", None, "static", "not derived"),
        (
            None,
            None,
            "not derived",
            2.0,
            "per_time",
            "the smaller z of the static scorer is not known here",
        ),
        # Without times it does not matter.
        *((scores, 1.0, None, 2.0, None, None) for scores in ("per_time", "static", None)),
    ],
)
def test_the_random_scorer_scores_times_as_the_model_does(scores, static, reason_static, z, used, reason):
    """MR 3 with E = 5 and sd = 1 for a scorer per time; static: the variance of the other."""
    row = adjusted(
        *("arithmetic_mean_rank", 3.0, 5.0, 0.25), variance_random_scorer=1.0, variance_static_scorer=static,
        reason_random_scorer=None, reason_static_scorer=reason_static, scores=scores,
    )  # fmt: skip
    assert (row["z"], row["z_random_scorer"], row["scores_used"]) == (4.0, z, used)
    assert row["reason_random_scorer"] is reason is None or re.search(reason, row["reason_random_scorer"])


def test_data_without_a_variance_of_a_random_scorer_have_its_reason():
    row = adjusted("arithmetic_mean_rank", 3.0, 5.0, 0.25, reason_random_scorer="raw", scores="static")
    assert (row["z_random_scorer"], row["scores_used"], row["reason_random_scorer"]) == (None, None, "raw")


def test_how_a_model_scores_times_is_one_of_two_words():
    assert [stated_scores(word) for word in ("per-time", " Per_Time", "static", None)] == [
        "per_time",
        "per_time",
        "static",
        None,
    ]
    with pytest.raises(RankadjustError, match=r"unknown scores 'statik'; did you mean static\?"):
        stated_scores("statik")


# Bounds of a data set without training triples


def bounded(metric, value, expectation, variance=(None, None), low=None, high=None):
    bounds = dict(zip(BOUNDS, (*expectation, *variance), strict=True))
    return adjusted(metric, value, None, None, low, high, reason="bounds", **bounds)


def test_bounds_and_rounding_make_one_interval():
    row = bounded("inverse_harmonic_mean_rank", 0.5, (0.1, 0.2), (0.0004, 0.01), low=0.45, high=0.55)
    # The ends are (0.45 - 0.2) / 0.8 and (0.55 - 0.1) / 0.9; the middle is (0.5 - 0.15) / 0.85.
    assert (row["index_low"], row["index_high"]) == pytest.approx((0.3125, 0.5))
    assert (row["expectation"], row["index"]) == pytest.approx((0.15, 0.35 / 0.85))
    # (0.45 - 0.2) / 0.1 and (0.55 - 0.1) / 0.02.
    assert (row["z_low"], row["z_high"]) == pytest.approx((2.5, 22.5))
    assert (row["z"], row["ratio"]) == (None, None)
    # Where low is better: (20 - 4) / 19 and (30 - 4) / 29.
    ranks = bounded("arithmetic_mean_rank", 4.0, (20.0, 30.0))
    assert (ranks["index_low"], ranks["index_high"]) == pytest.approx((16 / 19, 26 / 29))
    assert (ranks["z_low"], ranks["z_high"]) == (None, None)
    # A variance that may be 0 leaves z without an end.
    certain = bounded("arithmetic_mean_rank", 4.0, (20.0, 30.0), (0.0, 1.0))
    assert (certain["z_low"], certain["z_high"]) == (None, None)


@settings(max_examples=in_profile(200))
@given(
    ends=st.lists(st.floats(0.001, 0.6), min_size=2, max_size=2).map(sorted),
    printed=st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted),
    spread=st.lists(st.floats(1e-6, 1), min_size=2, max_size=2).map(sorted),
    shares=st.tuples(*[st.floats(0, 1)] * 3),
)
def test_the_exact_index_and_z_are_within_the_bounds(ends, printed, spread, shares):
    value, expectation, variance = (
        low + share * (high - low) for (low, high), share in zip((printed, ends, spread), shares, strict=True)
    )
    metric = "inverse_harmonic_mean_rank"
    exact = adjusted(metric, value, expectation, variance)
    row = bounded(metric, value, ends, spread, low=printed[0], high=printed[1])
    for name in ("index", "z"):
        assert row[f"{name}_low"] - 1e-9 * abs(exact[name]) - 1e-12 <= exact[name]
        assert exact[name] <= row[f"{name}_high"] + 1e-9 * abs(exact[name]) + 1e-12
    # The value itself may be an ulp beyond the end that it is made of.
    assert row["index_low"] - 1e-12 <= row["index"] <= row["index_high"] + 1e-12


def test_next_to_the_optimum_there_is_no_index_within_bounds():
    row = bounded("inverse_harmonic_mean_rank", 0.5, (0.1, 1 - 1e-9))
    assert (row["index"], row["index_low"], row["index_high"]) == (None, None, None)
