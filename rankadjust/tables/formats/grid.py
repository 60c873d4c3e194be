"""Tables as text: rows of cells, the same for every format."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rankadjust.base.errors import RankadjustError

# HTML allows no larger span; a larger number in a broken page must not exhaust the memory.
MAX_SPAN = 1000
# No table of results is wider or has more cells; a larger table is broken, and must not take minutes.
MAX_COLUMNS = 1000
_MAX_CELLS = 5_000_000
# How many texts around a table are kept.
CONTEXT_LENGTH = 6


@dataclass(frozen=True)
class Grid:
    """One table of a file.

    rows: rectangular; a cell that spans several rows or columns is repeated in each of them.
    header_rows: how many leading rows the format marks as header; 0 if it marks none.
    lines: the line of the file on which each row begins; None if the parser does not report it.
    context: texts around the table that may name its content, the nearest first.
    remarks: the repairs that reading the table needed.
    place: which table of its file it is, counted from 0.
    """

    rows: tuple[tuple[str, ...], ...]
    header_rows: int = 0
    lines: tuple[int | None, ...] = ()
    context: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    place: int = 0

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0]) if self.rows else 0


class Span(NamedTuple):
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
    """Return a Grid of tidied texts, with empty cells at the end of short rows.

    Raises RankadjustError for a table with more columns or cells than any table of results has.
    """
    width = max((len(row) for row in rows), default=0)
    require_size(width, len(rows))
    return Grid(
        rows=tuple(tuple(tidy(text) for text in [*row, *[""] * (width - len(row))]) for row in rows),
        header_rows=min(header_rows, len(rows)),
        lines=tuple(lines) or (None,) * len(rows),
        context=tuple(text for text in map(tidy, context) if text),
        remarks=tuple(remarks),
    )


def spread_spans(rows: Sequence[Sequence[Span]], *, is_latex: bool = False) -> list[list[str]]:
    """Repeat spanning cells in every row and column they cover; a place with a text of its own keeps it.

    In HTML, covered places have no own cell. In LaTeX they have, and a negative number of rows reaches upwards.
    """
    placed: list[dict[int, str]] = [{} for _ in rows]
    size = 0
    for index, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in placed[index] and not is_latex:
                column += 1
            width = max(1, min(cell.columns, MAX_SPAN))
            top = max(0, index + min(0, cell.rows + 1))
            covered = placed[top : max(index + 1, index + cell.rows)]
            size += width * len(covered)
            require_size(column + width, size // (column + width))
            for place in range(column, column + width):
                own = cell.text or placed[index].get(place, "")
                for texts in covered:
                    texts[place] = texts.get(place) or own
                placed[index][place] = own
            column += width
    return [[row.get(column, "") for column in range(max(row, default=-1) + 1)] for row in placed]


def tidy(text: str) -> str:
    """Return the text with each run of blanks made a single blank; line breaks inside a cell are kept."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))


def require_size(columns: int, rows: int) -> None:
    """Raise RankadjustError for a table with more columns or cells than any table of results has."""
    if columns > MAX_COLUMNS or columns * rows > _MAX_CELLS:
        raise RankadjustError(
            f"a table of {columns:,} columns and {rows:,} rows; "
            f"at most {MAX_COLUMNS:,} columns and {_MAX_CELLS:,} cells are read"
        )
