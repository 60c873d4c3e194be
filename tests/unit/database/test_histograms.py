"""Histograms by evaluation set."""

import polars as pl

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
    assert candidates_table({}).is_empty()


def test_both_is_the_tasks_of_the_two_sides():
    both = Histograms([table()]).candidate_counts("Tiny", "filtered", "testing", "both")
    assert (both.counts.tolist(), both.tasks.tolist()) == ([4], [2])


def test_the_first_table_that_has_a_protocol_counts():
    histograms = Histograms([table(num_candidates=2), table(), table(protocol="raw")])
    assert histograms.candidate_counts("Tiny", "filtered", "testing", "both").counts.tolist() == [2]
    assert histograms.candidate_counts("Tiny", "raw", "testing", "tail").counts.tolist() == [4]
    assert histograms.candidate_counts("Tiny", "raw", "training", "tail") is None
