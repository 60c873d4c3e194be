"""What the rows and columns of a grid are: headers, labels, values, and what they say about the values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from rankadjust.tables.cells import is_missing, is_numeric, label
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.sidecar import Line, Stated
from rankadjust.tables.tokens import (
    NOTHING,
    Facts,
    Names,
    datasets_within,
    find_dataset,
    folded,
    is_difference,
    metric_key,
    metrics_within,
    qualifiers_within,
    read_header,
    read_stack,
    role_of,
)

# Where rows are metrics, a column with one of these headers holds all their values.
_LONG = {"value", "values", "metric", "score", "result"}
# How far below the marked header a second header row may stand.
_LOOK_AHEAD = 2
# Whoever looks at a row of a header looks at all above it: in a broken page thousands may be marked as header.
_MOST_HEADER_ROWS = 50
_TITLE_WORDS = 12
_MANY_ROWS = 1000
_LABEL_ROLES = ("model", "dataset", "metric", "split", "side", "protocol", "ties")
# Where a label of one of these is empty, that above it holds.
_FILLED = _LABEL_ROLES


@dataclass(frozen=True)
class Column:
    """A column. role: 'value', one of the label roles, or 'other'.

    header: its texts from the top down, each once. facts: what they say. assumed: why it has its role, where no word
    says so.
    """

    index: int
    header: tuple[str, ...]
    role: str
    facts: Facts = NOTHING
    line: Line = field(default_factory=Line)
    assumed: str | None = None

    @cached_property
    def name(self) -> str:
        """The header on one line."""
        return " / ".join(self.header)


@dataclass(frozen=True)
class Row:
    """A row of the grid. kind: 'header', 'section', 'blank', 'other' or 'values'.

    facts: what its labels say. labels: header -> text of its label cells.
    """

    index: int
    kind: str
    facts: Facts = NOTHING
    labels: Mapping[str, str] = field(default_factory=dict)
    line: Line = field(default_factory=Line)


@dataclass(frozen=True)
class Layout:
    """The columns and rows of a grid, and what the text around it says of the whole table.

    metrics: where they are named: 'columns', 'rows', 'table', or '' where nothing names any. refused: why no value of
    the table can be read.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    facts: Facts
    metrics: str
    refused: str | None = None

    @property
    def stated_lines(self) -> set[tuple[str, Any]]:
        """Kind (columns, rows) and key of the lines that a sidecar states something about."""
        columns = {("columns", column.line.key) for column in self.columns}
        return columns | {("rows", row.line.key) for row in self.rows}


@dataclass(frozen=True)
class Table:
    """One table of a file, its number (from 1), what was understood of it and what a sidecar states about it."""

    number: int
    grid: Grid
    layout: Layout
    stated: Stated

    def text(self, row: int, column: int) -> str:
        """Return the text of the cell in a row and column (from 0)."""
        return self.grid.rows[row][column]


def below_each_other(grid: Grid, names: Names) -> list[Grid]:
    """Return the tables of a grid: another begins where a row is a header again, names of which two are metrics."""
    header = _Header(grid, names)
    first = header.rows()
    if not header.metrics_in(range(first)):
        return [grid]
    again = [
        index
        for index in range(first + 1, len(grid.rows))
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
        )
        for top, end in pairwise([0, *again, len(grid.rows)])
    ]


def lay_out(grid: Grid, stated: Stated, names: Names, stem: str) -> Layout:
    """Find out what each row and column of a grid is; `stem` is the name of its file, which may say the data set."""
    return _Reader(grid, stated, names, stem).layout()


class _Header:
    """How many rows of a grid are its header."""

    def __init__(self, grid: Grid, names: Names) -> None:
        self.grid = grid
        self.names = names

    def rows(self) -> int:
        rows = self.grid.rows
        marked = max(1, min(self.grid.header_rows, _MOST_HEADER_ROWS))
        # A format may mark every row as header (HTML of th only): a row of numbers never is.
        marked = next((row for row in range(1, min(marked, len(rows))) if not self._is_header(row)), marked)
        # A row of names under an empty corner belongs to the header: units below metrics, models below data sets.
        while (
            marked < min(len(rows), _MOST_HEADER_ROWS)
            and not rows[marked][0]
            and sum(map(bool, rows[marked])) > 1
            and self._is_header(marked)
        ):
            marked += 1
        if self.metrics_in(range(marked)):
            return marked
        for index in range(marked, min(marked + _LOOK_AHEAD, len(rows))):
            if self._is_header(index) and self.metrics_in(range(index + 1)):
                return index + 1
        return marked

    def metrics_in(self, header: Sequence[int]) -> int:
        """Count the columns, the first left out, for which these header rows name a metric."""
        return sum(self.is_metric(header, column) for column in range(1, self.grid.width))

    def is_metric(self, header: Iterable[int], column: int) -> bool:
        """Tell whether these header rows name a metric above a column."""
        return read_stack([self.grid.rows[row][column] for row in header], self.names).metric is not None

    def _is_header(self, index: int) -> bool:
        """Tell whether a row holds names rather than numbers; 1, 3, 10 below 'Hits@' (in a row above) are names too."""
        cells = [
            column for column, text in enumerate(self.grid.rows[index]) if column and not is_missing(text)
        ]
        return bool(cells) and all(
            not is_numeric(self.grid.rows[index][column])
            or (self.is_metric(range(index + 1), column) and not self.is_metric(range(index), column))
            for column in cells
        )

    def stacks(self, rows: int) -> list[list[str]]:
        """Return the texts of so many header rows above each column, each text once."""
        filled = [self._fill_merged(list(self.grid.rows[row]), range(row + 1, rows)) for row in range(rows)]
        return [list(dict.fromkeys(filter(None, texts))) for texts in zip(*filled, strict=True)]

    def _fill_merged(self, texts: list[str], below: range) -> list[str]:
        """Return the texts of a header row; an empty cell above a metric belongs to the name on its left.

        That is how a merged cell of a spreadsheet is saved: its text stands in the first of its columns.
        """
        if not below or all(texts):
            return texts
        names_metric = [self.is_metric(below, column) for column in range(len(texts))]
        for column in range(1, len(texts)):
            if not texts[column] and names_metric[column] and names_metric[column - 1]:
                texts[column] = texts[column - 1]
        return texts


class _Reader:
    """The steps of `lay_out`. stacks, stated_columns, facts: header texts, what is stated, what is said, by column."""

    def __init__(self, grid: Grid, stated: Stated, names: Names, stem: str) -> None:
        self.grid = grid
        self.stated = stated
        self.names = names
        self.around = [
            *((f"the text '{_shortened(text)}'", text) for text in grid.context),
            ("the file's name", stem),
        ]
        header = _Header(grid, names)
        self.first = min(stated.header_rows or header.rows(), len(grid.rows))
        self.stacks = header.stacks(self.first)
        self.lines = [
            stated.column(index + 1, [*texts, " / ".join(texts)]) for index, texts in enumerate(self.stacks)
        ]
        self.facts = [read_stack(stack, names) for stack in self.stacks]
        # Of a long table every n-th row, which tells what is in a column.
        body = grid.rows[self.first :]
        shown = body[:: 1 + len(body) // _MANY_ROWS]
        self.cells = list(zip(*shown, strict=True)) or [()] * grid.width

    def layout(self) -> Layout:
        metrics, metric_column = self._where_metrics_are()
        around = Facts()
        if not metrics:
            around = self._metric_around()
            metrics = "table" if self.stated.facts.metric or around.metric else ""
        columns = self._columns(metrics, metric_column)
        rows = self._rows(columns, metrics)
        around = around.over(self._qualifiers_around())
        values = [column for column in columns if column.role == "value"]
        said = [*(column.facts for column in values), *(row.facts for row in rows)]
        said += [line.facts for line in (*(column.line for column in values), *(row.line for row in rows))]
        if not self.stated.facts.dataset and not any(facts.dataset for facts in said):
            around = around.over(self._dataset_around())
        columns = self._with_unknown_headers(columns, rows, around)
        return Layout(columns, tuple(rows), around, metrics, _why_refused(columns, metrics))

    def _where_metrics_are(self) -> tuple[str, int | None]:
        """Return 'columns', 'rows' or '', and for rows the column that names their metrics."""
        asked = next((column for column, line in enumerate(self.lines) if line.role == "metric"), None)
        if asked is not None:
            return "rows", asked
        free = [column for column, line in enumerate(self.lines) if line.role is None]
        by_column = sum(
            bool(self.lines[column].facts.metric)
            or (self.facts[column].metric is not None and not self._is_text(column))
            for column in free
        )
        named = {column: self._metric_cells(column) for column in free}
        best = max(named, key=lambda column: named[column], default=None)
        if best is not None and named[best] > by_column < 2 and self._is_text(best):
            return "rows", best
        return ("columns", None) if by_column else ("", None)

    def _metric_cells(self, column: int) -> int:
        cells = [cell for cell in self.cells[column] if cell and not is_numeric(cell)]
        named = sum(read_header(cell, self.names).metric is not None for cell in cells)
        return named if 2 * named >= len(cells) else 0

    def _is_text(self, column: int) -> bool:
        numbers = sum(map(is_numeric, self.cells[column]))
        return sum(not is_missing(cell) for cell in self.cells[column]) > 2 * numbers

    # Columns ---------------------------------------------------------------------------------------------

    def _columns(self, metrics: str, metric_column: int | None) -> tuple[Column, ...]:
        indices = range(self.grid.width)
        others = (index for index in indices if metrics == "rows" and index != metric_column)
        long = next((index for index in others if _LONG & set(map(folded, self.stacks[index]))), None)
        roles = [
            "metric" if index == metric_column else self._role(index, metrics, long) for index in indices
        ]
        assumed = self._settle_label_roles(roles)
        columns = []
        for index, (stack, line, facts) in enumerate(zip(self.stacks, self.lines, self.facts, strict=True)):
            # A metric that is stated explains the words of a header that names none.
            said = replace(facts, rest=None) if line.facts != NOTHING and not facts.metric else facts
            header = tuple(map(label, stack))
            columns.append(Column(index, header, roles[index], said, line, assumed.get(index)))
        return tuple(columns)

    def _role(self, index: int, metrics: str, long: int | None) -> str:
        line, stack = self.lines[index], self.stacks[index]
        if line.role or line.facts.metric:
            return line.role or "value"
        role = next((role for role in map(role_of, reversed(stack)) if role), None)
        if metrics == "columns":
            is_value = self.facts[index].metric is not None and not (role and self._is_text(index))
        else:
            is_value = (
                metrics != ""
                and bool(stack)
                and (role is None if long is None else index == long)
                and any(map(is_numeric, self.cells[index]))
                and not self._is_text(index)
            )
        return "value" if is_value else role or "other"

    def _settle_label_roles(self, roles: list[str]) -> dict[int, str]:
        """Give label columns without a telling header a role by what they hold; return why, where it is assumed."""
        above = any(self.facts[index].dataset for index, role in enumerate(roles) if role == "value")
        free = [index for index, line in enumerate(self.lines) if line.role is None]
        for index in free:
            texts = set(filter(None, self.cells[index]))
            # What traces of LibKGE called 'data' is the split.
            if roles[index] == "dataset" and all(read_header(text, self.names).split for text in texts):
                roles[index] = "split"
            # 'Dataset' in the corner may speak of the names beside it, not of those below.
            elif roles[index] == "dataset" and above:
                is_known = any(find_dataset(text, self.names) for text in texts)
                roles[index] = "dataset" if is_known else "other"
            # A name is the model's where nothing else is: beside 'Method', 'Team' says who.
            elif roles[index] == "name":
                roles[index] = "other" if "model" in roles else "model"
        if "model" in roles:
            return {}
        for index in free:
            is_label = roles[index] == "other" and "other" not in map(role_of, self.stacks[index])
            if is_label and self._is_text(index):
                roles[index] = "model"
                return {index: f"column {index + 1} taken for the models"}
        return {}

    # Rows ------------------------------------------------------------------------------------------------

    def _rows(self, columns: Sequence[Column], metrics: str) -> list[Row]:
        rows = [Row(index, "header") for index in range(self.first)]
        divided = corner = _corner(columns)
        above: dict[int, str] = {}
        for index in range(self.first, len(self.grid.rows)):
            row = self._row(index, columns, above, metrics)
            if row.kind == "section":
                divided = row.facts.over(corner)
            elif row.kind == "values" and divided != NOTHING:
                row = replace(row, facts=row.facts.over(divided))
            rows.append(row)
        return rows

    def _row(self, index: int, columns: Sequence[Column], above: dict[int, str], metrics: str) -> Row:
        cells = self.grid.rows[index]
        beside = [column for column in columns if column.role != "value"]
        line = self.stated.row(index + 1, [cells[column.index] for column in beside])
        if not any(cells) or line.role == "other":
            return Row(index, "other" if any(cells) else "blank", line=line)
        if section := self._section(cells, columns):
            return Row(index, "section", section, line=line)
        labels: dict[str, str] = {}
        found: dict[str, Any] = {}
        assumed: list[tuple[str, str]] = []
        printed = Facts()
        for column in beside:
            text, why = cells[column.index], column.assumed
            if column.role in _FILLED:
                if not text and above.get(column.index):
                    text, why = above[column.index], "as in the row above"
                above[column.index] = text
            word = column.line.word(text)
            is_new = column.name and column.name not in labels
            labels[column.name if is_new else f"{column.name} {column.index + 1}".strip()] = word
            if not word or column.role not in _LABEL_ROLES:
                continue
            if why:
                assumed.append((column.role, why))
            if column.role == "metric":
                printed = replace(read_header(text, self.names), rest=None)
            elif column.role == "model":
                # A second column of models beside the first says which kind of it.
                found.setdefault("model", word)
            elif column.role == "dataset":
                found |= {"dataset": find_dataset(word, self.names) or word, "dataset_as_printed": word}
            else:
                said = getattr(read_header(word, self.names), column.role)
                found[column.role] = said or (None if column.role == "ties" else word)
        facts = Facts(**found, assumed=tuple(assumed))
        if printed != NOTHING:
            facts = printed.agreeing(facts, "the row's metric", "another of its labels")
        is_other = (facts.model and is_difference(facts.model)) or (
            metrics == "rows" and not (line.facts.metric or facts.metric)
        )
        return Row(index, "other" if is_other else "values", facts, labels, line)

    def _section(self, cells: Sequence[str], columns: Sequence[Column]) -> Facts | None:
        """Return what a row says that divides the table: one text over all columns, or alone in its row."""
        texts = set(filter(None, cells))
        if len(texts) != 1 or len(cells) < 2:
            return None
        text = texts.pop()
        if is_numeric(text) or is_missing(text):
            return None
        facts = read_header(text, self.names)
        in_values = any(cells[column.index] for column in columns if column.role == "value")
        if all(cells) or (facts.says_something and not facts.metric and not in_values):
            return replace(facts, rest=None, metric=None, metric_as_printed=None)
        return None

    # Around the table ------------------------------------------------------------------------------------

    def _metric_around(self) -> Facts:
        """Return the only metric that the nearest text around the table to speak of any, or the file's name, names."""
        for where, text in self.around:
            found = metrics_within(text)
            if found:
                [(key, words), *others] = found.items()
                only = Facts(metric=key, metric_as_printed=words).because(f"from {where}")
                return Facts() if others else only
        return Facts()

    def _dataset_around(self) -> Facts:
        """Return the data set that the nearest text naming any names alone, and which others are near."""
        texts = [(where, datasets_within(text, self.names)) for where, text in self.around]
        # A text that names several leaves the choice to the others, but only among these.
        possible = next((set(found) for _, found in texts if len(found) > 1), None)
        alone = (
            (where, *next(iter(found.items())))
            for where, found in texts
            if len(found) == 1 and (possible is None or set(found) <= possible)
        )
        where, dataset, printed = next(alone, (None, None, None))
        if dataset is None:
            return Facts()
        others = dict.fromkeys(name for _, found in texts for name in found if name != dataset)
        also = f", though others name {', '.join(others)}" if others else ""
        return Facts(dataset=dataset, dataset_as_printed=printed).because(f"from {where}{also}")

    def _qualifiers_around(self) -> Facts:
        """Return split, side and protocol where a title or the file's name has a word for them; prose is not asked."""
        facts = Facts()
        for where, text in self.around:
            if len(text.replace("_", " ").split()) <= _TITLE_WORDS:
                said = qualifiers_within(text, ("split", "side", "protocol"))
                facts = facts.over(said.because(f"from {where}"))
        return facts

    # Headers that name neither metric nor data set -------------------------------------------------------

    def _with_unknown_headers(
        self, columns: tuple[Column, ...], rows: Sequence[Row], around: Facts
    ) -> tuple[Column, ...]:
        """Find out what header texts are that are no known word: data sets, versions of one, or models."""
        unknown = [column.facts for column in columns if column.role == "value" and column.facts.rest]
        if not unknown:
            return columns
        body = [row.facts for row in rows if row.kind == "values"]
        datasets = {facts.dataset_as_printed for facts in body if facts.dataset}
        has_models = any(facts.model for facts in body)
        knows_dataset = bool(datasets or around.dataset or self.stated.facts.dataset)
        versions = (f"{name} {facts.rest}" for name in datasets for facts in unknown)
        if any(find_dataset(version, self.names) for version in versions):
            kind = "versions"
        elif has_models:
            kind = "variants" if knows_dataset else "data sets"
        else:
            kind = "models"
        return tuple(
            replace(column, facts=self._named(column, kind, has_models=has_models))
            if column.role == "value" and column.facts.rest
            else column
            for column in columns
        )

    def _named(self, column: Column, kind: str, *, has_models: bool) -> Facts:
        """Return what a header says, its unknown text as the name of a data set or model, or still unknown."""
        facts, text = column.facts, column.facts.rest or ""
        if kind == "data sets" and not facts.dataset:
            why = (*facts.assumed, ("dataset", f"header '{text}' taken for one"))
            return replace(facts, dataset=text, dataset_as_printed=text, rest=None, assumed=why)
        if kind == "models" or (facts.dataset and not has_models):
            # A bare number needs the word in the corner of the table.
            corner = label(self.grid.rows[0][0]) if column.index else ""
            model = f"{corner} {text}" if is_numeric(text) and corner and not metric_key(corner) else text
            why = (*facts.assumed, ("model", "from a header"))
            return replace(facts, model=model, rest=None, assumed=why)
        return facts


def _corner(columns: Sequence[Column]) -> Facts:
    """Return the data set that stands where a header for the models is expected."""
    for column in columns:
        said = column.facts
        if column.role in ("model", "metric") and said.dataset and column.line.facts == NOTHING:
            facts = Facts(dataset=said.dataset, dataset_as_printed=said.dataset_as_printed)
            return facts.because(f"from the header of column {column.index + 1}")
    return Facts()


def _why_refused(columns: Sequence[Column], metrics: str) -> str | None:
    """Return why no value of a table is read: two columns of models, or a header that seems to be shifted."""
    named = [column for column in columns if column.role in _LABEL_ROLES and column.line.role is None]
    for column in named:
        if metrics == "columns" and column.facts.metric:
            return f"'{column.name}' names a metric above names: is the header shifted? state the columns"
    models = [column.index for column in named if column.role == "model"]
    values = [column.index for column in columns if column.role == "value"]
    for first, second in pairwise(models):
        if any(first < index < second for index in values) and any(index > second for index in values):
            return f"columns {first + 1} and {second + 1} both name models; state which role each has"
    return None


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
