"""Ranks and scores that cannot be tasks: one line with the right row."""

import datetime

import numpy as np
import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.evaluation.score_files import rank_scores

RANK = "but it must be a rank: a whole number from 1 on, or a half between two"


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"rank": [None, [1, 2]]}, rf"row 2: rank is \[1, 2\], {RANK}"),
        ({"rank": [{"a": 1}, {"a": 2}]}, rf"row 1: rank is \{{'a': 1\}}, {RANK}"),
        ({"rank": [b"1", b"2"]}, rf"row 1: rank is b'1', {RANK}"),
        ({"rank": [datetime.date(2014, 1, 1)]}, rf"row 1: rank is datetime.date\(2014, 1, 1\), {RANK}"),
        ({"rank": [True, False]}, rf"row 1: rank is True, {RANK}"),
        (
            {"rank": [1, 2], "triple": [["a"], ["b"]]},
            r"row 1: triple is \['a'\], but it must be given for every",
        ),
        (
            {"rank": [1, 2], "side": [["head"], ["tail"]]},
            r"row 1: side is \['head'\], but it must be head or tail",
        ),
    ],
)
def test_a_column_that_holds_no_plain_values_is_told_with_its_row(tmp_path, columns, told):
    path = tmp_path / "ranks.parquet"
    pl.DataFrame(columns).write_parquet(path)
    with pytest.raises(RankadjustError, match=told) as caught:
        tasks_from(path)
    assert str(caught.value).isprintable()


def test_what_is_no_mask_is_told_with_its_task_and_column():
    scores = np.ones((3, 4))
    mask = np.zeros((3, 4), np.int8)
    mask[1, 0] = 1
    mask[2, 3] = 2
    with pytest.raises(RankadjustError, match=r"the mask of task 2, column 3 is 2 \(counted from 0\)"):
        rank_scores(scores, [0, 1, 2], mask)
    mask[2, 3] = -1
    with pytest.raises(RankadjustError, match="the mask of task 2, column 3 is -1"):
        rank_scores(scores, [0, 1, 2], mask)


def test_a_mask_of_0_and_1_filters_as_truth_values_do():
    scores = np.arange(12.0).reshape(3, 4)
    mask = np.array([[0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]])
    assert rank_scores(scores, [0, 1, 2], mask).equals(rank_scores(scores, [0, 1, 2], mask.astype(bool)))


def npy(header: bytes) -> bytes:
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(80)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY\x09\x00",
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, "),
        npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"),
        # It claims 20 GB, of which nothing is allocated.
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (50000, 50000), }"),
    ],
)
def test_what_is_no_array_of_numbers_is_one_line(tmp_path, data):
    for name in ("a.npy", "a.npz"):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RankadjustError, match=rf"{name}: cannot be read as numbers \([^\n]*\)$"):
            tasks_from(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", "rank,side\n1,head\n".encode("utf-16"), "row 1: the text is UTF-16; save it"),
        ("a.csv", "rank,side\n1,head\n".encode("utf-16-le"), "row 1: the text is UTF-16"),
        (
            "a.csv",
            "rank,triple\n1,Köln\n".encode("latin-1"),
            "row 2: the text is not UTF-8; save it as UTF-8",
        ),
        ("a.csv", b"PK\x03\x04rank", "there is no column rank"),
        ("a.csv", b"rank,side\n1,head\n1,5,tail\n", "row 3 has 3 cells, but the header 2; .* decimal point"),
        (
            "a.csv",
            b"rank;side\n1;head\n1,5;tail;x\n",
            "row 3 has 3 cells, but the header 2; .* decimal point",
        ),
        ("a.tsv", b"rank\tside\n1,5\ttail\n", r"row 2: rank is '1,5', .*; write a decimal point: 1\.5"),
    ],
)
def test_a_file_that_is_no_table_of_ranks_says_where_why_and_what_to_do(tmp_path, name, data, message):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(RankadjustError, match=f"{name}: {message}") as caught:
        tasks_from(path)
    assert str(caught.value).isprintable()


def test_an_address_is_no_file():
    with pytest.raises(RankadjustError, match="this is an address; download the file"):
        tasks_from("https://example.org/ranks.csv")
