"""Histograms by evaluation set."""

import polars as pl

from rankadjust.database.histograms import Histograms, candidates_table

KEY = {"dataset": "Tiny", "protocol": "filtered", "split": "testing"}


def table(**changes):
    rows = [{**KEY, "side": side, "num_candidates": 4, "tasks": 1, **changes} for side in ("head", "tail")]
    return pl.DataFrame(rows)


def test_candidates_of_all_data_sets_and_of_benchmarks_are_one_table_sorted_by_data_set_and_protocol():
    histogram = table().drop("dataset").with_columns(entities="num_candidates")
    found = candidates_table({"UMLS": histogram, "Nations": histogram})
    assert found.columns == ["dataset", *histogram.columns]
    assert found.filter(pl.col("dataset").is_in(["Nations", "UMLS"])).height == 4
    assert found.select("dataset", "protocol").equals(
        found.select("dataset", "protocol").sort("dataset", "protocol")
    )
    # OGB ranks among 500 negatives.
    assert found.filter(dataset="ogbl-biokg")["num_candidates"].unique().to_list() == [501]


def test_both_is_the_tasks_of_the_two_sides():
    both = Histograms(table()).candidate_counts("Tiny", "filtered", "testing", "both")
    assert (both.counts.tolist(), both.tasks.tolist()) == ([4], [2])


def test_one_table_stands_over_another_protocol_by_protocol():
    histograms = Histograms(table(num_candidates=2)).over(
        Histograms(pl.concat([table(), table(protocol="raw")]))
    )
    assert histograms.candidate_counts("Tiny", "filtered", "testing", "both").counts.tolist() == [2]
    assert histograms.candidate_counts("Tiny", "raw", "testing", "tail").counts.tolist() == [4]
    assert histograms.candidate_counts("Tiny", "raw", "training", "tail") is None
