"""Cells into values: each number of a cell with all that row, column, table and sidecar say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankadjust.base.printed import Number
from rankadjust.tables.cells import is_missing, read_cell
from rankadjust.tables.headers import Facts, Names, find_dataset
from rankadjust.tables.layout import Column, Layout, Row, Table
from rankadjust.tables.sidecar import fill, is_pattern

State = tuple[str, str | None]
"""What became of a cell (value, missing, unread or label) and, for an unread one, why."""
States = dict[tuple[int, int], State]


@dataclass
class Value:
    """A number with what is known of it; cell: the row and column, from 0, in which it stands.

    series: values with the same one stand under one header. model_line: the row that holds the metrics of its model, or
    the column where each row is a metric. labels: header -> text of the label cells of its row.
    patterned: whether its model's name was stated. unit, spread and notes are settled later, series by series.
    """

    cell: tuple[int, int]
    number: Number
    facts: Facts
    labels: Mapping[str, str]
    series: tuple[Any, ...]
    model_line: int
    patterned: bool
    unit: str | None = None
    spread: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The metric as it was printed."""
        return self.facts.metric_as_printed or self.facts.metric or ""


def read_values(table: Table, names: Names, sidecar: Path) -> tuple[list[Value], States]:
    """Return the values of a table and the state of each of its cells; `sidecar` is the file to blame for a pattern."""
    values: list[Value] = []
    states: States = {}
    for row in table.layout.rows:
        for column in row.columns:
            cell = (row.index, column.index)
            if row.kind != "values" or column.role != "value" or not table.layout.metrics:
                states[cell] = _state_of_label(table.text(*cell), row, column, table.layout)
            else:
                states[cell], read = _read_cell(row, column, table, names, sidecar)
                values += read
    return values, states


def _state_of_label(text: str, row: Row, column: Column, layout: Layout) -> State:
    """Return the state of a cell outside the values; text beyond the values under no header is unread."""
    beyond = any(other.role == "value" and other.index < column.index for other in row.columns)
    nameless = (
        row.kind == "values" and column.role == "other" and not column.header and column.line.role is None
    )
    if text and beyond and nameless and layout.metrics:
        return ("missing", None) if is_missing(text) else ("unread", "the column has no header")
    return "label", None


def _read_cell(
    row: Row, column: Column, table: Table, names: Names, sidecar: Path
) -> tuple[State, list[Value]]:
    """Return the state of a cell that should hold values, and its values."""
    numbers = read_cell(table.text(row.index, column.index))
    if numbers is None:
        return ("unread", "not a number"), []
    if all(number is None for number in numbers):
        return ("missing", None), []
    parts = _facts_of_cell(row, column, table)
    if len(numbers) != len(parts):
        return ("unread", f"{_count(len(numbers))} in the cell, {len(parts)} in the header"), []
    if any(facts.metric is None for facts in parts):
        return ("unread", "no header names its metric"), []
    values = [
        _value(number, facts, part, row, column, table, names, sidecar)
        for part, (number, facts) in enumerate(zip(numbers, parts, strict=True))
        if number is not None
    ]
    return ("value", None), values


def _count(number: int) -> str:
    return "1 value" if number == 1 else f"{number} values"


def _facts_of_cell(row: Row, column: Column, table: Table) -> list[Facts]:
    """Return what is known of each value of a cell: what is stated, then what is printed."""
    layers = [*_stated(row, column, table), column.parts, row.parts, (table.layout.facts,)]
    count = max(len(layer) for layer in layers)
    parts = []
    for index in range(count):
        facts = Facts()
        for layer in filter(None, layers):
            own = _part(layer, index)
            notes = "; ".join(filter(None, dict.fromkeys([facts.notes, own.notes])))
            facts = replace(facts.over(own), notes=notes or None)
        if facts.metric and not facts.metric_as_printed:
            facts = replace(facts, metric_as_printed=column.name or None)
        parts.append(facts)
    return parts


def _stated(row: Row, column: Column, table: Table) -> list[tuple[Facts, ...]]:
    """Return what the sidecar states about a cell, the row before the column before the table."""
    return [row.line.parts, column.line.parts, (table.stated.facts,)]


def _part(layer: Sequence[Facts], index: int) -> Facts:
    return layer[index] if index < len(layer) else layer[0]


def _value(
    number: Number,
    facts: Facts,
    part: int,
    row: Row,
    column: Column,
    table: Table,
    names: Names,
    sidecar: Path,
) -> Value:
    stated = Facts()
    for layer in filter(None, _stated(row, column, table)):
        stated = stated.over(_part(layer, part))
    facts = _with_variant(facts, stated, _part(column.parts, part), names)
    texts = _texts_for_patterns(row, column, facts)
    # Only what is stated is a pattern: a printed name may have braces of its own.
    if stated.model is not None and is_pattern(stated.model):
        facts = replace(facts, model=fill(stated.model, texts, sidecar) or None)
    if stated.dataset is not None and is_pattern(stated.dataset):
        filled = fill(stated.dataset, texts, sidecar)
        facts = replace(facts, dataset=find_dataset(filled, names) or filled, dataset_as_printed=filled)
    series = {"columns": (row.block, column.index, part), "rows": (row.index, part)}
    about_lines = (*row.line.parts, *column.line.parts)
    return Value(
        cell=(row.index, column.index),
        number=number,
        facts=facts,
        labels=row.labels,
        series=series.get(table.layout.metrics, (part,)),
        model_line=column.index if table.layout.metrics == "rows" else row.index,
        patterned=is_pattern(stated.model) or any(own.model for own in about_lines),
    )


def _with_variant(facts: Facts, stated: Facts, header: Facts, names: Names) -> Facts:
    """Add header text that is neither metric nor data set to the data set (a version of it) or to the model."""
    if not header.rest:
        return facts
    if facts.dataset_as_printed:
        version = f"{facts.dataset_as_printed} {header.rest}"
        known = find_dataset(version, names)
        if known or header.rest.lower().lstrip("v").isdigit():
            return replace(facts, dataset=known or version, dataset_as_printed=version)
    if facts.model is None or is_pattern(stated.model):
        return facts
    return replace(facts, model=f"{facts.model} ({header.rest})")


def _texts_for_patterns(row: Row, column: Column, facts: Facts) -> dict[str, str]:
    """Return what the names in the braces of a pattern stand for in a cell."""
    header = column.parts[0]
    printed = header.over(row.parts[0])
    # Above the names of metrics stands what the columns are: '{rank}' is the header of the value's column.
    corner = {text: column.name for other in row.columns if other.role == "metric" for text in other.header}
    return {
        "model": printed.model or "",
        "dataset": printed.dataset_as_printed or facts.dataset_as_printed or "",
        "metric": facts.metric_as_printed or "",
        "column": header.rest or header.dataset_as_printed or column.name,
        "row": next((text for text in row.labels.values() if text), ""),
        **row.labels,
        **corner,
    }
