"""Read workbooks of spreadsheets (.xlsx, .ods, .xls) with calamine, and divide their sheets into grids."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import groupby
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import Grid, make_grid, require_size

# A workbook is compressed: a file of a few kilobytes may unpack to gigabytes.
_MOST_BYTES = 200_000_000
# The precision that Excel shows: 0.1 + 0.2 becomes 0.3.
_DIGITS = ".15g"


def workbook_grids(data: bytes) -> list[Grid]:
    """Return the tables of all sheets of a workbook; empty rows divide the tables of a sheet.

    A line is a row of the sheet. The context of a table is the rows above it that have a single text, and the name
    of the sheet. Raises RankadjustError for a workbook that unpacks to too many bytes.
    """
    calamine = import_module("python_calamine")
    _require_small(data)
    workbook = calamine.load_workbook(io.BytesIO(data))
    grids: list[Grid] = []
    for name in workbook.sheet_names:
        sheet = workbook.get_sheet_by_name(name)
        require_size(sheet.total_width, sheet.total_height)
        grids += _tables(name, _texts(sheet))
    return grids


def _require_small(data: bytes) -> None:
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        size = sum(part.file_size for part in packed.infolist())
    if size > _MOST_BYTES:
        raise RankadjustError(f"the workbook unpacks to {size:,} bytes; at most {_MOST_BYTES:,} are read")


def _texts(sheet: Any) -> list[list[str]]:  # noqa: ANN401 - a sheet of calamine
    """Return the cells of a sheet as text, with a merged cell repeated in each row and column it covers."""
    rows = [[_text(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or []:
        for row in rows[top : bottom + 1]:
            row[left : right + 1] = [rows[top][left]] * len(row[left : right + 1])
    return rows


def _text(cell: object) -> str:
    return format(cell, _DIGITS) if isinstance(cell, float) else str(cell)


def _tables(name: str, rows: Sequence[Sequence[str]]) -> Iterator[Grid]:
    """Yield the tables of a sheet: runs of rows that are not empty, below rows of a single text, which are titles."""
    above: list[str] = []
    numbered = enumerate(rows, start=1)
    for is_filled, block in groupby(numbered, key=lambda pair: any(pair[1])):
        lines = list(block)
        while is_filled and lines and len({*filter(None, lines[0][1])}) == 1:
            above.insert(0, next(filter(None, lines.pop(0)[1])))
        if is_filled and lines:
            filled = [column for column in range(len(lines[0][1])) if any(row[column] for _, row in lines)]
            first, last = filled[0], filled[-1] + 1
            cells = [row[first:last] for _, row in lines]
            yield make_grid(cells, lines=[line for line, _ in lines], context=[*above, name])
            above = []
