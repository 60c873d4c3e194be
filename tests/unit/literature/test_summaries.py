"""What adjustment changes, on results small enough to order by eye."""

import polars as pl
import pytest

from rankadjust.literature.copies import distinct_results
from rankadjust.literature.rescore import rescore
from rankadjust.literature.summaries import (
    below_baselines,
    chance_share,
    comparable,
    not_above_chance,
    ranked_rows,
)
from tests.findings import surprising
from tests.unit.literature.results import MR, MRR, results


@pytest.mark.parametrize(
    "cells",
    [
        {"status": "adjusted_as_published"},
        {"status": "split_unknown"},
        {"split": "validation"},
        {"side": "tail"},
    ],
)
def test_only_usable_results_of_test_sets_are_compared(cells):
    assert comparable(results(("a", "A", 0.5, 0.5, 10), **cells)).height == 0


# --- the share of chance


def test_chance_share_by_hand():
    rows = pl.concat(
        [
            # 0.2 of 0.4, 0.2 of 0.8 and 0.2 of 1: the median is a quarter.
            results(
                ("a", "A", 0.4, 0.25, 21),
                ("a", "B", 0.8, 0.75, 21),
                ("b", "C", 1.0, 1.0, 21),
                protocol="sampled-20",
                expectation=0.2,
            ),
            results(("large", "A", 0.5, 0.4999, 5000), expectation=0.0002),
            results(("large", "A", 177.0, 0.975, 5000), metric=MR, expectation=7000.0),
        ]
    )
    sampled, full = chance_share(rows).to_dicts()
    assert (sampled["candidates"], sampled["results"], sampled["datasets"]) == ("sampled-20", 3, 2)
    assert (sampled["share"], sampled["visible"]) == (pytest.approx(0.25), 2)
    assert sampled["largest"] == pytest.approx(0.15)
    assert (full["candidates"], full["results"], full["visible"]) == ("2,000 to 19,999", 1, 0)
    assert full["share"] == pytest.approx(0.0004)


@pytest.mark.parametrize(
    ("entities", "name"),
    [
        (199, "fewer than 200 entities"),
        (200, "200 to 1,999"),
        (19_999, "2,000 to 19,999"),
        (20_000, "20,000 or more"),
    ],
)
def test_classes_of_candidates(entities, name):
    rows = results(("a", "A", 0.5, 0.5, entities), expectation=0.1)
    assert chance_share(rows)["candidates"].to_list() == [name]


# --- one model under several protocols


# --- the best, and orders


def test_ranked_rows_leave_out_what_has_a_caveat():
    rows = pl.concat(
        [
            results(("a", "refuted", 0.9, 0.9, 100), caveat="refuted: ties"),
            results(("a", "A", 0.5, 0.5, 100), ("a", "B", 0.6, 0.6, 100), caveat=None),
            results(("a", "A", 100.0, 0.5, 100), ("a", "B", 50.0, 0.7, 100), metric=MR, caveat=None),
        ],
        how="vertical_relaxed",
    )
    found = ranked_rows(rows).select("metric", "place", "model").rows()
    assert found == [(MR, 1, "B"), (MR, 2, "A"), (MRR, 1, "B"), (MRR, 2, "A")]


# --- below counting


def test_results_below_counting_are_those_beyond_their_rounding():
    """Three results on one set, of which one is below by more than its digits, and one on a set without a baseline."""
    known = {"baseline": "popularity", "baseline_value": 0.4, "expectation": 0.1}
    rows = [
        results(("a", "A", 0.3, 0.2, 500), gain=-1 / 6, gain_low=-0.18, gain_high=-0.15, **known),
        results(("a", "B", 0.4, 0.3, 500), gain=0.0, gain_low=-0.01, gain_high=0.01, **known),
        results(("a", "C", 0.8, 0.7, 500), gain=2 / 3, gain_low=0.66, gain_high=0.67, **known),
        results(("b", "A", 0.3, 0.2, 500), gain=None, gain_low=None, gain_high=None, **known),
    ]
    (row,) = below_baselines(pl.concat(rows, how="vertical_relaxed")).to_dicts()
    assert (row["dataset"], row["results"], row["models"], row["below"]) == ("a", 3, 3, 1)
    assert (row["lowest_model"], row["lowest_value"], row["baseline"]) == ("A", 0.3, "popularity")
    # The middle one of the three is B: 0.1 / 0.4 and 0.4 / 0.4.
    assert (row["chance_share"], row["counting_share"]) == (0.25, 1.0)


def held_against_counting():
    """Return eight results on three sets, most of them below counting, which has 0.4."""
    rows = []
    for dataset, model, value, low, year in (
        ("a", "A", 0.3, -0.15, "2020"),
        ("a", "B", 0.1, -0.4, "2021"),
        ("a", "C", 0.2, -0.3, "2021"),
        ("b", "A", 0.35, -0.05, "2020"),
        ("b", "D", 0.25, -0.2, None),
        ("b", "D", 0.26, -0.2, None),
        ("c", "A", 0.399, 0.01, "2020"),
        ("c", "E", 0.9, 0.8, "2020"),
    ):
        gain = {"gain": (value - 0.4) / 0.6, "gain_low": low - 0.01, "gain_high": low}
        known = {"baseline": "rules", "baseline_value": 0.4, "year": year}
        rows.append(results((dataset, model, value, value, 500), **gain, **known))
    return pl.concat(rows, how="vertical_relaxed")


def test_the_furthest_below_are_one_for_a_model_and_two_of_a_data_set():
    found = surprising(held_against_counting())
    assert found.select("dataset", "model", pl.col("below").round(12)).rows() == [
        ("a", "B", 0.3),
        ("a", "C", 0.2),
        ("b", "D", 0.15),
        ("b", "A", 0.05),
    ]
    assert surprising(held_against_counting(), count=1)["model"].to_list() == ["B"]
    # A misprint is no finding.
    refuted = pl.DataFrame({"severity": ["impossible", "unusual"], "model": ["B", "C"], "dataset": "a"})
    left = surprising(held_against_counting(), refuted)
    assert left.select("dataset", "model").rows() == [("a", "C"), ("b", "D"), ("a", "A"), ("b", "A")]


# --- at or below chance


NO_Z = {"z": None, "z_random_scorer": None}


@pytest.mark.parametrize(
    ("z", "low", "high", "found"),
    [
        # z is affine in the index, and z 1.9 with index 0.5 within two standard deviations.
        ({"z_random_scorer": 1.9}, 0.5, 0.5, [("at", "z, random scorer")]),
        ({"z_random_scorer": 2.1}, 0.5, 0.5, []),
        ({"z_random_scorer": -2.1}, 0.5, 0.5, [("below", "z, random scorer")]),
        ({"z": 3.0, "z_random_scorer": 1.5}, 0.5, 0.5, [("at", "z, random scorer")]),
        ({"z": -1.9, "z_random_scorer": None}, 0.5, 0.5, [("at", "z, independent ranks")]),
        # z is 1 at an index of 0.5: an interval of the index of -0.9 to 1.1 is one of z from -1.8 to 2.2.
        ({"z_random_scorer": 1.0}, -0.9, 0.9, [("at", "z, random scorer")]),
        ({"z_random_scorer": 1.0}, -0.9, 1.1, []),
        ({"z_random_scorer": 1.0}, -1.1, 0.9, [("at or below", "z, random scorer")]),
        ({"z_random_scorer": 1.0}, -3.0, -1.1, [("below", "z, random scorer")]),
        (NO_Z, -0.02, -0.01, [("below", "index")]),
        (NO_Z, -0.01, 0.01, []),
        (NO_Z, 0.01, 0.02, []),
    ],
)
def test_the_whole_rounding_interval_decides_what_is_at_chance(z, low, high, found):
    rows = results(("a", "A", 0.5, 0.5, 10), **z, index_low=low, index_high=high)
    assert not_above_chance(rows).select("chance", "evidence").rows() == found


def test_a_hits_printed_as_0_says_nothing():
    # NeuralKG prints Hits@1 of TransH on WN18RR as 0: up to 0.5 % of 6,268 tasks round to it, chance has 0.0025 %.
    found = rescore(
        pl.DataFrame(
            {"dataset": "WN18RR", "model": "TransH", "metric": "hits@1", "value": "0.00"}, strict=False
        )
    )
    assert found["z_random_scorer"].item() < 2
    assert not_above_chance(found).height == 0


def test_nothing_is_said_of_values_that_are_called_impossible():
    rows = pl.concat(
        [results(("a", name, 0.1, 0.0, 10), index_low=0.0, index_high=0.0, z=0.0) for name in "AB"]
    ).with_columns(z_random_scorer=0.0)
    told = rows.filter(model="A").with_columns(severity=pl.lit("impossible"))
    assert not_above_chance(rows, told)["model"].to_list() == ["B"]
    assert not_above_chance(rows, told.with_columns(severity=pl.lit("suspicious"))).height == 2


def test_a_result_that_two_sources_print_counts_once():
    def printed(source, model, *values, caveat=None):
        metrics = (MRR, "hits_at_1", "hits_at_10")
        rows = [
            results(("a", model, float(value), 0.5, 10), source=source, metric=metric, caveat=caveat)
            for metric, value in zip(metrics, values, strict=False)
        ]
        return pl.concat(rows).with_columns(value_as_printed=pl.Series([str(value) for value in values]))

    def kept(*printings):
        return distinct_results(pl.concat(printings))["source"].unique(maintain_order=True).to_list()

    paper = printed("paper", "A", "0.338", "0.241", "0.533")
    assert kept(printed("copy", "A", "0.338", "0.241", "0.533", caveat="second-hand"), paper) == ["paper"]
    assert kept(paper, printed("part", "A", "0.338", "0.241")) == ["paper"]
    assert kept(printed("part", "A", "0.338", "0.241"), paper) == ["paper"]
    assert kept(paper, printed("renamed", "A-2019 [7]", "0.338", "0.241", "0.533")) == ["paper"]
    # One value differs; few digits or few values may be alike by chance.
    assert kept(paper, printed("other", "A", "0.338", "0.241", "0.534")) == ["paper", "other"]
    assert kept(printed("paper", "A", "0.34", "0.24"), printed("other", "A", "0.34", "0.24")) == [
        "paper",
        "other",
    ]
    assert kept(paper, printed("renamed", "B", "0.338", "0.241")) == ["paper", "renamed"]
