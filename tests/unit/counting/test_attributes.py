"""Attributes of single tasks: candidates against the histograms, the others by hand."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.counting.attributes import count_tasks, evaluated, task_attributes
from rankadjust.counting.candidates import count_candidates
from rankadjust.counting.protocols import get_protocol
from rankadjust.data.encode import encode

TRAINING = [
    ("a", "r", "x"),
    ("a", "r", "y"),
    ("a", "r", "z"),
    ("b", "s", "x"),
    ("c", "s", "x"),
    ("c", "q", "d"),
]
TESTING = [("b", "r", "x"), ("a", "s", "y"), ("d", "q", "c"), ("b", "r", "x")]


def frame(triples):
    return pl.DataFrame(triples, schema=["head", "relation", "tail"], orient="row")


def attributes(protocol="filtered"):
    encoded = encode({"training": frame(TRAINING), "testing": frame(TESTING)})
    return task_attributes(encoded.triples, encoded.labels, protocol)


def test_attributes_by_hand():
    found = attributes()
    assert found.height == 6
    first = found.row(by_predicate=(pl.col("line") == 1) & (pl.col("side") == "tail"), named=True)
    assert (first["triple"], first["query"]) == ("b\tr\tx", "b\tr\t?")
    # Seven entities; no other answer to (b, r, ?) is known.
    assert first["num_candidates"] == 7
    assert first["split"] == "testing"
    head = found.row(by_predicate=(pl.col("line") == 1) & (pl.col("side") == "head"), named=True)
    # a r x is in training: b has six candidates.
    assert (head["query"], head["num_candidates"]) == ("?\tr\tx", 6)
    # r has three tails for its one head and one head for each tail; s the other way round; q has one each.
    of_relation = dict(found.select("relation", "cardinality").iter_rows())
    assert of_relation == {"r": "1-n", "s": "n-1", "q": "1-1"}


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.sampled_from("rs"), st.sampled_from("abcde")),
        min_size=4,
        max_size=20,
    ),
    st.sampled_from(["filtered", "raw", "pykeen-published", "sampled-2", "filtered-training"]),
)
def test_tasks_add_up_to_the_histogram(triples, protocol):
    """One task a distinct triple: where no triple is repeated, the counts are those of the histogram."""
    distinct = list(dict.fromkeys(triples))
    cut = max(1, len(distinct) // 2)
    if cut == len(distinct):
        return
    splits = {"training": frame(distinct[:cut]), "testing": frame(distinct[cut:])}
    together = pl.concat(part.with_columns(split=pl.lit(name)) for name, part in splits.items())
    entities = {entity for triple in distinct for entity in triple[::2]}
    if protocol == "sampled-2" and len(entities) < 3:
        return
    tasks = count_tasks(together, protocol)
    histogram = count_candidates(splits, protocol).histogram.filter(split="testing")
    counted = (
        tasks.group_by("side", "num_candidates")
        .agg(tasks=pl.len().cast(pl.Int64))
        .sort("side", "num_candidates")
    )
    assert counted.rows() == histogram.select("side", "num_candidates", "tasks").rows()


@pytest.mark.parametrize(
    ("protocol", "named"),
    [("filtered", ["inference_validation", "inference_testing"]), ("filtered-merged", ["inference_testing"])],
)
def test_validation_and_test_have_one_name_where_they_are_merged(protocol, named):
    parts = {"inference_validation": TESTING[:1], "inference_testing": TESTING[1:3]}
    triples = pl.concat(frame(rows).with_columns(split=pl.lit(name)) for name, rows in parts.items())
    splits = evaluated(triples, get_protocol(protocol))["split"]
    assert splits.unique(maintain_order=True).to_list() == named


@pytest.mark.parametrize("protocol", ["filtered", "raw"])
def test_a_triple_that_stands_twice_is_one_task(protocol):
    found = attributes(protocol)
    assert found.select("triple", "side").is_unique().all()
    assert found["line"].unique().sort().to_list() == [1, 2, 3]
