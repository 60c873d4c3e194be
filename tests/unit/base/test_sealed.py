"""Sealed tables: what is written comes back, and what was changed since does not."""

import hashlib
import random
import struct
from dataclasses import replace
from itertools import groupby

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import write_parquet
from rankadjust.base.sealed import TableKind, digest_of_values, read_seal, read_sealed, write_sealed
from rankadjust.base.version import VERSION

TABLE = TableKind(
    name="constants",
    schema=3,
    columns={"metric": pl.String(), "tasks": pl.Int64(), "expectation": pl.Float64()},
    what="a table of constants",
    remake="'snakemake' makes one",
)
FRAME = pl.DataFrame(
    {
        "metric": ["mr", "mr", "mrr", None, "hits@10"] * 60,
        "tasks": [*range(299), None],
        "expectation": [None, *(1 / number for number in range(1, 300))],
    }
)


@pytest.fixture
def path(tmp_path):
    write_sealed(FRAME, tmp_path / "a.parquet", TABLE)
    return tmp_path / "a.parquet"


def test_a_sealed_table_comes_back_with_its_seal(path):
    frame, seal = read_sealed(path, TABLE)
    assert frame.equals(FRAME)
    assert (seal.table, seal.schema, seal.version) == ("constants", "3", VERSION)
    assert read_seal(path) == seal
    assert pl.read_parquet_metadata(path)["rankadjust.digest"] == seal.digest


def test_the_same_table_is_the_same_bytes(path, tmp_path):
    write_sealed(FRAME, tmp_path / "b.parquet", TABLE)
    assert (tmp_path / "b.parquet").read_bytes() == path.read_bytes()


def test_the_digest_is_the_documented_one():
    """Computed from docs/use-the-database.md alone: hashlib and struct, a value at a time."""
    expected = hashlib.sha256(b"constants\x003\x000.1.0\n")
    expected.update(b"metric\x00text\x00300\x0060\n")
    bits = "".join("0" if value is None else "1" for value in FRAME["metric"])
    bits += "0" * (-len(bits) % 8)
    expected.update(int(bits, 2).to_bytes(len(bits) // 8, "big"))
    runs = [(word, len(list(run))) for word, run in groupby(value or "" for value in FRAME["metric"])]
    expected.update(b"".join(struct.pack("<q", length) for _, length in runs))
    expected.update(b"".join(struct.pack("<q", len(word.encode())) for word, _ in runs))
    expected.update("".join(word for word, _ in runs).encode())
    for name, kind, code in (("tasks", "integer", "<q"), ("expectation", "number", "<d")):
        values = FRAME[name].to_list()
        expected.update(f"{name}\0{kind}\x00300\x001\n".encode())
        bits = "".join("0" if value is None else "1" for value in values) + "0000"
        expected.update(int(bits, 2).to_bytes(len(bits) // 8, "big"))
        expected.update(b"".join(struct.pack(code, value or 0) for value in values))
    assert digest_of_values(FRAME, "constants", "3", "0.1.0") == f"sha256:{expected.hexdigest()}"


cells = st.one_of(st.none(), st.integers(0, 3))
WORDS = {0: "", 1: "a", 2: "ab", 3: "b"}


@settings(deadline=None)
@given(st.lists(st.tuples(cells, cells), max_size=6), st.lists(st.tuples(cells, cells), max_size=6))
def test_two_tables_have_one_digest_only_if_they_are_equal(one, other):
    def tables(rows):
        numbers = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64}, orient="row")
        words = numbers.with_columns(pl.all().replace_strict(WORDS, default=None, return_dtype=pl.String))
        return numbers, numbers.cast(pl.Float64), words

    for first, second in zip(tables(one), tables(other), strict=True):
        assert (digest_of_values(first) == digest_of_values(second)) == first.equals(second)


@pytest.mark.parametrize(
    "other",
    [
        FRAME.rename({"tasks": "task"}),
        FRAME.select("tasks", "metric", "expectation"),
        FRAME.reverse(),
        FRAME.with_columns(pl.col("tasks").cast(pl.Float64)),
        FRAME.with_columns(pl.col("expectation").fill_null(0.0)),
        FRAME.with_columns(pl.col("metric").fill_null("")),
        FRAME.with_columns(pl.when(pl.int_range(300) > 7).then("expectation").otherwise(-0.0)),
    ],
)
def test_names_types_order_and_nulls_count(other):
    assert digest_of_values(other) != digest_of_values(FRAME)


def test_how_a_table_is_stored_does_not_count(path):
    metadata = pl.read_parquet_metadata(path)
    seal = {key: value for key, value in metadata.items() if key.startswith("rankadjust.")}
    FRAME.cast({"metric": pl.Categorical}).cast({"metric": pl.String}).write_parquet(
        path, compression="snappy", row_group_size=7, metadata=seal
    )
    assert read_sealed(path, TABLE)[0].equals(FRAME)


def read_or_refused(path):
    try:
        return read_sealed(path, TABLE)[0]
    except RankadjustError:
        return None


@pytest.mark.slow
def test_no_flipped_bit_gives_another_table(path):
    """A sample of all bits, and of those of the end of the file, where the seal and the sizes stand."""
    whole = path.read_bytes()
    chosen = random.Random(15)
    places = [chosen.randrange(8 * len(whole)) for _ in range(600)]
    places += [8 * len(whole) - 1 - chosen.randrange(8 * 2500) for _ in range(600)]
    refused = 0
    for place in places:
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        frame = read_or_refused(path)
        if frame is None:
            refused += 1
        else:
            assert frame.equals(FRAME)
    # What is not refused has hit what no reader of all values looks at, such as the statistics.
    assert refused > len(places) / 2


def test_a_changed_value_is_said_to_be_damage(path):
    metadata = pl.read_parquet_metadata(path)
    changed = FRAME.with_columns(tasks=pl.col("tasks") + 1)
    write_parquet(changed, path, {key: metadata[key] for key in metadata if key.startswith("rankadjust.")})
    with pytest.raises(RankadjustError, match=r"a\.parquet: damaged, its values changed .*'snakemake'"):
        read_sealed(path, TABLE)


def test_another_schema_is_said_to_be_another_version(tmp_path):
    write_sealed(FRAME, tmp_path / "a.parquet", replace(TABLE, schema=4), version="9.9.0")
    said = r"made by rankadjust 9\.9\.0 with schema 4; this is rankadjust .*, which reads schema 3: use that version"
    with pytest.raises(RankadjustError, match=said):
        read_sealed(tmp_path / "a.parquet", TABLE)


def test_another_table_and_text_among_numbers_are_refused_in_one_line(tmp_path):
    path = tmp_path / "a.parquet"
    for frame, said in (
        (FRAME.drop("metric"), "not a table of constants, it lacks the column 'metric'"),
        (
            FRAME.with_columns(pl.col("expectation").cast(pl.String)),
            r"not a table of constants, its column 'expectation' holds text \(String\), not numbers \(Float64\)",
        ),
        (
            FRAME.with_columns(pl.col("tasks").cast(pl.Int32)),
            r"its column 'tasks' holds values of type Int32, not whole numbers \(Int64\)",
        ),
    ):
        write_parquet(frame, path)
        with pytest.raises(RankadjustError, match=said):
            read_sealed(path, TABLE)
    with pytest.raises(RankadjustError, match="this is a folder; give the Parquet file itself"):
        read_sealed(tmp_path, TABLE)
    path.write_text("no Parquet\n")
    with pytest.raises(RankadjustError, match=r"a\.parquet: not a Parquet file, or a damaged one \("):
        read_sealed(path, TABLE)


def test_a_table_without_seal_is_for_the_caller_to_judge(tmp_path):
    write_parquet(FRAME, tmp_path / "a.parquet")
    frame, seal = read_sealed(tmp_path / "a.parquet", TABLE)
    assert seal is None
    assert frame.equals(FRAME)


def test_an_empty_table_has_a_digest(tmp_path):
    write_sealed(FRAME.clear(), tmp_path / "a.parquet", TABLE)
    assert read_sealed(tmp_path / "a.parquet", TABLE)[0].equals(FRAME.clear())
