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
from tests.findings import beside_counting, clean_mrr, records_and_gaps
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


# --- what tests/findings.py says of foundation models, and of records


def printed(*rows, dataset="a"):
    """Return clean rows of (model, value, file, year, tags, lower end of its gain)."""
    tables = [
        results(
            (dataset, model, value, 0.5, 1000), file=file, file_line="2", year=year, tags=tags
        ).with_columns(gain=pl.lit(value - 0.4), gain_low=pl.lit(low), baseline_value=pl.lit(0.4))
        for model, value, file, year, tags, low in rows
    ]
    return clean_mrr(pl.concat(tables))


def test_a_foundation_model_counts_once_on_a_graph():
    rows = printed(
        ("ULTRA-3g", 0.30, "a.csv", "2024", None, -0.1),
        ("ULTRA-3g (run of X)", 0.45, "b.csv", "2025", "reproduction", 0.04),
        ("TRIX", 0.401, "a.csv", "2024", "pretrained on this graph; reproduction", -0.001),
        ("ComplEx", 0.9, "a.csv", "2016", None, 0.4),
    )
    found = beside_counting(rows).select("name", "value", "seen", "above").rows()
    # TRIX is above counting by less than its rounding.
    assert found == [("ULTRA-3g", 0.45, False, True), ("TRIX", 0.401, True, False)]


def test_a_record_is_above_all_years_before_and_a_gap_is_of_one_model():
    rows = printed(
        ("ComplEx", 0.30, "a.csv", "2016", None, 0.0),
        ("ComplEx", 0.34, "b.csv", "2022", "reproduction", 0.0),
        ("DistMult", 0.25, "a.csv", "2018", None, 0.0),
        ("DistMult", 0.25, "b.csv", "2018", None, 0.0),
        ("ComplEx-N3", 0.10, "d.csv", "2018", None, 0.0),
        ("ComplEx (ours) + RP", 0.12, "d.csv", "2021", None, 0.0),
        ("TransE", 0.20, "a.csv", "2016", None, 0.0),
        ("TransE", 0.30, "b.csv", "2022", "reproduction", 0.0),
        ("New", 0.33, "e.csv", "2021", None, 0.0),
        ("Newer", 0.36, "f.csv", "2022", None, 0.0),
        ("Newest", 0.42, "g.csv", "2024", None, 0.0),
    )
    found = records_and_gaps(rows)
    # In b, ComplEx of 2016 has 0.34, so 0.33 is no record. The gaps are 0.04 and 0.10; DistMult is copied.
    shown = found.select("model", "year", "models", "widest", pl.col("rise", "gap", "largest").round(12))
    assert shown.rows() == [
        ("Newer", 2022, 2, "TransE", 0.02, 0.07, 0.1),
        ("Newest", 2024, 2, "TransE", 0.06, 0.07, 0.1),
    ]


def test_a_first_result_is_no_record():
    later = printed(
        ("ComplEx", 0.30, "a.csv", "2021", None, 0.0),
        ("ComplEx", 0.40, "b.csv", "2022", None, 0.0),
    )
    assert records_and_gaps(later).is_empty()


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
