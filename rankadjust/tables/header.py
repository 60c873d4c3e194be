"""Find the header of a grid: the rows of column names above the values."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rankadjust.tables.cells import is_missing, is_numeric
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.tokens import Facts, Names, read_stack, role_of

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
        # A row of names under an empty corner belongs to the header: units below metrics, models below data sets. So
        # does a row that begins with 'Model' there.
        while (
            marked < min(len(rows), _MOST_HEADER_ROWS)
            and (not rows[marked][0] or (not rows[0][0] and role_of(rows[marked][0]) == "model"))
            and sum(map(bool, rows[marked])) > 1
            and self._is_header(marked)
        ):
            marked += 1
        # Below 'Metric', the names of metrics are labels.
        if self.metrics_in(range(marked)) or "metric" in map(role_of, rows[marked - 1]):
            return marked
        for index in range(marked, min(marked + _LOOK_AHEAD, len(rows))):
            if self._is_header(index) and self.metrics_in(range(index + 1)):
                return index + 1
        return marked

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
        named = [column for column in range(1, len(texts)) if said[column].metric]
        # Without metrics in the rows below, protocols, sides or splits may repeat: 'Raw', 'Filter'.
        named = named or [column for column in range(1, len(texts)) if said[column].says_something]
        # So may any other names: the versions v1 to v4.
        named = named or [column for column in range(1, len(texts)) if said[column].rest]
        above = [texts[column] for column in named if texts[column]]
        groups = _groups([(column, said[column]) for column in named])
        if not above or len(above) == len(named):
            return texts
        if len(groups) == len(above) > 1:
            for group, name in zip(groups, above, strict=True):
                for column in group:
                    texts[column] = name
            return texts
        for column in named:
            if not texts[column]:
                left = texts[column - 1] if column - 1 in named else ""
                texts[column] = left
                if not left:
                    self.unclear[column] = " or ".join(dict.fromkeys(above))
        return texts


def _groups(said: Sequence[tuple[int, Facts]]) -> list[list[int]]:
    """Return the columns in groups; a new group begins at a column whose facts occur in the group already."""
    groups: list[list[int]] = []
    seen: set[Facts] = set()
    for column, facts in said:
        plain = replace(facts, metric_as_printed=None)
        if not groups or plain in seen:
            groups.append([])
            seen = set()
        groups[-1].append(column)
        seen.add(plain)
    return groups
