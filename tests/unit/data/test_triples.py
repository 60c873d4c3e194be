"""Triples: reading text in every declared format, encoding, counting, and the counts of the 36 verified data sets."""

import gzip
import random
import tarfile
import zipfile
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.files import sha256_of, write_parquet
from rankadjust.base.vocabulary import SPLITS
from rankadjust.data.registry import Dataset, Format, load_registry
from rankadjust.data.sources import Http
from rankadjust.data.triples import (
    _pair,
    check_expected,
    encode,
    read_triples,
    summarise,
    summary_row,
)

LABELS = ("head", "relation", "tail")
STRINGS = {"tab": "\t", "comma": ",", "space": " "}
TRICKY = (
    "NA",
    "null",
    "007",
    "-0",
    '"',
    '"a b"',
    "'",
    "#x",
    "a\u0085b",
    "a\u2028b",
    "\u2029",
    " x ",
    "\x1c\x1d",
    "é",
    "\0",
    "a\r",
    "\rb\r\r",
    "x^2",
    "x\x01",
)


# Reading what was written


@st.composite
def written_files(draw):
    """Return a format, the columns it should read, and the bytes of a file."""
    delimiter = draw(st.sampled_from(["tab", "comma", "space", "whitespace", "|", "@@@", "\t|\t", "→", "'"]))
    times = draw(st.sampled_from([(), ("time",), ("time_start", "time_end")]))
    ignored = draw(st.integers(0, 2))
    columns = tuple(draw(st.permutations([*LABELS, *times, *["ignore"] * ignored])))
    form = Format(
        delimiter=delimiter,
        columns=columns,
        header_lines=draw(st.integers(0, 2)),
        labels=draw(st.sampled_from(["text", "integer"])),
        strip=draw(st.booleans()),
    )
    blank = delimiter == "whitespace"
    string = STRINGS.get(delimiter, delimiter)
    # A label holds neither a delimiter nor an end of line. One that begins with a byte order mark, or a last one that
    # ends in a carriage return, could not be told from a file with such a mark or such ends of lines.
    banned = "\n\ufeff" + (" \t\r\x0b\x0c" if blank else string)
    texts = st.one_of(
        st.sampled_from(TRICKY),
        st.text(st.characters(codec="utf-8", exclude_characters=banned), min_size=1, max_size=6),
    ).map(lambda text: "".join(c for c in text if c not in banned))
    if form.strip:
        texts = texts.map(lambda text: text.strip(" \t"))
    texts = texts.filter(bool)
    numbers = st.integers(-20, 10**12).map(str).filter(lambda text: not set(text) & set(string))
    kinds = dict.fromkeys(LABELS, numbers if form.labels == "integer" else texts)
    kinds[columns[-1]] = kinds.get(columns[-1], texts).map(lambda text: text.rstrip("\r")).filter(bool)
    fields = [
        kinds.get(name, texts if name != "ignore" or blank else texts | st.just("")) for name in columns
    ]
    rows = draw(st.lists(st.tuples(*fields), min_size=1, max_size=12))
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    chance = random.Random(draw(st.integers(0, 2**32)))
    lines = [chance.choice(['"', "5", "# head,relation", "\t"]) for _ in range(form.header_lines)]
    lines += [_line(row, form, string, chance) for row in rows]
    text = line_end.join(lines) + chance.choice(["", line_end])
    data = (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()
    kept = [name for name in (*LABELS, *times) if name in columns]
    expected = pl.DataFrame(
        [[row[columns.index(name)] for name in kept] for row in rows],
        schema=dict.fromkeys(kept, pl.String),
        orient="row",
    )
    return form, expected, data


def _line(row, form, string, chance):
    def blanks(most):
        return "".join(chance.choice(" \t") for _ in range(chance.randint(0, most)))

    if form.delimiter == "whitespace":
        return blanks(2) + "".join(field + chance.choice(" \t") + blanks(2) for field in row)
    pads = [pad for pad in " \t" if pad not in string]
    pad = chance.choice(pads) * chance.randint(0, 2) if form.strip and pads else ""
    return string.join(pad + field + pad for field in row)


@settings(deadline=None, max_examples=300)
@given(written_files())
def test_triples_are_read_as_they_were_written(tmp_path_factory, case):
    form, expected, data = case
    path = tmp_path_factory.getbasetemp() / "written.txt"
    path.write_bytes(data)
    assert read_triples(path, form).rows() == expected.rows()
    assert read_triples(path, form).columns == expected.columns


@pytest.mark.parametrize(
    ("data", "form", "rows"),
    [
        (b"a\tr\tb\r\nc\tr\td\r\n", Format(), [("a", "r", "b"), ("c", "r", "d")]),
        (b"a\tr\tb\nc\tr\td", Format(), [("a", "r", "b"), ("c", "r", "d")]),
        (b"\xef\xbb\xbfa\tr\tb\n", Format(), [("a", "r", "b")]),
        (b"\xef\xbb\xbf2\r\na\tr\tb\n", Format(header_lines=1), [("a", "r", "b")]),
        (b"a \t r\tb\n", Format(), [("a ", " r", "b")]),
        (b"a \t r\tb\t\n", Format(columns=(*LABELS, "ignore"), strip=True), [("a", "r", "b")]),
        (b"a\r\tr\tb\r\r\n", Format(), [("a\r", "r", "b\r")]),
        (b"a@@@r@@@b\r\r\n", Format(delimiter="@@@"), [("a", "r", "b\r")]),
        (b"x^2\tr\tb\n", Format(), [("x^2", "r", "b")]),
        (b"x^\nx^\tr\tb\n", Format(header_lines=1), [("x^", "r", "b")]),
        (b"x@@@r@@@b\n", Format(delimiter="@@@"), [("x", "r", "b")]),
        ("a\u2028\tr\tb\u0085\n".encode(), Format(), [("a\u2028", "r", "b\u0085")]),
        (b'"a\tr\tb"\n#a\tNA\tnull\n', Format(), [('"a', "r", 'b"'), ("#a", "NA", "null")]),
        (
            b"007 12 7\r\n",
            Format(delimiter="whitespace", columns=("head", "tail", "relation")),
            [("007", "7", "12")],
        ),
        (
            b"a\tr\r\tb\tx\ny\tr\tz\t\n",
            Format(columns=(*LABELS, "ignore")),
            [("a", "r\r", "b"), ("y", "r", "z")],
        ),
    ],
)
def test_what_a_line_holds(tmp_path, data, form, rows):
    path = tmp_path / "train.txt"
    path.write_bytes(data)
    assert read_triples(path, form).rows() == rows


BAD = {
    "two fields": (b"a\tr\tb\na\tr\n", Format(), ":2: 2 fields between 'tab' where format.columns names 3; check "),
    "four fields": (b"a\tr\tb\na\tr\tb\tc\nx\n", Format(), ":2: 4 fields between 'tab' where "),
    "four fields first": (b"a\tr\tb\tc\n", Format(), ":1: 4 fields "),
    "a field too many makes up for one too few": (
        b"a\tr\tb\tc\n\t\nd\tr\te\tf\n" * 2, Format(columns=(*LABELS, "ignore")), ":2: 2 fields ",
    ),
    "a missing field that would be ignored": (
        b"a\tr\tb\tc\nd\tr\te\n", Format(columns=(*LABELS, "ignore")), ":2: 3 fields ",
    ),
    "the wrong delimiter": (b"a,r,b\n", Format(), ":1: 1 fields "),
    "a blank line": (b"a\tr\tb\n\na\tr\tb\n", Format(), ":2: 1 fields "),
    "a blank line at the end": (b"a\tr\tb\r\n\r\n", Format(), ":2: 1 fields "),
    "a blank line between blanks": (b"a r b\n\na r b\n", Format("whitespace"), ":2: 0 fields between blanks "),
    "too many words": (b"1\na r b\na b r b\n", Format(delimiter="whitespace", header_lines=1), ":3: 4 fields "),
    "the long delimiter": (b"a@@@r@@@b\na@@@r@@b\n", Format(delimiter="@@@"), ":2: 2 fields between '@@@' "),
    "an empty head": (b"a\tr\tb\n\tr\tb\n", Format(), ":2: the head is empty; "),
    "an empty tail": (b"a\tr\tb\na\tr\t\n", Format(), ":2: the tail is empty; "),
    "an empty time": (b"a\tr\tb\t\n", Format(columns=(*LABELS, "time")), ":1: the time is empty; "),
    "a blank relation": (b"a\t \tb\n", Format(strip=True), ":1: the relation is empty; "),
    "not UTF-8": (b"a\tr\tb\na\tr\t\xe9t\xe9\n", Format(), ":2: byte 5 of the line (0xe9) is not UTF-8; "),
    "half a character": (b"a\tr\tb\na\tr\xc3\n\xa9\tr\tb", Format(), ":2: byte 4 of the line (0xc3) is not UTF-8; "),
    "not UTF-8 in a column to ignore": (b"1\t2\t3\t\xff\n", Format(columns=(*LABELS, "ignore")), ":1: byte 7 "),
    "not UTF-8 between blanks": (b"a r \xff\n", Format(delimiter="whitespace"), ":1: byte 5 "),
    "a compressed file": (gzip.compress(b"a\tr\tb\n", mtime=0), Format(), ":1: byte 2 of the line (0x8b) is not UTF-8"),
    "the beginning of a zlib stream": (b"x\x9c\tr\tb\n", Format(), ":1: byte 2 of the line (0x9c) is not UTF-8"),
    "text for an integer": (b"1\t2\t3\n1\tr\t3\n", Format(labels="integer"), ":2: the relation 'r' is not a plain "),
    "text for an integer, where lines end in CRLF": (
        b"1\t2\t3\r\n1\tr\t3\r\n", Format(labels="integer"), ":2: the relation 'r' is not a plain ",
    ),
    "text for an integer, after a byte order mark": (
        b"\xef\xbb\xbf1\t2\t3\n1\tr\t3\n", Format(labels="integer"), ":2: the relation 'r' is not a plain ",
    ),
    "an empty head after an empty field to ignore": (
        b"a\tr\tb\t\n\tr\tb\tx\n", Format(columns=(*LABELS, "ignore")), ":2: the head is empty; ",
    ),
    "half a compressed file": (gzip.compress(bytes(100), mtime=0)[:15], Format(), ":1: byte 2 of the line (0x8b) "),
    "a padded integer": (b"1\t2\t007\n", Format(labels="integer"), ":1: the tail '007' is not a plain integer; "),
    "nothing": (b"", Format(), ": the file is empty; a split needs at least one triple"),
    "a header alone": (b"2\n", Format(header_lines=1), ": the file has no line after its header; "),
    "half a header": (b"2", Format(header_lines=2), ": the file has no line after its header; "),
}  # fmt: skip


@pytest.mark.parametrize(("data", "form", "message"), BAD.values(), ids=BAD)
def test_a_bad_file_is_named_with_its_line(tmp_path, data, form, message):
    path = tmp_path / "train.txt"
    path.write_bytes(data)
    with pytest.raises(RankadjustError) as info:
        read_triples(path, form)
    assert str(info.value).startswith(f"{path}{message}")
    assert "\n" not in str(info.value)


def test_the_bad_line_of_a_large_file_is_found(tmp_path):
    path = tmp_path / "train.txt"
    lines = [f"e{number}\tr\te{number + 1}\n" for number in range(200_000)]
    lines[150_000] = "e\tr\n"
    path.write_text("".join(lines))
    with pytest.raises(RankadjustError, match=r"train\.txt:150001: 2 fields"):
        read_triples(path, Format())


def test_a_label_that_ends_in_a_carriage_return_at_the_end_of_a_chunk(tmp_path):
    path = tmp_path / "train.txt"
    for size in (2**22, 2**22 + 1):
        path.write_bytes(b"a" * (size - 1) + b"\r\tr\tb\n")
        assert read_triples(path, Format())["head"][0].endswith("a\r")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(
        RankadjustError, match=r"none\.txt: the file cannot be read \(No such file or directory\)"
    ):
        read_triples(tmp_path / "none.txt", Format())


def test_a_header_may_be_in_any_encoding(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(b"t\xeate\na\tr\tb\n")
    assert read_triples(path, Format(header_lines=1)).rows() == [("a", "r", "b")]


def test_a_delimiter_of_several_bytes_needs_a_free_character(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(b"a@@r@@" + bytes(code for code in range(1, 128) if code not in b"\r\n@") + b"\n")
    assert read_triples(path, Format(delimiter="@@")).height == 1
    path.write_bytes(b"a@@r@@" + bytes(code for code in range(1, 128) if code not in b"\r\n") + b"\n")
    with pytest.raises(
        RankadjustError, match="no character is left to stand in for the delimiter '@@'; write"
    ):
        read_triples(path, Format(delimiter="@@"))


# Encoding


def text_frame(*rows):
    names = (*LABELS, "time", "time_end")[: len(rows[0])]
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


@settings(deadline=None, max_examples=60)
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


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({}, "there is no split to encode"),
        ({"train": text_frame(("a", "r", "b"))}, "unknown split 'train'; the splits are training, "),
        (
            {"training": text_frame(("a", "r", "b", "1")), "testing": text_frame(("a", "r", "b"))},
            "the split testing has other columns than training",
        ),
    ],
)
def test_splits_that_do_not_fit_are_refused(splits, message):
    with pytest.raises(RankadjustError, match=message):
        encode(splits)


# Counting


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
        "relations": len({relation for _, relation, _ in every}),
        "triples": {split: len(rows) for split, rows in triples.items()},
        "distinct_triples": {split: len(set(rows)) for split, rows in triples.items()},
        "distinct_triples_in_all_splits": len(set(every)),
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
        "times": {
            "values": len({time for rows in splits.values() for row in rows for time in row[3:]}),
            "distinct_triples": {split: len(set(rows)) for split, rows in splits.items()},
            "duplicates_between": {
                f"{one}&{other}": len(set(splits[one]) & set(splits[other]))
                for one, other in combinations(splits, 2)
            },
        },
    }
    for side, name in ((False, "training"), (True, "inference")):
        if side in entities:
            counts[f"entities_in_{name}"] = len(entities[side])
            counts[f"relations_in_{name}"] = len(relations[side])
    return counts


@settings(deadline=None, max_examples=100)
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
    assert set(summary) == {*counts, "dataset", "role", "known"}


def test_the_two_graphs_of_an_inductive_set_are_counted_apart():
    splits = {
        "training": text_frame(("a", "r", "b"), ("b", "s", "c")),
        "testing": text_frame(("a", "r", "z")),
        "inference": text_frame(("x", "r", "y"), ("x", "t", "c")),
        "inference_testing": text_frame(("y", "r", "w"), ("x", "r", "y"), ("x", "s", "y")),
    }
    summary = summarise(encode(splits), dataset(role="inductive", known=("training", "inference")))
    assert summary["graphs"] == {
        "training": {"entities": 4, "relations": 2, "distinct_triples": 3},
        "inference": {"entities": 4, "relations": 3, "distinct_triples": 4},
        "shared_entities": 1,
        "new_relations": 1,
    }
    assert (summary["entities_in_training"], summary["entities_in_inference"]) == (3, 3)
    assert summary["unseen"] == {
        "testing": {"entities": 1, "relations": 0, "triples": 1},
        "inference_testing": {"entities": 1, "relations": 1, "triples": 2},
    }


def test_pairs_that_do_not_fit_into_64_bits_are_ranked():
    first = np.array([0, 2**40, 2**40, 2**63, 5], dtype=np.uint64)
    second = np.array([1, 2**31, 2**31, 0, 1], dtype=np.uint32)
    keys = _pair(first, second, 2**31 + 1)
    assert len(set(keys.tolist())) == 4
    assert keys[1] == keys[2]
    apart = _pair(np.array([0, 2**34], dtype=np.uint64), np.array([0, 0], dtype=np.uint32), 2**30)
    assert apart[0] != apart[1]
    # 2**64 - 1 is the largest number that fits.
    edge = _pair(np.array([2**32 - 1], dtype=np.uint64), np.array([2**32 - 1], dtype=np.uint32), 2**32)
    assert edge.tolist() == [2**64 - 1]


@pytest.fixture(scope="module")
def tiny(project):
    # By hand: entities a, b, c, d; relations r, s; no triple twice, no loop; training holds every label.
    expected = {"entities": 4, "relations": 2, "triples": {"training": 6, "validation": 2, "testing": 3}}
    entry = dataset(name="Tiny", splits=("training", "validation", "testing"), expected=expected)
    folder = project / "tests" / "data" / "tiny"
    files = {"training": "train.txt", "validation": "valid.txt", "testing": "test.txt"}
    return entry, encode({split: read_triples(folder / name, entry.format) for split, name in files.items()})


def test_a_summary_is_held_against_the_registry(tiny):
    entry, encoded = tiny
    summary = summarise(encoded, entry)
    assert check_expected(summary, entry) is None
    assert summary["triples"] == entry.expected["triples"]


def test_other_counts_than_expected_are_an_error(tiny):
    entry, encoded = tiny
    summary = summarise(encoded, entry)
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


# The 36 verified data sets

OUR_SPLITS = {
    "train": "training",
    "valid": "validation",
    "test": "testing",
    "facts": "facts",
    "inference": "inference",
    "inference_valid": "inference_validation",
    "inference_test": "inference_testing",
}


@pytest.mark.shared
def test_every_verified_count_is_reproduced(shared, tmp_path):
    # sources.yaml was made with an independent reader.
    described = yaml.load((shared / "data" / "sources.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    registry = load_registry()
    assert len(described["datasets"]) == 36
    for published in described["datasets"]:
        entry = registry[published["name"]]
        files = mirrored_files(entry, shared / "data" / "mirror", tmp_path)
        frames = {split: read_triples(path, entry.format) for split, path in files.items()}
        encoded = encode(frames)
        summary = summarise(encoded, entry)
        assert check_expected(summary, entry) is None
        assert verified_counts(summary, encoded, published["verified"]) == published["verified"], entry.name


def mirrored_files(entry, mirror, folder):
    [files] = [files for files in entry.sources if isinstance(files[0].source, Http)]
    found = {}
    for file in files:
        url = urlsplit(file.source.url)
        path = mirror / url.netloc / url.path.lstrip("/")
        assert (sha256_of(path), path.stat().st_size) == (file.sha256, file.bytes)
        for split, member in file.members.items():
            found[split] = path
            if member is not None:
                found[split] = folder / f"{entry.name}.{split}.txt"
                found[split].write_bytes(member_of(path, member))
    return found


def member_of(path, member):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.read(member)
    with tarfile.open(path) as archive:
        return archive.extractfile(member).read()


def verified_counts(summary, encoded, verified):
    """Return the summary in the layout of `verified`; what is no count (kinds of ids, ranges) is copied."""
    if "transductive" in verified:
        graphs = summary["graphs"]
        return {
            "transductive": graph_counts(summary, graphs["training"], "training", verified["transductive"]),
            "inductive": graph_counts(summary, graphs["inference"], "inference", verified["inductive"]),
            "between_graphs": {
                "shared_entities": graphs["shared_entities"],
                "relations_of_second_not_in_first_train": graphs["new_relations"],
            },
        }
    whole = {
        "entities": summary["entities"],
        "relations": summary["relations"],
        "distinct_triples": summary["distinct_triples_in_all_splits"],
    }
    counts = graph_counts(summary, whole, "training", verified)
    if "time" in verified:
        times = summary["times"]
        ours = [OUR_SPLITS[split] for split in verified["triples"]]
        counts["time"] = verified["time"] | {
            "distinct_rows_with_time": by_their_names(times["distinct_triples"], verified["triples"]),
            "rows_with_time_overlap": overlaps(times["duplicates_between"], verified["overlap_between"]),
            "distinct_time_values": times["values"],
        }
        assert sum(times["distinct_triples"].values()) == sum(summary["triples"][split] for split in ours)
    return counts


def graph_counts(summary, graph, name, verified):
    splits = verified["triples"]
    return {
        "entities": graph["entities"],
        "relations": graph["relations"],
        "entities_in_train": summary[f"entities_in_{name}"],
        "relations_in_train": summary[f"relations_in_{name}"],
        "triples": by_their_names(summary["triples"], splits),
        "distinct_triples": by_their_names(summary["distinct_triples"], splits),
        "distinct_triples_all_splits": graph["distinct_triples"],
        "duplicates_within": by_their_names(summary["duplicates_within"], splits),
        "overlap_between": overlaps(summary["duplicates_between"], verified["overlap_between"]),
        "self_loops": by_their_names(summary["self_loops"], splits),
        "unseen_in_train": {
            split: {
                "entities": counts["entities"],
                "relations": counts["relations"],
                "triples_with_unseen": counts["triples"],
            }
            for split in splits
            if (counts := summary["unseen"].get(OUR_SPLITS[split]))
        },
        "train_closed_distinct": by_their_names(summary["distinct_seen_triples"], splits),
        "entity_ids": verified["entity_ids"],
        "relation_ids": verified["relation_ids"],
    }


def by_their_names(counts, splits):
    return {split: counts[OUR_SPLITS[split]] for split in splits}


def overlaps(counts, pairs):
    by_pair = {frozenset(pair.split("&")): count for pair, count in counts.items()}
    return {pair: by_pair[frozenset(OUR_SPLITS[split] for split in pair.split("&"))] for pair in pairs}
