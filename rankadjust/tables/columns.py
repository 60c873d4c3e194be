"""Decide what each column of a grid holds: values, labels of a kind, or other; the header of the grid comes first."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

from rankadjust.base.words import folded
from rankadjust.tables import headers
from rankadjust.tables.facts import INFERRED, NOTHING, SUBSET, Fact, Facts, name_of
from rankadjust.tables.formats import cell_text
from rankadjust.tables.formats.cell_text import is_missing, is_numeric, label
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import Names, read_header, read_stack, role_of, words_for
from rankadjust.tables.sidecar import Line, Stated, line_about

LABEL_ROLES = ("model", "dataset", "metric", "split", "side", "protocol", "ties", "task")
MEANS = {"mean", "avg", "average", "overall", "all"}
"""Words for a mean over sides or data sets."""
# Where rows are metrics, a column with one of these headers holds all their values.
_LONG = {"value", "values", "val", "metric", "metricvalue", "score", "result"}
_ONE_NAME = re.compile(r"[A-Za-z][\w.-]*[A-Z0-9][\w.-]*")
# These headers mean the models before any other that may.
_MODELS = {"model", "models", "modelname"}
# Neither differences nor versions name a model: '+1.2%', 'v1'.
_NO_NAME = re.compile(r"[+-]\d|v\d+$", re.IGNORECASE)
# A class of entities by their frequency, between head and tail; beside it, head and tail are classes too, not sides.
_BETWEEN = {"torso", "body", "medium", "mid", "middle"}
# How many rows of a long table are looked at, how many rows below the marked header may belong to it, and how many
# rows a header has at most: a broken page may mark thousands.
_MANY_ROWS, _LOOK_AHEAD, _MOST_HEADER_ROWS = 1000, 2, 50


@dataclass
class Column:
    """A column. role: 'value', one of the label roles, or 'other'; assumed: the reason for it, if no word states it.

    header: its texts from the top down, each once. facts: the facts that these texts state. line: what a sidecar states
    about it. cells: the texts below (in a long table, of every n-th row).
    """

    index: int
    header: tuple[str, ...]
    facts: Facts
    line: Line
    cells: tuple[str, ...]
    role: str = "other"
    assumed: str | None = None

    @cached_property
    def name(self) -> str:
        """The texts of the header on one line."""
        return " / ".join(self.header)

    @cached_property
    def words(self) -> list[str]:
        """The texts of the header without case and punctuation."""
        return list(map(folded, self.header))

    @cached_property
    def is_text(self) -> bool:
        """Whether it holds words rather than numbers."""
        return sum(not is_missing(cell) for cell in self.cells) > 2 * sum(map(_holds_numbers, self.cells))


def _holds_numbers(text: str) -> bool:
    return cell_text.holds_numbers(text) or cell_text.number_beside_name(text)


class Sheet:
    """A grid with its columns and the statements about it; first: the index of the row below the header."""

    def __init__(self, grid: Grid, stated: Stated, names: Names) -> None:
        self.grid, self.stated, self.names = grid, stated, names
        self.first = min(stated.header_rows or self._header_rows(), len(grid.rows))
        body = grid.rows[self.first :]
        self.shown = body[:: 1 + len(body) // _MANY_ROWS]
        cells = list(zip(*self.shown, strict=True)) or [()] * grid.width
        self.columns: list[Column] = []
        for index, (header, below) in enumerate(zip(self._headers(), cells, strict=True)):
            line = line_about(stated.columns, index + 1, [*header, " / ".join(header)])
            facts = read_stack(header, names)
            # If a sidecar states facts of a column, the unknown words of its header need no explanation any more.
            facts = explained(facts) if line.facts != NOTHING else facts
            self.columns.append(Column(index, header, facts, line, below))
        if not stated.columns and any(
            headers.metric_key(label(row[0])) and not row[-1] for row in grid.rows[1 : self.first]
        ):
            why = "a row of the header begins with a metric below a label; put its cells above their columns"
            for column in self.columns:
                column.facts = replace(column.facts, conflicts=(*column.facts.conflicts, why))

    def _header_rows(self) -> int:
        """Return the number of header rows: those that the format marks, and those that belong to them."""
        first = self._continued(1)
        ahead = (
            end
            for end in range(first + 1, min(first + _LOOK_AHEAD, len(self.grid.rows)) + 1)
            if self._is_header(end - 1) and self._has_metric(end)
        )
        return first if self._has_metric(first) else self._continued(next(ahead, first))

    def _continued(self, first: int) -> int:
        """Return the number of header rows with those that continue the first: marked ones, or names below.

        A row of numbers never is a header, even if the format marks it (an HTML table of th alone). A row of names,
        such as units below metrics, has an empty corner, the merged corner of the row above, or 'Model' below an empty
        corner.
        """
        rows = self.grid.rows[:_MOST_HEADER_ROWS]
        for index in range(first, len(rows)):
            corner = rows[index][0]
            is_below = corner in ("", rows[index - 1][0]) or (not rows[0][0] and role_of(corner) == "model")
            is_below = is_below and sum(map(bool, rows[index])) > 1
            if not self._is_header(index) or not (index < self.grid.header_rows or is_below):
                return index
        return max(first, len(rows))

    def _has_metric(self, rows: int) -> bool:
        return any(self._is_metric(range(rows), column) for column in range(1, self.grid.width))

    def _is_metric(self, header: Iterable[int], column: int) -> bool:
        return read_stack(tuple(self.grid.rows[row][column] for row in header), self.names).metric is not None

    def _is_header(self, index: int) -> bool:
        """Return whether a row holds names rather than numbers; the 1, 3, 10 below 'Hits@' count as names."""
        cells = [at for at, text in enumerate(self.grid.rows[index]) if at and not is_missing(text)]
        return bool(cells) and all(
            not is_numeric(self.grid.rows[index][column])
            or (self._is_metric(range(index + 1), column) and not self._is_metric(range(index), column))
            for column in cells
        )

    def _headers(self) -> list[tuple[str, ...]]:
        """Return the texts of the header above each column; a text that repeats is kept once."""
        rows = [
            self._fill_merged(list(self.grid.rows[row]), range(row + 1, self.first))
            for row in range(self.first)
        ]
        return [tuple(dict.fromkeys(map(label, filter(None, texts)))) for texts in zip(*rows, strict=True)]

    def _fill_merged(self, texts: list[str], below: range) -> list[str]:
        """Return the texts of a header row with each name above all its columns; a merged cell fills a single column.

        The columns of a name end where the texts below come again. Some programs save the name above the first of its
        columns, others above the middle. Unless there is one name for each such group of columns, a name belongs to the
        columns to its right.
        """
        under = [tuple(self.grid.rows[row][at] for row in below) for at in range(len(texts))]
        metrics = [at for at in range(1, len(texts)) if self._is_metric(below, at)]
        named = metrics or [at for at in range(1, len(texts)) if any(under[at])]
        groups: list[dict[tuple[str, ...], int]] = [{}]
        for at in named:
            groups += [{}] if under[at] in groups[-1] else []
            groups[-1][under[at]] = at
        above = [texts[at] for at in named if texts[at]]
        if len(groups) == len(above) > 1:
            owners = {at: name for name, group in zip(above, groups, strict=True) for at in group.values()}
            return [owners.get(at, text) for at, text in enumerate(texts)]
        for at in named:
            texts[at] = texts[at] or (texts[at - 1] if at - 1 in named else "")
        return texts

    def read(self, column: Column) -> list[Facts]:
        """Return the facts of the different texts in a column."""
        return [read_header(text, self.names) for text in dict.fromkeys(filter(None, column.cells))]

    def metric_cells(self, column: Column) -> int:
        """Return how many cells of a column name a metric; one that is alone in its row names no value beside it."""
        rows = (row for row in self.shown if sum(map(bool, row)) > 1)
        cells = [row[column.index] for row in rows if row[column.index] and not is_numeric(row[column.index])]
        read = (read_header(cell, self.names) for cell in cells)
        return sum(facts.metric is not None and not (facts.unknown or facts.rest) for facts in read)


def explained(facts: Facts) -> Facts:
    """Return the facts of a line without its unknown words: a sidecar explains the line."""
    return replace(facts, unknown=None, rest=facts.rest if facts.metric and not facts.unknown else None)


def _settle_sides(columns: Sequence[Column]) -> None:
    """Read a mean beside the two sides as both; head and tail beside a middle class mean classes."""
    unclear = [(own.facts.unknown or own.facts.notes or own.facts.rest or "").casefold() for own in columns]
    sides = {column.facts["side"] for column in columns}
    for column, word in zip(columns, unclear, strict=True):
        if column.facts.side and not _BETWEEN.isdisjoint(unclear):
            column.facts = replace(column.facts, side=None, task=Fact(SUBSET))
        elif word in MEANS and not column.facts.side and any({*pair} <= sides for pair in headers.SIDES):
            side = Fact("both", INFERRED, f"from '{word}'")
            column.facts = replace(column.facts, side=side, notes=None, rest=None, unknown=None)


def give_roles(sheet: Sheet) -> str:
    """Give each column its role; return where metrics are named: 'columns', 'rows', or '' for nowhere."""
    columns, spreads = sheet.columns, words_for("beside_metrics")
    _settle_sides(columns)
    has_spread = any(not spreads.isdisjoint(column.words) for column in columns)
    for column in columns:
        # A spread is not a value, and 'mean' beside it names the values themselves.
        is_mean = has_spread and folded(column.facts.rest or "") in MEANS
        is_spread = not spreads.isdisjoint(column.words[-1:])
        column.facts = replace(column.facts, rest=None) if is_mean else column.facts
        column.facts = column.facts.without("metric") if is_spread else column.facts
    free = [column for column in columns if column.line.role is None]
    above = sum(
        bool(column.line.facts.metric) or (column.facts.metric is not None and not column.is_text)
        for column in free
    )
    counts = {column.index: sheet.metric_cells(column) for column in free}
    # A column that is called so, rather than one that rows without their first cells have filled.
    called = {own.index for own in free if counts[own.index] and "metric" in map(role_of, own.header)}
    best = max(free, key=lambda own: (own.index in called, counts[own.index]), default=None)
    is_named = best and counts[best.index] > above < 2 and best.is_text
    named = next((own for own in columns if own.line.role == "metric"), best if is_named else None)
    # Beside a column of tests, 'val' is a split.
    single = _LONG - ({"val"} if sum(column.facts.split is not None for column in columns) > 1 else set())
    single |= MEANS if has_spread else set()
    others = [column for column in columns if named and column is not named]
    long = next((column for column in others if not single.isdisjoint(column.words)), None)
    if long and "val" in long.words:
        long.facts = replace(long.facts, split=None)
    metrics = "rows" if named else "columns" if above else ""
    for column in columns:
        column.role = "metric" if column is named else _role(column, columns, metrics, long)
    _settle_label_roles(sheet)
    return metrics


def _role(column: Column, columns: Sequence[Column], metrics: str, long: Column | None) -> str:
    """Return the role of a column by its header: value, a label role or other.

    long: the column that holds all values where rows are metrics.
    """
    line, facts = column.line, column.facts
    if line.role or line.facts.metric:
        return line.role or "value"
    role = next((role for role in map(role_of, reversed(column.header)) if role), None)
    decimals = sum("." in cell and is_numeric(cell) for cell in column.cells)
    # Beside metrics, 'metric' is that by which a run was chosen.
    role = "other" if role == "metric" and metrics == "columns" else role
    role = None if role in LABEL_ROLES and 2 * decimals > len(column.cells) else role
    if metrics == "columns":
        is_value = facts.metric is not None and not (role and column.is_text)
    else:
        is_free = role is None if long is None else column is long
        is_value = is_free and _may_be_values(column, columns)
    return "value" if is_value else role or "other"


def _may_be_values(column: Column, columns: Sequence[Column]) -> bool:
    """Return whether a column, whose header names no metric, holds values rather than differences or labels."""
    # The mean over data sets is not a value of any.
    is_mean = not MEANS.isdisjoint(column.words[-1:]) and any(own.facts.dataset for own in columns)
    if not column.header or headers.is_difference(column.header[-1]) or is_mean:
        return False
    whole = [int(cell[:9]) for cell in column.cells if cell.isdecimal()]
    is_numbering = len(whole) > 2 and whole == [whole[0] + at for at in range(len(column.cells))]
    return any(map(_holds_numbers, column.cells)) and not is_numbering and not column.is_text


def _settle_label_roles(sheet: Sheet) -> None:
    """Give a role to label columns with an unclear header, by their cells."""
    columns = sheet.columns
    above = any(column.facts.dataset for column in columns if column.role == "value")
    free = [column for column in columns if column.line.role is None]
    for column in (column for column in free if column.role == "dataset"):
        said = sheet.read(column)
        # Traces of LibKGE call the split 'data'.
        if all(facts.split for facts in said):
            column.role = "split"
        # 'Dataset' in the corner may describe the headers to its right rather than the cells below.
        elif above and not any(facts.dataset for facts in said):
            column.role = "other"
    # Beside 'Model', a 'Baseline' says something about it, and beside 'Method', a 'Name' means the authors.
    ranks = {
        column.index: 0 if column.words[-1] in _MODELS else 1 + (column.role == "name")
        for column in free
        if column.role in ("model", "name")
    }
    for index, rank in ranks.items():
        columns[index].role = "model" if rank == min(ranks.values()) else "other"
    for column in (column for column in free if column.role == "other"):
        # 'metrics' before a list of them names nothing.
        is_clear = "other" in map(role_of, column.header) or sheet.metric_cells(column)
        said = [] if is_clear or not column.is_text else sheet.read(column)
        is_label = any(facts.rest or any(facts.stated()) for facts in said)
        if is_label and not all(map(_NO_NAME.match, filter(None, column.cells))):
            # A label without a header is a data set, split, side or protocol if most of its texts are, else a model.
            taken = {column.role for column in columns}
            kinds = [kind for kind in ("dataset", "split", "side", "protocol", "task") if kind not in taken]
            counts = (sum(facts[kind] is not None and facts.rest is None for facts in said) for kind in kinds)
            often = [2 * count > len(said) for count in counts]
            role = next(compress(kinds, often), "model")
            if role not in taken:
                several = "s" * (role in ("model", "dataset"))
                column.role = role
                column.assumed = f"column {column.index + 1} taken for the {name_of(role)}{several}"


def carry_datasets(columns: Sequence[Column]) -> None:
    """Give a metric without a data set that of the columns to its left, as an assumption: 'UMLS MRR', 'MR'.

    Nothing is carried to columns of a metric that the data set has already: they may be of another.
    """
    left: Fact | None = None
    seen: set[tuple[str | None, ...]] = set()
    for column in (column for column in columns if column.role == "value"):
        facts = column.facts
        plain = facts.without("dataset").evaluation
        if facts.dataset:
            seen = seen if left and left.value == facts.dataset.value else set()
            left = facts.dataset
        elif left is None or facts.rest or facts.unknown or column.line.facts.dataset or plain in seen:
            left = None
        else:
            why = f"as in the column to the left, {left.value}"
            column.facts = replace(facts, dataset=replace(left, source=INFERRED, reason=why))
        seen.add(plain)


def settle_unknown_headers(sheet: Sheet, labels: Sequence[Facts], around: Facts) -> None:
    """Decide which names the unknown header texts are: models, data sets, or (left as they are) versions of these.

    labels: the facts of the rows with values. around: the facts of the text around the table.
    """
    values = [column for column in sheet.columns if column.role == "value"]
    unknown = [(column, column.facts.rest) for column in values if column.facts.rest]
    names = {text for _, text in unknown}
    datasets = {facts.dataset.printed or facts.dataset.value for facts in labels if facts.dataset}
    if datasets and all(any(headers.find_dataset(f"{d} {n}", sheet.names) for d in datasets) for n in names):
        return
    # Several single words that look like names are data sets, even if the text around names a data set.
    are_names = len(names) > 1 and all(map(_ONE_NAME.fullmatch, names))
    knows_dataset = bool(datasets or (around.dataset and not are_names) or sheet.stated.facts.dataset)
    has_models = any(facts.model for facts in labels)
    corner = label(sheet.grid.rows[0][0])
    for column, text in unknown:
        if not has_models:
            # A bare number is a name only together with the word in the corner: 'rank' and 64.
            is_number = column.index and is_numeric(text) and not headers.metric_key(corner)
            model = Fact(f"{corner} {text}".strip() if is_number else text, INFERRED, "from a header")
            column.facts = replace(column.facts, model=model, rest=None)
        elif len(values) == 1 and not column.facts.metric:
            # The header of the only column of values describes its numbers: 'Valeur'.
            column.facts = replace(column.facts, rest=None)
        elif not knows_dataset and not column.facts.dataset:
            dataset = Fact(text, INFERRED, f"header '{text}' read as a name", text)
            column.facts = replace(column.facts, dataset=dataset, rest=None)
