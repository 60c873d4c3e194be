"""Add rows and columns to the tables of a LaTeX source.

The source is edited at places and never written anew, so every unchanged part stays the same byte for byte.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rankadjust.tables.formats.latex import Tabular

# The rules of a table over its whole width, each with its like over some columns.
_RULES = ((r"\midrule", r"\cmidrule"), (r"\hline", r"\cline"))
# What may follow the last column in the declaration of columns.
_AFTER_COLUMNS = re.compile(r"(?:\s*(?:[@!]\s*\{[^{}]*\}|\|))*\s*\Z")
_BLANK = re.compile(r"[ \t]*")


class Edit(NamedTuple):
    """A text that replaces the part of a source between two places."""

    start: int
    end: int
    text: str


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
