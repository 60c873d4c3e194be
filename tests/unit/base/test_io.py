"""Files: written whole or not at all, read by the name that was given, safe for a spreadsheet."""

import csv
import io
import json
import os
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import (
    LAYOUTS,
    atomic_folder,
    atomic_path,
    read_csv,
    read_json,
    read_parquet,
    read_product,
    sha256_of,
    to_csv,
    without_guards,
    write_csv,
    write_parquet,
    write_product,
    write_text,
)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path, there):
    target = tmp_path / "elsewhere" / "target.txt"
    if there:
        target.parent.mkdir()
        target.write_text("old")
    link = tmp_path / "link.txt"
    (tmp_path / "between.txt").symlink_to("elsewhere/target.txt")
    link.symlink_to(tmp_path / "between.txt")
    write_text("new", link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "between.txt",
        "elsewhere",
        "link.txt",
        "target.txt",
    ]


def test_what_is_no_file_is_refused_before_anything_is_computed(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for path in (tmp_path / "folder", tmp_path / "pipe", tmp_path / "link", "/dev/stdout"):
        with pytest.raises(RankadjustError, match="this is a folder, a device or a pipe; name a file"):
            write_half(path)


def write_half(path):
    with suppress(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError


def test_the_old_file_and_nothing_else_is_left_where_writing_fails(tmp_path):
    path = tmp_path / "file.txt"
    write_text("old", path)
    write_half(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_in_the_place_of_a_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file" / "out.csv", tmp_path / "file" / "a" / "out.csv"):
        with pytest.raises(
            RankadjustError, match=r"out\.csv: cannot be written \((Not a directory|File exists)\)"
        ):
            write_text("x", path)


def test_a_folder_takes_the_place_of_the_old_one_whole(tmp_path):
    place = tmp_path / "above" / "folder"
    for names in (("a", "b"), ("c",)):
        with atomic_folder(place) as new:
            (new / "sub").mkdir()
            for name in names:
                (new / "sub" / name).write_text(name)
        assert sorted(path.name for path in (place / "sub").iterdir()) == list(names)
    assert list(place.parent.iterdir()) == [place]


def test_a_full_disk_is_told_in_one_line_whatever_the_library_says(tmp_path):
    # As polars 2 raised it on a full disk.
    with (
        pytest.raises(
            RankadjustError, match=r"out: cannot be written \(No space left on device\); free some"
        ),
        atomic_path(tmp_path / "out"),
    ):
        raise pl.exceptions.ComputeError("underlying IO error: No space left on device (os error 28)")
    with pytest.raises(pl.exceptions.ComputeError, match="no such column"), atomic_path(tmp_path / "out"):
        raise pl.exceptions.ComputeError("no such column")
    assert list(tmp_path.iterdir()) == []


def test_results_have_the_permissions_of_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_text("x", tmp_path / "file.txt")
    finally:
        os.umask(old)
    assert (tmp_path / "file.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("write", "name"), [(write_parquet, "a.parquet"), (write_csv, "a.tsv.gz"), (write_csv, "a.tsv")]
)
def test_the_same_frame_gives_the_same_bytes(tmp_path, write, name):
    frame = pl.DataFrame({"x": [1.5, None], "name": ["NA", "a\tb"]})
    for folder in ("one", "two"):
        write(frame, tmp_path / folder / name)
    assert sha256_of(tmp_path / "one" / name) == sha256_of(tmp_path / "two" / name)


FRAME = pl.DataFrame({"a": [1, 2]})


def test_what_was_written_is_read_again(tmp_path):
    write_product(FRAME, tmp_path / "a.parquet", "moments")
    assert read_product(tmp_path / "a.parquet", "moments").equals(FRAME)
    assert pl.read_parquet(tmp_path / "a.parquet").equals(FRAME)


def test_another_layout_is_refused_with_what_makes_the_file_again(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    FRAME.write_parquet(path)
    with pytest.raises(RankadjustError, match=r"a\.parquet: made by another program; .*--force "):
        read_product(path, "moments")
    write_product(FRAME, path, "moments")
    monkeypatch.setitem(LAYOUTS, "moments", 2)
    with pytest.raises(
        RankadjustError, match=r"with schema 1 of moments; .* reads schema 2 of moments; use "
    ):
        read_product(path, "moments")


@pytest.mark.parametrize("text", [None, "", '{"entities": '])
def test_a_file_that_is_missing_or_damaged_is_one_line(tmp_path, text):
    for name, read in (("a.parquet", lambda path: read_product(path, "moments")), ("a.json", read_json)):
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        with pytest.raises(RankadjustError, match=rf"^{path}: "):
            read(path)


# Names that polars takes for patterns, each with another file's name that it matches. The last is a home folder to it.
NAMES = [
    ("m[a]", "ma"),
    ("m*", "many"),
    ("m?", "mx"),
    ("{a,b}", "a"),
    ("dim=[100]/m", "dim=1/m"),
    ("~/m", "m"),
]


@pytest.fixture(params=NAMES, ids=[name for name, _ in NAMES])
def named(tmp_path, monkeypatch, request):
    """Return a path without suffix, seen from the working directory; another file matches it as a pattern."""
    monkeypatch.chdir(tmp_path)
    name, other = map(Path, request.param)
    for path, number in ((name, 1), (other, 2)):
        path.parent.mkdir(exist_ok=True)
        frame = pl.DataFrame({f"is {number}": [number]})
        with path.with_name(f"{path.name}.parquet").open("wb") as file:
            frame.write_parquet(file)
        path.with_name(f"{path.name}.csv").write_text(frame.write_csv())
    return name


def test_the_file_that_is_named_is_read(named):
    parquet, csv = (named.with_name(f"{named.name}.{suffix}") for suffix in ("parquet", "csv"))
    for path in (parquet, str(parquet)):
        assert read_parquet(path).rows() == [(1,)]
    assert read_csv(csv).to_dicts() == [{"is 1": "1"}]
    assert read_csv(csv, infer_schema=True).rows() == [(1,)]
    assert read_csv(csv.read_bytes()).rows() == [("1",)]


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
    write_csv(frame, tmp_path / "x.tsv")
    write_csv(frame, tmp_path / "x.tsv.gz")
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
