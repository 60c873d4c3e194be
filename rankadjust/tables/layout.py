"""Lay out a grid: find its headers, labels and values, and the facts that headers, labels and the text around state."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rankadjust.base.words import folded, shipped_mapping
from rankadjust.counting.evaluators import shipped_evaluators
from rankadjust.tables import columns as of_columns
from rankadjust.tables import headers
from rankadjust.tables.columns import Column, Sheet
from rankadjust.tables.facts import ENTITY_RANKING, INFERRED, NOTHING, QUERIES, SUBSET, Fact, Facts
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import Names
from rankadjust.tables.sheet_rows import Row, rows_of
from rankadjust.tables.sidecar import Stated

# Authors name the task and the unit of a table in its caption or in the heading above it.
_NEXT, _CAPTION_WORDS = 2, 20
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
    rows: Sequence[Row]
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


def lay_out(grid: Grid, stated: Stated, names: Names, stem: str) -> Layout:
    """Find out the meaning of each row and column of a grid; `stem`, the name of its file, may name the data set."""
    sheet = Sheet.of(grid, stated, names)
    texts = [(f"the text '{text if len(text) <= 60 else f'{text[:57]}…'}'", text) for text in grid.context]
    captions = [(where, text) for where, text in texts[:_NEXT] if len(text.split()) <= _CAPTION_WORDS]
    texts.append(("the file's name", stem))
    metrics, metric_column = of_columns.where_metrics_are(sheet)
    around = NOTHING
    if not metrics:
        around = _nearest("metric", [(where, headers.within("metric", text, names)) for where, text in texts])
        metrics = "table" if stated.facts.metric or around.metric else ""
    columns = of_columns.columns_of(sheet, metrics, metric_column)
    rows = rows_of(sheet, columns, metrics)
    tasks = [(where, headers.within("task", text, names)) for where, text in captions]
    others = [
        (where, dict([own for own in said.items() if own[0] != ENTITY_RANKING][:1])) for where, said in tasks
    ]
    protocols = [(where, headers.within("protocol", text, names)) for where, text in captions]
    around = around.over(_nearest("task", others)).over(_nearest("protocol", protocols))
    lines: list[Column | Row] = [*(column for column in columns if column.role == "value"), *rows]
    if not stated.facts.dataset and not any(line.facts.dataset or line.line.facts.dataset for line in lines):
        rows = [_with_name_of("dataset", row, names) for row in rows]
        around = around.over(_dataset_around(texts, names))
    if not any(line.facts.side or line.line.facts.side for line in lines):
        sided = [_with_name_of("side", row, names) for row in rows]
        # A single word, such as the head of 'Multi-Head', says nothing of sides.
        rows = (
            sided if any({*pair} <= {row.facts["side"] for row in sided} for pair in headers.SIDES) else rows
        )
    labels = [row.facts for row in rows if row.kind == "values"]
    columns = of_columns.with_unknown_headers(sheet, columns, labels, around)
    if not stated.facts.dataset and not any(facts.dataset for facts in labels):
        columns = of_columns.with_datasets_carried(columns)
    if any(line.facts["task"] == QUERIES for line in lines):
        around = Facts.of(INFERRED, "as its columns or rows say", task=QUERIES).over(around)
    if any(folded(column.name) == "relation" and sheet.is_text(column.index) for column in columns):
        around = Facts.of(INFERRED, "its rows are single relations", task=SUBSET).over(around)
    other = [
        *map(headers.SAMPLED.search, grid.context),
        *(headers.OTHER_EVALUATION.search(text) for _, text in captions),
    ]
    return Layout(
        columns,
        rows,
        around,
        metrics,
        percent=next((where for where, text in texts[:_NEXT] if _IN_PERCENT.search(text)), None),
        other=next((match[0] for match in other if match), None),
        left=_left_around(texts, stated.facts["protocol"]),
    )


def _with_name_of(kind: str, row: Row, names: Names) -> Row:
    """Return a row with the data set or the side that the name of its model holds: 'RotatE (WN18RR)', 'RotatE Left'."""
    found = headers.within(kind, row.facts["model"] or "", names) if row.kind == "values" else {}
    if len(found) != 1:
        return row
    ((ours, words),) = found.items()
    within = Facts.holding({kind: Fact(ours, INFERRED, "within the name", words)})
    return replace(row, facts=within.over(row.facts))


def _nearest(name: str, around: Sequence[tuple[str, Mapping[str, str]]]) -> Facts:
    """Return the fact of this kind from the nearest text that names any; nothing if it names several.

    around: the place of each text, and the facts in it with their words.
    """
    where, named = next(((where, named) for where, named in around if named), ("", {}))
    facts = [Fact(fact, printed=words).because(f"from {where}") for fact, words in named.items()]
    return Facts.holding({name: facts[0]}) if len(facts) == 1 else NOTHING


def _dataset_around(around: _Around, names: Names) -> Facts:
    """Return the data set of the nearest text that names a single one; the reason lists all others."""
    texts = [(where, headers.within("dataset", text, names)) for where, text in around]
    for where, named in texts:
        if len(named) == 1:
            ((dataset, printed),) = named.items()
            others = dict.fromkeys(name for _, own in texts for name in own if name != dataset)
            also = f", though others name {', '.join(others)}" if others else ""
            return Facts(dataset=Fact(dataset, printed=printed)).because(f"from {where}{also}")
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
