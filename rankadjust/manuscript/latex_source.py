r"""Find the tables and cells of a LaTeX source, and add columns to them.

The source is edited at places and never written anew, so every unchanged part stays the same byte for byte.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from rankadjust.tables.formats.latex import TABULARS, table_marks
from rankadjust.tables.formats.macros import arguments, expand_macros, without_comments

_BEGIN = re.compile(r"\\begin\{(\w+\*?)\}")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_MULTICOLUMN = re.compile(r"\\multicolumn\s*\{\s*(\d{1,4})\s*\}")
_PARTIAL_RULE = re.compile(
    r"\\(?:cmidrule|cline|cdashline)\*?(?:\s*\[[^\]\n]*\])?(?:\s*\([^)\n]*\))?\s*\{\s*(\d{1,4})\s*-\s*(\d{1,4})\s*\}"
)
# Commands that may come before the text of a cell: rules, and commands at the beginning of a row.
_BEFORE_TEXT = re.compile(
    r"(?:\s+|\\(?:hline|toprule|midrule|bottomrule|addlinespace|hdashline|specialrule|cmidrule|cline|hhline|cdashline"
    r"|Xhline|noalign|endhead|endfirsthead|endfoot|endlastfoot|rowcolor)\b\*?(?:\s*\[[^\]\n]*\])?(?:\s*\([^)\n]*\))?"
    r"(?:\s*\{[^{}\n]*\})*)*"
)
_REPEATED = re.compile(r"\*\s*\{\s*(\d{1,3})\s*\}\s*")
# How many arguments in braces a type of column has.
_GROUPS = {"p": 1, "m": 1, "b": 1, "w": 2, "W": 2, "D": 3}


class Cell(NamedTuple):
    """A cell: where its text begins and ends, its first column, and how many columns it covers.

    number: where the number of a multicolumn begins and ends, None for other cells.
    """

    start: int
    end: int
    column: int
    columns: int
    number: tuple[int, int] | None


class Edit(NamedTuple):
    """A text that replaces the part of a source between two places."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Tabular:
    r"""A table of a LaTeX source.

    begin, end: the places of its \begin and its \end. environment: the name of the LaTeX environment. alignment: the
    place of the argument that lists the columns. rows: the cells of each row.
    """

    begin: int
    end: int
    environment: str
    alignment: tuple[int, int]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of columns that each row covers."""
        return tuple(row[-1].column + row[-1].columns if row else 0 for row in self.rows)


def tabulars(source: str) -> list[Tabular]:
    """Return the tables of a LaTeX source, with places in the source as it is."""
    # Comments become spaces of the same length, so that places stay the same.
    text = _COMMENT.sub(lambda match: " " * len(match[0]), source)
    tables, at = [], 0
    while match := _BEGIN.search(text, at):
        at = match.end()
        if match[1] in TABULARS:
            (*_, alignment), at = arguments(text, at, TABULARS[match[1]])
            stop = at - 1
            rows, at = _rows(text, at)
            place = (stop - len(alignment), stop)
            tables.append(Tabular(match.start(), at, match[1], place, tuple(rows)))
    return tables


def shapes_as_read(source: str) -> list[tuple[int, ...]]:
    """Return the shape of each table as the reader of tables sees it: with the macros of the source written out."""
    return [table.shape for table in tabulars(expand_macros(without_comments(source)))]


def _rows(text: str, at: int) -> tuple[list[tuple[Cell, ...]], int]:
    r"""Return the cells of the rows that begin here, and the place of the \end after them."""
    rows: list[tuple[Cell, ...]] = []
    row: list[Cell] = []
    for match, _ in table_marks(text, at):
        is_end = match["macro"] == "end" or match.lastgroup == "last"
        if match.lastgroup == "macro" and not is_end:
            continue
        row.append(_cell(text, at, match.start(), row))
        at = match.end()
        if match.lastgroup == "row" or (is_end and (len(row) > 1 or row[0].start < row[0].end)):
            rows.append(tuple(row))
            row = []
        if is_end:
            at = match.start()
    return rows, at


def _cell(text: str, start: int, end: int, before: Sequence[Cell]) -> Cell:
    column = before[-1].column + before[-1].columns if before else 0
    start = min(_BEFORE_TEXT.match(text, start, end).end(), end)  # type: ignore[union-attr]
    end = start + len(text[start:end].rstrip())
    spanning = _MULTICOLUMN.search(text, start, end)
    if spanning is None:
        return Cell(start, end, column, 1, None)
    return Cell(start, end, column, max(1, int(spanning[1])), spanning.span(1))


class Addition(NamedTuple):
    """A column to be added after another column, or texts to put into a column.

    column: its number, from 0. texts: the text of each new cell by row (from 0); other cells are empty.
    """

    column: int
    texts: Mapping[int, str]


def with_columns(table: Tabular, source: str, additions: Sequence[Addition]) -> list[Edit] | None:
    """Return the edits that add columns to a table; None if the argument for its columns cannot be understood."""
    spec = source[slice(*table.alignment)]
    columns = alignment_of(spec)
    if table.environment == "tblr" or columns is None or len(columns) < max(table.shape, default=0):
        return None
    added = {addition.column: addition.texts for addition in additions}
    before = list(accumulate((column in added for column in range(len(columns))), initial=0))
    edits = [Edit(*table.alignment, _wider(columns, added))]
    for index, row in enumerate(table.rows):
        for cell in row:
            covered = sum(column in added for column in range(cell.column, cell.column + cell.columns))
            if covered and cell.number:
                edits.append(Edit(*cell.number, str(cell.columns + covered)))
            elif covered:
                blank = "" if source[cell.end : cell.end + 1].isspace() else " "
                text = added[cell.column].get(index, "")
                edits.append(Edit(cell.end, cell.end, f" & {text}".rstrip() + blank))
    for rule in _PARTIAL_RULE.finditer(source, table.begin, table.end):
        first, last = (min(int(number), len(columns)) for number in rule.groups())
        edits += [
            Edit(*rule.span(1), str(first + before[max(first - 1, 0)])),
            Edit(*rule.span(2), str(last + before[last])),
        ]
    return edits


def with_texts(table: Tabular, additions: Sequence[Addition]) -> list[Edit]:
    """Return the edits that put other texts into the cells of a table."""
    added = {addition.column: addition.texts for addition in additions}
    return [
        Edit(cell.start, cell.end, added[cell.column][index])
        for index, row in enumerate(table.rows)
        for cell in row
        if cell.columns == 1 and index in added.get(cell.column, {})
    ]


def edited(source: str, edits: Iterable[Edit]) -> str:
    """Return a source with its edits made."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [source[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, source[at:]])


def alignment_of(spec: str) -> list[str] | None:
    r"""Return the specification of each column, such as 'l', '|c@{ }' or 'p{2cm}'; None if it cannot be understood.

    >>> alignment_of(r"@{}l|*{2}{S[table-format=2.1]}r@{}")
    ['@{}l', '|S[table-format=2.1]', 'S[table-format=2.1]', 'r@{}']
    """
    columns: list[str] = []
    between, at = "", 0
    while at < len(spec):
        if repeated := _REPEATED.match(spec, at):
            (inner,), at = arguments(spec, repeated.end(), 1)
            repeats = alignment_of(inner)
            if repeats is None:
                return None
            repeats = repeats * int(repeated[1])
            columns += [between + repeats[0], *repeats[1:]] if repeats else []
            between = ""
            continue
        sign, start = spec[at], at
        if sign in "@!><":
            _, at = arguments(spec, at + 1, 1)
            # A specification behind a column belongs to that column.
            if sign == "<" and columns and not between:
                columns[-1] += spec[start:at]
                continue
            between += spec[start:at]
        elif sign.isalpha():
            _, at = arguments(spec, at + 1, _GROUPS.get(sign, 0)) if sign in _GROUPS else ([], at + 1)
            optional = re.compile(r"\s*\[[^\]]*\]").match(spec, at) if sign not in _GROUPS else None
            at = optional.end() if optional else at
            columns.append(between + spec[start:at])
            between = ""
        elif sign in "|:; \t\n" or sign == "%":
            between += sign
            at += 1
        else:
            return None
    if between and columns:
        columns[-1] += between
    return columns


def _wider(columns: Sequence[str], added: Iterable[int]) -> str:
    """Return the column argument with the added columns; the ending of the last column stays at the end."""
    parts = []
    for index, column in enumerate(columns):
        if index not in added:
            parts.append(column)
            continue
        letter = re.sub(r"[@!><]\s*\{[^{}]*\}|[|\s]", "", column)[:1]
        ending = re.search(r"(?:[|\s]|@\{[^{}]*\})*$", column) if index == len(columns) - 1 else None
        end = ending[0] if ending else ""
        parts += [column[: len(column) - len(end)], letter if letter in "lcr" and letter else "r", end]
    return "".join(parts)
