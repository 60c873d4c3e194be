"""Prepare a grid for its layout: its header, and the facts of its columns and rows, with or without a role."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rankadjust.tables.cells import holds_numbers, is_missing
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.header import Header
from rankadjust.tables.sidecar import Line, Stated
from rankadjust.tables.tokens import NOTHING, Facts, Names, read_stack

LABEL_ROLES = ("model", "dataset", "metric", "split", "side", "protocol", "ties", "task")
_MANY_ROWS = 1000


@dataclass(frozen=True)
class Column:
    """A column. role: 'value', one of the label roles, or 'other'.

    header: its texts from the top down, each once. facts: the facts that these texts state. assumed: the reason for the
    role, if no word states it.
    """

    index: int
    header: tuple[str, ...]
    role: str
    facts: Facts = NOTHING
    line: Line = field(default_factory=Line)
    assumed: str | None = None

    @cached_property
    def name(self) -> str:
        """The texts of the header on one line."""
        return " / ".join(self.header)


@dataclass(frozen=True)
class Row:
    """A row of the grid. kind: 'header', 'section', 'blank', 'other' or 'values'.

    facts: the facts that its labels state. labels: header -> text of its label cells.
    """

    index: int
    kind: str
    facts: Facts = NOTHING
    labels: Mapping[str, str] = field(default_factory=dict)
    line: Line = field(default_factory=Line)


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
