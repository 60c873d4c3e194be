"""What the histogram of an evaluation set allows, by how a protocol counts; the words: test_one_value.py."""

import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.database.histograms import Histograms

# Two tasks with 2 candidates and two with 10 on the head side, four with 4 on the tail side.
ROWS = [("head", 2, 2), ("head", 10, 2), ("tail", 4, 4)]


def limits(protocol="filtered", rows=ROWS):
    table = pl.DataFrame(
        rows, {"side": pl.String, "num_candidates": pl.Int64, "tasks": pl.Int64}, orient="row"
    )
    whole = table.select(pl.all(), dataset=pl.lit("mine"), protocol=pl.lit(protocol), split=pl.lit("testing"))
    return Histograms(whole)


def why(key, value, side="both", protocol="filtered", rows=ROWS):
    evaluation = ("mine", protocol, "testing", side)
    return limits(protocol, rows).why_impossible(evaluation, resolve(key), value, value)


def test_the_true_answer_counts_where_a_protocol_leaves_it_out():
    """Under pykeen-published N lacks the true answer: on the head side there are 3 and 11 candidates, 7 on average."""
    assert why("mr", 6.9, "head") is not None
    assert why("mr", 6.9, "head", "pykeen-published") is None
    words = why("mr", 7.1, "head", "pykeen-published")
    assert words is not None
    assert (
        "is at most 7, which is reached if every true answer ranks last among its candidates (3 to 11)"
        in words
    )
    # A task without candidates but the true answer.
    alone = [("head", 0, 3)]
    assert why("mr", 1, "head", "pykeen-published", alone) is None
    assert "last among its candidates (1)" in (why("mr", 1.1, "head", "pykeen-published", alone) or "")


def test_a_protocol_of_ones_own_may_leave_it_out():
    assert why("mr", 6.9, "head", "my-protocol") is None
    assert "is at most 7, " in (why("mr", 7.1, "head", "my-protocol") or "")


def test_without_a_histogram_nothing_is_impossible():
    for evaluation in (("other", "filtered", "testing", "head"), ("mine", "filtered", "validation", "head")):
        assert limits().why_impossible(evaluation, resolve("mr"), 1e9, 1e9) is None
    unknown = [("head", 4, None)]
    assert why("mr", 1e9, "head", rows=unknown) is None
