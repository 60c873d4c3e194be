"""Candidates from lists of one's own, and the triples of some relations among all."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from rankadjust import EvaluationSet
from rankadjust.base.errors import RankadjustError
from rankadjust.counting.candidate_lists import count_listed
from rankadjust.counting.candidates import count_candidates
from tests.searching import in_profile

TRAIN = [("c1", "treats", "d1"), ("c2", "treats", "d2"), ("c3", "up", "g")]
TEST = [("c1", "treats", "d2")]
LISTS = {"treats": {"head": ["c1", "c2", "c3"], "tail": ["d1", "d2"]}}


def histogram(**options):
    return (
        EvaluationSet.from_triples(TRAIN, None, TEST, **options).histogram.select(pl.exclude("split")).rows()
    )


def test_known_answers_are_left_out_of_a_list():
    # Heads: c1, c2, c3 without c2, which is known. Tails: d1, d2 without d1.
    assert histogram(candidates=LISTS) == [("head", 2, 1), ("tail", 1, 1)]
    # A true answer that is not in its list is a candidate besides; tails are any of the six entities but d1.
    assert histogram(candidates={"head": ["c2", "c3"]}) == [("head", 2, 1), ("tail", 5, 1)]


def test_adjustments_follow_from_the_lists():
    own = EvaluationSet.from_triples(TRAIN, None, TEST, candidates=LISTS)
    # (1 + (1 + 1/2) / 2) / 2
    assert own.moments(["mrr"])["expectation"].to_list() == [0.875]
    assert own.evaluate(pl.DataFrame({"side": ["head", "tail"], "rank": [2, 1]}), metrics="mr")[
        "value"
    ].to_list() == [
        2.0,
        1.0,
        1.5,
    ]


def test_a_relation_is_filtered_by_all_triples_and_ranked_among_all_entities():
    train = [*TRAIN, ("c1", "up", "d2"), ("c9", "up", "c8")]
    own = EvaluationSet.from_triples(train, None, [*TEST, ("c2", "up", "g")], relations=["treats"])
    whole = EvaluationSet.from_triples(train, None, TEST)
    assert own.histogram.rows() == whole.histogram.rows()
    assert own.tasks == 2


TRIPLES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=12
)


@settings(max_examples=in_profile(100))
@given(TRIPLES, TRIPLES, TRIPLES)
def test_lists_of_all_entities_are_no_lists(training, validation, testing):
    splits = {
        name: pl.DataFrame(rows, schema=["head", "relation", "tail"], orient="row")
        for name, rows in (("training", training), ("validation", validation), ("testing", testing))
    }
    entities = {
        label for rows in (training, validation, testing) for head, _, tail in rows for label in (head, tail)
    }
    every = [*entities, 100, 101]
    listed = count_listed(splits, {"head": every, "tail": every}, isolated=2)
    counted = count_candidates(splits, "filtered", isolated=2)
    assert_frame_equal(listed.histogram, counted.histogram)
    assert_frame_equal(listed.pairs, counted.pairs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"candidates": {"treat": {"head": ["c1"]}}},
            "no triple has the relation 'treat'; did you mean treats",
        ),
        ({"candidates": {"treats": ["c1"]}}, "give lists of entities for head and tail"),
        (
            {"candidates": {"treats": {"head": []}}},
            "candidates of 'treats': give lists of entities for head and tail",
        ),
        ({"candidates": LISTS, "protocol": "raw"}, "ranked under filtered, not under raw"),
        ({"relations": ["heals"]}, "no triple has the relation 'heals'"),
        ({"relations": ["treats"], "protocol": "pykeen"}, "pykeen needs all training triples"),
    ],
)
def test_mistakes_in_lists_and_relations(options, message):
    with pytest.raises(RankadjustError, match=message):
        histogram(**options)
