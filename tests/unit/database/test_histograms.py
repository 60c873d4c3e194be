"""Histograms by evaluation set, and p of printed values."""

import math
from fractions import Fraction

import polars as pl
import pytest

from rankadjust.chance.tails import ChanceTails
from rankadjust.counting.protocols import load_benchmarks
from rankadjust.database.histograms import Histograms, add_p, candidates_table

KEY = {"dataset": "Tiny", "protocol": "filtered", "split": "testing"}


def table(**changes):
    rows = [{**KEY, "side": side, "num_candidates": 4, "tasks": 1, **changes} for side in ("head", "tail")]
    return pl.DataFrame(rows)


def rows(*values, metric="hits_at_1", low=None, high=None, **changes):
    row = {**KEY, "side": "both", "metric": metric, "expectation": 0.25, "value_low": low, "value_high": high}
    schema = dict.fromkeys(("expectation", "value", "value_low", "value_high"), pl.Float64)
    return pl.DataFrame([{**row, "value": value, **changes} for value in values], schema_overrides=schema)


def test_candidates_of_all_data_sets_are_one_table_sorted_by_data_set_and_protocol():
    histogram = pl.DataFrame(
        {"protocol": ["raw", "raw", "filtered"], "split": ["training", "testing", "testing"]}
    )
    table = candidates_table({"UMLS": histogram, "Nations": histogram})
    assert table.rows() == [
        (dataset, *row)
        for dataset in ("Nations", "UMLS")
        for row in [("filtered", "testing"), ("raw", "training"), ("raw", "testing")]
    ]
    assert table.columns == ["dataset", "protocol", "split"]


def test_no_data_set_gives_an_empty_table():
    empty = candidates_table({})
    assert empty.is_empty()
    assert Histograms([empty]).tails("Tiny", "filtered", "testing", "both") is None


def test_both_is_the_tasks_of_the_two_sides():
    histograms = Histograms([table()])
    # Two tasks with four candidates: 7 of 16 rankings have a hit at 1, 1 has two; one side alone: 1 of 4.
    found = add_p(rows(0.5, 1.0), histograms)["log10_p_independent"].to_list()
    assert found == pytest.approx([math.log10(Fraction(7, 16)), math.log10(Fraction(1, 16))])
    head = add_p(rows(1.0, side="head"), histograms)["log10_p_independent"].to_list()
    assert head == pytest.approx([math.log10(Fraction(1, 4))])


def test_p_is_that_of_the_least_significant_value_printed_alike():
    histograms = Histograms([table(tasks=500)])
    # 0.27 stands for 0.265 to 0.275: of 1,000 tasks 265 hits or more.
    rounded = add_p(rows(0.27, low=0.265, high=0.275), histograms)["log10_p_independent"][0]
    assert rounded == ChanceTails([4], [1000]).log10_p("hits@1", [0.265])[0]
    falling = add_p(rows(2.4, low=2.35, high=2.45, metric="arithmetic_mean_rank"), histograms)[
        "log10_p_independent"
    ][0]
    assert falling == ChanceTails([4], [1000]).log10_p("mr", [2.45])[0]


def test_the_first_table_that_has_a_protocol_counts():
    histograms = Histograms([table(num_candidates=2), table(), table(protocol="raw")])
    assert histograms.tails("Tiny", "filtered", "testing", "both").counts.tolist() == [2]
    assert histograms.tails("Tiny", "raw", "testing", "tail").counts.tolist() == [4]
    assert histograms.tails("Tiny", "raw", "training", "tail") is None


def test_benchmarks_with_constant_candidates_are_known():
    benchmark = next(one for one in load_benchmarks() if one.dataset == "GraIL-WN18RR-v1")
    found = Histograms().tails(benchmark.dataset, benchmark.protocol.name, "inference_testing", "both")
    assert found.counts.size == 1


def test_where_there_is_no_p_a_reason_stands():
    found = add_p(
        pl.concat([rows(0.5, dataset="Other"), rows(0.5, metric="count"), rows(0.5, expectation=None)]),
        Histograms([table()]),
    )
    assert found["log10_p_independent"].to_list() == [None, None, None]
    assert found["reason_p"].to_list() == [
        "no p: the numbers of candidates are not known",
        "no p: the law of Count under chance is not derived",
        None,
    ]
