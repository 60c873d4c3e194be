"""Decide what each cell is: a value with all its facts, missing, unread with a reason, or a label.

The facts of a number come from its row, its column, its table and the sidecar, if these agree; gaps are filled with
the convention of its tool or benchmark, else with the usual choice. Then the values of a table are compared: rows of
one model must be told apart, two numbers of one evaluation cannot both be read, and a comma, like the unit, is decided
for many numbers together.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from rankadjust.base.printed import Number
from rankadjust.chance.metrics import find_adjusted
from rankadjust.counting.evaluators import usual_evaluation
from rankadjust.counting.protocols import load_benchmarks
from rankadjust.data.registry import Dataset, meanings
from rankadjust.tables import facts as of
from rankadjust.tables import headers
from rankadjust.tables.columns import Column
from rankadjust.tables.facts import DEFAULT, EVALUATION, GIVEN, INFERRED, PRINTED, Fact, Facts
from rankadjust.tables.formats import cell_text
from rankadjust.tables.formats.cell_text import is_numeric, read_cell
from rankadjust.tables.headers import Names, find_dataset
from rankadjust.tables.layout import Row, Table
from rankadjust.tables.sidecar import fill

State = tuple[str, str | None]
"""The state of a cell (value, missing, unread or label) and the reason, if it holds a number that is not read."""

_DECIMAL = re.compile(r"\d*[.,]\d+")
_THOUSANDS_WITH_POINT = re.compile(r"-?[1-9][0-9]{0,2}\.[0-9]{3}")
# How many rows are searched for a data set in a table without a metric.
_LOOKED_AT = 100
# The keys of PyKEEN's results.
_PYKEEN = re.compile(r"(?:^|\.)(?:both|head|tail)\.(?:realistic|optimistic|pessimistic)\b")
# LibKGE (kge/job/entity_ranking.py) writes raw ranks, ranks filtered with `filter_splits`, which on validation data
# ignore the test set, and, under keys that end in _filtered_with_test, ranks filtered with the test set too.
_LIBKGE = re.compile(r"(?:mean_rank|mean_reciprocal_rank|hits_at_\d+)(?P<filtered>_filtered)?")
_LETTERS = {"h": "head", "s": "head", "t": "tail", "o": "tail"}
# The ranges of adjusted metrics.
_RANGES = {"index": (float("-inf"), 1.0), "ratio": (0.0, float("inf")), "z": (float("-inf"), float("inf"))}


@dataclass(slots=True)
class Value:
    """A number with its facts; cell: its row and column, from 0.

    key: its model and its evaluation; gaps are filled with the usual choice. series: the same for values under the same
    header and label. model_line: the index of the row with the metrics of its model, or of the column if rows are
    metrics. header: the text that names its metric. doubt: how the number itself was read, if that is not plain.
    unread: the reason why it is not read after all.
    """

    cell: tuple[int, int]
    number: Number
    facts: Facts
    key: tuple[Any, ...]
    series: int
    model_line: int
    header: str
    doubt: str | None = None
    unread: str | None = None

    @property
    def by_name(self) -> Mapping[str, Fact | None]:
        """Its facts and its number, None for a fact that nothing names."""
        number = Fact(self.number.text, INFERRED if self.doubt else PRINTED, self.doubt)
        return {"dataset": None, "model": None, **dict(self.facts.stated()), "value": number}

    @property
    def state(self) -> State:
        """The state of its cell."""
        return ("unread", self.unread) if self.unread else ("value", None)


class Reader:
    """Reads the cells of one table; cells with the same row and column facts share one combination of them."""

    def __init__(self, table: Table, names: Names, registry: Mapping[str, Dataset], sidecar: Path) -> None:
        self.table, self.names, self.registry, self.sidecar = table, names, registry, sidecar
        self.in_rows = table.metrics == "rows"
        self._combined: dict[tuple[Any, ...], Facts] = {}

    def read(self) -> dict[tuple[int, int], Value | State]:
        """Return each cell of the table as a value, before values are compared, or its state."""
        columns, why = self.table.columns, self._why_no_metric()
        return {
            (row.index, column.index): self._cell(row, column, why)
            for row in self.table.rows
            for column in columns
        }

    def _why_no_metric(self) -> str | None:
        """Return the reason why the decimal numbers of a table that names no metric are results all the same."""
        if self.table.metrics:
            return None
        if self.table.grid.width == 1:
            return "nothing separates its columns; save the table as CSV"
        texts = (text for row in self.table.grid.rows[:_LOOKED_AT] for text in row)
        is_named = any(headers.within("dataset", text, self.names) for text in texts)
        return "nothing names its metric; state the metric" if is_named else None

    def _cell(self, row: Row, column: Column, why: str | None) -> Value | State:
        """Return the value or the state of a cell; a number beside the values gets the reason why it is none of them.

        why: the reason why the decimal numbers of the table are not read.
        """
        text = self.table.grid.rows[row.index][column.index]
        has_values = row.kind == "values" and self.table.metrics != ""
        has_decimal = _DECIMAL.search(text) is not None
        if row.refused and (is_numeric(text) or has_decimal):
            return "unread", row.refused
        if has_values and column.role == "value":
            return self._value(row, column, text)
        is_other = not has_values or column.role == "other"
        is_nameless = is_other and has_values and not column.header and column.line.role is None
        if (why or is_nameless) and has_decimal and cell_text.holds_numbers(text):
            return "unread", why or "the column has no header"
        is_number = is_numeric(text) and (row.kind != "header" or "." in text)
        is_left_out = "other" in (row.line.role, column.line.role)
        reason = "left out by the sidecar" if is_left_out else "no metric is named here"
        return "label", reason if is_other and is_number else None

    def _value(self, row: Row, column: Column, text: str) -> Value | State:
        """Return the value of a text, or its state if it has none."""
        number = read_cell(text)
        if not isinstance(number, Number):
            why = "several values in one cell" if cell_text.several_numbers(text) else "not a number"
            return ("missing", None) if number == "" else ("unread", why)
        # The model differs from row to row, while the other facts of the labels seldom do.
        key = (column.index, row.facts.without("model"), row.line.key)
        if key not in self._combined:
            self._combined[key] = self._facts(row, column)
        facts = self._combined[key]
        if reason := _unread(facts):
            return "unread", reason
        model = self._model(row, column, facts)
        return Value(
            cell=(row.index, column.index),
            number=number,
            facts=replace(facts, model=model),
            key=(model and model.value, facts.evaluation),
            series=row.index if self.in_rows else column.index if self.table.metrics == "columns" else 0,
            model_line=column.index if self.in_rows else row.index,
            header=self._header(column, facts),
        )

    def _header(self, column: Column, facts: Facts) -> str:
        """Return the text that names the metric of a value."""
        return (self.in_rows and facts.metric and facts.metric.printed) or column.name

    def _model(self, row: Row, column: Column, facts: Facts) -> Fact | None:
        """Return the model of a value; the pattern of a sidecar is filled."""
        model, rest = facts.model, facts.rest
        if model and model.source == GIVEN and "{" in model.value:
            above, beside = (own.dataset and own.dataset.printed for own in (column.facts, row.facts))
            texts = {
                "model": column.facts["model"] or row.facts["model"] or "",
                "dataset": above or beside or (facts.dataset and facts.dataset.printed) or "",
                "column": rest or above or column.name,
                "row": row.name,
                **row.labels,
            }
            name = fill(model.value, texts, self.sidecar)
            return replace(model, value=name) if name else None
        if model is None or model.source != GIVEN:
            model = row.facts.model or model
        if rest:
            why = f"with '{rest}' of the header" if model else "from a header"
            model = Fact(f"{model.value} ({rest})" if model else rest, INFERRED, why)
        return model

    def _facts(self, row: Row, column: Column) -> Facts:
        """Return the facts of a value but the model of its row; contradictions are among its conflicts.

        A statement about a line replaces the facts of that line, and a statement about the table. A statement about the
        table must agree with the facts of the lines. Facts of the text around the table come last.
        """
        whole, lines = self.table.stated.facts, row.line.facts.over(column.line.facts)
        header, labels = self._printed(column), self._printed(row).without("model")
        printed, by = header.agreeing(labels, "the column", "the row"), "the sidecar or the option"
        facts = lines.over(whole).agreeing(printed, by, "the table").over(self.table.facts)
        conflicts = facts.conflicts
        if whole.metric and printed["metric"] not in (None, whole["metric"]):
            conflicts += (f"{by} says {whole['metric']}, the table {printed['metric']}",)
        stated = lines.notes, whole.notes
        notes = dict.fromkeys(filter(None, (*stated, header.notes, labels.notes)))
        is_explained = (lines.protocol or whole.protocol) and facts["task"] in of.OTHER_CANDIDATES
        facts = replace(
            facts,
            notes="; ".join(notes) or None,
            task=None if is_explained else facts.task,
            conflicts=tuple(dict.fromkeys(conflicts)),
        )
        facts = self._by_convention(self._with_dataset(facts), self._header(column, facts))
        return replace(facts, protocol=self._doubted(facts, is_explained=any(stated)))

    def _printed(self, line: Row | Column) -> Facts:
        """Return the printed facts of a line without those that the sidecar replaces, for the line or the whole table.

        The stated data set of the table replaces a printed name that is not a data set of ours. `left` and `right` are
        sides of an evaluator, so that any statement replaces them.
        """
        whole, facts = self.table.stated.facts, line.facts
        replaced = [name for name, _ in line.line.facts.stated(EVALUATION)]
        replaced += ["dataset"] if whole.dataset and facts["dataset"] not in self.names.values() else []
        facts, (left, why) = facts.without(*replaced), self.table.left
        right = "tail" if left == "head" else "head"
        sides = {**_LETTERS, **dict.fromkeys(("left", "l"), left), **dict.fromkeys(("right", "r"), right)}
        printed = facts["side"]
        if printed not in sides:
            return facts
        reason = f"from '{printed}'" if printed in _LETTERS else why or None
        return replace(facts, side=None if whole.side else Fact(sides[printed], INFERRED, reason))

    def _with_dataset(self, facts: Facts) -> Facts:
        """Return facts with the version of the data set that the header names, and a remark on an unknown data set."""
        dataset, rest = facts.dataset, facts.rest
        if dataset and rest and dataset.printed:
            version = f"{dataset.printed} {rest}"
            known = find_dataset(version, self.names)
            # Some names of data sets go on with words such as 'paper'.
            if rest.lower().lstrip("v").isdigit() or (known and known != dataset.value):
                dataset, rest = Fact(known or version, INFERRED, "version from the header", version), None
        if dataset and dataset.value not in self.names.values():
            others = meanings(dataset.value, self.registry)
            remark = f"which may be {' or '.join(others)}" if others else "none of the registry"
            dataset = replace(dataset, reason=", ".join(filter(None, (dataset.reason, remark))))
        return replace(facts, dataset=dataset, rest=rest)

    def _by_convention(self, facts: Facts, header: str) -> Facts:
        """Return facts with their gaps filled by the convention of a tool or benchmark, else by the usual choice.

        A benchmark with several protocols prescribes none of them. An inductive data set has a test split of its own,
        in its second graph.
        """
        name = facts["dataset"] or ""
        usual, benchmarks = usual_evaluation(name), [one for one in load_benchmarks() if one.dataset == name]
        cut = [key for one in benchmarks for key in one.metrics if key.startswith(f"{facts['metric']}_at_")]
        if cut and facts.metric:
            doubt = f"though the evaluator of {name} gives {cut[0]}"
            facts = replace(facts, metric=replace(facts.metric, reason=doubt))
        prescribed = [one.protocol.name for one in benchmarks]
        protocol, side = self._of_tool(facts, header), facts.side
        if protocol is None and len(benchmarks) == 1:
            sides, why = benchmarks[0].sides, "{} from the benchmark".format
            protocol = Fact(prescribed[0], INFERRED, why(prescribed[0]))
            side = side or (Fact(sides[0], INFERRED, why(sides[0])) if len(sides) == 1 else None)
        elif protocol is None:
            doubt = f"though {name} is ranked under {' or '.join(prescribed)}"
            protocol = Fact(usual.protocol, DEFAULT, doubt if prescribed else None)
        is_inductive = name in self.registry and self.registry[name].role == "inductive"
        split = usual.split or ("inference_testing" if is_inductive else "testing")
        defaults = Facts.of(DEFAULT, split=split, side=usual.side or "both")
        return replace(facts, protocol=protocol, side=side).over(defaults)

    def _of_tool(self, facts: Facts, header: str) -> Fact | None:
        """Return the protocol of a value: what LibKGE and PyKEEN mean by its key where it is not stated."""
        protocol, libkge = facts.protocol, _LIBKGE.fullmatch(header)
        if libkge and libkge["filtered"] and facts["split"] == "validation":
            return protocol if protocol and protocol.source == GIVEN else Fact("filtered-cumulative")
        if protocol is None and libkge and any(f"{header}_filtered" in row for row in self.table.grid.rows):
            return Fact("raw", INFERRED, "raw, as LibKGE writes it beside filtered")
        if protocol is None and _PYKEEN.search(header):
            return Fact("pykeen", INFERRED, "of PyKEEN, whose keys these are")
        return protocol

    def _doubted(self, facts: Facts, *, is_explained: bool) -> Fact | None:
        """Return the protocol, assumed if a note in the header or the text around the table may mean another.

        is_explained: whether a sidecar has notes.
        """
        protocol, notes, other = facts.protocol, facts.notes, self.table.other
        if protocol is None or protocol.reason or protocol.source in (GIVEN, INFERRED):
            return protocol
        is_default = protocol.source == DEFAULT
        is_other = notes and not is_explained and (is_default or headers.OTHER_EVALUATION.search(notes))
        if protocol.value.startswith("sampled-") or not (other or is_other):
            return protocol
        doubt = f"though the header has a note: {notes}"
        doubt = f"though the text around the table speaks of '{other}'" if other else doubt
        return (
            replace(protocol, reason=doubt) if is_default else protocol.because(f"{protocol.value}, {doubt}")
        )


def _unread(facts: Facts) -> str | None:
    """Return the reason why values with these facts stay unread, None if they are read."""
    unknown = ("a metric beside unknown words; state what the column holds",) * bool(facts.unknown)
    if facts.conflicts or unknown:
        return "; ".join((*facts.conflicts, *unknown))
    if facts.metric is None:
        return "no header names its metric"
    task = facts.task
    if task is None or task.value == of.ENTITY_RANKING:
        return None
    said = f"{task.value} ({task.reason or 'as printed'})"
    if example := of.OTHER_CANDIDATES.get(task.value):
        return f"{said}: state the protocol, for example {example}"
    return f"{said} is not {of.ENTITY_RANKING}; if it is, state the task"


def settle(values: Sequence[Value], percent: str | None, *, has_commas: bool) -> None:
    """Compare the values of a table: decide their signs and units, and refuse values that contradict each other.

    percent: the text around the table that declares its numbers percent. has_commas: whether the file has decimal
    commas.
    """
    _mark_repeated(values)
    _refuse_repeated(values)
    _settle_signs([value for value in values if not value.unread], has_commas=has_commas)
    _decide_units([value for value in values if not value.unread], percent)


def _mark_repeated(values: Sequence[Value]) -> None:
    """Mark the models of a table if some of its rows agree in everything but their number."""
    rows: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for value in values:
        rows[value.key].add(value.cell[0])
    if any(len(own) > 1 for own in rows.values()):
        for value in values:
            if value.facts.model and value.facts.model.source != GIVEN:
                value.facts = value.facts.because("several rows have the same model", "model")


def _refuse_repeated(values: Sequence[Value]) -> None:
    """Mark values as unread that are not alone in their line of a model with their evaluation.

    One value of several is read only if the table states all facts that it states of the others, and more: 'MR@filter'
    beside 'Mean Rank' is read, and 'Mean Rank', which may be raw, is not.
    """
    lines: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        lines[value.model_line, value.key].append(value)
    for same in (own for own in lines.values() if len(own) > 1):
        all_stated = [value.facts.stated(EVALUATION) for value in same]
        stated = [{name for name, fact in own if fact.source != DEFAULT} for own in all_stated]
        names = list(dict.fromkeys(f"'{value.header}'" for value in same))
        differing = ", ".join(names) if len(names) > 1 else f"the values of {names[0]}"
        for value, here in zip(same, stated, strict=True):
            if sum(there < here for there in stated) < len(same) - 1:
                value.unread = f"nothing says in what {differing} differ; state it in a sidecar"


def _settle_signs(values: Sequence[Value], *, has_commas: bool) -> None:
    """Read '1,234' as thousands, and as a decimal number where that would be out of range.

    In a file with decimal commas neither '1,234' nor '1.234' is certain.
    """
    grouped = {value.series for value in values if value.number.other}
    for value in values:
        number = value.number
        is_point = not (number.other or number.decimal_comma) and _THOUSANDS_WITH_POINT.fullmatch(number.text)
        if number.other and scale_of(value.facts["metric"] or "")[0] in ("share", "index"):
            value.number = number.with_decimal_comma()
            value.doubt = "the comma is decimal: otherwise the value is out of range"
        elif has_commas and (number.other or is_point):
            value.unread = "thousands or decimal: the file has decimal commas"
        elif number.other:
            value.doubt = "the comma separates thousands"
        elif is_point and value.series in grouped:
            value.doubt = "the point is decimal, though other values have a comma"


@cache
def scale_of(metric: str) -> tuple[str, float, float]:
    """Return the scale of a metric, its least and its greatest value.

    The scale is share (in [0, 1], so that it may be printed in percent), rank, or, for a metric that is printed already
    adjusted, ratio, index or z.
    """
    adjusted = find_adjusted(metric)
    if adjusted is None:
        return "rank", float("-inf"), float("inf")
    plain, adjustment = adjusted
    scale = adjustment or ("share" if plain.upper <= 1.0 else "rank")
    return (scale, *_RANGES.get(scale, (plain.lower, plain.upper)))


def _decide_units(values: Sequence[Value], percent: str | None) -> None:
    """Give each value its unit, decided for a whole series: a column, or a row where metrics are rows.

    The other Hits of a data set are percent if some are for their values above 1. A sign in a cell, or a stated unit,
    is about these cells alone. Where the numbers decide nothing, and where a number is impossible in its unit, the cell
    is unread.
    """
    series: dict[tuple[int, str], list[Value]] = defaultdict(list)
    for value in values:
        series[value.series, value.facts["metric"] or ""].append(value)
    units = {key: _unit_of(key[1], members, percent) for key, members in series.items()}
    percents = {key for key, unit in units.items() if "hits_at_" in key[1] and _is_inferred(unit, "percent")}
    of_percents = {value.facts["dataset"] for key in percents for value in series[key]}
    for key, members in series.items():
        unit, (_, lower, upper) = units[key], scale_of(key[1])
        is_open = "hits_at_" in key[1] and (isinstance(unit, str) or _is_inferred(unit, "fraction"))
        if is_open and any(value.facts["dataset"] in of_percents for value in members):
            unit = Fact("percent", INFERRED, "percent: like the other Hits of the table")
        for value in members:
            if isinstance(unit, str):
                value.unread = unit
                continue
            own = Fact("percent") if value.number.percent else unit
            value.facts = replace(value.facts, unit=own)
            scale = 100 if own.value == "percent" else 1
            ends = value.number.interval(percent=scale == 100)
            # The whole rounding interval must be outside.
            if ends.high < lower or ends.low > upper:
                where = f"{lower * scale:g} to {upper * scale:g}"
                value.unread = f"{value.number.text} as {own.value} is outside {where}"


def _is_inferred(unit: Fact | str, word: str) -> bool:
    return isinstance(unit, Fact) and (unit.value, unit.source) == (word, INFERRED)


def _unit_of(metric: str, members: Sequence[Value], percent: str | None) -> Fact | str:
    """Return the unit of a series, the stated one or else by its numbers, or the reason why none is certain."""
    scale, _, _ = scale_of(metric)
    plain = [value for value in members if not value.number.percent]
    above = sum(value.number.value > 1 for value in plain)
    stated = next((value.facts.unit for value in members if value.facts.unit), None)
    if scale != "share":
        word = "percent" if scale == "index" and above else "index" if scale == "ratio" else scale
        return Fact(word, stated.source if stated else PRINTED)
    if stated or not plain:
        return stated or Fact("percent")
    said = f"{above} of {len(members)} values above 1"
    if 2 * above >= len(plain):
        return Fact("percent", INFERRED, f"percent: {said}")
    if above or percent:
        caption = f"though {percent} says percent; " if percent else ""
        return f"neither percent nor fraction is certain: {said}; {caption}state the unit"
    return Fact("fraction", INFERRED, f"fraction: {len(members)} of {len(members)} values at most 1")
