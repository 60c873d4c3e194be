"""Decide what each column of a grid holds: values, labels of a kind, or other; the header of the grid comes first."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rankadjust.base.words import folded
from rankadjust.tables import headers
from rankadjust.tables.facts import INFERRED, NOTHING, SUBSET, Fact, Facts, name_of
from rankadjust.tables.formats import cell_text
from rankadjust.tables.formats.cell_text import is_missing, is_numeric, label
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import Names, read_header, read_stack, role_of, words_for
from rankadjust.tables.sidecar import NO_LINE, Line, Stated, line_about

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
# Web pages hide each text with an @ as a mail address, even Hits@10: the values below are reported as unread.
_HIDDEN = re.compile(r"\[email\s+protected\]")
# How many rows of a long table are looked at, how many rows below the marked header may belong to it, and how many
# rows a header has at most: a broken page may mark thousands.
_MANY_ROWS, _LOOK_AHEAD, _MOST_HEADER_ROWS = 1000, 2, 50


class Sheet:
    """A grid with its header and the statements of a sidecar about it.

    first: the index of the row below the header. For each column, stacks has the texts of the header, lines the
    statements of the sidecar, facts the facts that the texts state, cells the texts below (in a long table, of every
    n-th row).
    """

    def __init__(self, grid: Grid, stated: Stated, names: Names) -> None:
        self.grid, self.stated, self.names = grid, stated, names
        self.first = min(stated.header_rows or self._header_rows(), len(grid.rows))
        self.stacks = self._stacks(self.first)
        self.lines = [
            line_about(stated.columns, index + 1, [*texts, " / ".join(texts)])
            for index, texts in enumerate(self.stacks)
        ]
        facts = [read_stack(stack, names) for stack in self.stacks]
        if not stated.columns and any(
            headers.metric_key(label(row[0])) and not row[-1] for row in grid.rows[1 : self.first]
        ):
            why = "a row of the header begins with a metric below a label; put its cells above their columns"
            facts = [replace(said, conflicts=(*said.conflicts, why)) for said in facts]
        self.facts = _with_sides(facts)
        body = grid.rows[self.first :]
        shown = body[:: 1 + len(body) // _MANY_ROWS]
        self.cells: list[tuple[str, ...]] = list(zip(*shown, strict=True)) or [()] * grid.width

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
        return read_stack([self.grid.rows[row][column] for row in header], self.names).metric is not None

    def _is_header(self, index: int) -> bool:
        """Return whether a row holds names rather than numbers; the 1, 3, 10 below 'Hits@' count as names."""
        cells = [at for at, text in enumerate(self.grid.rows[index]) if at and not is_missing(text)]
        return bool(cells) and all(
            not is_numeric(self.grid.rows[index][column])
            or (self._is_metric(range(index + 1), column) and not self._is_metric(range(index), column))
            for column in cells
        )

    def _stacks(self, rows: int) -> list[list[str]]:
        """Return the texts of the first header rows above each column; a text that repeats is kept once."""
        filled = [self._fill_merged(list(self.grid.rows[row]), range(row + 1, rows)) for row in range(rows)]
        return [list(dict.fromkeys(filter(None, texts))) for texts in zip(*filled, strict=True)]

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

    def is_text(self, column: int) -> bool:
        """Return whether a column holds words rather than numbers."""
        numbers = sum(map(_holds_numbers, self.cells[column]))
        return sum(not is_missing(cell) for cell in self.cells[column]) > 2 * numbers

    def read(self, column: int) -> list[Facts]:
        """Return the facts of the different texts in a column."""
        return [read_header(text, self.names) for text in dict.fromkeys(filter(None, self.cells[column]))]


def _holds_numbers(text: str) -> bool:
    return cell_text.holds_numbers(text) or cell_text.number_beside_name(text)


@dataclass(frozen=True)
class Column:
    """A column. role: 'value', one of the label roles, or 'other'.

    header: its texts from the top down, each once. facts: the facts that these texts state. assumed: the reason for the
    role, if no word states it.
    """

    index: int
    header: tuple[str, ...]
    role: str
    facts: Facts = NOTHING
    line: Line = NO_LINE
    assumed: str | None = None

    @cached_property
    def name(self) -> str:
        """The texts of the header on one line."""
        return " / ".join(self.header)


def where_metrics_are(sheet: Sheet) -> tuple[str, int | None]:
    """Return where metrics are named ('columns', 'rows', '' for nowhere), and for rows the column of their names."""
    asked = next((column for column, line in enumerate(sheet.lines) if line.role == "metric"), None)
    if asked is not None:
        return "rows", asked
    free = [column for column, line in enumerate(sheet.lines) if line.role is None]
    by_column = sum(
        bool(sheet.lines[column].facts.metric)
        or (sheet.facts[column].metric is not None and not sheet.is_text(column))
        for column in free
    )
    named = {column: _metric_cells(sheet, column) for column in free}
    # A column that is called so, rather than one that rows without their first cells have filled.
    called = {column for column in free if "metric" in map(role_of, sheet.stacks[column]) and named[column]}
    best = max(named, key=lambda column: (column in called, named[column]), default=None)
    if best is not None and named[best] > by_column < 2 and sheet.is_text(best):
        return "rows", best
    return ("columns", None) if by_column else ("", None)


def _metric_cells(sheet: Sheet, column: int) -> int:
    # A metric that is alone in its row names no value beside it.
    rows = (row for row in zip(*sheet.cells, strict=True) if sum(map(bool, row)) > 1)
    cells = [row[column] for row in rows if row[column] and not is_numeric(row[column])]
    read = (read_header(cell, sheet.names) for cell in cells)
    return sum(facts.metric is not None and not (facts.unknown or facts.rest) for facts in read)


def columns_of(sheet: Sheet, metrics: str, metric_column: int | None) -> tuple[Column, ...]:
    """Return the columns with their roles; `metrics`, `metric_column`: the result of `where_metrics_are`."""
    words = [set(map(folded, stack)) for stack in sheet.stacks]
    # Beside a spread, 'mean' names the values themselves.
    means = MEANS if any(own & words_for("beside_metrics") for own in words) else set()
    # Beside a column of tests, 'val' is a split.
    single = _LONG - ({"val"} if sum(facts.split is not None for facts in sheet.facts) > 1 else set())
    others = [index for index in range(len(words)) if metrics == "rows" and index != metric_column]
    long = next((index for index in others if (single | means) & words[index]), None)
    roles = [
        "metric" if index == metric_column else _role(sheet, index, metrics, long)
        for index in range(len(words))
    ]
    assumed = _settle_label_roles(sheet, roles)
    columns = []
    for index, (facts, line, stack) in enumerate(zip(sheet.facts, sheet.lines, sheet.stacks, strict=True)):
        # If a sidecar states facts of a column, the unknown words of its header need no explanation any more.
        said = explained(facts) if line.facts != NOTHING else facts
        said = replace(said, rest=None) if folded(said.rest or "") in means else said
        said = replace(said, split=None) if index == long and "val" in words[index] else said
        columns.append(Column(index, tuple(map(label, stack)), roles[index], said, line, assumed.get(index)))
    return tuple(columns)


def explained(facts: Facts) -> Facts:
    """Return the facts of a line without its unknown words: a sidecar explains the line."""
    return replace(facts, unknown=None, rest=facts.rest if facts.metric and not facts.unknown else None)


def _role(sheet: Sheet, index: int, metrics: str, long: int | None) -> str:
    """Return the role of a column by its header: value, a label role or other."""
    line, stack, facts = sheet.lines[index], sheet.stacks[index], sheet.facts[index]
    if line.role or line.facts.metric:
        return line.role or "value"
    role = next((role for role in map(role_of, reversed(stack)) if role), None)
    decimals = sum("." in cell and is_numeric(cell) for cell in sheet.cells[index])
    # Beside metrics, 'metric' is that by which a run was chosen.
    role = "other" if role == "metric" and metrics == "columns" else role
    role = None if role in LABEL_ROLES and 2 * decimals > len(sheet.cells[index]) else role
    if metrics == "columns":
        is_spread = bool(stack) and folded(stack[-1]) in words_for("beside_metrics")
        is_hidden = role is None and facts.metric is None and bool(_HIDDEN.search(facts.rest or ""))
        is_value = (facts.metric is not None or is_hidden) and not is_spread
        is_value = is_value and not ((role or is_hidden) and sheet.is_text(index))
    else:
        is_free = role is None if long is None else index == long
        is_value = metrics != "" and is_free and _may_be_values(sheet, index)
    return "value" if is_value else role or "other"


def _may_be_values(sheet: Sheet, index: int) -> bool:
    """Return whether a column, whose header names no metric, holds values rather than differences or labels."""
    stack, cells = sheet.stacks[index], sheet.cells[index]
    # The mean over data sets is not a value of any.
    is_mean = bool(stack) and folded(stack[-1]) in MEANS and any(facts.dataset for facts in sheet.facts)
    if not stack or headers.is_difference(stack[-1]) or is_mean:
        return False
    first = int(cells[0][:9]) if cells[0].isdecimal() else 0
    is_numbering = len(cells) > 2 and cells == tuple(map(str, range(first, first + len(cells))))
    return any(map(_holds_numbers, cells)) and not is_numbering and not sheet.is_text(index)


def _settle_label_roles(sheet: Sheet, roles: list[str]) -> dict[int, str]:
    """Give a role to label columns with an unclear header, by their cells; return the reason of each assumption."""
    above = any(sheet.facts[index].dataset for index, role in enumerate(roles) if role == "value")
    free = [index for index, line in enumerate(sheet.lines) if line.role is None]
    for index in (index for index in free if roles[index] == "dataset"):
        said = sheet.read(index)
        # Traces of LibKGE call the split 'data'.
        if all(facts.split for facts in said):
            roles[index] = "split"
        # 'Dataset' in the corner may describe the headers to its right rather than the cells below.
        elif above and not any(facts.dataset for facts in said):
            roles[index] = "other"
    models = [index for index in free if roles[index] in ("model", "name")]
    # Beside 'Model', a 'Baseline' says something about it, and beside 'Method', a 'Name' means the authors.
    surest = [index for index in models if folded(sheet.stacks[index][-1]) in _MODELS]
    surest = surest or [index for index in models if roles[index] == "model"] or models
    for index in models:
        roles[index] = "model" if index in surest else "other"
    assumed: dict[int, str] = {}
    for index in free:
        is_label = roles[index] == "other" and "other" not in map(role_of, sheet.stacks[index])
        # 'metrics' before a list of them names nothing.
        said = sheet.read(index) if is_label and not _metric_cells(sheet, index) else []
        is_label = any(facts.rest or any(facts.stated()) for facts in said) and sheet.is_text(index)
        if is_label and not all(map(_NO_NAME.match, filter(None, sheet.cells[index]))):
            # A label without a header is a data set, split, side or protocol if most of its texts are, else a model.
            kinds = ("dataset", "split", "side", "protocol", "task")
            counts = {
                kind: sum(facts[kind] is not None and facts.rest is None for facts in said) for kind in kinds
            }
            role = next(
                (kind for kind in kinds if 2 * counts[kind] > len(said) and kind not in roles), "model"
            )
            if role not in roles:
                roles[index] = role
                several = "s" * (role in ("model", "dataset"))
                assumed[index] = f"column {index + 1} taken for the {name_of(role)}{several}"
    return assumed


def _with_sides(said: list[Facts]) -> list[Facts]:
    """Read a mean beside the two sides as both; head and tail beside a middle class mean classes."""
    words = [(facts.unknown or facts.notes or facts.rest or "").casefold() for facts in said]
    if _BETWEEN & set(words):
        return [replace(facts, side=None, task=Fact(SUBSET)) if facts.side else facts for facts in said]
    if any({*pair} <= {facts["side"] for facts in said} for pair in headers.SIDES):
        for at, (facts, word) in enumerate(zip(said, words, strict=True)):
            if word in MEANS and facts.side is None:
                side = Fact("both").because(f"from '{word}'")
                said[at] = replace(facts, side=side, notes=None, rest=None, unknown=None)
    return said


def with_datasets_carried(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Give a metric without a data set that of the columns to its left, as an assumption: 'UMLS MRR', 'MR'.

    Nothing is carried to columns of a metric that the data set has already: they may be of another.
    """
    carried = list(columns)
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
            dataset = replace(left, reason=None).because(f"as in the column to the left, {left.value}")
            carried[column.index] = replace(column, facts=replace(facts, dataset=dataset))
        seen.add(plain)
    return tuple(carried)


def with_unknown_headers(
    sheet: Sheet, columns: tuple[Column, ...], labels: Sequence[Facts], around: Facts
) -> tuple[Column, ...]:
    """Decide which names the unknown header texts are: models, data sets, or (left as they are) versions of these.

    labels: the facts of the rows with values. around: the facts of the text around the table.
    """
    values = [column for column in columns if column.role == "value"]
    unknown = [column.facts for column in values if column.facts.rest]
    names = {facts.rest or "" for facts in unknown}
    datasets = {facts.dataset.printed or facts.dataset.value for facts in labels if facts.dataset}
    if datasets and all(any(headers.find_dataset(f"{d} {n}", sheet.names) for d in datasets) for n in names):
        return columns
    # Several single words that look like names are data sets, even if the text around names a data set.
    are_names = len(names) > 1 and all(map(_ONE_NAME.fullmatch, names))
    knows_dataset = bool(datasets or (around.dataset and not are_names) or sheet.stated.facts.dataset)
    has_models = any(facts.model for facts in labels)
    corner = label(sheet.grid.rows[0][0])

    def named(column: Column) -> Facts:
        facts, text = column.facts, column.facts.rest
        if not text or column.role != "value":
            return facts
        if not has_models:
            # A bare number is a name only together with the word in the corner: 'rank' and 64.
            is_number = column.index and is_numeric(text) and not headers.metric_key(corner)
            name = f"{corner} {text}".strip() if is_number else text
            return replace(facts, model=Fact(name, INFERRED, "from a header"), rest=None)
        # The header of the only column of values describes its numbers: 'Valeur'.
        if len(values) == 1 and not facts.metric:
            return replace(facts, rest=None)
        if knows_dataset or facts.dataset:
            return facts
        return replace(
            facts, dataset=Fact(text, INFERRED, f"header '{text}' read as a name", text), rest=None
        )

    return tuple(replace(column, facts=named(column)) for column in columns)
