"""Decide what each cell is: a value with all its facts, missing, unread with a reason, or a label.

The facts of a number come from its row, its column, its table and the sidecar, if these agree. Then the values of a
table are compared: tools and benchmarks have protocols of their own, rows of one model must be told apart, two numbers
of one evaluation cannot both be read, and a comma, like the unit, is decided for many numbers together.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankadjust.base.printed import Interval, Number
from rankadjust.base.words import folded
from rankadjust.chance.metrics import find_adjusted
from rankadjust.counting.protocols import Benchmark
from rankadjust.tables import facts as of
from rankadjust.tables import headers
from rankadjust.tables.columns import Column
from rankadjust.tables.facts import DEFAULT, DEFAULTS, EVALUATION, GIVEN, INFERRED, Fact, Facts
from rankadjust.tables.formats import cell_text
from rankadjust.tables.formats.cell_text import is_missing, is_numeric, read_cell
from rankadjust.tables.headers import Names, find_dataset, is_bookkeeping
from rankadjust.tables.layout import Table
from rankadjust.tables.sheet_rows import Row
from rankadjust.tables.sidecar import fill, is_pattern

State = tuple[str, str | None]
"""The state of a cell (value, missing, unread or label) and the reason, if it holds a number that is not read."""
States = dict[tuple[int, int], State]

_DECIMAL = re.compile(r"\d*[.,]\d+")
_THOUSANDS_WITH_POINT = re.compile(r"-?[1-9][0-9]{0,2}\.[0-9]{3}")
# How many rows, and how long texts, are searched for a data set in a table without a metric.
_LOOKED_AT, _LONGEST_NAME = 100, 80
# The keys of PyKEEN's results, and the columns of its MetricResults.to_df() and ablation studies. Optuna's tables of
# trials put user_attrs_ before them; PyKEEN judges trials on validation triples.
_PYKEEN = re.compile(
    r"^user_attrs_(?:avg|best|worst)\."
    r"|(?:^|\.|^user_attrs_)(?:both|head|tail)\.(?:realistic|optimistic|pessimistic|avg|best|worst)\b"
    r"|(?:^|\.)adjusted_mean_rank(?:_index)?\.(?:both|head|tail)$"
)
_PYKEEN_COLUMNS = ({"Side", "Type", "Metric"}, {"evaluator", "training_loop"})
# LibKGE (kge/job/entity_ranking.py) writes raw ranks, ranks filtered with `filter_splits`, which on validation data
# ignore the test set, and, under keys that end in _filtered_with_test, ranks filtered with the test set too.
_LIBKGE = re.compile(r"(?:mean_rank|mean_reciprocal_rank|hits_at_\d+)(?P<filtered>_filtered)?")
# The ranges of adjusted metrics.
_RANGES = {"index": (float("-inf"), 1.0), "ratio": (0.0, float("inf")), "z": (float("-inf"), float("inf"))}


@dataclass(slots=True)
class Value:
    """A number with its facts; cell: its row and column, from 0.

    facts: all facts but the model; values with equal facts share the object. doubt: how the number itself was read, if
    that is not plain. labels: header -> text of the label cells of its row. series: the same for values under the same
    header and label. model_line: the index of the row with the metrics of its model, or of the column if rows are
    metrics. header: the text that names its metric. is_named: whether the sidecar states the name of the model.
    """

    cell: tuple[int, int]
    number: Number
    facts: Facts
    model: Fact | None
    labels: Mapping[str, str]
    series: tuple[int, str]
    model_line: int
    header: str
    is_named: bool
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
        # A sidecar may overrule the only data set of a table; if it overruled several, it would merge them.
        lines: list[Column | Row] = [*table.layout.columns, *table.layout.rows]
        printed = {line.facts["dataset"] for line in lines} - {None}
        self.known = set(names.values()) - (printed if len(printed) == 1 else set())
        self._combined: dict[tuple[Any, ...], Facts] = {}

    def read(self) -> tuple[list[Value], States]:
        """Return the values of the table and the state of each of its cells, before values are compared."""
        layout = self.table.layout
        last = max((column.index for column in layout.columns if column.role == "value"), default=-1)
        # In a table that names a data set but no metric, decimal numbers are results.
        texts = (
            text for row in self.table.grid.rows[:_LOOKED_AT] for text in row if len(text) <= _LONGEST_NAME
        )
        is_of_results = not layout.metrics and any(
            headers.within("dataset", text, self.names) for text in texts
        )
        values: list[Value] = []
        states: States = {}
        for row in layout.rows:
            is_body = row.kind == "values" and layout.metrics != ""
            for column in layout.columns:
                cell = (row.index, column.index)
                text = self.table.text(*cell)
                if is_body and column.role == "value":
                    read = [self._value(row, *part) for part in self._parts(column, text)]
                    unread = [part for part in read if not isinstance(part, Value)]
                    values += [part for part in read if isinstance(part, Value) and not unread]
                    states[cell] = unread[0] if unread else ("value", None)
                elif is_of_results and _is_result(text):
                    states[cell] = "unread", "nothing names its metric; state the metric"
                else:
                    states[cell] = _label(row, column, text, last if is_body else None)
        return values, states

    def _parts(self, column: Column, text: str) -> list[tuple[Column, str, str]]:
        """Return the numbers of a cell such as 'paper: 0.9 ours: 0.8', each with its column and label."""
        parts = []
        for label, number in cell_text.labelled_numbers(text):
            said = headers.read_header(label, self.names)
            if said.rest is None and not said.unknown:
                facts = column.facts.agreeing(said, "the header", "the label")
            else:
                facts = replace(column.facts, rest=" ".join(filter(None, (column.facts.rest, label))))
            parts.append((replace(column, facts=facts), number, label))
        return parts or [(column, text, "")]

    def _value(self, row: Row, column: Column, text: str, label: str) -> Value | State:
        """Return the value of a text, or its state if it has none."""
        number = read_cell(text)
        if number == "":
            return "missing", None
        if not isinstance(number, Number):
            return "unread", "several values in one cell" if cell_text.several_numbers(
                text
            ) else "not a number"
        # The model differs from row to row, while the other facts of the labels seldom do.
        bare = row.facts.without("model")
        key = (column.index, label, bare, row.line.key)
        if key not in self._combined:
            self._combined[key] = _combine(bare, row, column, self.table, self.known)
        facts = self._combined[key]
        if reason := _unread(facts):
            return "unread", reason
        model = facts.model
        if model is None or model.source != GIVEN:
            model = row.facts.model or column.facts.model or model
        facts, model = self._named(row, column, facts, model)
        metrics = self.table.layout.metrics
        in_rows = metrics == "rows"
        stated = (
            row.line.facts.model or column.line.facts.model or is_pattern(self.table.stated.facts["model"])
        )
        return Value(
            cell=(row.index, column.index),
            number=number,
            facts=facts,
            model=model,
            labels=row.labels,
            series=(row.index if in_rows else column.index if metrics == "columns" else 0, label),
            model_line=column.index if in_rows else row.index,
            header=((facts.metric and facts.metric.printed) or "") if in_rows else column.name,
            is_named=bool(stated),
        )

    def _named(self, row: Row, column: Column, facts: Facts, model: Fact | None) -> tuple[Facts, Fact | None]:
        """Return the facts of a value with its data set, and its model; patterns of the sidecar are filled."""
        is_pattern_of_model = model is not None and model.source == GIVEN and is_pattern(model.value)
        if (rest := column.facts.rest) and facts.dataset and facts.dataset.printed:
            version = f"{facts.dataset.printed} {rest}"
            known = find_dataset(version, self.names)
            # Some names of data sets go on with words such as 'paper'.
            if rest.lower().lstrip("v").isdigit() or (known and known != facts.dataset.value):
                dataset = Fact(known or version, INFERRED, "version from the header", version)
                facts, rest = replace(facts, dataset=dataset), None
        if rest and not is_pattern_of_model:
            why = f"with '{rest}' of the header" if model else "from a header"
            model = Fact(f"{model.value} ({rest})" if model else rest, INFERRED, why)
        if model and is_pattern_of_model:
            name = fill(model.value, self._texts(row, column, facts), self.sidecar)
            model = replace(model, value=name) if name else None
        if (stated := facts.dataset) and stated.source == GIVEN and is_pattern(stated.value):
            filled = fill(stated.value, self._texts(row, column, facts), self.sidecar)
            named = replace(stated, value=find_dataset(filled, self.names) or filled, printed=filled)
            facts = replace(facts, dataset=named)
        return facts, model

    def _texts(self, row: Row, column: Column, facts: Facts) -> dict[str, str]:
        """Return, for a single cell, the text for each name in the braces of a pattern."""
        # The header above the names of metrics describes the columns: '{rank}' is the header of the value's column.
        corner = [
            text for other in self.table.layout.columns if other.role == "metric" for text in other.header
        ]
        above, beside = (line.dataset.printed if line.dataset else None for line in (column.facts, row.facts))
        return {
            "model": column.facts["model"] or row.facts["model"] or "",
            "dataset": above or beside or (facts.dataset.printed if facts.dataset else None) or "",
            "column": column.facts.rest or above or column.name,
            "row": row.name,
            **row.labels,
            **dict.fromkeys(corner, column.name),
        }


def _label(row: Row, column: Column, text: str, last: int | None) -> State:
    """Return the state of a cell beside the values; a number gets the reason why it is none of them.

    last: the last column of values, None for a row without values. A text without a header beyond it is unread.
    """
    if last is not None:
        if column.index == row.merged:
            return "unread", "the name of the model ends in a number, which may be the value beside it"
        is_unnamed = column.role == "other" and not column.header and column.line.role is None
        if is_unnamed and text and last > -1 and (column.index > last or _is_result(text)):
            return ("missing", None) if is_missing(text) else ("unread", "the column has no header")
        if column.role != "other":
            return "label", None
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
    # Without a sidecar, an option of the command states it.
    by = "the sidecar" if table.stated.has_sidecar else "the option"
    lines = stated.agreeing(header.agreeing(labels, "the column", "the row"), by, "the table")
    facts = whole.without(*(name for name, _ in stated.stated(EVALUATION)))
    facts = facts.agreeing(lines, by, "the table").over(table.layout.facts)
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
        model=stated.model or whole.model or table.layout.facts.model,
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
    if stated and (line.dataset or is_pattern(stated) or facts["dataset"] not in known):
        blank.add("dataset")
    facts = facts.without(*blank)
    printed, (left, why) = facts["side"] or "", table.layout.left
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
    return replace(facts, side=None if whole.side else Fact(side, INFERRED, why))


def settle(
    table: Table, values: list[Value], states: States, benchmarks: Sequence[Benchmark], signs: Set[str]
) -> tuple[list[Value], list[str]]:
    """Compare the values of a table; return those that are read after all, and remarks about rows.

    signs: the decimal signs of the file (`decimal_signs`).
    """
    _apply_conventions(values, benchmarks)
    remarks = _tell_apart(values)
    _refuse_repeated(values, states)
    kept = [value for value in values if states[value.cell][0] == "value"]
    for value in kept:
        _settle_sign(value, states, signs)
    _decide_units(kept, states, table.layout.percent)
    _doubt_protocols(kept, table)
    return [value for value in kept if states[value.cell][0] == "value"], remarks


def _apply_conventions(values: Sequence[Value], benchmarks: Sequence[Benchmark]) -> None:
    """Give values without a protocol the protocol of their tool or benchmark, and the side if it has a single side."""
    by_dataset: dict[str | None, list[Benchmark]] = defaultdict(list)
    for benchmark in benchmarks:
        by_dataset[benchmark.dataset].append(benchmark)
    done: dict[Facts, Facts] = {}
    keys = {value.header for value in values}
    for value in values:
        value.facts = _of_tool(value, keys)
        if known := by_dataset.get(value.facts["dataset"]):
            if value.facts not in done:
                done[value.facts] = _of_benchmark(value.facts, known)
            value.facts = done[value.facts]


def _of_tool(value: Value, keys: Set[str]) -> Facts:
    """Return the facts of a value with those that LibKGE and PyKEEN mean by its key; keys: all of the table."""
    facts, protocol, libkge = value.facts, value.facts.protocol, _LIBKGE.fullmatch(value.header)
    if libkge and libkge["filtered"]:
        is_cumulative = facts["split"] == "validation" and (protocol is None or protocol.source != GIVEN)
        return replace(facts, protocol=Fact("filtered-cumulative")) if is_cumulative else facts
    if protocol is not None:
        return facts
    if libkge and f"{value.header}_filtered" in keys:
        return replace(facts, protocol=Fact("raw", INFERRED, "raw, as LibKGE writes it beside filtered"))
    if _PYKEEN.search(value.header) or any(value.labels.keys() >= columns for columns in _PYKEEN_COLUMNS):
        is_trial = facts.split is None and value.header.startswith("user_attrs_")
        split = Fact("validation", INFERRED, "of PyKEEN's trials") if is_trial else facts.split
        protocol = Fact("pykeen", INFERRED, "of PyKEEN, whose keys these are")
        return replace(facts, protocol=protocol, split=split)
    return facts


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
        return replace(facts, protocol=Fact(DEFAULTS["protocol"], DEFAULT, doubt))
    (side, *others), why = known[0].sides, "{} from the benchmark".format
    own = None if others else Fact(side, INFERRED, why(side))
    return replace(facts, protocol=Fact(names[0], INFERRED, why(names[0])), side=facts.side or own)


def _tell_apart(values: Sequence[Value]) -> list[str]:
    """Name rows apart that have the same model, by adding the labels that differ in brackets; return remarks on others.

    Rows have the same model where they agree in everything but their number. A name that a sidecar states is kept.
    """
    groups: dict[tuple[Any, ...], dict[int, Value]] = defaultdict(dict)
    for value in values:
        groups[value.key][value.cell[0]] = value
    several = [rows for rows in groups.values() if len(rows) > 1]
    telling = _telling(values) if several else []
    added: dict[tuple[str | None, int], tuple[str, str]] = {}
    repeated: dict[str | None, int] = {}
    for rows in several:
        name = next(iter(rows.values())).name
        chosen: list[str] = []
        count = 1
        for header in telling if not any(value.is_named for value in rows.values()) else ():
            if all(header in value.labels for value in rows.values()):
                labels = {tuple(value.labels[own] for own in [*chosen, header]) for value in rows.values()}
                chosen += [header] if len(labels) > count else []
                count = max(count, len(labels))
        if count < len(rows):
            repeated[name] = max(repeated.get(name, 0), len(rows))
            continue
        for row, value in rows.items():
            words = [_described(header, value.labels[header]) for header in chosen]
            added[name, row] = ", ".join(filter(None, words)), f"told apart by {', '.join(chosen)}"
    reasons = dict.fromkeys(why for _, why in added.values())
    for value in values:
        suffix, why = added.get((value.name, value.cell[0]), ("", ""))
        if suffix:
            value.model = Fact(f"{value.name} ({suffix})" if value.name else suffix, INFERRED, why)
        elif reasons and not value.is_named and value.model and not value.model.reason:
            value.model = replace(value.model, reason=f"where others are {'; '.join(reasons)}")
    same = "have the same data set, split, side, protocol and metric"
    return [f"{count} rows of '{name or ''}' {same}" for name, count in repeated.items()]


def _telling(values: Sequence[Value]) -> list[str]:
    """Return the label columns that may distinguish models, from the left: no metrics, row numbers, times or sizes."""
    columns: dict[str, dict[int, str]] = defaultdict(dict)
    for value in values:
        printed = value.facts.metric.printed if value.facts.metric else None
        for header, text in value.labels.items():
            if text != printed:
                columns[header][value.cell[0]] = text
    return [
        header
        for header, texts in columns.items()
        if not any(map(is_bookkeeping, header.split(" / ")))
        and not (headers.role_of(header) == "other" and len(set(texts.values())) == len(texts) > 2)
    ]


def _described(header: str, text: str) -> str:
    """Return a label as part of a name: numbers, yes and no get their header, without which nobody understands them."""
    if text and (is_numeric(text) or folded(text) in ("yes", "no", "true", "false")):
        return f"{header if header.isupper() else header.lower()} {text}"
    return text


def _refuse_repeated(values: Sequence[Value], states: States) -> None:
    """Mark values as unread that are not alone in their line of a model with their evaluation.

    One value of several is read only if the table states all facts that it states of the others, and more: 'MR@filter'
    beside 'Mean Rank' is read, and 'Mean Rank', which may be raw, is not.
    """
    lines: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        lines[value.model_line, value.key].append(value)
    for same in lines.values():
        left = sorted(same, key=lambda value: len(_stated(value.facts)))
        while len(left) > 1:
            here, *others = [_stated(value.facts) for value in left]
            unclear = left[:1] if all(here < stated for stated in others) else left
            names = "', '".join(dict.fromkeys(value.header for value in left))
            for value in unclear:
                states[value.cell] = "unread", f"nothing says in what '{names}' differ; state it in a sidecar"
            left = left[len(unclear) :]


def _stated(facts: Facts) -> set[str]:
    return {name for name, fact in facts.stated(EVALUATION) if fact.source != DEFAULT}


def _doubt_protocols(values: Sequence[Value], table: Table) -> None:
    """Mark a protocol as assumed if a note in the header or the text around the table may mean another."""
    layout = table.layout
    for value in values:
        protocol, notes = value.facts.protocol, value.facts.notes or ""
        is_settled = protocol is not None and (protocol.source in (GIVEN, INFERRED) or bool(protocol.reason))
        if is_settled or (protocol and protocol.value.startswith("sampled-")):
            continue
        lines = (table.stated, layout.rows[value.cell[0]].line, layout.columns[value.cell[1]].line)
        is_explained = any(line.facts.notes for line in lines)
        if layout.other:
            doubt = f"though the text around the table speaks of '{layout.other}'"
        elif notes and not is_explained and (not protocol or headers.OTHER_EVALUATION.search(notes)):
            doubt = f"though the header has a note: {notes}"
        else:
            continue
        taken = protocol.because(f"{protocol.value}, {doubt}") if protocol else None
        value.facts = replace(value.facts, protocol=taken or Fact(DEFAULTS["protocol"], DEFAULT, doubt))


def decimal_signs(values: Iterable[Value]) -> set[str]:
    """Return the decimal signs of a file, ',' or '.' or both; 1,234 and 1.234 may be thousands and do not count."""
    numbers = [value.number for value in values]
    points = (
        "." in number.text and not _may_be_thousands(number) for number in numbers if not number.decimal_comma
    )
    commas = (number.decimal_comma for number in numbers)
    return {sign for sign, found in ((",", any(commas)), (".", any(points))) if found}


def _may_be_thousands(number: Number) -> bool:
    return number.other is None and _THOUSANDS_WITH_POINT.fullmatch(number.text) is not None


def _settle_sign(value: Value, states: States, signs: Set[str]) -> None:
    """Read '1,234' and '1.234' by the decimal sign of the whole file; if the file has both signs, they are unread."""
    number = value.number
    has_comma = number.other is not None
    if not has_comma and not ("," in signs and not number.decimal_comma and _may_be_thousands(number)):
        return
    is_small = is_share(value.metric) or adjustment_of(value.metric) == "index"
    if has_comma and is_small:
        value.number = number.with_decimal_comma()
        value.doubt = "the comma is decimal: otherwise the value is out of range"
    elif is_small or signs == {",", "."}:
        states[value.cell] = ("unread", "the file has decimal commas and decimal points: this may be either")
    elif not has_comma:
        value.number = replace(number, text=number.text.replace(".", ""))
        value.doubt = "the point separates thousands, as the file has decimal commas"
    elif "," in signs:
        value.number = number.with_decimal_comma()
        value.doubt = "the comma is decimal, as elsewhere in the file"
    else:
        value.doubt = "the comma separates thousands"


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

    What the header or a sidecar states holds; values above 1 are percent; Hits of a data set share their unit. Where
    the numbers decide nothing, and where a number is impossible in its unit, the cell is unread. percent: the text
    around the table that declares its numbers percent.
    """
    series: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        series[value.series, value.metric].append(value)
    units: dict[tuple[Any, ...], Fact | None] = {}
    hits: dict[tuple[Any, ...], set[Any]] = {}
    above: dict[tuple[Any, ...], int] = {}
    for key, members in series.items():
        above[key] = sum(value.number.value > 1 and not value.number.percent for value in members)
        units[key] = _unit_of(members, above[key], percent)
        if key[1].startswith("hits_at_") and not any(value.facts.unit for value in members):
            hits[key] = {(value.facts["dataset"], value.series[1]) for value in members}
    sure = [key for key in hits if above[key] and (unit := units[key]) and unit.value == "percent"]
    for key in hits.keys() - sure:
        if like := [other for other in sure if hits[other] & hits[key]]:
            why = f"percent: like the other Hits of the table ({len(like)} with values above 1)"
            units[key] = Fact("percent", INFERRED, why)
    for key, members in series.items():
        caption = f"though {percent} says percent; " if percent else ""
        unclear = f"{above[key]} of {len(members)} values above 1; {caption}state the unit"
        has_comma = any(value.number.other for value in members)
        for value in members:
            if has_comma and _may_be_thousands(value.number):
                value.doubt = value.doubt or "the point is decimal, though other values have a decimal comma"
            value.unit = Fact("percent") if value.number.percent else units[key]
            reason = _impossible(value)
            if units[key] is None:
                reason = f"neither percent nor fraction is certain: {unclear}"
            if reason and states[value.cell][0] == "value":
                states[value.cell] = ("unread", reason)


def _unit_of(members: Sequence[Value], above: int, percent: str | None) -> Fact | None:
    """Return the unit that the numbers of a series imply by themselves, None where they decide nothing."""
    metric, count = members[0].metric, len(members)
    plain = sum(not value.number.percent for value in members)
    stated = next((value.facts.unit for value in members if value.facts.unit), None)
    if not is_share(metric):
        adjustment = adjustment_of(metric)
        is_percent = adjustment == "index" and above
        word = "percent" if is_percent else {None: "rank", "z": "z"}.get(adjustment, "index")
        return Fact(word, stated.source if stated else of.PRINTED)
    if stated or not plain:
        return stated or Fact("percent")
    if not above and not percent:
        return Fact("fraction", INFERRED, f"fraction: {count} of {count} values at most 1")
    is_percent = 2 * above >= plain
    return Fact("percent", INFERRED, f"percent: {above} of {count} values above 1") if is_percent else None


def _impossible(value: Value) -> str | None:
    """Return the reason if the whole rounding interval of a value is outside the range of its metric."""
    adjusted = find_adjusted(value.metric)
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
