"""Lay out a grid: find its headers, labels and values, and the facts that headers and labels state."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from rankadjust.tables.around import (
    dataset_around,
    metric_around,
    model_around,
    percent_around,
    protocol_around,
    task_around,
    texts_around,
)
from rankadjust.tables.cells import is_numeric
from rankadjust.tables.columns import (
    columns_of,
    where_metrics_are,
    with_datasets_from_the_left,
    with_sides_of_pairs,
    with_unknown_headers,
    with_unknown_words,
)
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.header import Header
from rankadjust.tables.rows import rows_of, with_datasets_in_names, with_sides_in_names
from rankadjust.tables.sheet import Column, Row, Sheet
from rankadjust.tables.sidecar import Stated
from rankadjust.tables.tokens import Facts, Names


@dataclass(frozen=True)
class Layout:
    """The columns and rows of a grid, and the facts that the text around it states about the whole table.

    metrics: where the metrics are named: 'columns', 'rows', 'table', or '' (nowhere). percent: the text around the
    table that declares its numbers percent.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    facts: Facts
    metrics: str
    percent: str | None = None

    @property
    def stated_lines(self) -> set[tuple[str, Any]]:
        """Kind ('columns' or 'rows') and key of each line that the sidecar states something about."""
        columns = {("columns", column.line.key) for column in self.columns}
        return columns | {("rows", row.line.key) for row in self.rows}


@dataclass(frozen=True)
class Table:
    """One table of a file: its number (from 1), its layout, and the statements of the sidecar about it."""

    number: int
    grid: Grid
    layout: Layout
    stated: Stated

    def text(self, row: int, column: int) -> str:
        """Return the text of the cell in a row and column (from 0)."""
        return self.grid.rows[row][column]


def below_each_other(grid: Grid, names: Names) -> list[Grid]:
    """Return the tables of a grid: a new table begins at each later row that names two metrics and has no numbers."""
    header = Header(grid, names)
    first = header.rows()
    if not header.metrics_in(range(first)):
        return [grid]
    again = [
        index
        for index in range(first + 1, len(grid.rows))
        if not any(map(is_numeric, grid.rows[index][1:])) and header.metrics_in([index]) > 1
    ]
    if not again:
        return [grid]
    rows = ", ".join(str(index + 1) for index in again)
    remark = f"the header begins again in row {rows}: read as tables below each other"
    return [
        replace(
            grid,
            rows=grid.rows[top:end],
            lines=grid.lines[top:end],
            header_rows=grid.header_rows if top == 0 else 1,
            remarks=(*grid.remarks, remark),
            origin=grid.origin._replace(rows=grid.origin.rows[top:end]),
        )
        for top, end in pairwise([0, *again, len(grid.rows)])
    ]


def lay_out(grid: Grid, stated: Stated, names: Names, stem: str) -> Layout:
    """Find out the meaning of each row and column of a grid; `stem`, the name of its file, may name the data set."""
    sheet = with_unknown_words(with_sides_of_pairs(Sheet.of(grid, stated, names)))
    sheet = with_datasets_from_the_left(sheet)
    texts = texts_around(grid, stem)
    metrics, metric_column = where_metrics_are(sheet)
    around = Facts()
    if not metrics:
        around = metric_around(texts)
        metrics = "table" if stated.facts.metric or around.metric else ""
    columns = columns_of(sheet, metrics, metric_column)
    rows = rows_of(sheet, columns, metrics)
    for around_fact in (task_around, protocol_around, model_around):
        around = around.over(around_fact(texts))
    rows = with_sides_in_names(rows)
    values = [column for column in columns if column.role == "value"]
    said = [*(column.facts for column in values), *(row.facts for row in rows)]
    said += [line.facts for line in (*(column.line for column in values), *(row.line for row in rows))]
    if not stated.facts.dataset and not any(facts.dataset for facts in said):
        rows = with_datasets_in_names(rows, names)
    if not stated.facts.dataset and not any(facts.dataset for facts in (*said, *(row.facts for row in rows))):
        around = around.over(dataset_around(texts, names))
    columns = with_unknown_headers(sheet, columns, rows, around)
    return Layout(columns, tuple(rows), around, metrics, percent_around(texts))
