"""Arrays of integers as a data set: the same triples and counts as from text, and errors that name file and row."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.data import arrays
from rankadjust.data.arrays import summarise_arrays, write_encoded
from rankadjust.data.blocks import encoded_blocks
from rankadjust.data.encoding import encode
from rankadjust.data.registry import Format, load_registry
from rankadjust.data.summary import summarise

SPLITS = ("training", "validation", "testing")
ENTRY = """\
Ids:
  sources:
    - kind: local
      files: {training: training.FILE, validation: validation.FILE, testing: testing.FILE}
  format: {file: FILE}
"""


def write(folder, splits, file="npy", columns=("head", "relation", "tail")):
    paths = {}
    for split, rows in splits.items():
        paths[split] = folder / f"{split}.{file}"
        if file == "npy":
            np.save(paths[split], np.array(rows, np.int64))
        else:
            pl.DataFrame(rows, schema=list(columns), orient="row").write_parquet(paths[split])
    return paths


def dataset(folder, entry=ENTRY, file="npy"):
    (folder / "ids.yaml").write_text(entry.replace("FILE", file))
    return load_registry(folder / "ids.yaml")["Ids"]


triples = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=12
)


@pytest.mark.parametrize("file", ["npy", "parquet"])
@settings(deadline=None, max_examples=20)
@given(splits=st.fixed_dictionaries(dict.fromkeys(SPLITS, triples)), memory=st.sampled_from([60, 200, 10**9]))
@pytest.mark.slow
def test_the_counts_are_those_of_the_same_triples_as_text(tmp_path_factory, file, splits, memory):
    folder = tmp_path_factory.mktemp("arrays")
    output = folder / "triples.parquet"
    numbers = write_encoded(write(folder, splits, file), Format(file=file), output, {}, "Tiny")
    every = [triple for rows in splits.values() for triple in rows]
    largest = max(max(head, tail) for head, _, tail in every)
    assert numbers == {"entities": largest + 1, "relations": max(relation for _, relation, _ in every) + 1}
    written = pl.read_parquet(output)
    # Labels of one digit are sorted like their numbers, and the list of all entities has those in no triple.
    text = encode(
        {
            split: pl.DataFrame(rows, ["head", "relation", "tail"], orient="row").cast(pl.String)
            for split, rows in splits.items()
        },
        pl.Series([str(number) for number in range(largest + 1)]),
    )
    assert written.select("split", "head", "tail").equals(text.triples.select("split", "head", "tail"))
    entry = dataset(folder, file=file)
    found = summarise_arrays(output, **numbers, dataset=entry, memory=memory)
    expected = summarise(text, entry)
    # A relation that no triple has is none in text.
    assert found.pop("relations") >= expected.pop("relations")
    assert found == expected


def test_times_and_columns_that_are_not_read(tmp_path):
    form = Format(file="npy", columns=("head", "ignore", "tail", "relation", "ignore", "time"))
    paths = write(tmp_path, {"training": [(0, 9, 1, 2, 9, 2014), (3, 9, 4, 0, 9, -7)]})
    numbers = write_encoded(paths, form, tmp_path / "t.parquet", {}, "Tiny")
    assert numbers == {"entities": 5, "relations": 3}
    assert pl.read_parquet(tmp_path / "t.parquet").rows() == [
        ("training", 0, 2, 1, "2014"),
        ("training", 3, 0, 4, "-7"),
    ]
    # Times become numbers of their values in the order of their text.
    (block,) = encoded_blocks(tmp_path / "t.parquet")()
    assert block["time"].to_list() == [1, 0]


@pytest.mark.parametrize(
    ("form", "rows", "message"),
    [
        (
            {},
            [(0, 0, 1), (0, -2, 1)],
            "mine.npy: row 1 (from 0) has the relation -2; ids begin at 0 and are below 2,147",
        ),
        (
            {},
            [(2**31, 0, 1)],
            "mine.npy: row 0 (from 0) has the head 2,147,483,648; ids begin at 0 and are below",
        ),
        (
            {"num_entities": 3},
            [(0, 0, 1), (0, 7, 2), (0, 0, 3)],
            "mine.npy: row 2 (from 0) has the tail 3; format.num_entities is 3, and ids are below; correct one",
        ),
        (
            {"num_relations": 7},
            [(0, 7, 2)],
            "has the relation 7; format.num_relations is 7, and ids are below",
        ),
        (
            {"columns": ("head", "tail")},
            [(0, 7, 2)],
            "mine.npy: an array (1, 3) of int64; needed are rows of 2",
        ),
    ],
)
def test_an_id_that_is_not_allowed_is_named_with_file_and_row(tmp_path, monkeypatch, form, rows, message):
    paths = write(tmp_path, {"training": rows})
    with pytest.raises(RankadjustError) as raised:
        write_encoded(
            paths, Format(file="npy", **form), tmp_path / "t.parquet", {"training": "mine.npy"}, "Tiny"
        )
    assert message in str(raised.value)
    assert sorted(tmp_path.iterdir()) == [paths["training"]]


def test_parquet_columns_go_by_the_names_that_the_entry_gives(tmp_path):
    """The columns stand in another order, and one more stands between them."""
    rows = [(2, 9, 1, 0), (0, 9, 0, 1)]
    write(tmp_path, dict.fromkeys(SPLITS, rows), "parquet", ("object", "weight", "predicate", "subject"))
    columns = "columns: {head: subject, relation: predicate, tail: object}"
    entry = dataset(tmp_path, ENTRY.replace("{file: FILE}", f"{{file: FILE, {columns}}}"), "parquet")
    paths = {split: tmp_path / f"{split}.parquet" for split in SPLITS}
    write_encoded(paths, entry.format, tmp_path / "t.parquet", {}, "Ids")
    written = pl.read_parquet(tmp_path / "t.parquet").filter(split="testing")
    assert written.select("head", "relation", "tail").rows() == [(0, 1, 2), (1, 0, 0)]
    missing = dataset(
        tmp_path,
        ENTRY.replace("{file: FILE}", f"{{file: FILE, {columns}}}".replace("object", "o")),
        "parquet",
    )
    with pytest.raises(
        RankadjustError, match=r"lacks the column 'o'; it has object, weight, predicate, subject"
    ):
        write_encoded(paths, missing.format, tmp_path / "t.parquet", {}, "Ids")


def test_parquet_without_an_id_or_with_floats_is_refused(tmp_path):
    for rows, message in (
        ([(0, 0, 1), (0, None, 1)], r"training\.parquet: row 1 \(from 0\) has no relation"),
        ([(0, 0, 1.5)], r"training\.parquet: tail is Float64; ids are integers"),
    ):
        paths = write(tmp_path, {"training": rows}, "parquet")
        with pytest.raises(RankadjustError, match=message):
            write_encoded(paths, Format(file="parquet"), tmp_path / "t.parquet", {}, "Tiny")


def test_an_empty_array_and_too_little_memory_are_said(tmp_path):
    paths = {"training": tmp_path / "training.npy"}
    np.save(paths["training"], np.zeros((0, 3), int))
    with pytest.raises(RankadjustError, match=r"training\.npy: no triples; leave an empty split out"):
        write_encoded(paths, Format(file="npy"), tmp_path / "t.parquet", {}, "Tiny")
    numbers = write_encoded(
        write(tmp_path, {"training": [(0, 0, 9)]}), Format(file="npy"), tmp_path / "t.parquet", {}, "Tiny"
    )
    with pytest.raises(RankadjustError, match=r"10 entities take up to .* set memory_mb higher"):
        summarise_arrays(
            tmp_path / "t.parquet", **numbers, dataset=dataset(tmp_path), memory=10 * arrays._MASKS
        )


def test_ids_in_no_triple_are_entities_but_not_of_inductive_data(tmp_path):
    rows = {"training": [(0, 0, 1)], "inference": [(4, 0, 5)], "inference_testing": [(5, 0, 4)]}
    numbers = write_encoded(
        write(tmp_path, rows), Format(file="npy", num_relations=3), tmp_path / "t.parquet", {}, "Tiny"
    )
    entry = ENTRY.replace("validation: validation", "inference: inference").replace(
        "testing: testing", "inference_testing: inference_testing"
    )
    inductive = dataset(tmp_path, f"{entry}  role: inductive\n")
    found = summarise_arrays(tmp_path / "t.parquet", **numbers, dataset=inductive, memory=1e9)
    assert (found["entities"], found["isolated_entities"], found["relations"]) == (4, 0, 3)
    assert found["graphs"]["inference"] == {"entities": 2, "relations": 1, "distinct_triples": 2}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            ENTRY.replace("{file: FILE}", "{}"),
            "format.file is not given, which means text, but sources.0 has a file .npy",
        ),
        (
            ENTRY.replace("file: FILE", "file: parquet"),
            "format.file is parquet, but sources.0 has a file .npy for trai",
        ),
        (
            ENTRY.replace("testing.FILE", "test.txt"),
            "format.file is npy, but sources.0 has no such file for testing",
        ),
        (
            ENTRY.replace("}\n  format: {", "}\n  format: {strip: true, "),
            "format.strip is for text, and format.file is npy",
        ),
        (
            ENTRY.replace("FILE", "txt").replace("file: txt", "num_entities: 3"),
            "format.num_entities is for arrays of integers, and format.file is text",
        ),
        (
            ENTRY.replace("testing.FILE}", "testing.FILE, entities: all.txt}"),
            "the ids of arrays need no list of entities; give format.num_entities instead",
        ),
        (
            ENTRY.replace("FILE", "parquet").replace(
                "file: parquet", "file: parquet, columns: [head, ignore, relation, tail]"
            ),
            "format.columns names the columns of a Parquet file that are read; leave ignore out",
        ),
        (
            ENTRY.replace("file: FILE", "file: FILE, columns: {head: h, relation: r, tail: t}"),
            "format.columns gives names of columns, which only Parquet files have; list what each field is, in order",
        ),
        (
            ENTRY.replace("FILE", "parquet").replace(
                "file: parquet", "file: parquet, columns: {head: h, relation: r, tail: h}"
            ),
            "format.columns names one column of the file twice",
        ),
        (
            ENTRY.replace("FILE", "parquet").replace(
                "file: parquet", "file: parquet, columns: {head: h, tail: t}"
            ),
            "format.columns lacks 'relation'",
        ),
        (
            ENTRY.replace("file: FILE", "file: FILE, num_entities: 0"),
            "num_entities: 0 is less than the minimum of 1",
        ),
    ],
)
def test_a_mistake_in_the_declaration_is_one_line(tmp_path, entry, message):
    with pytest.raises(RankadjustError) as raised:
        dataset(tmp_path, entry)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{tmp_path / 'ids.yaml'}:")
