"""What is said of the data that were read: the one line, and each warning with the mistake that it is about."""

import random
from dataclasses import replace
from itertools import product

import polars as pl
import pytest
import yaml

from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Dataset, Format, load_registry
from rankadjust.data.summary import in_one_line, summarise, warnings
from tests.mirror import mirrored_files

# 40 entities, 5 relations: every triple once, in a random order.
ENTITIES = [f"e{number}" for number in range(40)]
TRIPLES = random.Random(7).sample(list(product(ENTITIES, "abcde", ENTITIES)), 2000)
GRAPH = {"training": TRIPLES[:1600], "validation": TRIPLES[1600:1800], "testing": TRIPLES[1800:]}
HEADER = ("head", "relation", "tail")
TABS = Format()


def dataset_of(graph, tmp_path, **changes):
    given = {"role": "transductive", "sources": (), "splits": tuple(graph), "origin": tmp_path, **changes}
    return Dataset("my-graph", **given)


def said(tmp_path, graph, form=TABS, listed=None, **changes):
    """Return the line and the warnings for {split: rows of fields}, written as files with tabs."""
    dataset = dataset_of(graph, tmp_path, format=form, **changes)
    frames = {}
    for split, rows in graph.items():
        path = tmp_path / f"{split}.txt"
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        frames[split] = read_triples(path, form)
    encoded = encode(frames, None if listed is None else pl.Series(listed))
    summary = summarise(encoded, dataset)
    return in_one_line(summary), warnings(encoded, summary, dataset)


def with_first(line, *splits):
    return {split: [line, *rows] if split in splits else rows for split, rows in GRAPH.items()}


def test_a_good_graph_is_one_line_and_no_warning(tmp_path):
    line = "my-graph: 40 entities, 5 relations, 1,600 / 200 / 200 triples"
    assert said(tmp_path, GRAPH) == (line, [])


def test_other_splits_are_named(tmp_path):
    graph = {"training": GRAPH["training"], "testing": GRAPH["testing"]}
    line = "my-graph: 43 entities (3 in no triple), 5 relations, training 1,600 / testing 200 triples"
    assert said(tmp_path, graph, listed=[*ENTITIES, "x", "y", "z"]) == (line, [])


def test_a_header_left_in_is_seen(tmp_path):
    line, found = said(tmp_path, with_first(HEADER, *GRAPH))
    assert line == "my-graph: 42 entities, 6 relations, 1,601 / 201 / 201 triples"
    assert found[0] == (
        "'head', 'tail' and 'relation' occur as labels: if they name the columns, delete the first line of every "
        "split, or declare format.header_lines: 1"
    )


def test_an_entity_may_be_called_like_a_column(tmp_path):
    assert said(tmp_path, with_first(("head", "a", "tail"), "training"))[1] == []


@pytest.mark.parametrize(("order", "fewer"), [((0, 2, 1), "tails 5"), ((1, 0, 2), "heads 5")])
def test_columns_in_another_order_are_seen(tmp_path, order, fewer):
    graph = {split: [tuple(row[place] for place in order) for row in rows] for split, rows in GRAPH.items()}
    _, [warning] = said(tmp_path, graph)
    assert warning.startswith(f"the column of relations has 40 different values, the column of {fewer}: if ")
    assert "declare format.columns" in warning


def test_counts_that_are_expected_are_not_asked_about(tmp_path):
    # As in Nations: 14 entities, 55 relations.
    graph = {"training": [("a", f"r{number}", "b") for number in range(9)]}
    for expected, warned in (({}, 1), ({"entities": 2}, 1), ({"entities": 2, "relations": 9}, 0)):
        assert len(said(tmp_path, graph, expected=expected)[1]) == warned


@pytest.mark.parametrize(("common", "share"), [(0, None), (1, "0.5%"), (100, "50%")])
def test_test_triples_that_a_model_is_given_are_seen(tmp_path, common, share):
    graph = {**GRAPH, "testing": GRAPH["training"][:common] + GRAPH["testing"][common:]}
    _, found = said(tmp_path, graph)
    assert found == (
        [] if share is None else [f"{common} of the 200 testing triples ({share}) are in training, too"]
    )


@pytest.mark.parametrize("new", [0, 75])
def test_triples_with_entities_that_training_never_saw_are_counted(tmp_path, new):
    """75 of 200 testing triples get a tail of their own, which no other split has."""
    testing = [
        (head, relation, f"new{number % 30}") if number < new else (head, relation, tail)
        for number, (head, relation, tail) in enumerate(GRAPH["testing"])
    ]
    graph = {**GRAPH, "testing": testing}
    said_of_it = [
        "75 of 200 testing triples have an entity or relation that training does not have (30 entities, 0 "
        "relations); filtered ranks these triples, too, but filtered-training and pykeen leave them out"
    ]
    assert said(tmp_path, graph)[1] == (said_of_it if new else [])
    # The number of entities in training says that the others are meant.
    assert said(tmp_path, graph, expected={"entities_in_training": 40})[1] == []


@pytest.mark.shared
def test_the_verified_data_sets_give_no_warning_that_is_not_true(shared, tmp_path):
    described = yaml.load((shared / "data" / "sources.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    registry = load_registry()
    found, unasked = {}, {}
    for name in (published["name"] for published in described["datasets"]):
        entry = registry[name]
        files = mirrored_files(entry, shared / "data" / "mirror", tmp_path)
        encoded = encode({split: read_triples(path, entry.format) for split, path in files.items()})
        summary = summarise(encoded, entry)
        found |= {name: said} if (said := warnings(encoded, summary, entry)) else {}
        all_said = warnings(encoded, summary, replace(entry, expected={}))
        without = [line for line in all_said if "are in training, too" not in line]
        unasked |= {name: without} if without else {}
    assert len(described["datasets"]) == 36
    # True, however small the share: these triples are in both files as published.
    assert found == {
        "DBpedia50": [
            "2 of the 399 validation triples (0.5%) are in training, too",
            "39 of the 10,930 testing triples (0.4%) are in training, too",
        ],
        "WD50K-triples": ["676 of the 23,860 validation triples (2.8%) are in training, too"],
    }
    # True: 55 relations between 14 nations, and test entities that training never saw. The registry expects the
    # numbers of entities and relations, so nobody is warned.
    never_seen = {name: said for name, said in unasked.items() if "does not have" in said[-1]}
    assert "WN18RR" in never_seen
    assert all(len(said) <= 2 for said in never_seen.values())
    assert unasked.keys() - never_seen.keys() == {"Nations"}
    assert unasked["Nations"][0].startswith(
        "the column of relations has 55 different values, the column of heads 14: "
    )
