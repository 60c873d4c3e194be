"""Encoding: ids are ranks of labels, labels come back, and two runs give the same bytes."""

import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import sha256_of, write_parquet
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS
from rankadjust.data.encode import encode
from tests.searching import in_profile


def text_frame(*rows):
    names = (*LABEL_COLUMNS, "time", "time_end")[: len(rows[0])]
    return pl.DataFrame(list(rows), schema=dict.fromkeys(names, pl.String), orient="row")


def test_ids_are_ranks_of_the_labels():
    encoded = encode(
        {
            "testing": text_frame(("b", "s", "é")),
            "training": text_frame(("10", "r", "9"), ("Z", "r", "a"), ("10", "s", "10")),
        }
    )
    assert encoded.labels.rows() == [
        *[("entity", number, label) for number, label in enumerate(["10", "9", "Z", "a", "b", "é"])],
        ("relation", 0, "r"),
        ("relation", 1, "s"),
    ]
    assert encoded.triples.rows() == [
        ("training", 0, 0, 1),
        ("training", 2, 0, 3),
        ("training", 0, 1, 0),
        ("testing", 4, 1, 5),
    ]
    assert dict(encoded.triples.schema) == {
        "split": pl.Enum(SPLITS),
        "head": pl.UInt32,
        "relation": pl.UInt32,
        "tail": pl.UInt32,
    }
    assert dict(encoded.labels.schema) == {"kind": pl.String, "id": pl.UInt32, "label": pl.String}


@settings(max_examples=in_profile(60))
@given(
    st.dictionaries(
        st.sampled_from(SPLITS),
        st.lists(st.tuples(*[st.text(max_size=2)] * 4), min_size=1, max_size=20),
        min_size=1,
    )
)
def test_labels_come_back_and_times_stay(splits):
    encoded = encode({split: text_frame(*rows) for split, rows in splits.items()})
    labels = {(kind, number): label for kind, number, label in encoded.labels.rows()}
    decoded = [
        (split, labels["entity", head], labels["relation", relation], labels["entity", tail], time)
        for split, head, relation, tail, time in encoded.triples.rows()
    ]
    assert decoded == [(split, *row) for split in SPLITS for row in splits.get(split, [])]


@settings(max_examples=in_profile(60))
@given(
    st.dictionaries(
        st.sampled_from(SPLITS),
        st.lists(st.tuples(*[st.text(max_size=1)] * 3), min_size=1, max_size=9),
        min_size=1,
    ),
    st.sets(st.text(max_size=2), max_size=9),
)
def test_entities_that_stand_in_no_triple_get_ids_too(splits, others):
    frames = {split: text_frame(*rows) for split, rows in splits.items()}
    used = {label for rows in splits.values() for row in rows for label in (row[0], row[2])}
    encoded = encode(frames, pl.Series(sorted(used | others, reverse=True), dtype=pl.String))
    entities = encoded.labels.filter(kind="entity")
    assert entities["label"].to_list() == sorted(used | others, key=str.encode)
    assert entities["id"].to_list() == list(range(len(used | others)))
    assert encoded.labels.filter(kind="relation").equals(encode(frames).labels.filter(kind="relation"))
    labels = entities["label"].to_list()
    decoded = [(split, labels[head], labels[tail]) for split, head, _, tail in encoded.triples.rows()]
    assert decoded == [(split, row[0], row[2]) for split in SPLITS for row in splits.get(split, [])]


def test_an_entity_that_the_list_lacks_is_named():
    frame = text_frame(("a", "r", "b"), ("c", "r", "r"))
    with pytest.raises(
        RankadjustError,
        match=r"^2 of the 5 entities occur in triples .*, for example 'b'; check ",
    ):
        encode({"training": frame}, pl.Series(["z", "c", "a"]))


def test_two_runs_give_the_same_bytes(tmp_path):
    chance = random.Random(7)
    rows = [
        (f"e{chance.randrange(500)}", f"r{chance.randrange(9)}", f"e{chance.randrange(500)}")
        for _ in range(5000)
    ]
    for folder in ("one", "two"):
        # Codes that polars gave before must not matter.
        pl.Series([f"e{number}" for number in chance.sample(range(500), 400)]).cast(pl.Categorical)
        encoded = encode({"training": text_frame(*rows)})
        write_parquet(encoded.triples, tmp_path / folder / "triples.parquet")
        write_parquet(encoded.labels, tmp_path / folder / "labels.parquet")
    for name in ("triples.parquet", "labels.parquet"):
        assert sha256_of(tmp_path / "one" / name) == sha256_of(tmp_path / "two" / name)
    shuffled = encode({"training": text_frame(*chance.sample(rows, len(rows)))})
    assert shuffled.labels.equals(encoded.labels)
