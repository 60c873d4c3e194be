"""Workbooks of spreadsheets: what stands in their sheets is read like any other table."""

import subprocess
import sys
import zipfile

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.files import read_grids
from rankadjust.tables.reading import read_tables
from tests.workbooks import write_ods, write_xlsx

SHEETS = {
    "Nations": [["Model", "MRR", "Hits@1"], ["A", 0.1 + 0.2, 0.25], ["B", 0.5, None]],
    "Others": [
        [None, "Results on UMLS"],
        [None, "Model", "MR"],
        [None, "A", 2],
        [],
        [None, "Kinships"],
        [None, "Model", "MRR"],
        [None, "A", 0.75],
    ],
}
VALUES = [
    ("Nations", "A", "0.3", 2, 2),
    ("Nations", "A", "0.25", 2, 3),
    ("Nations", "B", "0.5", 3, 2),
    ("UMLS", "A", "2", 2, 2),
    ("Kinships", "A", "0.75", 2, 2),
]
WRITERS = {".xlsx": write_xlsx, ".ods": write_ods}


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_table_of_every_sheet_is_read_with_the_text_above_it(tmp_path, suffix):
    path = tmp_path / f"mine{suffix}"
    WRITERS[suffix](path, SHEETS)
    reading = read_tables(path)
    assert reading.values.select("dataset", "model", "value", "row", "column").rows() == VALUES
    assert reading.missing.select("grid", "row", "column").rows() == [(1, 3, 3)]
    # The lines are the rows of the sheet, as a person sees their numbers.
    assert reading.values["source_line"].to_list() == ["2", "2", "3", "3", "7"]


def test_a_merged_cell_names_all_its_columns(tmp_path):
    rows = [[None, "WN18RR", None], ["Model", "MRR", "Hits@10"], ["A", 0.4, 0.5]]
    write_xlsx(tmp_path / "mine.xlsx", {"1": rows}, merged="B1:C1")
    assert read_tables(tmp_path / "mine.xlsx").values["dataset"].to_list() == ["WN18RR"] * 2


def test_a_workbook_comes_from_standard_input_too(tmp_path):
    write_xlsx(tmp_path / "mine.xlsx", {"Nations": SHEETS["Nations"]})
    command = [sys.executable, "-m", "rankadjust", "read", "-"]
    done = subprocess.run(
        command, input=(tmp_path / "mine.xlsx").read_bytes(), capture_output=True, check=False
    )
    assert (done.returncode, b": 3 of 3 numbers read" in done.stdout.splitlines()[0]) == (0, True)


def test_a_result_file_comes_from_standard_input_too():
    command = [sys.executable, "-m", "rankadjust", "read", "-", "--dataset", "Nations"]
    done = subprocess.run(command, input=b'{"model": "A", "mrr": 0.5}', capture_output=True, check=False)
    assert (done.returncode, b": 1 of 1 numbers read" in done.stdout.splitlines()[0]) == (0, True)


def test_empty_standard_input_is_called_so():
    command = [sys.executable, "-m", "rankadjust", "read", "-"]
    done = subprocess.run(command, input=b"\n", capture_output=True, check=False)
    assert (done.returncode, b"standard input is empty" in done.stderr) == (1, True)


def test_a_workbook_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "mine.xlsx"
    write_xlsx(path, {"Nations": SHEETS["Nations"]})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file, file.open("xl/more.xml", "w") as part:
        for _ in range(201):
            part.write(bytes(1_000_000))
    with pytest.raises(
        RankadjustError, match=r"mine.xlsx: the workbook unpacks to 201,00\d,\d+ bytes; at most 200,000,000"
    ):
        read_grids(path)


@pytest.mark.parametrize("content", [b"x", b"PK\x03\x04 and no more"])
def test_what_is_no_workbook_is_one_line(tmp_path, content):
    (tmp_path / "mine.xlsx").write_bytes(content)
    with pytest.raises(RankadjustError, match=r"mine.xlsx: cannot be read as a spreadsheet \("):
        read_grids(tmp_path / "mine.xlsx")
