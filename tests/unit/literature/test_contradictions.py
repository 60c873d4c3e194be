"""Consistency of printed metrics: every bound by hand, rankings that must pass, and the shipped tables.

tests/data/published/anomalies.csv lists what was found by another program, which knew no half ranks.
"""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.database.store import SCHEMA
from rankadjust.literature.contradictions import BOUNDS, check
from rankadjust.literature.rescore import rescore
from rankadjust.literature.tidy import read_tidy

NOTHING = pl.DataFrame(schema=SCHEMA)
ENTITIES = {"some set": 100}


def printed(values, **cells):
    """Return one model's rescored rows: metric -> printed text, among 100 entities."""
    frame = pl.DataFrame({"metric": list(values), "value": [str(value) for value in values.values()]})
    cells = {"dataset": "some set", "model": "A"} | cells
    frame = frame.with_columns(pl.lit(text).alias(name) for name, text in cells.items())
    return rescore(frame, NOTHING, entities=ENTITIES)


def broken(values, **cells):
    return {
        (row["bound"], row["metric"]): row for row in check(printed(values, **cells)).iter_rows(named=True)
    }


HITS = {"hits@1": "0.200", "hits@3": "0.500", "hits@10": "0.700"}
# With the rounding intervals' ends, k + 1/2 above k, and N = 100:
LEAST_MRR = 0.1995 / 1 + 0.3 / 3 + 0.2 / 10 + 0.3005 / 100
MOST_MRR = 0.2005 + 0.3 / 1.5 + 0.2 / 3.5 + 0.2995 / 10.5
MOST_MRR_UNTIED = 0.2005 + 0.3 / 2 + 0.2 / 4 + 0.2995 / 11
LEAST_MR = 0.2005 + 0.3 * 1.5 + 0.2 * 3.5 + 0.2995 * 10.5
LEAST_MR_UNTIED = 0.2005 + 0.3 * 2 + 0.2 * 4 + 0.2995 * 11
MOST_MR = 0.1995 + 0.3 * 3 + 0.2 * 10 + 0.3005 * 100


@pytest.mark.parametrize(
    ("values", "bound", "limit", "excess"),
    [
        (HITS | {"mrr": "0.310"}, "mrr_least", LEAST_MRR, LEAST_MRR - 0.3105),
        (HITS | {"mrr": "0.490"}, "mrr_most", MOST_MRR, 0.4895 - MOST_MRR),
        (HITS | {"mrr": "0.450"}, "mrr_most_untied", MOST_MRR_UNTIED, 0.4495 - MOST_MRR_UNTIED),
        (HITS | {"mr": "4.4"}, "mr_least", LEAST_MR, LEAST_MR - 4.45),
        (HITS | {"mr": "4.8"}, "mr_least_untied", LEAST_MR_UNTIED, LEAST_MR_UNTIED - 4.85),
        (HITS | {"mr": "34"}, "mr_most", MOST_MR, 33.5 - MOST_MR),
        # Hits@1 alone bounds the MRR: not below it.
        ({"hits@1": "0.40", "mrr": "0.38"}, "mrr_least", 0.395 + 0.605 / 100, 0.395 + 0.605 / 100 - 0.385),
        # Ranks beyond 10 count 0 in MRR@10.
        (
            HITS | {"mrr@10": "0.310"},
            "mrr_least",
            0.1995 + 0.3 / 3 + 0.2 / 10,
            0.1995 + 0.3 / 3 + 0.2 / 10 - 0.3105,
        ),
        (
            HITS | {"mrr@10": "0.480"},
            "mrr_most",
            0.2005 + 0.3 / 1.5 + 0.2 / 3.5,
            0.4795 - (0.2005 + 0.3 / 1.5 + 0.2 / 3.5),
        ),
        # Hits beyond the cut say nothing about MRR@3, and the rest may lie between 1 and 3.
        ({"hits@1": "0.20", "hits@10": "0.21", "mrr@3": "0.80"}, "mrr_most", 0.205 + 0.795 / 1.5, None),
        ({"hits@1": "0.5", "hits@3": "0.3"}, "hits_order", 0.45, 0.1),
        ({"hits@1": "0.52", "hits@3": "0.60", "hits@10": "0.51"}, "hits_order", 0.595, 0.08),
        ({"mr": "1.5", "mrr": "0.5"}, "mr_harmonic", 1 / 0.55, 1 / 0.55 - 1.55),
        ({"gmr": "1.5", "mrr": "0.5"}, "gmr_harmonic", 1 / 0.55, 1 / 0.55 - 1.55),
        ({"gmr": "5.0", "mr": "4.0"}, "gmr_arithmetic", 4.05, 0.9),
        ({"mr": "110"}, "mr_candidates", 100.0, 9.5),
        ({"mr": "0.5"}, "range", 1.0, 0.45),
        ({"hits@1": "1.2"}, "range", 1.0, 0.15),
        ({"hits@1": "-0.2"}, "range", 0.0, 0.15),
    ],
)
def test_bound_by_hand(values, bound, limit, excess):
    found = broken(values)
    assert [key[0] for key in found] == [bound]
    row = next(iter(found.values()))
    assert row["limit"] == pytest.approx(limit, rel=1e-12)
    if excess is not None:
        assert row["excess"] == pytest.approx(excess, rel=1e-9)
    assert BOUNDS[bound] in row["message"]


@pytest.mark.parametrize(
    "values",
    [
        HITS | {"mrr": "0.33", "mr": "20"},
        HITS | {"mrr": "0.3225"},  # within rounding of the least
        HITS | {"mr": "33"},
        {"hits@1": "0.5", "hits@3": "0.5"},
        {"hits@1": "1.0", "hits@10": "1.0", "mrr": "1.0", "mr": "1.0", "gmr": "1.0"},
        {"mrr": "0.5", "mr": "2.0", "gmr": "2.0"},
    ],
)
def test_possible_values_pass(values):
    assert broken(values) == {}


def test_impossible_values_say_nothing_about_others():
    assert [key[0] for key in broken({"hits@1": "45", "hits@3": "0.5", "mrr": "0.3"})] == ["range"]


def test_sampled_candidates_bound_the_ranks():
    found = broken({"hits@10": "0.50", "mr": "40"}, protocol="sampled-49")
    assert found["mr_most", "arithmetic_mean_rank"]["limit"] == pytest.approx(0.495 * 10 + 0.505 * 50)
    found = broken({"mr": "60"}, protocol="sampled-49")
    assert found["mr_candidates", "arithmetic_mean_rank"]["limit"] == pytest.approx(50)


def test_sampled_candidates_count_not_the_entities_they_are_drawn_from():
    rows = printed({"hits@10": "0.50", "mr": "40"}, protocol="sampled-49").with_columns(entities=pl.lit(1000))
    assert check(rows)["bound"].to_list() == ["mr_most"]


def test_hits_are_held_against_all_smaller_k():
    found = check(printed({"hits@1": "0.60", "hits@3": "0.52", "hits@10": "0.55"}))
    assert found.select("metric", "limit").rows() == [
        ("hits_at_3", pytest.approx(0.595)),
        ("hits_at_10", pytest.approx(0.595)),
    ]


def test_unknown_number_of_candidates_bounds_no_mean_rank():
    assert broken({"hits@10": "0.50", "mr": "1e9"}, dataset="elsewhere") == {}


def test_models_and_evaluations_are_kept_apart():
    first = printed({"hits@1": "0.5"})
    for cells in ({"model": "B"}, {"side": "tail"}, {"split": "validation"}, {"dataset": "other"}):
        other = printed({"mrr": "0.3"}, **cells)
        assert check(pl.concat([first, other], how="diagonal")).height == 0
    assert check(pl.concat([first, printed({"mrr": "0.3"})])).height == 1


def test_tables_of_one_metric_are_joined_by_model():
    parts = [
        printed({"hits@1": "0.5"}, source="s", table="hits1", source_line="3"),
        printed({"mrr": "0.3"}, source="s", table="mrr", source_line="80"),
    ]
    assert check(pl.concat(parts))["bound"].to_list() == ["mrr_least"]


@settings(deadline=None, max_examples=15)
@given(
    rankings=st.lists(st.lists(st.integers(2, 200), min_size=1, max_size=30), min_size=8, max_size=8),
    digits=st.integers(1, 5),
    ks=st.sets(st.sampled_from([1, 2, 3, 5, 10, 50]), min_size=1),
    cut=st.sampled_from([3, 10]),
    halves=st.booleans(),
)
def test_a_real_ranking_breaks_no_bound(rankings, digits, ks, cut, halves):
    rows = []
    for model, ranks in enumerate(rankings):
        # Whole ranks, or halves as ties give them, among 100 candidates.
        r = np.array(ranks) / 2 if halves else np.array(ranks) // 2
        values = {f"hits@{k}": (r <= k).mean() for k in ks}
        values |= {"mrr": (1 / r).mean(), f"mrr@{cut}": np.where(r <= cut, 1 / r, 0).mean()}
        values |= {"mr": r.mean(), "gmr": np.exp(np.log(r).mean())}
        rows += [(str(model), metric, f"{value:.{digits}f}") for metric, value in values.items()]
    frame = pl.DataFrame(rows, schema=["model", "metric", "value"], orient="row")
    found = check(rescore(frame.with_columns(dataset=pl.lit("some set")), NOTHING, entities=ENTITIES))
    ties = ["mrr_most_untied", "mr_least_untied"] if halves else []
    assert found.filter(~pl.col("bound").is_in(ties)).to_dicts() == []


@pytest.fixture(scope="module")
def flagged(project):
    tables = [read_tidy(path) for path in sorted((project / "resources/published").glob("*.csv"))]
    return check(rescore(pl.concat(tables, how="diagonal"), NOTHING, entities={}))


def test_all_known_anomalies_are_found(project, flagged):
    known = pl.read_csv(project / "tests/data/published/anomalies.csv")
    names = {"YAGO (temporal)": "YAGO-temporal", "WIKI (temporal)": "WIKI-forecasting"}
    wanted = {
        (row["dataset"], row["model"])
        for row in known.with_columns(pl.col("dataset").replace(names)).to_dicts()
    }
    assert len(wanted) == 13
    assert wanted <= set(flagged.select("dataset", "model").iter_rows())


def test_nothing_else_is_flagged_without_knowing_the_candidates(flagged):
    assert flagged["bound"].value_counts(sort=True, name="n").sort("bound").rows() == [
        ("hits_order", 1),
        ("mrr_least", 10),
        ("mrr_most", 3),
        ("mrr_most_untied", 1),
    ]


def test_the_message_says_by_how_much(flagged):
    row = flagged.filter(model="ComplEx-N3 rank 8", dataset="WN18RR").row(0, named=True)
    assert (row["file"], row["value"], row["bound"]) == ("kbc.csv", 0.36, "mrr_least")
    # Hits@1, 3, 10 are printed 0.38, 0.38... : the least of the rounding intervals, without a rest.
    assert row["limit"] == pytest.approx(0.378, abs=1e-3)
    assert row["message"].startswith("inverse_harmonic_mean_rank 0.36 is below the limit 0.378")
