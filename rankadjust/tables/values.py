"""Cells into values: each number of a cell with all that row, column, table and sidecar say of it, if they agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rankadjust.base.printed import Number
from rankadjust.tables.cells import is_missing, read_cell
from rankadjust.tables.layout import Column, Layout, Row, Table
from rankadjust.tables.sidecar import fill, is_pattern
from rankadjust.tables.tokens import Facts, Names, find_dataset

State = tuple[str, str | None]
"""What became of a cell (value, missing, unread or label) and, for an unread one, why."""
States = dict[tuple[int, int], State]

_LABEL: State = ("label", None)
_KEY = ("dataset", "metric", "split", "side", "protocol", "ties", "candidates")


@dataclass(slots=True)
class Value:
    """A number with what is known of it; cell: the row and column, from 0, in which it stands.

    facts: all but the model, shared by the values of which the same is said. series: values with the same one stand
    under one header. model_line: the row that holds the metrics of its model, or the column where each row is a metric.
    labels: header -> text of the label cells of its row. header: what names its metric. stated: what a sidecar says of
    it. patterned: whether its model's name was stated. assumed: field -> reason, of what the table does not say itself.
    """

    cell: tuple[int, int]
    number: Number
    facts: Facts
    model: str | None
    labels: Mapping[str, str]
    series: tuple[Any, ...]
    model_line: int
    header: str
    stated: Facts
    patterned: bool
    assumed: dict[str, str]
    unit: str | None = None
    spread: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The metric as it was printed."""
        return self.facts.metric_as_printed or self.facts.metric or ""

    def key(self) -> tuple[Any, ...]:
        """Return what it is a value of, the usual where nothing says it."""
        return self.model, self.facts.evaluation


class _Part(NamedTuple):
    """What is known of a value of a cell before its number and the names of its row are looked at.

    facts, stated, header: all that is said, by the sidecar, and in the header. name: what names its metric.
    """

    facts: Facts
    stated: Facts
    header: Facts
    series: tuple[Any, ...]
    name: str
    has_pattern: bool
    is_stated: bool


class Reader:
    """Reads the cells of one table; what is said of several cells in the same way is put together once."""

    def __init__(self, table: Table, names: Names, sidecar: Path) -> None:
        self.table = table
        self.names = names
        self.sidecar = sidecar
        self.known = set(names.values())
        self.values: list[Value] = []
        self.states: States = {}
        self._bare: dict[tuple[Facts, ...], int] = {}
        self._combined: dict[tuple[Any, ...], tuple[list[_Part], str | None]] = {}

    def read(self) -> tuple[list[Value], States]:
        """Return the values of the table and the state of each of its cells."""
        layout = self.table.layout
        for row in layout.rows:
            last_value = max((column.index for column in row.columns if column.role == "value"), default=-1)
            is_body = row.kind == "values" and layout.metrics != ""
            # The model differs from row to row: what else its labels say seldom does.
            bare = tuple(replace(part, model=None) for part in row.parts)
            number = self._bare.setdefault(bare, len(self._bare))
            for column in row.columns:
                cell = (row.index, column.index)
                if is_body and column.role == "value":
                    self.states[cell] = self._cell(row, column, bare, number)
                else:
                    self.states[cell] = self._label(row, column, layout, last_value)
        return self.values, self.states

    def _label(self, row: Row, column: Column, layout: Layout, last_value: int) -> State:
        """Return the state of a cell outside the values; text beyond the values under no header is unread."""
        if not -1 < last_value < column.index or not layout.metrics or row.kind != "values":
            return _LABEL
        text = self.table.text(row.index, column.index)
        if not text or column.role != "other" or column.header or column.line.role is not None:
            return _LABEL
        return ("missing", None) if is_missing(text) else ("unread", "the column has no header")

    def _cell(self, row: Row, column: Column, bare: tuple[Facts, ...], number: int) -> State:
        """Return the state of a cell that should hold values, and keep its values."""
        numbers = read_cell(self.table.text(row.index, column.index))
        if numbers is None:
            return "unread", "not a number"
        if not any(numbers):
            return "missing", None
        known = (column.index, row.block, number, row.line.key)
        if known not in self._combined:
            self._combined[known] = self._parts(row, column, bare)
        parts, reason = self._combined[known]
        if len(numbers) != len(parts) and not self.table.layout.refused:
            reason = f"{_count(len(numbers))} in the cell, {len(parts)} in the header"
        if reason:
            return "unread", reason
        self.values += [
            self._value(number, part, index, row, column)
            for index, (number, part) in enumerate(zip(numbers, parts, strict=True))
            if number is not None
        ]
        return "value", None

    def _parts(self, row: Row, column: Column, bare: tuple[Facts, ...]) -> tuple[list[_Part], str | None]:
        """Return what is known of each value of a cell, and why they cannot be read, None where they can."""
        combined = _combine(row, column, bare, self.table, self.known)
        metrics = self.table.layout.metrics
        parts = []
        for index, facts in enumerate(combined):
            stated = _stated(row, column, self.table, index)
            part = _Part(
                facts=facts,
                stated=stated,
                header=_part(column.parts, index),
                series=(row.block, column.index, index) if metrics == "columns" else (index,),
                name=column.name if metrics != "rows" else facts.metric_as_printed or "",
                has_pattern=is_pattern(stated.model) or is_pattern(stated.dataset),
                is_stated=is_pattern(stated.model)
                or any(own.model for own in (*row.line.parts, *column.line.parts)),
            )
            parts.append(part)
        return parts, self.table.layout.refused or _why_unread(combined)

    def _value(self, number: Number, part: _Part, index: int, row: Row, column: Column) -> Value:
        facts, stated, header = part.facts, part.stated, part.header
        is_row = self.table.layout.metrics == "rows"
        printed = _part(row.parts, index)
        assumed = dict(facts.assumed)
        model = stated.model or printed.model or header.model or facts.model
        if stated.model is None and printed.model is not None and printed.assumed:
            assumed |= dict(pair for pair in printed.assumed if pair[0] == "model")
        if header.rest:
            facts, model = self._with_variant(facts, model, stated, header.rest, assumed)
        if part.has_pattern:
            texts = _texts_for_patterns(row, column, printed, header, facts)
            if is_pattern(stated.model):
                model = fill(stated.model or "", texts, self.sidecar) or None
            if is_pattern(stated.dataset):
                filled = fill(stated.dataset or "", texts, self.sidecar)
                found = find_dataset(filled, self.names) or filled
                facts = replace(facts, dataset=found, dataset_as_printed=filled)
        return Value(
            cell=(row.index, column.index),
            number=number,
            facts=facts,
            model=model,
            labels=row.labels,
            series=(row.index, index) if is_row else part.series,
            model_line=column.index if is_row else row.index,
            header=part.name,
            stated=stated,
            patterned=part.is_stated,
            assumed=assumed,
        )

    def _with_variant(
        self, facts: Facts, model: str | None, stated: Facts, rest: str, assumed: dict[str, str]
    ) -> tuple[Facts, str | None]:
        """Add header text that is neither metric nor data set to the data set (a version of it) or to the model."""
        if facts.dataset_as_printed:
            version = f"{facts.dataset_as_printed} {rest}"
            known = find_dataset(version, self.names)
            if known or rest.lower().lstrip("v").isdigit():
                assumed["dataset"] = "version from the header"
                return replace(facts, dataset=known or version, dataset_as_printed=version), model
        if model is None or is_pattern(stated.model):
            return facts, model
        assumed["model"] = f"with '{rest}' of the header"
        return facts, f"{model} ({rest})"


def _why_unread(parts: Sequence[Facts]) -> str | None:
    """Return why values of which this is known cannot be read; None where they can."""
    if any(facts.metric is None for facts in parts):
        return "no header names its metric"
    return "; ".join(dict.fromkeys(text for facts in parts for text in facts.conflicts)) or None


def _count(number: int) -> str:
    return "1 value" if number == 1 else f"{number} values"


def _part(layer: Sequence[Facts], index: int) -> Facts:
    return layer[index] if index < len(layer) else layer[0]


def _stated(row: Row, column: Column, table: Table, part: int) -> Facts:
    """Return what the sidecar states about a value: the row before the column before the table."""
    facts = Facts()
    for layer in (row.line.parts, column.line.parts, (table.stated.facts,)):
        facts = facts.over(_part(layer, part)) if layer else facts
    return facts


def _combine(row: Row, column: Column, bare: tuple[Facts, ...], table: Table, known: set[str]) -> list[Facts]:
    """Return what is known of each value of a cell; where two places say different things it has conflicts.

    What a sidecar states of a line stands instead of what the line says; what it states of the table must agree with
    the lines. What the text around the table says comes last.
    """
    layers = (row.line.parts, column.line.parts, column.parts, bare)
    parts = []
    for index in range(max(map(len, layers))):
        about_row, about_column, header, labels = (
            _part(layer, index) if layer else Facts() for layer in layers
        )
        whole = table.stated.facts
        stated = about_row.over(about_column)
        header = _without(header, about_column.over(Facts(dataset=whole.dataset)), known)
        labels = _without(labels, about_row.over(Facts(dataset=whole.dataset)), known)
        facts = stated.agreeing(header.agreeing(labels, "the column", "the row"), "the sidecar", "the table")
        given: dict[str, Any] = {name: None for name in _KEY if getattr(stated, name)}
        rest = replace(whole, **given)
        if whole.metric and facts.metric not in (None, whole.metric):
            clash = f"the sidecar says {whole.metric}, the table {facts.metric}"
            facts = replace(facts, conflicts=(*facts.conflicts, clash))
        notes = "; ".join(
            filter(None, dict.fromkeys([stated.notes, whole.notes, header.notes, labels.notes]))
        )
        facts = rest.agreeing(facts, "the sidecar", "the table").over(table.layout.facts)
        printed = facts.metric_as_printed or (column.name or None if facts.metric else None)
        parts.append(replace(facts, notes=notes or None, metric_as_printed=printed, rest=None))
    return parts


def _without(printed: Facts, stated: Facts, known: set[str]) -> Facts:
    """Leave out of what a line says what a sidecar states instead; a name that is no data set of ours says nothing."""
    blank: dict[str, Any] = {
        name: None for name in _KEY if getattr(stated, name) is not None and name != "dataset"
    }
    if stated.dataset and (is_pattern(stated.dataset) or printed.dataset not in known):
        blank |= {"dataset": None}
        if not is_pattern(stated.dataset):
            blank |= {"dataset_as_printed": None}
    if "metric" in blank:
        blank["metric_as_printed"] = None
    return replace(printed, **blank) if blank else printed


def _texts_for_patterns(
    row: Row, column: Column, printed: Facts, header: Facts, facts: Facts
) -> dict[str, str]:
    """Return what the names in the braces of a pattern stand for in a cell."""
    # Above the names of metrics stands what the columns are: '{rank}' is the header of the value's column.
    corner = {text: column.name for other in row.columns if other.role == "metric" for text in other.header}
    dataset = header.dataset_as_printed or printed.dataset_as_printed
    return {
        "model": header.model or printed.model or "",
        "dataset": dataset or facts.dataset_as_printed or "",
        "metric": facts.metric_as_printed or "",
        "column": header.rest or header.dataset_as_printed or column.name,
        "row": next((text for text in row.labels.values() if text), ""),
        **row.labels,
        **corner,
    }
