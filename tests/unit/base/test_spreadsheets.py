"""CSV that spreadsheets open: no cell is a formula, numbers stay numbers, and what is written is read back."""

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.files import write_csv, write_tsv
from rankadjust.base.spreadsheets import to_csv, without_guards

# OWASP, "CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection: the signs with which a formula begins.
SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Cells and what is written for them. The report's download is held to the same: tests/browser/test_leaderboard.py.
CELLS = json.loads((Path(__file__).parents[2] / "data/spreadsheets.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", CELLS["guarded"])
def test_a_formula_gets_an_apostrophe(text):
    assert cells(to_csv(pl.DataFrame({"x": [text]}))) == [["x"], ["'" + text]]


@pytest.mark.parametrize("text", CELLS["unchanged"])
def test_numbers_and_other_text_stay_as_they_are(text):
    frame = pl.DataFrame({"x": [text]})
    assert to_csv(frame) == frame.write_csv()


def test_columns_of_numbers_stay_numbers():
    frame = pl.DataFrame({"index": [-0.5, 0.25], "z": [-3, 2], "told": [None, "x"]})
    assert to_csv(frame) == frame.write_csv() == "index,z,told\n-0.5,-3,\n0.25,2,x\n"


def test_names_of_columns_are_no_formulas_either():
    frame = pl.DataFrame({"=1+1": ["a"], "b": ["=2"]})
    assert cells(to_csv(frame)) == [["'=1+1", "b"], ["a", "'=2"]]
    assert without_guards(read(to_csv(frame))).equals(frame)


hostile = st.builds(
    lambda before, sign, after: before + sign + after,
    st.sampled_from(("", "'", "''", " ", "a")),
    st.sampled_from((*SIGNS, "'", '"', ",", "1")),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=5),
)


@given(st.lists(hostile, min_size=1, max_size=5), st.sampled_from((",", "\t")))
def test_what_is_written_is_no_formula_and_is_read_back_unchanged(texts, separator):
    frame = pl.DataFrame({"x": texts, "y": texts})
    text = to_csv(frame, separator)
    for row in cells(text, separator)[1:]:
        assert not any(cell.startswith(SIGNS) and not is_number(cell.strip("-") or "0") for cell in row)
    assert without_guards(read(text, separator)).equals(frame)


def test_files_are_guarded_and_have_no_time_stamp(tmp_path):
    frame = pl.DataFrame({"x": ["=1+1", "a"]})
    write_csv(frame, tmp_path / "x.csv")
    write_tsv(frame, tmp_path / "x.tsv")
    write_tsv(frame, tmp_path / "x.tsv.gz")
    assert (tmp_path / "x.csv").read_bytes() == (tmp_path / "x.tsv").read_bytes() == b"x\n'=1+1\na\n"
    # Bytes 4 to 7 of a gzip file are its time (RFC 1952).
    assert (tmp_path / "x.tsv.gz").read_bytes()[4:8] == bytes(4)


def cells(text, separator=","):
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))


def read(text, separator=","):
    return pl.read_csv(
        io.BytesIO(text.encode()), separator=separator, infer_schema=False, empty_string_is_null=False
    )


def is_number(text):
    try:
        float(text.rstrip(" %").replace(",", ""))
    except ValueError:
        return False
    return True
