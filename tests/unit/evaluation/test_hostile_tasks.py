"""Ranks and scores that cannot be tasks: one line with the right row."""

import datetime

import numpy as np
import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.evaluation.scores import rank_scores

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
        (
            {"rank": [1, 2], "weight": [[1], [2]]},
            r"row 1: weight is \[1\], but it must be a number from 0 on",
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
