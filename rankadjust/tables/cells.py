"""Decide what each cell is: a value with all its facts, missing, unread with a reason, or a label.

The facts of a number come from its row, its column, its table and the sidecar, if these agree. Then the values of a
table are compared: tools and benchmarks have protocols of their own, rows of one model must be told apart, two numbers
of one evaluation cannot both be read, and a comma, like the unit, is decided for many numbers together.
"""

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankadjust.base.printed import Interval, Number
from rankadjust.chance.metrics import Metric, find_adjusted
from rankadjust.counting.evaluators import usual_evaluation
from rankadjust.counting.protocols import Benchmark
from rankadjust.tables import facts as of
from rankadjust.tables import headers
from rankadjust.tables.columns import Column
from rankadjust.tables.facts import DEFAULT, DEFAULTS, EVALUATION, GIVEN, INFERRED, Fact, Facts
from rankadjust.tables.formats import cell_text
from rankadjust.tables.formats.cell_text import is_numeric, read_cell
from rankadjust.tables.headers import Names, find_dataset
from rankadjust.tables.layout import Row, Table
from rankadjust.tables.sidecar import fill, is_pattern

State = tuple[str, str | None]
"""The state of a cell (value, missing, unread or label) and the reason, if it holds a number that is not read."""
States = dict[tuple[int, int], State]

_DECIMAL = re.compile(r"\d*[.,]\d+")
_THOUSANDS_WITH_POINT = re.compile(r"-?[1-9][0-9]{0,2}\.[0-9]{3}")
# How many rows, and how long texts, are searched for a data set in a table without a metric.
_LOOKED_AT, _LONGEST_NAME = 100, 80
# The keys of PyKEEN's results.
_PYKEEN = re.compile(r"(?:^|\.)(?:both|head|tail)\.(?:realistic|optimistic|pessimistic)\b")
# LibKGE (kge/job/entity_ranking.py) writes raw ranks, ranks filtered with `filter_splits`, which on validation data
# ignore the test set, and, under keys that end in _filtered_with_test, ranks filtered with the test set too.
_LIBKGE = re.compile(r"(?:mean_rank|mean_reciprocal_rank|hits_at_\d+)(?P<filtered>_filtered)?")
# The ranges of adjusted metrics.
_RANGES = {"index": (float("-inf"), 1.0), "ratio": (0.0, float("inf")), "z": (float("-inf"), float("inf"))}


@dataclass(slots=True)
class Value:
    """A number with its facts; cell: its row and column, from 0.

    facts: all facts but the model; values with equal facts share the object. doubt: how the number itself was read, if
    that is not plain. series: the same for values under the same header and label. model_line: the index of the row
    with the metrics of its model, or of the column if rows are metrics. header: the text that names its metric.
    """

    cell: tuple[int, int]
    number: Number
    facts: Facts
    model: Fact | None
    series: int
    model_line: int
    header: str
    unit: Fact | None = None
    doubt: str | None = None

    @property
    def metric(self) -> str:
        """The key of its metric."""
        return self.facts["metric"] or ""

    @property
    def name(self) -> str | None:
        """The name of its model."""
        return self.model.value if self.model else None

    @property
    def key(self) -> tuple[Any, ...]:
        """The model and the evaluation of the value; gaps are filled with the usual choice."""
        return self.name, self.facts.evaluation

    @property
    def interval(self) -> Interval:
        """The value with the ends of its rounding interval, in its unit."""
        return self.number.interval(percent=self.unit is not None and self.unit.value == "percent")


class Reader:
    """Reads the cells of one table; cells with the same row and column facts share one combination of them."""

    def __init__(self, table: Table, names: Names, sidecar: Path) -> None:
        self.table, self.names, self.sidecar = table, names, sidecar
        self.known = set(names.values())
        self._combined: dict[tuple[Any, ...], Facts] = {}

    def read(self) -> tuple[list[Value], States]:
        """Return the values of the table and the state of each of its cells, before values are compared."""
        # In a table that names a data set but no metric, decimal numbers are results.
        texts = [
            text for row in self.table.grid.rows[:_LOOKED_AT] for text in row if len(text) <= _LONGEST_NAME
        ]
        why = None
        if not self.table.metrics and self.table.grid.width == 1:
            why = "nothing separates its columns; save the table as CSV"
        elif not self.table.metrics and any(headers.within("dataset", text, self.names) for text in texts):
            why = "nothing names its metric; state the metric"
        values: list[Value] = []
        states: States = {}
        for row in self.table.rows:
            is_body = row.kind == "values" and self.table.metrics != ""
            for column in self.table.columns:
                cell = (row.index, column.index)
                text = self.table.text(*cell)
                if row.refused and (is_numeric(text) or _DECIMAL.search(text)):
                    states[cell] = "unread", row.refused
                elif is_body and column.role == "value":
                    read = self._value(row, column, text)
                    values += [read] if isinstance(read, Value) else []
                    states[cell] = ("value", None) if isinstance(read, Value) else read
                elif why and _is_result(text):
                    states[cell] = "unread", why
                else:
                    states[cell] = _label(row, column, text, is_body=is_body)
        return values, states

    def _value(self, row: Row, column: Column, text: str) -> Value | State:
        """Return the value of a text, or its state if it has none."""
        number = read_cell(text)
        if not isinstance(number, Number):
            several = cell_text.several_numbers(text)
            why = "several values in one cell" if several else "not a number"
            return ("missing", None) if number == "" else ("unread", why)
        # The model differs from row to row, while the other facts of the labels seldom do.
        bare = row.facts.without("model")
        key = (column.index, bare, row.line.key)
        if key not in self._combined:
            self._combined[key] = _combine(bare, row, column, self.table, self.known)
        facts = self._combined[key]
        if reason := _unread(facts):
            return "unread", reason
        facts, model = self._named(row, column, facts)
        metrics = self.table.metrics
        in_rows = metrics == "rows"
        return Value(
            cell=(row.index, column.index),
            number=number,
            facts=facts,
            model=model,
            series=row.index if in_rows else column.index if metrics == "columns" else 0,
            model_line=column.index if in_rows else row.index,
            header=((facts.metric and facts.metric.printed) or "") if in_rows else column.name,
        )

    def _named(self, row: Row, column: Column, facts: Facts) -> tuple[Facts, Fact | None]:
        """Return the facts of a value with its data set, and its model; the pattern of a sidecar is filled."""
        rest, model = column.facts.rest, facts.model
        if rest and facts.dataset and facts.dataset.printed:
            version = f"{facts.dataset.printed} {rest}"
            known = find_dataset(version, self.names)
            # Some names of data sets go on with words such as 'paper'.
            if rest.lower().lstrip("v").isdigit() or (known and known != facts.dataset.value):
                dataset = Fact(known or version, INFERRED, "version from the header", version)
                facts, rest = replace(facts, dataset=dataset), None
        if model and model.source == GIVEN and is_pattern(model.value):
            name = fill(model.value, self._texts(row, column, facts), self.sidecar)
            return facts, replace(model, value=name) if name else None
        if model is None or model.source != GIVEN:
            model = row.facts.model or column.facts.model or model
        if rest:
            why = f"with '{rest}' of the header" if model else "from a header"
            model = Fact(f"{model.value} ({rest})" if model else rest, INFERRED, why)
        return facts, model

    def _texts(self, row: Row, column: Column, facts: Facts) -> dict[str, str]:
        """Return, for a single cell, the text for each name in the braces of a pattern."""
        above, beside = (line.dataset.printed if line.dataset else None for line in (column.facts, row.facts))
        return {
            "model": column.facts["model"] or row.facts["model"] or "",
            "dataset": above or beside or (facts.dataset.printed if facts.dataset else None) or "",
            "column": column.facts.rest or above or column.name,
            "row": row.name,
            **row.labels,
        }


def _label(row: Row, column: Column, text: str, *, is_body: bool) -> State:
    """Return the state of a cell beside the values; a number gets the reason why it is none of them.

    is_body: whether the row has values.
    """
    if is_body and column.role != "other":
        return "label", None
    if is_body and not column.header and column.line.role is None and _is_result(text):
        return "unread", "the column has no header"
    is_number = is_numeric(text) and (row.kind != "header" or "." in text)
    if row.kind not in ("values", "other", "header") or not is_number:
        return "label", None
    is_left_out = "other" in (row.line.role, column.line.role)
    return "label", "left out by the sidecar" if is_left_out else "no metric is named here"


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


def _is_result(text: str) -> bool:
    """Return whether a cell holds a decimal number, or several numbers."""
    return _DECIMAL.search(text) is not None and cell_text.holds_numbers(text)


def _combine(bare: Facts, row: Row, column: Column, table: Table, known: set[str]) -> Facts:
    """Return the facts of a value; contradictions are among its conflicts.

    bare: the facts of the row's labels, without the model. A statement about a line replaces the facts of that line. A
    statement about the table must agree with the facts of the lines. Facts of the text around the table come last.
    """
    whole, stated = table.stated.facts, row.line.facts.over(column.line.facts)
    header = _printed(column.facts, column.line.facts, table, known)
    labels = _printed(bare, row.line.facts, table, known)
    by = "the sidecar or the option"
    lines = stated.agreeing(header.agreeing(labels, "the column", "the row"), by, "the table")
    facts = whole.without(*(name for name, _ in stated.stated(EVALUATION)))
    facts = facts.agreeing(lines, by, "the table").over(table.facts)
    conflicts = facts.conflicts
    if whole.metric and lines["metric"] not in (None, whole["metric"]):
        conflicts += (f"{by} says {whole['metric']}, the table {lines['metric']}",)
    metric = facts.metric
    if metric and not metric.printed:
        metric = replace(metric, printed=column.name or None)
    notes = dict.fromkeys(filter(None, (stated.notes, whole.notes, header.notes, labels.notes)))
    is_explained = (stated.protocol or whole.protocol) and facts["task"] in of.OTHER_CANDIDATES
    return replace(
        facts,
        model=stated.model or whole.model or table.facts.model,
        metric=metric,
        notes="; ".join(notes) or None,
        task=None if is_explained else facts.task,
        rest=None,
        conflicts=tuple(dict.fromkeys(conflicts)),
    )


def _printed(facts: Facts, line: Facts, table: Table, known: set[str]) -> Facts:
    """Return the printed facts of a line without those that the sidecar replaces, for the line or the whole table.

    The stated data set of the table replaces a printed name that is not a data set of ours. `left` and `right` are
    sides of an evaluator, so that any statement replaces them.
    """
    whole = table.stated.facts
    blank = {name for name, _ in line.stated(EVALUATION)}
    stated = line["dataset"] or whole["dataset"]
    if stated and (line.dataset or facts["dataset"] not in known):
        blank.add("dataset")
    facts = facts.without(*blank)
    printed, (left, why) = facts["side"] or "", table.left
    if printed in ("head", "tail", "both", ""):
        return facts
    is_left = printed in ("left", "l")
    if is_left or printed in ("right", "r"):
        side = left if is_left else "tail" if left == "head" else "head"
    else:
        side, why = (
            {"h": "head", "s": "head", "t": "tail", "o": "tail"}.get(printed, printed),
            f"from '{printed}'",
        )
    return replace(facts, side=None if whole.side else Fact(side, INFERRED, why or None))


def settle(
    table: Table, values: list[Value], states: States, benchmarks: Sequence[Benchmark], *, has_commas: bool
) -> list[Value]:
    """Compare the values of a table, and return those that are read after all.

    has_commas: whether the file has decimal commas.
    """
    _apply_conventions(values, benchmarks)
    _mark_repeated(values)
    _refuse_repeated(values, states)
    kept = [value for value in values if states[value.cell][0] == "value"]
    _settle_signs(kept, states, has_commas=has_commas)
    _decide_units(kept, states, table.percent)
    _doubt_protocols(kept, table)
    return [value for value in kept if states[value.cell][0] == "value"]


def _apply_conventions(values: Sequence[Value], benchmarks: Sequence[Benchmark]) -> None:
    """Give values without a protocol the protocol of their tool or benchmark, and the side if it has a single side."""
    by_dataset: dict[str | None, list[Benchmark]] = defaultdict(list)
    for benchmark in benchmarks:
        by_dataset[benchmark.dataset].append(benchmark)
    keys = {value.header for value in values}
    for value in values:
        value.facts = _of_tool(value, keys)
        if known := by_dataset.get(value.facts["dataset"]):
            value.facts = _of_benchmark(value.facts, known)


def _of_tool(value: Value, keys: Set[str]) -> Facts:
    """Return the facts of a value with those that LibKGE and PyKEEN mean by its key; keys: all of the table."""
    facts, protocol, libkge = value.facts, value.facts.protocol, _LIBKGE.fullmatch(value.header)
    if libkge and libkge["filtered"]:
        is_cumulative = facts["split"] == "validation" and (protocol is None or protocol.source != GIVEN)
        return replace(facts, protocol=Fact("filtered-cumulative")) if is_cumulative else facts
    if protocol is None and libkge and f"{value.header}_filtered" in keys:
        protocol = Fact("raw", INFERRED, "raw, as LibKGE writes it beside filtered")
    elif protocol is None and _PYKEEN.search(value.header):
        protocol = Fact("pykeen", INFERRED, "of PyKEEN, whose keys these are")
    # Values with equal facts share the object.
    return facts if protocol is facts.protocol else replace(facts, protocol=protocol)


def _of_benchmark(facts: Facts, known: Sequence[Benchmark]) -> Facts:
    """Return facts with the protocol of their benchmark; a benchmark with several protocols prescribes none of them."""
    keys = [key for own in known for key in own.metrics if key.startswith(f"{facts['metric']}_at_")]
    if keys and facts.metric:
        doubt = f"though the evaluator of {facts['dataset']} gives {keys[0]}"
        facts = replace(facts, metric=replace(facts.metric, reason=doubt))
    names = [benchmark.protocol.name for benchmark in known]
    if facts.protocol is not None:
        return facts
    if len(known) > 1:
        doubt = f"though {facts['dataset']} is ranked under {' or '.join(names)}"
        usual = usual_evaluation(known[0].dataset).protocol
        return replace(facts, protocol=Fact(usual, DEFAULT, doubt))
    (side, *others), why = known[0].sides, "{} from the benchmark".format
    own = None if others else Fact(side, INFERRED, why(side))
    return replace(facts, protocol=Fact(names[0], INFERRED, why(names[0])), side=facts.side or own)


def _mark_repeated(values: Sequence[Value]) -> None:
    """Mark the models of a table if some of its rows agree in everything but their number."""
    rows: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for value in values:
        rows[value.key].add(value.cell[0])
    if any(len(own) > 1 for own in rows.values()):
        for value in values:
            if value.model and value.model.source != GIVEN:
                value.model = value.model.because("several rows have the same model")


def _refuse_repeated(values: Sequence[Value], states: States) -> None:
    """Mark values as unread that are not alone in their line of a model with their evaluation.

    One value of several is read only if the table states all facts that it states of the others, and more: 'MR@filter'
    beside 'Mean Rank' is read, and 'Mean Rank', which may be raw, is not.
    """
    lines: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        lines[value.model_line, value.key].append(value)
    for same in lines.values():
        stated = [_stated(value.facts) for value in same]
        headers_of = list(dict.fromkeys(value.header for value in same))
        names = "', '".join(headers_of)
        differing = f"'{names}'" if len(headers_of) > 1 else f"the values of '{names}'"
        for value, here in zip(same, stated, strict=True):
            if len(same) > 1 and sum(there < here for there in stated) < len(same) - 1:
                states[value.cell] = (
                    "unread",
                    f"nothing says in what {differing} differ; state it in a sidecar",
                )


def _stated(facts: Facts) -> set[str]:
    return {name for name, fact in facts.stated(EVALUATION) if fact.source != DEFAULT}


def _doubt_protocols(values: Sequence[Value], table: Table) -> None:
    """Mark a protocol as assumed if a note in the header or the text around the table may mean another."""
    for value in values:
        protocol, notes = value.facts.protocol, value.facts.notes or ""
        is_settled = protocol is not None and (protocol.source in (GIVEN, INFERRED) or bool(protocol.reason))
        if is_settled or (protocol and protocol.value.startswith("sampled-")):
            continue
        lines = (table.stated, table.rows[value.cell[0]].line, table.columns[value.cell[1]].line)
        is_explained = any(line.facts.notes for line in lines)
        if table.other:
            doubt = f"though the text around the table speaks of '{table.other}'"
        elif notes and not is_explained and (not protocol or headers.OTHER_EVALUATION.search(notes)):
            doubt = f"though the header has a note: {notes}"
        else:
            continue
        taken = protocol.because(f"{protocol.value}, {doubt}") if protocol else None
        value.facts = replace(value.facts, protocol=taken or Fact(DEFAULTS["protocol"], DEFAULT, doubt))


def _settle_signs(values: Sequence[Value], states: States, *, has_commas: bool) -> None:
    """Read '1,234' as thousands, and as a decimal number where that would be out of range.

    In a file with decimal commas neither '1,234' nor '1.234' is certain.
    """
    grouped = {value.series for value in values if value.number.other}
    for value in values:
        number = value.number
        is_point = not (number.other or number.decimal_comma) and _THOUSANDS_WITH_POINT.fullmatch(number.text)
        if number.other and (is_share(value.metric) or adjustment_of(value.metric) == "index"):
            value.number = number.with_decimal_comma()
            value.doubt = "the comma is decimal: otherwise the value is out of range"
        elif has_commas and (number.other or is_point):
            states[value.cell] = ("unread", "thousands or decimal: the file has decimal commas")
        elif number.other:
            value.doubt = "the comma separates thousands"
        elif is_point and value.series in grouped:
            value.doubt = "the point is decimal, though other values have a comma"


def adjustment_of(metric: str) -> str | None:
    """Return the adjustment of a metric that is printed already adjusted: ratio, index or z."""
    adjusted = find_adjusted(metric)
    return adjusted[1] if adjusted else None


def is_share(metric: str) -> bool:
    """Return whether a metric lies in [0, 1], so that it may be printed in percent."""
    adjusted = find_adjusted(metric)
    return adjusted is not None and adjusted[1] is None and adjusted[0].upper <= 1.0


def _decide_units(values: Sequence[Value], states: States, percent: str | None) -> None:
    """Give each value its unit, decided for a whole series: a column, or a row where metrics are rows.

    What the header or a sidecar states holds; values above 1 are percent, and so are the other Hits of their data set.
    Where the numbers decide nothing, and where a number is impossible in its unit, the cell is unread. percent: the
    text around the table that declares its numbers percent.
    """
    series: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        if states[value.cell][0] == "value":
            series[value.series, value.metric].append(value)
    units = {key: _unit_of(members, percent) for key, members in series.items()}
    hits = {key: {value.facts["dataset"] for value in series[key]} for key in series if "hits_at_" in key[1]}
    percents = {
        key for key, unit in units.items() if unit and (unit.value, unit.source) == ("percent", INFERRED)
    }
    # A sign in a cell, or a stated unit, is about these cells alone.
    sure = [own for key, own in hits.items() if key in percents]
    for key, members in series.items():
        unit, adjusted = units[key], find_adjusted(key[1])
        is_open = unit is None or (unit.value == "fraction" and unit.source == INFERRED)
        if is_open and any(own & hits.get(key, set()) for own in sure):
            unit = Fact("percent", INFERRED, "percent: like the other Hits of the table")
        above = sum(value.number.value > 1 for value in members)
        caption = f"though {percent} says percent; " if percent else ""
        for value in members:
            value.unit = Fact("percent") if value.number.percent else unit
            reason = _impossible(value, adjusted)
            if unit is None:
                reason = (
                    f"neither percent nor fraction is certain: {above} of {len(members)} values above 1; "
                )
                reason += f"{caption}state the unit"
            if reason:
                states[value.cell] = ("unread", reason)


def _unit_of(members: Sequence[Value], percent: str | None) -> Fact | None:
    """Return the unit that the numbers of a series imply by themselves, None where they decide nothing."""
    plain = [value for value in members if not value.number.percent]
    above = sum(value.number.value > 1 for value in plain)
    stated = next((value.facts.unit for value in members if value.facts.unit), None)
    if not is_share(members[0].metric):
        adjustment = adjustment_of(members[0].metric)
        is_percent = adjustment == "index" and above
        word = "percent" if is_percent else {None: "rank", "z": "z"}.get(adjustment, "index")
        return Fact(word, stated.source if stated else of.PRINTED)
    if stated or not plain:
        return stated or Fact("percent")
    if not above and not percent:
        return Fact("fraction", INFERRED, f"fraction: {len(members)} of {len(members)} values at most 1")
    is_percent = 2 * above >= len(plain)
    said = f"percent: {above} of {len(members)} values above 1"
    return Fact("percent", INFERRED, said) if is_percent else None


def _impossible(value: Value, adjusted: tuple[Metric, str | None] | None) -> str | None:
    """Return the reason if the whole rounding interval of a value is outside the range of its metric.

    adjusted: the metric, and its adjustment.
    """
    if adjusted is None or value.unit is None:
        return None
    metric, adjustment = adjusted
    lower, upper = _RANGES.get(adjustment or "", (metric.lower, metric.upper))
    ends = value.interval
    if ends.high >= lower and ends.low <= upper:
        return None
    unit = value.unit.value
    scale = 100 if unit == "percent" else 1
    return f"{value.number.text} as {unit} is outside {lower * scale:g} to {upper * scale:g}"
