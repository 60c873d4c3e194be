"""Percent or fraction. The tables are made up."""

from dataclasses import replace

import pytest

from rankadjust.tables.cells import read_cell
from rankadjust.tables.units import Series, base_metric, decide_units, is_share

MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"


def series(metric: str, *texts: str, stated: str | None = None) -> Series:
    numbers = tuple(read_cell(text) for text in texts)
    return Series(metric, numbers, stated, frozenset({"WN18"}))


def units(*columns: Series) -> list[str | None]:
    return [decision.unit for decision in decide_units(columns)]


def test_values_above_one_are_percent_and_others_fractions():
    first, second = decide_units([series(MRR, "35.2", "0.9", "41"), series("hits_at_10", "0.5", "1.00", "0")])
    assert (first.unit, first.reason) == ("percent", "percent: 2 of 3 values above 1")
    assert (second.unit, second.reason) == ("fraction", "fraction: 3 of 3 values at most 1")


def test_fraction_and_percent_may_stand_in_one_table():
    assert units(series(MRR, "0.35", "0.38"), series("hits_at_10", "50.2", "53.1")) == ["fraction", "percent"]


def test_hits_share_their_unit():
    decisions = decide_units([series("hits_at_1", "0.4", "0.9"), series("hits_at_10", "12", "15")])
    assert [decision.unit for decision in decisions] == ["percent", "percent"]
    assert decisions[0].reason == "percent: like the other Hits of the table (1 with values above 1)"


def test_hits_of_one_data_set_lend_their_unit_to_no_other():
    low, high = series("hits_at_1", "0.4", "0.9"), series("hits_at_10", "12", "15")
    of = {name: frozenset({name}) for name in ("FB15k", "WN18")}
    apart = [replace(low, datasets=of["FB15k"]), replace(high, datasets=of["WN18"])]
    assert units(*apart) == ["fraction", "percent"]
    assert units(*(replace(one, datasets=of["WN18"]) for one in apart)) == ["percent", "percent"]


def test_where_the_caption_says_percent_small_numbers_are_undecided():
    [decision] = decide_units([replace(series(MRR, "0.9", "0.4"), percent="the text 'in %'")])
    assert decision.unit is None
    assert "the text 'in %' says percent" in decision.reason


def test_a_single_error_of_print_does_not_change_a_unit():
    # MRR below Hits@1 in one of two rows, and by little.
    assert units(series(MRR, "0.36", "0.49"), series("hits_at_1", "0.38", "0.44")) == ["fraction", "fraction"]
    assert units(series(MRR, "0.36"), series("hits_at_1", "0.38")) == ["fraction", "fraction"]


def test_a_column_that_is_neither_is_left_undecided():
    decisions = decide_units([series(MRR, "0.3", "0.4", "0.2", "41.0", "0.5")])
    assert decisions[0].unit is None
    assert decisions[0].reason == (
        "neither percent nor fraction is certain: 1 of 5 values above 1; state the unit"
    )


def test_what_is_stated_is_kept_and_checked():
    (decision,) = decide_units([series("hits_at_1", "0.5", "50", "150", stated="percent")])
    assert (decision.unit, decision.reason) == ("percent", "percent, as stated")
    assert decision.impossible == {2: "150 as percent is outside 0 to 100"}


def test_percent_signs_speak_for_themselves():
    (decision,) = decide_units([series("hits_at_1", "0.5%", "1.2%")])
    assert (decision.unit, decision.reason) == ("percent", "percent: 2 of 2 values carry a percent sign")


def test_ranks_have_no_choice_and_start_at_one():
    (decision,) = decide_units([series(MR, "210", "0.3", "1")])
    assert (decision.unit, decision.reason) == ("rank", "")
    assert decision.impossible == {1: "0.3 as rank is outside 1 to inf"}


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("adjusted_arithmetic_mean_rank_index", "index"),
        ("adjusted_arithmetic_mean_rank", "index"),
        (f"z_{MRR}", "z"),
        ("standard_deviation", "rank"),
        ("precision_at_10", "fraction"),
    ],
)
def test_units_of_other_metrics(key, unit):
    assert units(series(key, "0.05")) == [unit]


def test_an_index_may_be_in_percent():
    assert units(series("adjusted_hits_at_1", "35.1", "36")) == ["percent"]


def test_adjustments_are_told_from_metrics():
    assert [base_metric(key)[1] for key in (MR, f"adjusted_{MR}", f"adjusted_{MR}_index", f"z_{MR}")] == [
        None,
        "ratio",
        "index",
        "z",
    ]
    assert is_share(MRR)
    assert not is_share(f"adjusted_{MRR}")
    assert not is_share(MR)
