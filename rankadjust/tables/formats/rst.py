"""reStructuredText into grids, a block of lines at a time: grid and simple tables, list-table and csv-table.

Sources: "Tables", "Sections" and "Inline Markup" of
https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html, "csv-table" and "list-table" of
https://docutils.sourceforge.io/docs/ref/rst/directives.html.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace

from rankadjust.tables.formats.grid import (
    Grid,
    Span,
    add_text,
    context_of,
    make_grid,
    require_size,
    spread_spans,
)
from rankadjust.tables.formats.plaintext import bordered_grid, split_pipes

_GRID = re.compile(r"\s*\+[-=]+(?:\+[-=]+)*\+")
_RULE = re.compile(r"(?:\|.*)?\+[-=]+\+.*")
_SIMPLE = re.compile(r"\s*=+(?: +=+)+")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*")
_DIRECTIVE = re.compile(r"(?P<indent>\s*)\.\.(?: +(?P<name>[\w-]+)::)?(?:\s+(?P<text>.*))?")
_OPTION = re.compile(r"\s*:(?P<name>[\w-]+):\s*(?P<value>.*)")
_FIRST_CELL = re.compile(r"(?P<row>\s*[*+-]\s+)[*+-](?:\s+(?P<text>.*))?")
_INLINE = re.compile(
    r"\\(?P<escaped>.?)|``(?P<literal>[^`]+)``|:(?P<role>[\w.:+-]{1,100}):`(?P<of>[^`]+)`|\[(?P<note>[\w.#*-]+)\]_(?!\w)"
    r"|`(?P<link>[^`<]+)(?:<[^`>]*>)?`_{0,2}|(?<!\w)\|(?P<replaced>[^|\s][^|]*)\|_{0,2}(?!\w)"
    r"|(?<![\w*])(?P<mark>\*\*?)(?P<strong>[^\s*](?:[^*]*[^\s*])?)(?P=mark)(?![\w*])|(?P<word>[A-Za-z0-9])__?(?!\w)"
)


def rst_grids(text: str) -> list[Grid]:
    """Return the tables of a reStructuredText: simple, grid, list-table and csv-table.

    A table whose text crosses its borders, which docutils refuses, is cut at its borders with a remark.
    """
    lines = [line.rstrip() for line in text.expandtabs(8).split("\n")]
    ends = _ends(lines)
    texts: list[tuple[int, str]] = []
    styles: list[str] = []
    grids = []
    at = 0
    while at < len(lines):
        first, at = at, max(at + 1, ends[at])
        line, title = lines[first], _title(lines[first : min(at, first + 3)])
        directive = _DIRECTIVE.fullmatch(line)
        if _GRID.fullmatch(line):
            grids.append(_grid_table(lines[first:at], first, context_of(texts)))
        elif _SIMPLE.fullmatch(line):
            at = _end_of_simple(lines, first) or at
            grids.append(bordered_grid(lines[first:at], first, context_of(texts)))
        elif title:
            style, words, length = title
            styles += [style] if style not in styles else []
            add_text(texts, styles.index(style) + 1, words)
            at = first + length
        elif directive:
            name, words = directive["name"], directive["text"] or ""
            if name in ("list-table", "csv-table") or not name:
                at = _end_of_indented(lines, first, len(directive["indent"]))
            if name in ("list-table", "csv-table"):
                reader = _list_table if name == "list-table" else _csv_table
                grids.append(reader(lines[first + 1 : at], first + 1, [words, *context_of(texts)]))
            elif name:
                more = [line for line in lines[first + 1 : at] if not _OPTION.fullmatch(line)]
                add_text(texts, 0, " ".join([words, *more]))
        elif line:
            add_text(texts, 0, " ".join(lines[first:at]))
    return [_without_marks(grid) for grid in grids if grid.rows]


def _without_marks(grid: Grid) -> Grid:
    # A cell of several lines is a paragraph.
    rows = tuple(tuple(" ".join(_plain(cell).split("\n")) for cell in row) for row in grid.rows)
    return replace(grid, rows=rows, context=tuple(map(_plain, grid.context)))


def _ends(lines: Sequence[str]) -> list[int]:
    """Return for each line where the block ends in which it stands: the next blank line."""
    ends = [len(lines)] * (len(lines) + 1)
    for number in range(len(lines) - 1, -1, -1):
        ends[number] = ends[number + 1] if lines[number] else number
    return ends[:-1]


def _title(block: Sequence[str]) -> tuple[str, str, int] | None:
    """Return style and text of a title that stands here, and its number of lines."""
    if len(block) == 3 and _ADORNMENT.fullmatch(block[0]) and block[0] == block[2]:
        return block[0][0] * 2, block[1].strip(), 3
    if len(block) > 1 and _ADORNMENT.fullmatch(block[1]) and not block[0].startswith(" "):
        return (block[1][0], block[0], 2) if len(block[1]) >= min(4, len(block[0])) else None
    return None


def _end_of_simple(lines: Sequence[str], first: int) -> int | None:
    """Return where a simple table ends: after its second border below, or after one above a blank line."""
    found = 0
    for number in range(first + 1, len(lines)):
        if _SIMPLE.fullmatch(lines[number]):
            found += 1
            if found == 2 or not "".join(lines[number + 1 : number + 2]):
                return number + 1
    return None


def _end_of_indented(lines: Sequence[str], first: int, indent: int) -> int:
    for number in range(first + 1, len(lines)):
        if lines[number] and not lines[number][: indent + 1].isspace():
            return number
    return len(lines)


def _grid_table(lines: Sequence[str], above: int, context: Sequence[str]) -> Grid:
    """Return a table with a border around each cell; a cell ends where its right and its lower border stand."""
    indent, width = len(lines[0]) - len(lines[0].lstrip()), max(map(len, lines))
    lines = [line[indent:].ljust(width - indent) for line in lines]
    rules = [number for number, line in enumerate(lines) if _RULE.match(line)]
    edges = sorted(
        {at for rule in {lines[rule] for rule in rules} for at, sign in enumerate(rule) if sign == "+"}
    )
    columns, height = len(edges) - 1, len(rules) - 1
    require_size(columns, height, columns * height)
    if rules[-1] != len(lines) - 1 or any(
        line[edges[0]] not in "|+" or line[edges[-1] :].rstrip() not in ("|", "+") for line in lines
    ):
        numbered = [
            (number, split_pipes(line)) for number, line in enumerate(lines) if number not in {*rules}
        ]
        remark = "Malformed table: a border of it is missing, so it is cut at the borders that it has"
        rows, starts = [row for _, row in numbered], [above + number + 1 for number, _ in numbered]
        return make_grid(rows, lines=starts, context=context, remarks=[remark])

    def has_left(row: int, column: int) -> bool:
        return all(line[edges[column]] == "|" for line in lines[rules[row] + 1 : rules[row + 1]])

    def has_top(row: int, column: int) -> bool:
        return not lines[rules[row]][edges[column] + 1 : edges[column + 1]].strip("-=+")

    def cell(row: int, column: int) -> Span:
        below = next((other for other in range(row + 1, height) if has_top(other, column)), height)
        right = next((other for other in range(column + 1, columns) if has_left(row, other)), columns)
        inside = lines[rules[row] + 1 : rules[below]]
        text = " ".join(line[edges[column] + 1 : edges[right]].strip() for line in inside)
        return Span(text, below - row, right - column)

    spans = [
        [
            cell(row, column)
            for column in range(columns)
            if has_left(row, column) and (not row or has_top(row, column))
        ]
        for row in range(height)
    ]
    header_rows = next((row for row, rule in enumerate(rules) if "=" in lines[rule] and row), 0)
    starts = [above + rule + 2 for rule in rules[:-1]]
    return make_grid(spread_spans(spans), header_rows=header_rows, lines=starts, context=context)


def _list_table(lines: Sequence[str], above: int, context: Sequence[str]) -> Grid:
    """Return a table that is a list of rows, each a list of cells."""
    rows: list[list[str]] = []
    starts: list[int] = []
    header_rows = 0
    at = ""
    for number, line in enumerate(lines, start=above + 1):
        option, first = _OPTION.fullmatch(line), _FIRST_CELL.fullmatch(line)
        if first and len(first["row"]) == len(at or first["row"]):
            at = " " * len(first["row"])
            rows.append([first["text"] or ""])
            starts.append(number)
        elif rows and line.startswith(at) and re.match(r"[*+-](?: |$)", line[len(at) :]):
            rows[-1].append(line[len(at) + 1 :])
        elif rows:
            rows[-1][-1] += f" {line}"
        elif option and option["name"] == "header-rows":
            header_rows = _count(option["value"])
    return make_grid(rows, header_rows=header_rows, lines=starts, context=context)


def _csv_table(lines: Sequence[str], above: int, context: Sequence[str]) -> Grid:
    """Return a table whose cells are separated by commas, or by what its options say."""
    options = {}
    first = 0
    while first < len(lines) and (option := _OPTION.fullmatch(lines[first])):
        options[option["name"]] = option["value"]
        first += 1
    signs = {"tab": "\t", "space": " "}
    delimiter = options.get("delim", ",")
    header = [options["header"]] if "header" in options else []
    reader = csv.reader(
        [*header, *(line.strip() for line in lines[first:])],
        delimiter=signs.get(delimiter, delimiter),
        skipinitialspace=True,
    )
    rows: list[list[str]] = []
    starts: list[int | None] = []
    for row in reader:
        if row:
            rows.append(row)
            number = above + first + reader.line_num - len(header)
            starts.append(None if reader.line_num <= len(header) else number)
    header_rows = len(header) + _count(options.get("header-rows", "0"))
    return make_grid(rows, header_rows=header_rows, lines=starts, context=context)


def _count(text: str) -> int:
    return int(text) if re.fullmatch(r"\d{1,4}", text) else 0


def _plain(text: str) -> str:
    """Return a text without the marks of links, emphasis, literals, substitutions and escapes."""
    return _INLINE.sub(_inner, text) if re.search(r"[\\`*|_]", text) else text


def _inner(match: re.Match[str]) -> str:
    if match["role"] or match["note"]:
        is_raised = match["note"] or match["role"] in ("sup", "superscript")
        inner = match["note"] or match["of"]
        return f"^{{{inner}}}" if is_raised else inner
    if match["escaped"] is not None:
        return match["escaped"].strip()
    return next(
        _plain(match[name].rstrip())
        for name in ("literal", "link", "replaced", "strong", "word")
        if match[name]
    )
