"""Histograms by evaluation set."""

import polars as pl

from rankadjust.counting.protocols import load_benchmarks
from rankadjust.database.histograms import Histograms, candidates_table

KEY = {"dataset": "Tiny", "protocol": "filtered", "split": "testing"}


def table(**changes):
    rows = [{**KEY, "side": side, "num_candidates": 4, "tasks": 1, **changes} for side in ("head", "tail")]
    return pl.DataFrame(rows)


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
    assert Histograms([empty]).candidate_counts("Tiny", "filtered", "testing", "both") is None


def test_both_is_the_tasks_of_the_two_sides():
    both = Histograms([table()]).candidate_counts("Tiny", "filtered", "testing", "both")
    assert (both.counts.tolist(), both.tasks.tolist()) == ([4], [2])


def test_the_first_table_that_has_a_protocol_counts():
    histograms = Histograms([table(num_candidates=2), table(), table(protocol="raw")])
    assert histograms.candidate_counts("Tiny", "filtered", "testing", "both").counts.tolist() == [2]
    assert histograms.candidate_counts("Tiny", "raw", "testing", "tail").counts.tolist() == [4]
    assert histograms.candidate_counts("Tiny", "raw", "training", "tail") is None


def test_benchmarks_with_constant_candidates_are_known():
    benchmark = next(one for one in load_benchmarks() if one.dataset == "GraIL-WN18RR-v1")
    found = Histograms().candidate_counts(
        benchmark.dataset, benchmark.protocol.name, "inference_testing", "both"
    )
    assert found.counts.size == 1
