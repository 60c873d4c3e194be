"""Parquet files that claim more than they hold are refused before polars takes memory for it; whole ones are not.

A file that is let through although it lies ends the process that reads it, so that nothing here gives one to polars.
"""

import io
from contextlib import suppress

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.parquet import check_parquet

ROWS = 20
FRAME = pl.DataFrame({"rank": range(1, ROWS + 1), "side": ["head", "tail"] * (ROWS // 2)})
NESTED = pl.DataFrame(
    {
        "lists": [[[1], [2, 3]], [], None],
        "records": [{"a": 1, "b": "x"}, {"a": 2, "b": None}, None],
        "nothing": pl.Series([None] * 3, dtype=pl.Null),
        "words": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
    }
)


def parquet(frame, **options):
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **options)
    return buffer.getvalue()


def varint(number):
    """Return a number as Thrift's compact protocol writes it: twice, less one where it is negative, by 7 bits."""
    number = 2 * number if number >= 0 else -2 * number - 1
    digits = []
    while True:
        digits.append(number & 127 | 128 * (number > 127))
        number >>= 7
        if not number:
            return bytes(digits)


def checked(tmp_path, data):
    path = tmp_path / "a.parquet"
    path.write_bytes(data)
    check_parquet(path)


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "lz4", "brotli", "uncompressed"])
@pytest.mark.parametrize("frame", [FRAME, NESTED, FRAME.clear(), pl.DataFrame()])
def test_what_polars_writes_is_let_through(tmp_path, frame, compression):
    checked(tmp_path, parquet(frame, compression=compression))


def test_many_pages_and_row_groups_are_let_through(tmp_path):
    frame = pl.DataFrame({"rank": range(100_000), "triple": [f"{n}\tr\tb" for n in range(100_000)]})
    checked(tmp_path, parquet(frame, row_group_size=30_000, data_page_size=1000))


def test_least_and_largest_values_of_any_length_are_let_through(tmp_path):
    # The header of a page holds both: it is longer than what is read of it at first.
    checked(tmp_path, parquet(pl.DataFrame({"triple": ["a" * 100_000, "b"]}), statistics=True))


def test_values_that_packing_makes_small_are_let_through(tmp_path):
    # Ten million ranks, all the same.
    checked(tmp_path, parquet(pl.select(rank=pl.repeat(1, 10_000_000)), row_group_size=10_000_000))


@pytest.mark.parametrize("version", ["V1", "V2"])
@pytest.mark.parametrize("dictionary", [1, 1000])
def test_what_another_program_writes_is_let_through(tmp_path, version, dictionary):
    # No floats: DuckDB 1.3 crashes where it writes them in version 2.
    ranks = (
        "select i + 1 as rank, 'a' || i as triple, if(i % 7 = 0, null, i) as weight from range(3000) as t(i)"
    )
    path = tmp_path / "duck.parquet"
    options = f"format parquet, parquet_version '{version}', dictionary_size_limit {dictionary}"
    duckdb.sql(f"copy ({ranks}) to '{path}' ({options})")
    check_parquet(path)


# A field of type i32 that follows the field before it, and one of type i64; then the number.
I32, I64 = b"\x15", b"\x16"
LIES = {
    "a page of less than no values": (I32, -ROWS, r"it claims -20 values or bytes"),
    "a page of more values": (I32, 2**30, r"pages claim 1,073,741,824 values of the 20 of a column"),
    "a page of fewer values": (I32, ROWS - 1, r"its directory or a page cannot be read"),
    "columns of less than no values": (I64, -ROWS, r"it claims -20 values or bytes"),
    "columns of very many values": (I64, 10**10, r"it claims 80,000,000,000 bytes of values, more than a hundred"),
    "columns of more values": (I64, ROWS + 1, r"its directory or a page cannot be read"),
    "a number of more than 64 bits": (I64, 2**64, r"a number of more than 64 bits"),
}  # fmt: skip


@pytest.mark.parametrize(("field", "number", "said"), LIES.values(), ids=LIES)
def test_a_file_that_claims_what_is_not_there_is_refused(tmp_path, field, number, said):
    whole = parquet(FRAME.select("rank"), compression="uncompressed", statistics=False)
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    pages, directory = whole[:end], whole[end:-8]
    true, lie = field + varint(ROWS), field + varint(number)
    if field == I32:
        # The last page has the values; the one before it is their dictionary.
        before, found, after = pages.rpartition(true)
        assert found
        pages = before + lie + after
    else:
        # Of the file, of the column and of the row group.
        assert directory.count(true) == 3
        directory = directory.replace(true, lie)
    with pytest.raises(OSError, match=said):
        checked(tmp_path, pages + directory + len(directory).to_bytes(4, "little") + b"PAR1")


def test_a_file_that_is_none_is_refused(tmp_path):
    whole = parquet(FRAME)
    for data in (
        b"",
        b"PAR1",
        b"rank\n1\n2\n3\n",
        whole[:-1],
        whole[: len(whole) // 2],
        whole[:-8] + b"\xff" * 4 + b"PAR1",
    ):
        with pytest.raises(OSError, match="it does not end as a Parquet file does"):
            checked(tmp_path, data)


def test_a_directory_that_is_nested_without_end_is_refused(tmp_path):
    for nested in (b"\x1c" * 5000, b"\x19" + b"\x19" * 5000):
        with pytest.raises(OSError, match="nested too deeply; get or write the file again"):
            checked(tmp_path, b"PAR1" + nested + len(nested).to_bytes(4, "little") + b"PAR1")


BASES = [parquet(FRAME, compression="uncompressed"), parquet(NESTED)]


@given(
    st.sampled_from(BASES),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=5),
)
def test_whatever_the_bytes_are_it_is_let_through_or_refused_as_other_damage_is(
    tmp_path_factory, base, changes
):
    changed = bytearray(base)
    for place, byte in changes:
        changed[int(place * len(changed))] = byte
    path = tmp_path_factory.getbasetemp() / "changed.parquet"
    path.write_bytes(changed)
    with suppress(OSError):
        check_parquet(path)
