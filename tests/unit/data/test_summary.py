"""Summary: counts of sets and loops, the registry's expectations, and the counts of the 36 verified data sets."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS
from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Dataset
from rankadjust.data.summary import check_expected, summarise, summary_row
from tests.mirror import verified_splits
from tests.searching import in_profile
from tests.tiny import FILES


def text_frame(*rows):
    names = (*LABEL_COLUMNS, "time", "time_end")[: len(rows[0])]
    return pl.DataFrame(list(rows), schema=dict.fromkeys(names, pl.String), orient="row")


def dataset(**changes):
    return replace(Dataset("toy", "transductive", (), (), Path("datasets.yaml")), **changes)


def counted_by_hand(splits, known):
    """Count with sets and loops what summarise counts with arrays; rows are (head, relation, tail, *times)."""
    triples = {split: [row[:3] for row in rows] for split, rows in splits.items()}
    graph = {split: split.startswith("inference") for split in splits}
    entities, relations = {}, {}
    for side in set(graph.values()):
        rows = [row for split in splits if split in known and graph[split] == side for row in triples[split]]
        entities[side] = {entity for head, _, tail in rows for entity in (head, tail)}
        relations[side] = {relation for _, relation, _ in rows}

    def is_seen(split, row):
        return {row[0], row[2]} <= entities[graph[split]] and row[1] in relations[graph[split]]

    every = [row for rows in triples.values() for row in rows]
    counts = {
        "entities": len({entity for head, _, tail in every for entity in (head, tail)}),
        "isolated_entities": 0,
        "relations": len({relation for _, relation, _ in every}),
        "triples": {split: len(rows) for split, rows in triples.items()},
        "distinct_triples": {split: len(set(rows)) for split, rows in triples.items()},
        "duplicates_within": {
            split: sum(count - 1 for count in Counter(rows).values()) for split, rows in triples.items()
        },
        "duplicates_between": {
            f"{one}&{other}": len(set(triples[one]) & set(triples[other]))
            for one, other in combinations(triples, 2)
        },
        "self_loops": {split: sum(head == tail for head, _, tail in rows) for split, rows in triples.items()},
        "unseen": {
            split: {
                "entities": len({e for head, _, tail in rows for e in (head, tail)} - entities[graph[split]]),
                "relations": len({relation for _, relation, _ in rows} - relations[graph[split]]),
                "triples": sum(not is_seen(split, row) for row in rows),
            }
            for split, rows in triples.items()
            if split not in known
        },
        "distinct_seen_triples": {
            split: len({row for row in rows if is_seen(split, row)}) for split, rows in triples.items()
        },
    }
    for side, name in ((False, "training"), (True, "inference")):
        if side in entities:
            counts[f"entities_in_{name}"] = len(entities[side])
            counts[f"relations_in_{name}"] = len(relations[side])
    return counts


@settings(max_examples=in_profile(100))
@given(
    st.dictionaries(
        st.sampled_from(SPLITS),
        st.lists(
            st.tuples(*[st.sampled_from(words) for words in ("abcde", "rs", "abcde", "12", "234")]),
            min_size=1,
            max_size=25,
        ),
        min_size=1,
    ),
    st.sampled_from([("training", "inference"), ("training", "facts", "inference")]),
)
def test_counts_are_those_of_sets_and_loops(splits, known):
    splits = {split: splits[split] for split in SPLITS if split in splits}
    encoded = encode({split: text_frame(*rows) for split, rows in splits.items()})
    summary = summarise(encoded, dataset(role="temporal", known=known))
    counts = counted_by_hand(splits, known)
    assert {name: summary[name] for name in counts} == counts
    assert set(summary) == {*counts, "dataset", "role"}


def test_entities_in_no_triple_are_counted():
    frame = pl.DataFrame({"head": ["a", "c"], "relation": ["r", "r"], "tail": ["b", "c"]})
    summary = summarise(encode({"training": frame}, pl.Series(["z", "c", "a", "b", "y"])), dataset())
    counts = ("entities", "isolated_entities", "entities_in_training", "relations")
    assert [summary[name] for name in counts] == [5, 2, 3, 1]


@pytest.fixture(scope="module")
def tiny():
    # By hand: entities a, b, c, d; relations r, s; no triple twice, no loop; training holds every label.
    expected = {"entities": 4, "relations": 2, "triples": {"training": 6, "validation": 2, "testing": 3}}
    entry = dataset(name="Tiny", splits=("training", "validation", "testing"), expected=expected)
    files = {"training": "train.txt", "validation": "valid.txt", "testing": "test.txt"}
    return entry, encode({split: read_triples(FILES / name, entry.format) for split, name in files.items()})


def test_other_counts_than_expected_are_an_error(tiny):
    entry, encoded = tiny
    summary = summarise(encoded, entry)
    assert check_expected(summary, entry) is None
    other = replace(entry, expected={"entities": 5, "triples": {"training": 6, "facts": 3}})
    with pytest.raises(RankadjustError) as info:
        check_expected(summary, other)
    assert str(info.value).startswith(
        "Tiny: entities is 4, expected 5, triples.facts is missing, expected 3; "
    )
    known = check_expected(summary, replace(other, differs="a later release"))
    assert known == (
        "Tiny: entities is 4, expected 5, triples.facts is missing, expected 3; known to differ: a later release"
    )
    assert check_expected(summary, replace(entry, differs="a later release")) is None


def test_a_summary_is_one_row_with_the_same_columns_for_every_set(tiny):
    entry, encoded = tiny
    row = summary_row(summarise(encoded, entry))
    other = summary_row(
        summarise(encode({"training": text_frame(("a", "r", "a"), ("a", "r", "a"))}), dataset())
    )
    table = pl.concat([row, other])
    assert table["dataset"].to_list() == ["Tiny", "toy"]
    assert table["triples_testing"].to_list() == [3, None]
    assert table["distinct_triples_training"].to_list() == [6, 1]
    assert table["self_loops"].to_list() == [0, 2]
    assert table["duplicates_within"].to_list() == [0, 1]
    assert table["unseen_triples"].to_list() == [0, 0]


@pytest.mark.shared
def test_every_verified_data_set_has_the_counts_of_the_registry(shared, tmp_path):
    checked = 0
    for entry, splits in verified_splits(shared / "data" / "mirror", tmp_path):
        assert check_expected(summarise(encode(splits), entry), entry) is None
        checked += 1
    assert checked == 95
