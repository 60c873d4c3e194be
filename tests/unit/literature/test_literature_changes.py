"""The list of changed rows (tests/literature_changes.py) on rows that were changed here."""

import polars as pl

from tests.literature_changes import COMPARED, changes, ranges


def rows(*lines, **words):
    """Return rows of one file with the same words in each compared column."""
    word = dict.fromkeys(COMPARED, "") | words
    return pl.DataFrame([{"file": "a.csv", "file_line": line} | word for line in lines])


def test_rows_with_the_same_change_share_a_line():
    before = pl.concat([rows(2, 3, 4, value="0.1", status="ok"), rows(7, value="0.2", status="ok")])
    after = pl.concat(
        [
            rows(2, 3, value="0.1", status="bounded"),
            rows(4, value="0.1", status="ok"),
            rows(7, value="0.3", status="bounded"),
            rows(9, value="0.4", status="ok"),
        ]
    )
    found = changes(before, after).drop("file").rows()
    assert found == [("status", "ok", "bounded", [2, 3, 7]), ("value", "0.2", "0.3", [7])]


def test_lines_in_a_row_are_a_range():
    assert ranges([2, 3, 4, 7, 9, 10]) == "2 to 4, 7, 9 to 10"
