"""Find the header of a grid, and the facts that its texts state about each column."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rankadjust.tables.facts import FIELDS, Facts
from rankadjust.tables.formats.cell_text import holds_numbers, is_missing, is_numeric
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import Names, read_stack, role_of
from rankadjust.tables.sidecar import Line, Stated

_MANY_ROWS = 1000
# How many rows below the marked header may still belong to the header.
_LOOK_AHEAD = 2
# Reading a header row needs all rows above it, and a broken page may mark thousands of rows as header.
_MOST_HEADER_ROWS = 50


class Header:
    """The header of a grid: how many rows it has, and its texts above each column."""

    def __init__(self, grid: Grid, names: Names) -> None:
        """Take a grid whose format may have marked rows."""
        self.grid = grid
        self.names = names
        self.unclear: dict[int, str] = {}
        """Column -> the merged names above it, if it is unclear which of them belongs to it; filled by `stacks`."""

    def rows(self) -> int:
        """Return the number of header rows."""
        rows = self.grid.rows
        marked = max(1, min(self.grid.header_rows, _MOST_HEADER_ROWS))
        # A format may mark every row as header (an HTML table of th alone), but a row of numbers never is a header.
        marked = next((row for row in range(1, min(marked, len(rows))) if not self._is_header(row)), marked)
        marked = self._with_names_below(marked)
        if self.metrics_in(range(marked)):
            return marked
        for index in range(marked, min(marked + _LOOK_AHEAD, len(rows))):
            if self._is_header(index) and self.metrics_in(range(index + 1)):
                return self._with_names_below(index + 1)
        return marked

    def _with_names_below(self, first: int) -> int:
        """Return the number of header rows with the rows of names below the first, such as units below metrics.

        Such a row has an empty corner, the merged corner of the row above, or 'Model' below an empty corner.
        """
        rows = self.grid.rows
        while (
            first < min(len(rows), _MOST_HEADER_ROWS)
            and (
                rows[first][0] in ("", rows[first - 1][0])
                or (not rows[0][0] and role_of(rows[first][0]) == "model")
            )
            and sum(map(bool, rows[first])) > 1
            and self._is_header(first)
        ):
            first += 1
        return first

    def metrics_in(self, header: Sequence[int]) -> int:
        """Count the columns whose texts in these header rows name a metric; the first column is left out."""
        return sum(self.is_metric(header, column) for column in range(1, self.grid.width))

    def is_metric(self, header: Iterable[int], column: int) -> bool:
        """Return whether these header rows name a metric above a column."""
        return read_stack([self.grid.rows[row][column] for row in header], self.names).metric is not None

    def _is_header(self, index: int) -> bool:
        """Return whether a row holds names rather than numbers; the 1, 3, 10 below 'Hits@' count as names."""
        cells = [
            column for column, text in enumerate(self.grid.rows[index]) if column and not is_missing(text)
        ]
        return bool(cells) and all(
            not is_numeric(self.grid.rows[index][column])
            or (self.is_metric(range(index + 1), column) and not self.is_metric(range(index), column))
            for column in cells
        )

    def stacks(self, rows: int) -> list[list[str]]:
        """Return the texts of the first header rows above each column; a text that repeats is kept once."""
        filled = [self._fill_merged(list(self.grid.rows[row]), range(row + 1, rows)) for row in range(rows)]
        return [list(dict.fromkeys(filter(None, texts))) for texts in zip(*filled, strict=True)]

    def _fill_merged(self, texts: list[str], below: range) -> list[str]:
        """Return the texts of a header row with each name above all its columns; a merged cell fills a single column.

        The columns of a name end where a metric comes again. Some programs save the name above the first of its
        columns, others above the middle. Unless there is one name for each such group of columns, a name belongs to the
        columns to its right; the owner of the columns to the left of all names is then unclear.
        """
        if not below or all(texts):
            return texts
        said = [
            read_stack([self.grid.rows[row][column] for row in below], self.names)
            for column in range(len(texts))
        ]
        # Without metrics in the rows below, protocols, sides or splits may repeat ('Raw', 'Filter'), or any other
        # names: the versions v1 to v4.
        repeating = (
            [column for column in range(1, len(texts)) if says(said[column])]
            for says in (
                lambda facts: facts.metric,
                lambda facts: any(facts.stated()),
                lambda facts: facts.rest,
            )
        )
        named = next(filter(None, repeating), [])
        above = [texts[column] for column in named if texts[column]]
        if not above or len(above) == len(named):
            return texts
        groups = _groups([(column, said[column]) for column in named])
        if len(groups) == len(above) > 1:
            owners = {column: name for group, name in zip(groups, above, strict=True) for column in group}
            return [owners.get(column, text) for column, text in enumerate(texts)]
        for column in (column for column in named if not texts[column]):
            texts[column] = texts[column - 1] if column - 1 in named else ""
            if not texts[column]:
                self.unclear[column] = " or ".join(dict.fromkeys(above))
        return texts


def _groups(said: Sequence[tuple[int, Facts]]) -> list[list[int]]:
    """Return the columns in groups; a new group begins at a column whose facts occur in the group already."""
    groups: list[list[int]] = []
    seen: set[tuple[str | None, ...]] = set()
    for column, facts in said:
        plain = (*(facts[name] for name in FIELDS), facts.rest, facts.unknown)
        if not groups or plain in seen:
            groups.append([])
            seen = set()
        groups[-1].append(column)
        seen.add(plain)
    return groups


@dataclass(frozen=True)
class Sheet:
    """A grid with its header and the statements of a sidecar about it.

    first: the index of the row below the header. For each column, stacks has the texts of the header, lines the
    statements of the sidecar, facts the facts that the texts state, cells the texts below (in a long table, of every
    n-th row).
    """

    grid: Grid
    stated: Stated
    names: Names
    first: int
    stacks: Sequence[Sequence[str]]
    lines: Sequence[Line]
    facts: Sequence[Facts]
    cells: Sequence[Sequence[str]]

    @classmethod
    def of(cls, grid: Grid, stated: Stated, names: Names) -> "Sheet":
        """Return the sheet of a grid, whose header is found here."""
        header = Header(grid, names)
        first = min(stated.header_rows or header.rows(), len(grid.rows))
        stacks = header.stacks(first)
        lines = [stated.column(index + 1, [*texts, " / ".join(texts)]) for index, texts in enumerate(stacks)]
        facts = [read_stack(stack, names) for stack in stacks]
        for column, above in header.unclear.items():
            why = f"it is not clear whether '{above}' belongs to this column; state its data set"
            facts[column] = replace(facts[column], conflicts=(*facts[column].conflicts, why))
        body = grid.rows[first:]
        shown = body[:: 1 + len(body) // _MANY_ROWS]
        cells = list(zip(*shown, strict=True)) or [()] * grid.width
        return cls(grid, stated, names, first, stacks, lines, facts, cells)

    def is_text(self, column: int) -> bool:
        """Return whether a column holds words rather than numbers."""
        numbers = sum(map(holds_numbers, self.cells[column]))
        return sum(not is_missing(cell) for cell in self.cells[column]) > 2 * numbers
