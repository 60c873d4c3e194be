"""What adjustment changes, on results small enough to order by eye."""

import json

import polars as pl
import pytest

from rankadjust.database.store import assemble, load_database
from rankadjust.literature.comparison import (
    comparable,
    effect_of_approximation,
    model_orders,
    not_above_chance,
    reversals,
    size_chart,
    size_correlation,
)
from rankadjust.literature.rescore import rescore
from rankadjust.literature.tidy import read_tidy

MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"


def results(*rows, **cells):
    """Return rescored rows from (data set, model, value, index, entities)."""
    frame = pl.DataFrame(
        rows,
        schema={
            "dataset": pl.String,
            "model": pl.String,
            "value": pl.Float64,
            "index": pl.Float64,
            "entities": pl.Int64,
        },
        orient="row",
    )
    whole = {"source": "s", "metric": MRR, "protocol": "filtered", "split": "testing", "side": "both"}
    whole |= {"status": "ok", "z_random_scorer": 50.0} | cells
    return frame.with_columns(pl.lit(value).alias(name) for name, value in whole.items())


# On the small set chance is high: what looks better there is worse.
SMALL_AND_LARGE = results(
    ("small", "A", 0.5, 0.1, 10),
    ("large", "A", 0.4, 0.39, 1000),
    ("small", "B", 0.9, 0.8, 10),
    ("large", "B", 0.3, 0.29, 1000),
)


def test_reversals_count_pairs_of_results_on_two_sets():
    # large-small: A-A reversed, A-B not, B-A reversed (0.3 < 0.5, 0.29 > 0.1), B-B not.
    assert reversals(SMALL_AND_LARGE).to_dicts() == [
        {
            "metric": MRR,
            "candidates": "all",
            "better_on": "large",
            "than_on": "small",
            "pairs": 4,
            "better_before": 0,
            "better_after": 2,
            "reversed": 2,
        }
    ]


def test_reversals_know_that_low_ranks_are_better():
    rows = results(("a", "A", 2.0, 0.5, 10), ("b", "A", 100.0, 0.9, 1000), metric=MR)
    found = reversals(rows).row(0, named=True)
    assert (found["better_before"], found["better_after"], found["reversed"]) == (1, 0, 1)


def test_equal_results_have_no_order():
    rows = results(("a", "A", 0.5, 0.5, 10), ("b", "A", 0.5, 0.4, 10))
    assert reversals(rows).height == 0


def test_sampled_and_all_candidates_are_never_mixed():
    mixed = pl.concat(
        [
            results(("a", "A", 0.5, 0.5, 10)),
            results(("b", "A", 0.6, 0.4, 501), protocol="sampled-500"),
        ]
    )
    assert comparable(mixed)["candidates"].to_list() == ["all", "sampled"]
    assert reversals(mixed).height == 0
    assert model_orders(mixed).height == 0


def test_metrics_are_never_mixed():
    rows = [results(("a", "A", 0.5, 0.5, 10)), results(("b", "A", 2.0, 0.6, 10), metric=MR)]
    assert reversals(pl.concat(rows)).height == 0


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


def test_a_number_that_two_sources_print_counts_once():
    twice = [results(("a", "A", 0.5, 0.5, 10), source=source) for source in ("first", "second")]
    assert comparable(pl.concat(twice))["source"].to_list() == ["first"]


def test_model_orders():
    found = model_orders(SMALL_AND_LARGE).to_dicts()
    assert [(row["model"], row["before"], row["after"], row["changed"]) for row in found] == [
        ("A", "small > large", "large > small", True),
        ("B", "small > large", "small > large", False),
    ]


def test_model_orders_without_source_and_model():
    assert model_orders(SMALL_AND_LARGE.drop("source", "model"))["datasets"].to_list() == [2]


def test_size_correlation_by_hand():
    # Values fall with size in the order of 4, 3, 2, 1; the index of the third is out of order:
    # Spearman 1 - 6 sum d^2 / (n (n^2 - 1)) with d = 0, 1, 1, 0.
    rows = results(
        ("a", "A", 0.9, 0.4, 10), ("b", "A", 0.8, 0.2, 20), ("c", "A", 0.7, 0.3, 30), ("d", "A", 0.6, 0.1, 40)
    )
    found = size_correlation(rows).row(0, named=True)
    assert (found["results"], found["datasets"]) == (4, 4)
    assert found["value"] == pytest.approx(-1)
    assert found["index"] == pytest.approx(-(1 - 6 * 2 / (4 * 15)))
    assert found["index_of_datasets"] == pytest.approx(found["index"])


def test_size_correlation_of_datasets_counts_a_popular_set_once():
    # The mean of the many is above the result on b, their median is not.
    many = [("a", str(i), 1.0 if i == 0 else 0.1, 0.1, 10) for i in range(9)]
    rows = results(*many, ("b", "A", 0.15, 0.8, 20), ("c", "A", 0.5, 0.5, 30))
    found = size_correlation(rows).row(0, named=True)
    assert found["value_of_datasets"] == pytest.approx(1)
    assert found["results"] == 11


def test_size_correlation_leaves_sampled_candidates_out():
    rows = results(*[(name, "A", 0.5, 0.5, 10) for name in "abc"], protocol="sampled-500")
    assert size_correlation(rows).height == 0


@pytest.mark.parametrize(
    ("z", "found"), [(1.9, ["at"]), (-1.9, ["at"]), (2.1, []), (-2.1, ["below"]), (None, [])]
)
def test_not_above_chance(z, found):
    rows = results(("a", "A", 0.5, 0.5, 10)).with_columns(z_random_scorer=pl.lit(z, dtype=pl.Float64))
    assert not_above_chance(rows)["chance"].to_list() == found


def test_effect_of_approximation(project):
    moments = pl.read_csv(project / "tests/data/published/moments.csv").with_columns(
        variance_random_scorer=pl.lit(None, dtype=pl.Float64),
        method=pl.lit("reference"),
        reason=pl.lit(None, dtype=pl.String),
    )
    effect = effect_of_approximation(assemble([moments]))
    assert set(effect["metric"]) == {MR, MRR, "hits_at_1", "hits_at_3", "hits_at_5", "hits_at_10"}
    nations = effect.filter(dataset="Nations", metric=MR).row(0, named=True)
    # 14 entities: (14 + 1) / 2; E[MR] = 4.4776 after filtering.
    assert nations["expectation_from_entities"] == pytest.approx(7.5)
    assert nations["factor"] == pytest.approx((4.477611940298507 - 1) / 6.5)
    # An index by the number of entities is off by the factor: 1 - index = (1 - true index) factor.
    true, near = 1 - (3 - 1) / (nations["expectation"] - 1), 1 - (3 - 1) / (7.5 - 1)
    assert 1 - near == pytest.approx((1 - true) * nations["factor"])
    assert effect.filter(dataset="WN18RR", metric=MRR)["factor"].item() == pytest.approx(1, abs=1e-6)


def test_size_chart_shows_every_result_before_and_after():
    rows = pl.concat(
        [SMALL_AND_LARGE, SMALL_AND_LARGE.with_columns(metric=pl.lit(MR), value=10 / pl.col("value"))]
    )
    chart = json.loads(size_chart(rows, (MRR, MR)).to_json())
    panels = [panel for row in chart["vconcat"] for panel in row["hconcat"]]
    sizes = [[len(chart["datasets"][layer["data"]["name"]]) for layer in panel["layer"]] for panel in panels]
    assert sizes == [[4, 2]] * 4  # results and medians
    assert "MRR as printed" in panels[0]["title"]
    assert "MR adjusted index" in panels[3]["title"]


def test_claim_of_the_paper_on_the_whole_literature(project):
    """Hoyt et al. 2022: metrics follow the size of a data set, adjusted ones do not. True of the mean rank only."""
    tables = [read_tidy(path) for path in sorted((project / "resources/published").glob("*.csv"))]
    rescored = rescore(pl.concat(tables, how="diagonal"), load_database())
    found = {row["metric"]: row for row in size_correlation(rescored).iter_rows(named=True)}
    # The figures of docs/literature.md.
    assert found[MR]["value"] == pytest.approx(0.73, abs=0.02)
    assert found[MR]["index"] == pytest.approx(-0.20, abs=0.02)
    assert found[MRR]["value"] == pytest.approx(0.00, abs=0.02)
    assert found[MRR]["index"] == pytest.approx(0.02, abs=0.02)
    small = pl.col("better_on").is_in(["Nations", "Kinships", "UMLS"]) | pl.col("than_on").is_in(
        ["Nations", "Kinships", "UMLS"]
    )
    turned = reversals(rescored).filter(metric=MRR, candidates="all")
    assert turned.filter(small)["reversed"].sum() > 0.98 * turned["reversed"].sum()
