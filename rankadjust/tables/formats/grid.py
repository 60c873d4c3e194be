"""A table as text: rows of cells, whatever format it came from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

# What HTML itself allows; a larger number in a broken page must not exhaust the memory.
MAX_SPAN = 1000
# How many texts before a table are kept; one that has few words is a title, marked as such or not.
CONTEXT_LENGTH = 6
_TITLE_WORDS = 6


@dataclass(frozen=True)
class Grid:
    """One table of a file.

    rows: rectangular; a cell that spans several rows or columns stands in each of them.
    header_rows: how many leading rows the format marks as header (0 where it does not say).
    lines: the line of the file on which each row begins (None where the parser does not tell).
    context: texts around the table that may name what it holds, the nearest first.
    remarks: what had to be repaired to read it.
    """

    rows: tuple[tuple[str, ...], ...]
    header_rows: int = 0
    lines: tuple[int | None, ...] = ()
    context: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0]) if self.rows else 0


@dataclass(frozen=True)
class Span:
    """A cell with the number of rows and columns it covers."""

    text: str
    rows: int = 1
    columns: int = 1


def make_grid(
    rows: Sequence[Sequence[str]],
    *,
    header_rows: int = 0,
    lines: Sequence[int | None] = (),
    context: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> Grid:
    """Return a Grid of tidied texts; short rows are filled with empty cells."""
    width = max((len(row) for row in rows), default=0)
    return Grid(
        rows=tuple(tuple(tidy(text) for text in [*row, *[""] * (width - len(row))]) for row in rows),
        header_rows=min(header_rows, len(rows)),
        lines=tuple(lines) or (None,) * len(rows),
        context=tuple(text for text in map(tidy, context) if text),
        remarks=tuple(remarks),
    )


def spread_spans(rows: Sequence[Sequence[Span]]) -> list[list[str]]:
    """Put spanning cells into every row and column they cover, as HTML does: what is covered has no cell of its own."""
    placed: list[dict[int, str]] = [{} for _ in rows]
    for index, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in placed[index]:
                column += 1
            for covered in placed[index : index + _clamp(cell.rows, len(rows))]:
                for offset in range(_clamp(cell.columns, MAX_SPAN)):
                    covered.setdefault(column + offset, cell.text)
            column += _clamp(cell.columns, MAX_SPAN)
    return [[row.get(column, "") for column in range(max(row, default=-1) + 1)] for row in placed]


def context_of(texts: Sequence[tuple[int, str]]) -> list[str]:
    """Return the texts above a table, the one that most likely names what it holds first.

    texts: headings with their level and paragraphs with level 0, in the order of the file. A heading counts until
    another of its level or above; a paragraph until the next heading. A title directly above comes first, then the
    innermost heading, the other paragraphs from the table upwards, and the outer headings.
    """
    headings: list[tuple[int, str]] = []
    paragraphs: list[str] = []
    for level, text in texts:
        if level:
            headings = [heading for heading in headings if heading[0] < level] + [(level, text)]
            paragraphs = []
        else:
            paragraphs.append(text)
    titles = [text for _, text in reversed(headings)]
    nearest = [text for text in paragraphs[-1:] if len(text.split()) <= _TITLE_WORDS]
    others = paragraphs[: len(paragraphs) - len(nearest)][::-1]
    return [*nearest, *titles[:1], *others[:CONTEXT_LENGTH], *titles[1:]][:CONTEXT_LENGTH]


def shifted(grid: Grid, lines: int, *remarks: str) -> Grid:
    """Return the grid as part of a larger text, `lines` lines further down, with remarks added."""
    numbers = tuple(None if line is None else line + lines for line in grid.lines)
    return replace(grid, lines=numbers, remarks=(*remarks, *grid.remarks))


def tidy(text: str) -> str:
    """Return the text with runs of blanks as one blank; line breaks inside a cell are kept."""
    return "\n".join(filter(None, (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())))


def _clamp(span: int, most: int) -> int:
    return max(1, min(span, most))
