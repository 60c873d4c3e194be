r"""An author's LaTeX with the adjusted numbers in it, and the table of any other file as LaTeX."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import polars as pl

from rankadjust.manuscript.scores import AS_GOOD, BEST
from rankadjust.manuscript.source import (
    Addition,
    Edit,
    Tabular,
    alignment_of,
    edited,
    shapes_as_read,
    tabulars,
    with_columns,
    with_texts,
)
from rankadjust.output.rendering import escape_latex
from rankadjust.tables.cells import is_missing, is_numeric, label
from rankadjust.tables.formats.macros import arguments
from rankadjust.tables.layout import Table

HEADERS = {"index": "adj.", "gain": "gain"}
"""The header of a new column, by its score."""

_CAPTION = re.compile(r"\\caption(?=\s*[\[{])")
_FLOAT = re.compile(r"\\(begin|end)\{((?:sideways|wrap|sc)?table\*?)\}")
_PLAIN_NUMBER = re.compile(r"-?[\d.]*")
_LONG = ("longtable", "xltabular", "supertabular")


class _New(NamedTuple):
    """A column of numbers to be added: its header, and by row of the grid the text and the mark of each."""

    header: str
    texts: Mapping[int, tuple[str, str]]


def adjusted_source(
    source: str, tables: Sequence[Table], rows: pl.DataFrame, *, note: str, replace: bool = False
) -> tuple[str, list[str]]:
    r"""Return an author's LaTeX source with the adjusted numbers, and a remark on each table that was set anew.

    Parameters
    ----------
    source
        The text of the file.
    tables
        What was read of it: `Reading.tables`.
    rows
        The values with score, shown and mark (`rankadjust.manuscript.scores.scored`).
    note
        What the caption says about the new numbers, as LaTeX.
    replace
        Put each number in place of the printed one, and not into a column beside it.

    Notes
    -----
    Every character that is not part of a new column, of a span over one, or of a caption stays as it is. A table whose
    rows or columns come out of macros has no cells of its own in the source: it is set anew.

    """
    places = tabulars(source)
    shapes = shapes_as_read(source)
    known = len(places) == len(shapes)
    edits: list[Edit] = []
    remarks: list[str] = []
    by_place = defaultdict(list)
    for table in tables:
        by_place[table.grid.origin.table].append(table)
    for number, parts in by_place.items():
        new = {id(table): new_columns(table, rows) for table in parts}
        if not any(new.values()) or number >= len(places):
            continue
        place = places[number]
        additions = [
            addition
            for table in parts
            for addition in _additions(table, new[id(table)], place, source, replace)
        ]
        own = None
        if known and place.shape == shapes[number]:
            own = with_texts(place, additions) if replace else with_columns(place, source, additions)
        if own is None:
            stop = source.index("}", place.end) + 1
            body = "\n".join(table_body(table, new[id(table)], replace=replace) for table in parts)
            own = [Edit(place.begin, stop, body.strip())]
            remarks.append(
                f"table {parts[0].number}: its rows or columns come out of macros, so it was set anew"
            )
        edits += [*own, *_explained(source, place, note)]
    return edited(source, edits), remarks


def new_columns(table: Table, rows: pl.DataFrame) -> dict[int, _New]:
    """Return by column of a table the numbers that belong beside its values; columns without any are left out."""
    own = rows.filter((pl.col("grid") == table.number) & (pl.col("shown") != ""))
    found: dict[int, _New] = {}
    for (column,), part in own.group_by("column", maintain_order=True):
        scores = part["score"].unique(maintain_order=True).to_list()
        header = " / ".join(HEADERS[score] for score in scores)
        texts = {
            int(row) - 1: (shown, mark)
            for row, shown, mark in part.select("row", "shown", "mark").iter_rows()
        }
        found[int(str(column)) - 1] = _New(header, texts)
    return dict(sorted(found.items()))


def marked(text: str, mark: str) -> str:
    r"""Return a number as LaTeX: the best in bold, one that may be as good with a dagger."""
    if not text:
        return ""
    return {BEST: rf"\textbf{{{text}}}", AS_GOOD: rf"{text}$^{{\dagger}}$"}.get(mark, text)


def _additions(
    table: Table, new: Mapping[int, _New], place: Tabular, source: str, replace: bool
) -> Iterator[Addition]:
    """Yield what is added to the source of a table: its places there are not those of the grid."""
    origin = table.grid.origin
    headers = [row.index for row in table.layout.rows if row.kind == "header"]
    types = alignment_of(source[slice(*place.alignment)]) or []
    for column, numbers in new.items():
        at = origin.column + column
        texts = {origin.rows[row]: marked(*number) for row, number in numbers.texts.items()}
        if replace and at < len(types) and re.search(r"(?:^|[|\s}])S", types[at]):
            # A column of siunitx takes anything but a number in braces.
            texts = {
                row: text if _PLAIN_NUMBER.fullmatch(text) else f"{{{text}}}" for row, text in texts.items()
            }
        if headers:
            last = origin.rows[headers[-1]]
            name = _text_at(place, source, last, at)
            title = _renamed(name, numbers.header) if replace else numbers.header
            # The heads of further pages repeat it.
            same = [
                row for row in range(len(place.rows)) if name and _text_at(place, source, row, at) == name
            ]
            texts |= dict.fromkeys([last, *same], title)
        yield Addition(at, texts)


def _renamed(name: str, header: str) -> str:
    """Return the header of a column whose numbers are replaced; one in braces stays in braces, as siunitx needs it."""
    is_grouped = name.startswith("{") and name.endswith("}")
    return f"{name[:-1]} ({header})}}" if is_grouped else f"{name} ({header})".strip()


def _text_at(place: Tabular, source: str, row: int, column: int) -> str:
    """Return the source of a cell, empty where a wider one covers it."""
    cells = [cell for cell in place.rows[row] if cell.column == column and cell.columns == 1]
    return source[cells[0].start : cells[0].end] if cells else ""


def _explained(source: str, place: Tabular, note: str) -> list[Edit]:
    """Return the edits that explain the new numbers in the caption; a table without one gets a float with one."""
    stop = source.index("}", place.end) + 1
    opened = list(_FLOAT.finditer(source, 0, place.begin))
    inside = opened[-1] if opened and opened[-1][1] == "begin" else None
    start = inside.end() if inside else place.begin
    closed = _FLOAT.search(source, stop) if inside else None
    caption = _CAPTION.search(source, start, closed.start() if closed else stop)
    if caption:
        (words,), end = arguments(source, caption.end(), 1)
        end -= 1
        sentence = "" if re.search(r"[.!?]\s*$", words) or not words.strip() else "."
        return [Edit(end, end, f"{sentence} {note}")]
    if inside:
        return [Edit(inside.end(), inside.end(), f"\n\\caption{{{note}}}")]
    if place.environment in _LONG:
        return [Edit(stop, stop, f"\n\n\\noindent {note}\n")]
    return [Edit(place.begin, place.begin, float_head(note)), Edit(stop, stop, "\n\\end{table}")]


def float_head(note: str) -> str:
    """Return the beginning of a float with a caption and a label."""
    return f"\\begin{{table}}[t]\n\\centering\n\\caption{{{note}}}\n\\label{{tab:adjusted}}\n"


def table_body(table: Table, new: Mapping[int, _New], *, replace: bool) -> str:
    """Return a table as a LaTeX tabular for booktabs, its header in as many rows as it has levels."""
    rows = [row.index for row in table.layout.rows if row.kind != "header"]
    headers: list[tuple[str, ...]] = []
    columns: list[list[str]] = []
    alignment = ""
    for column in table.layout.columns:
        texts = [label(table.grid.rows[row][column.index]) for row in rows]
        numbers = new.get(column.index)
        is_number = any(map(is_numeric, texts)) and all(
            is_numeric(text) or is_missing(text) for text in texts
        )
        own = [escape_latex(text) for text in texts]
        added = [marked(*numbers.texts[row]) if numbers and row in numbers.texts else "" for row in rows]
        header = column.header or ("",)
        if replace and numbers:
            own = [number or text for number, text in zip(added, own, strict=True)]
            header = (*header[:-1], f"{header[-1]} ({numbers.header})")
        headers.append(header)
        columns.append(own)
        alignment += "r" if is_number else "l"
        if numbers and not replace:
            headers.append((*header[:-1], numbers.header))
            columns.append(added)
            alignment += "r"
    body = [" & ".join(cells) + r" \\" for cells in zip(*columns, strict=True)]
    lines = [r"\toprule", *header_lines(headers), r"\midrule", *body, r"\bottomrule"]
    return (
        f"\\begin{{tabular}}{{{alignment}}}\n" + "".join(f"  {line}\n" for line in lines) + "\\end{tabular}\n"
    )


def header_lines(headers: Sequence[tuple[str, ...]]) -> list[str]:
    r"""Return the rows of a header: what several columns have in common above them, with a rule below."""
    depth = max(map(len, headers))
    levels = [[("",) * (depth - len(header)) + header for header in headers]]
    lines = []
    for level in range(depth - 1):
        cells, rules, at = [], [], 1
        for key, group in groupby(levels[0], key=lambda header: header[: level + 1]):
            width = len(list(group))
            text = escape_latex(key[-1])
            if text and width > 1:
                cells.append(rf"\multicolumn{{{width}}}{{c}}{{{text}}}")
                rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
            else:
                cells.append(text + " &" * (width - 1))
            at += width
        lines += [" & ".join(cells) + r" \\", " ".join(rules)]
    lines.append(" & ".join(escape_latex(header[-1]) for header in headers) + r" \\")
    return [line for line in lines if line]
