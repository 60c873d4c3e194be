"""Turn cells into values: a number with all facts from its row, column, table and sidecar, if these agree."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankadjust.base.printed import Number
from rankadjust.tables.cells import holds_numbers, is_missing, labelled_numbers, read_cell, several_numbers
from rankadjust.tables.layout import Table
from rankadjust.tables.sheet import Column, Row
from rankadjust.tables.sidecar import fill, is_pattern
from rankadjust.tables.tokens import (
    ENTITY_RANKING,
    EVALUATION,
    OTHER_CANDIDATES,
    Facts,
    Names,
    datasets_within,
    find_dataset,
    metric_key,
    read_header,
)

State = tuple[str, str | None]
"""The state of a cell (value, missing, unread or label) and, for an unread cell, the reason."""
States = dict[tuple[int, int], State]

_LABEL: State = ("label", None)
# A star may refer to a footnote, or mark a variant of the data set.
_STARRED = re.compile(r"(\S*\w)\*")
_DECIMAL = re.compile(r"\d*[.,]\d+")
# How many rows, and how long texts, are searched for a data set in a table without a metric.
_LOOKED_AT, _LONGEST_NAME = 100, 80


@dataclass(slots=True)
class Value:
    """A number with its facts; cell: its row and column, from 0.

    facts: all facts but the model; values with equal facts share the object. series: the same for values under the same
    header and label. model_line: the index of the row with the metrics of its model, or of the column if rows are
    metrics.
    labels: header -> text of the label cells of its row. header: the text that names its metric. stated: the facts that
    a sidecar states. patterned: whether the sidecar states the name of the model. assumed: field -> reason of each fact
    that the table itself does not state.
    """

    cell: tuple[int, int]
    number: Number
    facts: Facts
    model: str | None
    labels: Mapping[str, str]
    series: tuple[int, str]
    model_line: int
    header: str
    stated: Facts
    patterned: bool
    assumed: dict[str, str]
    unit: str | None = None

    @property
    def notes(self) -> str | None:
        """The notes about the value, and the number in brackets after it."""
        bracket = self.number.bracket
        return "; ".join(filter(None, (self.facts.notes, bracket and f"in brackets: {bracket}"))) or None

    def key(self) -> tuple[Any, ...]:
        """Return the model and the evaluation of the value; gaps are filled with the usual choice."""
        return self.model, self.facts.evaluation


class Reader:
    """Reads the cells of one table; cells with the same row and column facts share one combination of them."""

    def __init__(self, table: Table, names: Names, sidecar: Path) -> None:
        self.table = table
        self.names = names
        self.sidecar = sidecar
        # A sidecar may overrule the only data set of a table; if it overruled several, it would merge them.
        columns, rows = table.layout.columns, table.layout.rows
        printed = {column.facts.dataset for column in columns} | {row.facts.dataset for row in rows}
        printed -= {None}
        self.known = set(names.values()) - (printed if len(printed) == 1 else set())
        self._labels: dict[Facts, int] = {}
        self._combined: dict[tuple[Any, ...], tuple[Facts, Facts]] = {}

    def read(self) -> tuple[list[Value], States]:
        """Return the values of the table and the state of each of its cells."""
        layout = self.table.layout
        is_of_results = not layout.metrics and self._names_datasets()
        last_value = max((column.index for column in layout.columns if column.role == "value"), default=-1)
        values: list[Value] = []
        states: States = {}
        for row in layout.rows:
            is_body = row.kind == "values" and layout.metrics != ""
            # The model differs from row to row, while the other facts of the labels seldom do.
            bare = replace(row.facts, model=None) if is_body else row.facts
            same = self._labels.setdefault(bare, len(self._labels)), row.line.key
            for column in layout.columns:
                cell = (row.index, column.index)
                if is_body and column.role == "value":
                    parts = [self._value(row, *part, bare, same) for part in self._parts(row, column)]
                    unread = [part for part in parts if not isinstance(part, Value)]
                    values += [] if unread else [part for part in parts if isinstance(part, Value)]
                    states[cell] = unread[0] if unread else ("value", None)
                elif is_of_results and _is_result(self.table.text(*cell)):
                    states[cell] = "unread", "nothing names its metric; state the metric"
                else:
                    states[cell] = self._label(row, column, last_value) if is_body else _LABEL
        return values, states

    def _names_datasets(self) -> bool:
        """Return whether a cell of the table names a data set, which makes its decimal numbers results."""
        texts = (
            text for row in self.table.grid.rows[:_LOOKED_AT] for text in row if len(text) <= _LONGEST_NAME
        )
        return any(datasets_within(text, self.names) for text in texts)

    def _label(self, row: Row, column: Column, last: int) -> State:
        """Return the state of a label; a text without a header, beyond the last column of values, is unread."""
        text = self.table.text(row.index, column.index)
        taken = dict(row.facts.assumed).get("model") or ""
        if column.role == "model" and taken.startswith("without '"):
            return "unread", f"the model's name was read {taken}"
        is_unnamed = column.role == "other" and not column.header and column.line.role is None
        if not text or not is_unnamed or not -1 < last < column.index:
            return _LABEL
        return ("missing", None) if is_missing(text) else ("unread", "the column has no header")

    def _parts(self, row: Row, column: Column) -> Iterator[tuple[Column, str, str]]:
        """Yield the numbers of a cell such as 'paper: 0.9 ours: 0.8', each with labelled column and label."""
        text = self.table.text(row.index, column.index)
        labelled = labelled_numbers(text)
        if not labelled:
            yield column, text, ""
        for label, number in labelled:
            said = read_header(label, self.names)
            if said.rest is None and not said.unknown:
                facts = column.facts.agreeing(said, "the header", "the label")
            else:
                facts = replace(column.facts, rest=" ".join(filter(None, (column.facts.rest, label))))
            yield replace(column, facts=facts), number, label

    def _value(
        self, row: Row, column: Column, text: str, label: str, bare: Facts, same: tuple[Any, ...]
    ) -> Value | State:
        """Return the value of a text, or its state if it has no value. same: a key shared by rows with equal facts."""
        number = read_cell(text)
        if number == "":
            return "missing", None
        if not isinstance(number, Number):
            return "unread", "several values in one cell" if several_numbers(text) else "not a number"
        key = (column.index, label, same)
        if key not in self._combined:
            self._combined[key] = _combine(row, column, bare, self.table, self.known)
        facts, stated = self._combined[key]
        if reason := _unread(facts):
            return "unread", reason
        facts, model, assumed = self._named(row, column, facts, stated)
        metrics = self.table.layout.metrics
        in_rows = metrics == "rows"
        return Value(
            cell=(row.index, column.index),
            number=number,
            facts=facts,
            model=model,
            labels=row.labels,
            series=(row.index if in_rows else column.index if metrics == "columns" else 0, label),
            model_line=column.index if in_rows else row.index,
            header=(facts.metric_as_printed or "") if in_rows else column.name,
            stated=stated,
            patterned=is_pattern(stated.model) or bool(row.line.facts.model or column.line.facts.model),
            assumed=assumed,
        )

    def _named(
        self, row: Row, column: Column, facts: Facts, stated: Facts
    ) -> tuple[Facts, str | None, dict[str, str]]:
        """Return the facts of a value with its data set, its model, and the reason of each assumption."""
        printed, header = row.facts, column.facts
        assumed = dict(facts.assumed)
        name = facts.dataset_as_printed or (facts.metric_as_printed if header.dataset else None)
        starred = _STARRED.search(name or "")
        if starred and metric_key(starred[1]) is None and stated.dataset is None:
            assumed.setdefault("dataset", f"'{name}' without its mark")
        model = stated.model or printed.model or header.model or facts.model
        if stated.model is None and printed.model is not None:
            assumed |= dict(pair for pair in printed.assumed if pair[0] == "model")
        if header.rest:
            facts, model = self._with_variant(facts, model, stated, header.rest, assumed)
        if is_pattern(stated.model):
            model = fill(stated.model or "", self._texts(row, column, facts), self.sidecar) or None
        if is_pattern(stated.dataset):
            filled = fill(stated.dataset or "", self._texts(row, column, facts), self.sidecar)
            dataset = find_dataset(filled, self.names) or filled
            facts = replace(facts, dataset=dataset, dataset_as_printed=filled)
        return facts, model, assumed

    def _with_variant(
        self, facts: Facts, model: str | None, stated: Facts, rest: str, assumed: dict[str, str]
    ) -> tuple[Facts, str | None]:
        """Add the rest of a header to the data set, if it is a version of the data set, else to the model."""
        if facts.dataset_as_printed:
            version = f"{facts.dataset_as_printed} {rest}"
            known = find_dataset(version, self.names)
            # Some names of data sets go on with words such as 'paper'.
            if rest.lower().lstrip("v").isdigit() or (known and known != facts.dataset):
                assumed["dataset"] = "version from the header"
                return replace(facts, dataset=known or version, dataset_as_printed=version), model
        if is_pattern(stated.model):
            return facts, model
        assumed["model"] = f"with '{rest}' of the header" if model else "from a header"
        return facts, f"{model} ({rest})" if model else rest

    def _texts(self, row: Row, column: Column, facts: Facts) -> dict[str, str]:
        """Return, for a single cell, the text for each name in the braces of a pattern."""
        # The header above the names of metrics describes the columns: '{rank}' is the header of the value's column.
        metrics = (other for other in self.table.layout.columns if other.role == "metric")
        corner = [text for other in metrics for text in other.header]
        printed, header = row.facts, column.facts
        dataset = header.dataset_as_printed or printed.dataset_as_printed
        return {
            "model": header.model or printed.model or "",
            "dataset": dataset or facts.dataset_as_printed or "",
            "column": header.rest or header.dataset_as_printed or column.name,
            "row": next(filter(None, row.labels.values()), ""),
            **row.labels,
            **dict.fromkeys(corner, column.name),
        }


def _unread(facts: Facts) -> str | None:
    """Return the reason why values with these facts stay unread, None if they are read."""
    if facts.conflicts:
        return "; ".join(facts.conflicts)
    if facts.metric is None:
        return "no header names its metric"
    if facts.task in (None, ENTITY_RANKING):
        return None
    task = f"{facts.task} ({dict(facts.assumed).get('task', 'as printed')})"
    if example := OTHER_CANDIDATES.get(facts.task):
        return f"{task}: state the protocol, for example {example}"
    return f"{task} is not {ENTITY_RANKING}; if it is, state the task"


def _is_result(text: str) -> bool:
    """Return whether a cell holds a decimal number, or several numbers."""
    return _DECIMAL.search(text) is not None and holds_numbers(text)


def _combine(row: Row, column: Column, bare: Facts, table: Table, known: set[str]) -> tuple[Facts, Facts]:
    """Return the facts of a value, and the facts that the sidecar states; contradictions are conflicts of the former.

    bare: the facts of the row's labels, without the model. A statement about a line replaces the facts of that line. A
    statement about the table must agree with the facts of the lines. Facts of the text around the table come last.
    """
    whole, in_row, in_column = table.stated.facts, row.line.facts, column.line.facts
    stated = in_row.over(in_column)
    header = _without(column.facts, in_column, whole.dataset, known)
    labels = _without(bare, in_row, whole.dataset, known)
    # Without a sidecar, an option of the command states it.
    by = "the sidecar" if table.stated.has_sidecar else "the option"
    lines = stated.agreeing(header.agreeing(labels, "the column", "the row"), by, "the table")
    given: dict[str, Any] = {name: None for name in EVALUATION if getattr(stated, name)}
    facts = replace(whole, **given).agreeing(lines, by, "the table").over(table.layout.facts)
    conflicts = facts.conflicts
    if whole.metric and lines.metric not in (None, whole.metric):
        conflicts += (f"{by} says {whole.metric}, the table {lines.metric}",)
    notes = dict.fromkeys(filter(None, (stated.notes, whole.notes, header.notes, labels.notes)))
    printed = facts.metric_as_printed or (column.name or None if facts.metric else None)
    stated = stated.over(whole)
    facts = replace(
        facts,
        notes="; ".join(notes) or None,
        task=None if stated.protocol and facts.task in OTHER_CANDIDATES else facts.task,
        metric_as_printed=printed,
        rest=None,
        conflicts=tuple(dict.fromkeys(conflicts)),
    )
    return facts, stated


def _without(printed: Facts, line: Facts, whole: str | None, known: set[str]) -> Facts:
    """Return the printed facts of a line without those that the sidecar replaces, for the line or the whole table.

    whole: the stated data set of the table. It replaces a printed name that is not a data set of ours.
    """
    blank: dict[str, Any] = {name: None for name in EVALUATION if getattr(line, name) is not None}
    stated = line.dataset or whole
    if stated and (line.dataset or is_pattern(stated) or printed.dataset not in known):
        blank |= {"dataset": None}
        if not is_pattern(stated):
            blank |= {"dataset_as_printed": None}
    if "metric" in blank:
        blank["metric_as_printed"] = None
    return replace(printed, **blank) if blank else printed
