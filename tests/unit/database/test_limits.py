"""What the histogram of an evaluation set allows: the words, and how a protocol counts."""

import polars as pl
import pytest

from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
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


@pytest.mark.parametrize(
    ("key", "side", "value", "words"),
    [
        ("mr", "head", 6.1, "MR of mine, filtered, testing, side head, is at most 6, "
         "reached where every true answer ranks last among its candidates (2 to 10)"),
        ("mr", "tail", 4.1, "is at most 4, reached where every true answer ranks last among its candidates (4)"),
        ("mr", "both", 5.1, "is at most 5, "),
        ("mrr", "head", 0.29, "is at least 0.3, reached where every true answer ranks last among its candidates"),
        ("hits@4", "both", 0.7, "is at least 0.75, "),
        ("hits@4", "tail", 0.99, "is at least 1, "),
        ("median", "both", 4.5, "Median rank of mine, filtered, testing, side both, is at most 4, "),
    ],
)  # fmt: skip
def test_the_limit_is_said_in_words(key, side, value, words):
    assert words in (why(key, value, side) or "")


@pytest.mark.parametrize(
    ("key", "side", "value"),
    [
        ("mr", "head", 6),
        ("mr", "head", 1),
        ("mrr", "head", 0.3),
        ("hits@4", "both", 0.75),
        ("std", "both", 1e9),
    ],
)
def test_what_a_ranking_can_have_is_possible(key, side, value):
    assert why(key, value, side) is None


def test_the_true_answer_counts_where_a_protocol_leaves_it_out():
    """Under pykeen-published N lacks the true answer: on the head side there are 3 and 11 candidates, 7 on average."""
    assert why("mr", 6.9, "head") is not None
    assert why("mr", 6.9, "head", "pykeen-published") is None
    words = why("mr", 7.1, "head", "pykeen-published")
    assert words is not None
    assert "is at most 7, reached where every true answer ranks last among its candidates (3 to 11)" in words
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


def test_benchmarks_with_a_constant_number_of_candidates_are_known():
    evaluation = ("ogbl-biokg", "sampled-500", "testing", "both")
    of_benchmark = Constants.released().histograms
    assert of_benchmark.why_impossible(evaluation, resolve("mr"), 501, 501) is None
    words = of_benchmark.why_impossible(evaluation, resolve("mr"), 502, 502)
    assert "is at most 501, " in (words or "")
