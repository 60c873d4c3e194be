"""Lay out a grid: find its headers, labels and values, and the facts that headers, labels and the text around state."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from rankadjust.base.words import folded, shipped_mapping
from rankadjust.counting.evaluators import shipped_evaluators
from rankadjust.tables import columns as of_columns
from rankadjust.tables import headers
from rankadjust.tables.columns import LABEL_ROLES, MEANS, Column, Sheet, explained, give_roles
from rankadjust.tables.facts import ENTITY_RANKING, INFERRED, NOTHING, PRINTED, QUERIES, SUBSET, Fact, Facts
from rankadjust.tables.formats.cell_text import is_missing, is_numeric
from rankadjust.tables.formats.cell_text import label as label_of
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import Names, find_dataset, is_difference, read_header, words_for
from rankadjust.tables.sidecar import NO_LINE, Line, Stated, line_about

# Authors name the task and the unit of a table in its caption or in the heading above it.
_NEXT, _CAPTION_WORDS = 2, 20
_IN_PERCENT = re.compile(r"\bin (?:%|percent|per cent)|\(%\)", re.IGNORECASE)

# The texts around a table, the nearest first; each with a description of its place, for people.
_Around = Sequence[tuple[str, str]]
# A label of a row: its column, its word, and the reason if it is assumed.
_Label = tuple[Column, str, str | None]
# Text recognition of scanned tables merges cells.
_NUMBER_AT_END = re.compile(r".*\S \d*\.\d+")
# The version of a data set, in a column beside its name.
_VERSION = re.compile(r"[vV]\d+")


@dataclass(frozen=True)
class Row:
    """A row of the grid. kind: 'header', 'section', 'other' or 'values'.

    facts: the facts that its labels state. labels: header -> text of its label cells. refused: the reason why none of
    its numbers is read, None for none.
    """

    index: int
    kind: str
    facts: Facts = NOTHING
    labels: Mapping[str, str] = field(default_factory=dict)
    line: Line = NO_LINE
    refused: str | None = None

    @property
    def name(self) -> str:
        """The first of its labels."""
        return next(filter(None, self.labels.values()), "")


@dataclass(frozen=True)
class Table:
    """One table of a file: the meaning of its columns and rows, and the facts that the text around states about it.

    number: from 1. stated: the statements of the sidecar about it. metrics: where the metrics are named: 'columns',
    'rows', 'table', or '' (nowhere). percent: the text around the table that declares its numbers percent. other: the
    words around the table that speak of another evaluation. left: the side that left is, with the reason.
    """

    number: int
    grid: Grid
    stated: Stated
    columns: Sequence[Column]
    rows: Sequence[Row]
    facts: Facts
    metrics: str
    percent: str | None
    other: str | None
    left: tuple[str, str]


def lay_out(number: int, grid: Grid, stated: Stated, names: Names, stem: str) -> Table:
    """Find out the meaning of each row and column of a grid; `stem`, the name of its file, may name the data set."""
    sheet = Sheet(grid, stated, names)
    texts = [(f"the text '{text if len(text) <= 60 else f'{text[:57]}…'}'", text) for text in grid.context]
    captions = [(where, text) for where, text in texts[:_NEXT] if len(text.split()) <= _CAPTION_WORDS]
    texts.append(("the file's name", stem))
    metrics, columns = give_roles(sheet), sheet.columns
    around = _nearest("task", captions, names).over(_nearest("protocol", captions, names))
    if not metrics:
        around = around.over(_nearest("metric", texts, names))
        metrics = "table" if stated.facts.metric or around.metric else ""
    rows = _rows_of(sheet, metrics)
    lines: list[Column | Row] = [*(column for column in columns if column.role == "value"), *rows]
    said = [facts for line in lines for facts in (line.facts, line.line.facts)]
    if not stated.facts.dataset and not any(facts.dataset for facts in said):
        rows = [_with_name_of("dataset", row, names) for row in rows]
        around = around.over(_nearest("dataset", texts, names))
    if not any(facts.side for facts in said):
        sided = [_with_name_of("side", row, names) for row in rows]
        sides = {row.facts["side"] for row in sided}
        # A single word, such as the head of 'Multi-Head', says nothing of sides.
        rows = sided if any({*pair} <= sides for pair in headers.SIDES) else rows
    labels = [row.facts for row in rows if row.kind == "values"]
    of_columns.settle_unknown_headers(sheet, labels, around)
    if not stated.facts.dataset and not any(facts.dataset for facts in labels):
        of_columns.carry_datasets(columns)
    if any(facts["task"] == QUERIES for facts in said):
        around = Facts.of(INFERRED, "as its columns or rows say", task=QUERIES).over(around)
    if any(folded(column.name) == "relation" and column.is_text for column in columns):
        around = Facts.of(INFERRED, "its rows are single relations", task=SUBSET).over(around)
    matches = [
        *map(headers.SAMPLED.search, grid.context),
        *(headers.OTHER_EVALUATION.search(text) for _, text in captions),
    ]
    other = next((match[0] for match in matches if match), None)
    percent = next((where for where, text in texts[:_NEXT] if _IN_PERCENT.search(text)), None)
    left = _left_around(texts, stated.facts["protocol"])
    return Table(number, grid, stated, columns, rows, around, metrics, percent, other, left)


def _with_name_of(kind: str, row: Row, names: Names) -> Row:
    """Return a row with the data set or the side that the name of its model holds: 'RotatE (WN18RR)', 'RotatE Left'."""
    named = [("the model's name", row.facts["model"] or "")] if row.kind == "values" else []
    return replace(row, facts=_nearest(kind, named, names).over(row.facts))


def _nearest(kind: str, texts: _Around, names: Names) -> Facts:
    """Return the fact of this kind from the nearest text that names any; nothing if it names several.

    Of several tasks the first is taken, since none of them is entity prediction. A text may name many data sets, so
    that of the nearest text with a single one is taken, and the reason lists all others.
    """
    found = [(where, headers.within(kind, text, names)) for where, text in texts]
    said = [(where, [own for own in named.items() if own[0] != ENTITY_RANKING]) for where, named in found]
    said = [own for own in said if own[1]][: None if kind == "dataset" else 1]
    for where, named in said:
        if len(named) == 1 or kind == "task":
            word, printed = named[0]
            others = dict.fromkeys(other for _, own in said for other, _ in own if other != word)
            also = f", though others name {', '.join(others)}" if others else ""
            fact: Any = {kind: Fact(word, INFERRED, f"from {where}{also}", printed)}
            return Facts(**fact)
    return NOTHING


def _left_around(around: _Around, evaluator: str | None) -> tuple[str, str]:
    """Return the side that `left` means, and the reason if nobody states whose evaluator it is: they differ."""
    if evaluator is not None and (side := shipped_evaluators().get(evaluator, {}).get("left")):
        return str(side), ""
    directions = shipped_mapping()["directions"]
    for where, text in around:
        words = headers.words_of(text)
        named = [name for name in directions if headers.words_of(name) <= words]
        if len({directions[name] for name in named}) == 1:
            side = directions[named[0]]
            return side, f"as left is the {side} in {named[0]}, which {where} names"
    return "head", "as left is the head in OpenKE, but it is the tail in ConvE and CompGCN"


def _rows_of(sheet: Sheet, metrics: str) -> list[Row]:
    """Return all rows, beginning with the header; metrics: where the metrics are named ('columns', 'rows', …).

    A row that divides the table gives its facts to the rows below it.
    """
    columns = sheet.columns
    rows = [Row(index, "header") for index in range(sheet.first)]
    # The corner may print the data set, in place of a header for the models or beside it.
    headings = [
        (f"the header of column {column.index + 1}", column.name)
        for column in columns
        if column.role in ("model", "metric") and column.line.facts == NOTHING
    ]
    corner = section = _nearest("dataset", headings, sheet.names)
    refused = None
    above: dict[int, str] = {}
    others: dict[str, Column] = {}
    for column in (column for column in columns if column.role != "value"):
        is_new = column.name and column.name not in others
        others[column.name if is_new else f"{column.name} {column.index + 1}".strip()] = column
    for index, cells in enumerate(sheet.grid.rows[sheet.first :], start=sheet.first):
        line = line_about(sheet.stated.rows, index + 1, [cells[own.index] for own in others.values()])
        if _is_header(cells, columns, sheet.names):
            refused = f"row {index + 1} is another header; divide the table there"
        if not any(cells) or line.role == "other":
            rows.append(Row(index, "other", line=line))
        elif said := _section(cells, sheet, is_divided=section is not corner):
            rows.append(Row(index, "section", said, line=line))
            section = said.over(corner)
        else:
            labels = _labels(cells, others.values(), above)
            facts = _said_by(labels, sheet.names)
            facts = explained(facts) if line.facts != NOTHING else facts
            # Differences between other rows, and their spreads, are not values.
            words = {folded(word) for column, word, _ in labels if column.role != "metric"}
            is_beside = is_difference(facts["model"] or "") or words_for("beside_metrics") & words
            has_metric = metrics != "rows" or line.facts.metric or facts.metric
            lost = _lost_cell(cells, columns, sheet.names)
            kind = "values" if lost or (has_metric and not is_beside) else "other"
            named = {name: word for name, (_, word, _) in zip(others, labels, strict=True)}
            rows.append(Row(index, kind, facts.over(section), named, line, refused or lost))
    return rows


def _is_header(cells: Sequence[str], columns: Sequence[Column], names: Names) -> bool:
    """Return whether a row names two metrics or more above the numbers below it."""
    texts = {cells[column.index] for column in columns if column.role == "value"}
    if any(map(is_numeric, texts)):
        return False
    return sum(read_header(text, names).metric is not None for text in texts) > 1


def _labels(cells: Sequence[str], columns: Collection[Column], above: dict[int, str]) -> list[_Label]:
    """Return the labels of a row; above: the last label of each label column, which this row updates."""
    labels: list[_Label] = []
    has_ended = False
    for column in columns:
        text, why = cells[column.index], column.assumed
        if column.role in LABEL_ROLES:
            last = "" if has_ended else above.get(column.index, "")
            text, why = text or last, why if text or not last else "as in the row above"
            above[column.index] = text
        elif not is_missing(text) and not is_numeric(text):
            # A new text ends the labels to its right, if their cells are empty: 'Average' below a column of categories.
            has_ended = True
        labels.append((column, column.line.word(text), why))
    return labels


def _lost_cell(cells: Sequence[str], columns: Sequence[Column], names: Names) -> str | None:
    """Return what is wrong with a row that lost a cell, or whose cells were merged, on the way from a page."""
    metrics = [column for column in columns if column.role == "metric"]
    if not cells[-1] and metrics and metrics[0].index and read_header(cells[0], names).metric:
        return "the row begins with a metric below a label; put its cells below their headers"
    for column, beside in pairwise(columns):
        is_beside = beside.role == "value" and not cells[beside.index] and column.role == "model"
        if is_beside and _NUMBER_AT_END.fullmatch(cells[column.index]):
            return "the name of the model ends in a number, which may be the value beside it; divide the cell"
    return None


def _said_by(labels: Sequence[_Label], names: Names) -> Facts:
    """Return the facts that the labels of a row state together."""
    stated: dict[str, Any] = {}
    metric = beside = NOTHING
    version = next((word for _, word, _ in labels if _VERSION.fullmatch(word)), None)
    for column, word, why in labels:
        role, said = column.role, read_header(word, names)
        if role == "other" and said.task and said.rest is None:
            stated.setdefault("task", said.task)
        elif role == "metric" and word:
            metric = replace(said, rest=None, unknown=said.unknown or said.rest)
            metric = metric.because(why, "metric") if why else metric
        elif role == "model" and word:
            # A second column of models refines the first, whose text is the name.
            stated.setdefault("model", Fact(word, INFERRED if why else PRINTED, why))
        elif role in LABEL_ROLES and word:
            # 'FB15k (raw)' in a column of data sets also states the protocol, 'tail prediction' as a task the side.
            known = said if said.rest is None and said.metric is None else NOTHING
            beside = beside.over(replace(known, notes=None))
            if own := _meaning(role, word, known, version, names):
                stated[role] = own.because(why) if why else own
    return metric.agreeing(Facts(**stated).over(beside), "the row's metric", "another of its labels")


def _meaning(role: str, word: str, known: Facts, version: str | None, names: Names) -> Fact | None:
    """Return the fact of a label that is neither a metric nor a model.

    known: the facts that its words state. version: the version of a data set, elsewhere in the row.
    """
    ours = known[role]
    if role == "dataset":
        whole = f"{word} {version}" if version else word
        named = Fact(find_dataset(whole, names) or ours or whole, printed=whole)
        if version:
            return named.because(f"with '{version}' beside it")
        is_part = known.notes and ours and find_dataset(word, names) is None
        return named.because(f"'{word}' without its brackets") if is_part else named
    usual = {
        "ties": None,
        "task": ENTITY_RANKING if known is not NOTHING else word,
        "side": "both" if folded(word) in MEANS else word,
    }
    meant = ours or usual.get(role, word)
    return Fact(meant) if meant else None


def _section(cells: Sequence[str], sheet: Sheet, *, is_divided: bool) -> Facts | None:
    """Return the facts of a row that divides the table: a single text, spread over all columns or alone in its row.

    is_divided: whether a row above divides the table. Below such a row, an unknown text may name the next data set.
    """
    texts = set(filter(None, cells))
    text = texts.pop() if len(texts) == 1 < len(cells) else ""
    if is_numeric(text) or is_missing(text):
        return None
    facts = read_header(text, sheet.names)
    in_values = any(cells[column.index] for column in sheet.columns if column.role == "value")
    if all(cells) or (any(facts.stated()) and not facts.metric and not in_values):
        return replace(facts, rest=None, metric=None)
    said = f"the row '{label_of(text)}' may name a data set; state the data set of the rows below it"
    return Facts(conflicts=(said,)) if is_divided and not in_values else None
