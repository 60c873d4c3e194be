"""Read files into grids of text: recognise the format of a file and call its reader."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import readable
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.formats.html import html_grids
from rankadjust.tables.formats.latex import latex_grids
from rankadjust.tables.formats.logs import is_log, log_grids
from rankadjust.tables.formats.markdown import markdown_grids
from rankadjust.tables.formats.records import json_grids, yaml_grids
from rankadjust.tables.formats.rst import rst_grids
from rankadjust.tables.formats.text import blank_grids, delimited_grids

READERS: dict[str, Callable[[str], list[Grid]]] = {
    "Markdown": markdown_grids,
    "HTML": html_grids,
    "reStructuredText": rst_grids,
    "LaTeX": latex_grids,
    "CSV": delimited_grids,
    "TSV": partial(delimited_grids, delimiter="\t"),
    "JSON": json_grids,
    "YAML": yaml_grids,
    "log": log_grids,
    "columns": blank_grids,
}
SUFFIXES = {
    **dict.fromkeys((".md", ".markdown"), "Markdown"),
    **dict.fromkeys((".html", ".htm"), "HTML"),
    **dict.fromkeys((".rst", ".rest"), "reStructuredText"),
    **dict.fromkeys((".tex", ".latex"), "LaTeX"),
    ".csv": "CSV",
    **dict.fromkeys((".tsv", ".tab"), "TSV"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "JSON"),
    **dict.fromkeys((".yaml", ".yml"), "YAML"),
}
# Marks that occur only in texts of one format.
_MARKS = {
    "HTML": re.compile(r"<table\b", re.IGNORECASE),
    "LaTeX": re.compile(r"\\begin\{(tabular|longtable|array)"),
    "Markdown": re.compile(r"^[ \t]*+(?:\|[ \t]*+)?:?-{2,}+:?[ \t]*+\|[ \t|:-]*+$", re.MULTILINE),
    "reStructuredText": re.compile(
        r"^[ \t]*(\+[-=]+\+|=+( +=+)+[ \t]*$|\.\. (list|csv)-table::)", re.MULTILINE
    ),
}
# Half a minute of reading.
_MOST_BYTES = 12_000_000
# The first bytes of a workbook, or of another packed file.
_PACKED = b"PK\x03\x04"


def read_grids(path: str | Path) -> list[Grid]:
    """Return every table of a file, in the order of the file.

    The suffix decides the format. The text itself decides for .txt, .log and unknown suffixes.
    Raises RankadjustError where the file cannot be read or has no table.
    """
    path = Path(path)
    if path.is_dir():
        raise RankadjustError(f"{path}: this is a folder; give a file with a table")
    with readable(path, "cannot be read"):
        data = path.read_bytes()
    if len(data) > _MOST_BYTES:
        raise RankadjustError(
            f"{path}: {len(data):,} bytes; at most {_MOST_BYTES:,} are read; divide the file"
        )
    # Excel's 'Unicode text' is UTF-16 with a byte order mark, and has a null byte in each character.
    is_utf_16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if data.startswith(_PACKED) or (b"\0" in data and not is_utf_16):
        raise RankadjustError(f"{path}: this is not a text format; save the table as CSV or HTML")
    text, remarks = _text_of(data, is_utf_16=is_utf_16)
    name = SUFFIXES.get(path.suffix.lower()) or recognise(text)
    try:
        grids = READERS[name](text)
    except RankadjustError as error:
        raise RankadjustError(f"{path}: {error}") from None
    except Exception as error:
        # On broken input the parsers raise errors of many kinds.
        raise RankadjustError(
            f"{path}: cannot be read as {name} ({type(error).__name__}: {error})"
        ) from error
    grids = [
        replace(grid, place=place, remarks=(*remarks, *grid.remarks))
        for place, grid in enumerate(grids)
        if grid.width
    ]
    if not grids:
        raise RankadjustError(f"{path}: no table found in this {name} text; is the suffix right?")
    return grids


def recognise(text: str) -> str:
    """Return the name of a text's format, for files whose suffix does not decide it."""
    with suppress(RankadjustError, RecursionError):
        if text.lstrip()[:1] in ("{", "[") and json_grids(text):
            return "JSON"
    if marked := next((name for name, mark in _MARKS.items() if mark.search(text)), None):
        return marked
    if is_log(text):
        return "log"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if 2 * sum("\t" in line for line in lines) > len(lines):
        return "TSV"
    is_piped = 2 * sum("|" in line for line in lines) > len(lines)
    return next((name for name in ("log", "columns") if not is_piped and READERS[name](text)), "CSV")


def _text_of(data: bytes, *, is_utf_16: bool) -> tuple[str, list[str]]:
    """Return the text of a file with plain ends of lines, and a remark about its encoding unless that is UTF-8."""
    try:
        text, remarks = data.decode("utf-16" if is_utf_16 else "utf-8-sig"), ["read as UTF-16"] * is_utf_16
    except UnicodeDecodeError:
        text, remarks = data.decode("cp1252", errors="replace"), ["not UTF-8: read as Windows-1252"]
    return text.replace("\r\n", "\n").replace("\r", "\n"), remarks
