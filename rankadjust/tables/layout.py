"""Lay out a grid: find its headers, labels and values, and the facts that headers, labels and the text around state."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rankadjust.base.words import shipped_mapping
from rankadjust.tables.columns import (
    Column,
    Header,
    Sheet,
    columns_of,
    where_metrics_are,
    with_datasets_carried,
    with_unknown_headers,
)
from rankadjust.tables.facts import ENTITY_RANKING, INFERRED, NOTHING, QUERIES, Fact, Facts
from rankadjust.tables.formats.cell_text import is_numeric, label
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import (
    Names,
    datasets_within,
    find_dataset,
    metric_key,
    metrics_within,
    other_evaluation_within,
    protocols_within,
    role_of,
    sampled_within,
    tasks_within,
    words_of,
)
from rankadjust.tables.rows import Row, names_metric, rows_of, with_datasets_in_names, with_sides_in_names
from rankadjust.tables.sidecar import Stated

# Authors name the task and the unit of a table in its caption or in the heading above it.
_NEXT = 2
_CAPTION_WORDS = 20
_MODEL_OPTION = re.compile(
    r"(?:--model(?:[_-]name)?[ =]|\bmodel(?:_name)?['\"]?[=:]\s?['\"]?|^Model: (?=\S+$))([\w.+-]+)"
)
_DATASET_OPTION = re.compile(r"--data(?:set)?[ =]([\w.+-]+)")
_IN_PERCENT = re.compile(r"\bin (?:%|percent|per cent)|\(%\)", re.IGNORECASE)

# The texts around a table, the nearest first; each with a description of its place, for people.
_Around = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Layout:
    """The columns and rows of a grid, and the facts that the text around it states about the whole table.

    metrics: where the metrics are named: 'columns', 'rows', 'table', or '' (nowhere). percent: the text around the
    table that declares its numbers percent. other: the words around the table that speak of another evaluation. left:
    the side that left is, with the reason.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    facts: Facts
    metrics: str
    percent: str | None = None
    other: str | None = None
    left: tuple[str, str] = ("", "")


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
    again = [
        index
        for index in range(first + 1, len(grid.rows) if header.metrics_in(range(first)) else 0)
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


def moved_back(grid: Grid) -> Grid:
    """Return the grid with rows moved to the right that lost a cell when they were pasted from a web page.

    Such a row begins with a metric where the header has a label, and its last cells are empty. Its metric goes below
    the header of metrics. A row of nothing but metrics goes to the right of the labels. A remark names the moved rows.
    """
    roles = list(map(role_of, grid.rows[0])) if grid.rows else []
    has_values = "metric" in roles
    labels = next((column for column, role in enumerate(roles) if role in (None, "other")), 0)
    by = roles.index("metric") if has_values else labels

    def is_moved(row: Sequence[str]) -> bool:
        metrics = [metric_key(label(text)) is not None for text in row]
        if not by or not metrics[0] or any(row[-by:]):
            return False
        return (
            any(map(is_numeric, row)) and not metrics[by]
            if has_values
            else sum(metrics) == sum(map(bool, row))
        )

    moved = [index for index, row in enumerate(grid.rows) if is_moved(row)]
    if not moved:
        return grid
    rows = tuple(("",) * by + row[:-by] if index in moved else row for index, row in enumerate(grid.rows))
    numbers = ", ".join(str(index + 1) for index in moved)
    remark = f"rows {numbers} begin with a metric below a label: moved {by} to the right"
    return replace(grid, rows=rows, remarks=(*grid.remarks, remark))


def lay_out(grid: Grid, stated: Stated, names: Names, stem: str) -> Layout:
    """Find out the meaning of each row and column of a grid; `stem`, the name of its file, may name the data set."""
    sheet = Sheet.of(grid, stated, names)
    texts = [(f"the text '{text if len(text) <= 60 else f'{text[:57]}…'}'", text) for text in grid.context]
    texts.append(("the file's name", stem))
    metrics, metric_column = where_metrics_are(sheet)
    around = NOTHING
    if not metrics:
        around = metric_around(texts)
        is_divided = any(names_metric(cells, names) for cells in grid.rows[sheet.first :])
        metrics = "table" if stated.facts.metric or around.metric or is_divided else ""
    columns = columns_of(sheet, metrics, metric_column)
    rows = rows_of(sheet, columns, metrics)
    for around_fact in (task_around, protocol_around, model_around):
        around = around.over(around_fact(texts))
    rows = with_sides_in_names(rows)
    lines: list[Column | Row] = [*(column for column in columns if column.role == "value"), *rows]
    if not stated.facts.dataset and not any(line.facts.dataset or line.line.facts.dataset for line in lines):
        rows = with_datasets_in_names(rows, names)
        if not any(row.facts.dataset for row in rows):
            around = around.over(dataset_around(texts, names))
    labels = [row.facts for row in rows if row.kind == "values"]
    columns = with_unknown_headers(sheet, columns, labels, around)
    if not stated.facts.dataset and not any(facts.dataset for facts in labels):
        columns = with_datasets_carried(columns)
    if any(line.facts["task"] == QUERIES for line in lines):
        around = Facts.of(INFERRED, "as its columns or rows say", task=QUERIES).over(around)
    other = [
        *map(sampled_within, grid.context),
        *(other_evaluation_within(text) for _, text in _captions(texts[:-1])),
    ]
    said = next(filter(None, other), None)
    return Layout(columns, tuple(rows), around, metrics, percent_around(texts), said, left_around(texts))


def metric_around(around: _Around) -> Facts:
    """Return the metric of the nearest text, or of the file's name, that names any; nothing if it names several."""
    return _nearest("metric", around, metrics_within)


def dataset_around(around: _Around, names: Names) -> Facts:
    """Return the data set of the nearest text that names a single data set; the reason lists all others."""
    for command, text in around:
        if (option := _DATASET_OPTION.search(text)) and (ours := find_dataset(option[1], names)):
            return Facts(dataset=Fact(ours, printed=option[1])).because(f"from {command}")
    texts = [(where, datasets_within(text, names)) for where, text in around]
    # A text with several data sets leaves the choice among them to the other texts.
    possible = next((set(named) for _, named in texts if len(named) > 1), None)
    alone = (
        (where, *next(iter(named.items())))
        for where, named in texts
        if len(named) == 1 and (possible is None or set(named) <= possible)
    )
    where, dataset, printed = next(alone, (None, None, None))
    others = dict.fromkeys(name for _, named in texts for name in named if name != dataset)
    also = f", though others name {', '.join(others)}" if others else ""
    return (
        Facts(dataset=Fact(dataset, printed=printed)).because(f"from {where}{also}") if dataset else NOTHING
    )


def task_around(around: _Around) -> Facts:
    """Return the task of the caption or heading next to a table, if it names one task and not entity prediction."""
    return _nearest(
        "task",
        _captions(around),
        lambda text: {task: words for task, words in tasks_within(text).items() if task != ENTITY_RANKING},
    )


def protocol_around(around: _Around) -> Facts:
    """Return the protocol of the caption or heading next to a table, if it names one protocol alone."""
    return _nearest("protocol", _captions(around), protocols_within)


def model_around(around: _Around) -> Facts:
    """Return the model in a command of the texts around a table, such as '--model_name TransE_l2'."""
    return _nearest("model", around, lambda text: dict.fromkeys(_MODEL_OPTION.findall(text)[:1], text))


def left_around(around: _Around) -> tuple[str, str]:
    """Return the side that `left` means, and the reason: it differs from evaluator to evaluator."""
    directions = shipped_mapping()["directions"]
    for where, text in around:
        words = words_of(text)
        named = [name for name in directions if words_of(name) <= words]
        if len({directions[name] for name in named}) == 1:
            return directions[
                named[0]
            ], f"as left is the {directions[named[0]]} in {named[0]}, which {where} names"
    return "head", "as left is the head in OpenKE, but it is the tail in ConvE and CompGCN"


def _captions(around: _Around) -> _Around:
    return [(where, text) for where, text in around[:_NEXT] if len(text.split()) <= _CAPTION_WORDS]


def _nearest(name: str, around: _Around, within: Callable[[str], Mapping[str, str]]) -> Facts:
    """Return the fact of this kind from the nearest text that names any; nothing if it names several.

    within: returns the facts in a text, each with its words.
    """
    where, named = next(((where, named) for where, text in around if (named := within(text))), ("", {}))
    if len(named) != 1:
        return NOTHING
    [(fact, words)] = named.items()
    return Facts.holding({name: Fact(fact, printed=words)}).because(f"from {where}")


def percent_around(around: _Around) -> str | None:
    """Return the place of a text next to the table that declares its numbers percent."""
    return next((where for where, text in around[:_NEXT] if _IN_PERCENT.search(text)), None)
