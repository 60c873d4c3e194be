r"""Find the tables and cells of a LaTeX source, and add rows and columns to them.

The source is edited at places and never written anew, so every unchanged part stays the same byte for byte.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rankadjust.tables.formats.latex import TABULARS, table_marks
from rankadjust.tables.formats.macros import arguments, expand_macros, without_comments

_BEGIN = re.compile(r"\\begin\{(\w+\*?)\}")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_MULTICOLUMN = re.compile(r"\\multicolumn\s*\{\s*(\d{1,4})\s*\}")
# Commands that may come before the text of a cell: rules, and commands at the beginning of a row.
_BEFORE_TEXT = re.compile(
    r"(?:\s+|\\(?:hline|toprule|midrule|bottomrule|addlinespace|hdashline|specialrule|cmidrule|cline|hhline|cdashline"
    r"|Xhline|noalign|endhead|endfirsthead|endfoot|endlastfoot|rowcolor)\b\*?(?:\s*\[[^\]\n]*\])?(?:\s*\([^)\n]*\))?"
    r"(?:\s*\{[^{}\n]*\})*)*"
)
# The rules of a table over its whole width, each with its like over some columns.
_RULES = ((r"\midrule", r"\cmidrule"), (r"\hline", r"\cline"))
# What may follow the last column in the declaration of columns.
_AFTER_COLUMNS = re.compile(r"(?:\s*(?:[@!]\s*\{[^{}]*\}|\|))*\s*\Z")
_BLANK = re.compile(r"[ \t]*")
# What is left of a line behind a row, if it is blank (comments are): a new row begins on a new line.
_REST_OF_LINE = re.compile(r"(?:[ \t]+(?=\n))?")


class Cell(NamedTuple):
    """A cell: where its text begins and ends, its first column, and how many columns it covers."""

    start: int
    end: int
    column: int
    columns: int


class Edit(NamedTuple):
    """A text that replaces the part of a source between two places."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Tabular:
    r"""A table of a LaTeX source.

    begin, end: the places of its \begin and its \end. declared: where the declaration of its columns ends. rows: the
    cells of each row. ends: the place behind each row.
    """

    begin: int
    declared: int
    end: int
    rows: tuple[tuple[Cell, ...], ...]
    ends: tuple[int, ...]

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
            _, declared = arguments(text, at, TABULARS[match[1]])
            rows, ends, at = _rows(text, declared)
            tables.append(Tabular(match.start(), declared - 1, at, tuple(rows), tuple(ends)))
    return tables


def shapes_as_read(source: str) -> list[tuple[int, ...]]:
    """Return the shape of each table as the reader of tables sees it: with the macros of the source written out."""
    return [table.shape for table in tabulars(expand_macros(without_comments(source)))]


def _rows(text: str, at: int) -> tuple[list[tuple[Cell, ...]], list[int], int]:
    r"""Return the cells of the rows that begin here, the place behind each, and the place of the \end after them."""
    rows: list[tuple[Cell, ...]] = []
    ends: list[int] = []
    row: list[Cell] = []
    for match, _ in table_marks(text, at):
        is_end = match["macro"] == "end" or match.lastgroup == "last"
        if match.lastgroup == "macro" and not is_end:
            continue
        row.append(_cell(text, at, match.start(), row))
        at = match.end()
        if match.lastgroup == "row" or (is_end and (len(row) > 1 or row[0].start < row[0].end)):
            rows.append(tuple(row))
            ends.append(row[-1].end if is_end else _REST_OF_LINE.match(text, at).end())  # type: ignore[union-attr]
            row = []
        if is_end:
            at = match.start()
    return rows, ends, at


def _cell(text: str, start: int, end: int, before: Sequence[Cell]) -> Cell:
    column = before[-1].column + before[-1].columns if before else 0
    start = min(_BEFORE_TEXT.match(text, start, end).end(), end)  # type: ignore[union-attr]
    end = start + len(text[start:end].rstrip())
    spanning = _MULTICOLUMN.search(text, start, end)
    return Cell(start, end, column, 1 if spanning is None else max(1, int(spanning[1])))


def with_rows(table: Tabular, source: str, rows: Mapping[int, Sequence[Mapping[int, str]]]) -> list[Edit]:
    """Return the edits that add rows below rows of a table, after a rule as the table has them.

    rows: below which row (from 0), the texts of each new row by column.
    """
    width = max(table.shape)
    rules = [names for names in _RULES if names[0] in source[table.begin : table.end]]
    edits = []
    for row, added in rows.items():
        at = table.ends[row]
        start = source.rfind("\n", 0, table.rows[row][0].start) + 1
        indent = _BLANK.match(source, start)[0]  # type: ignore[index]
        lines = [" & ".join(texts.get(column, "") for column in range(width)) + r" \\" for texts in added]
        first = min(column for texts in added for column in texts)
        for whole, partial in rules[:1]:
            # A cell over several rows may be on the left, with the name of their data set.
            lines.insert(0, f"{partial}{{{first + 1}-{width}}}" if first else whole)
        lines = [f"\n{indent}{line}" for line in lines]
        # The last row of a table may have no mark behind it.
        closing = r" \\" if at == table.rows[row][-1].end else ""
        edits.append(Edit(at, at, closing + "".join(lines)))
    return edits


def with_columns(table: Tabular, source: str, columns: Sequence[Mapping[int, str]]) -> list[Edit]:
    """Return the edits that add columns on the right of a table; none if keys declare its columns (tabularray).

    columns: the texts of each new column by row (from 0).
    """
    declaration = source[table.begin : table.declared]
    if "colspec" in declaration:
        return []
    after = table.begin + _AFTER_COLUMNS.search(declaration).start()  # type: ignore[union-attr]
    new = "|r" if "|" in source[after : table.declared] else "r"
    edits = [Edit(after, after, new * len(columns))]
    for number, (row, width) in enumerate(zip(table.rows, table.shape, strict=True)):
        if width == max(table.shape):
            texts = (column.get(number, "") for column in columns)
            edits.append(Edit(row[-1].end, row[-1].end, "".join(f" & {text}".rstrip() for text in texts)))
    return edits


def edited(source: str, edits: Iterable[Edit]) -> str:
    """Return a source with its edits made."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [source[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, source[at:]])
