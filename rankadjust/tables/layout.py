"""What the rows and columns of a grid are: headers, labels, values, and what they say about the values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from rankadjust.tables.cells import is_missing, is_numeric, label
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.sidecar import Line, Stated
from rankadjust.tables.tokens import (
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
    words_for,
)

# Where rows are metrics, a column with one of these headers holds all their values.
_LONG = {"value", "values", "metric", "score", "result"}
# How far below the marked header a second header row may stand.
_LOOK_AHEAD = 2
_TITLE_WORDS = 12
_MANY_ROWS = 1000
_QUALIFIERS = ("split", "side", "protocol", "ties")
_LABEL_ROLES = ("model", "dataset", "metric", *_QUALIFIERS)


@dataclass(frozen=True)
class Column:
    """A column under one header, which begins in the row `top`. role: 'value', one of the label roles, or 'other'.

    header: its texts from the top down, each once. parts: what they say, one for each value of a cell. assumed: why it
    has its role, where no word says so.
    """

    index: int
    header: tuple[str, ...]
    role: str
    top: int = 0
    parts: tuple[Facts, ...] = (Facts(),)
    line: Line = field(default_factory=Line)
    assumed: str | None = None

    @cached_property
    def name(self) -> str:
        """The header on one line."""
        return " / ".join(self.header)


@dataclass(frozen=True)
class Row:
    """A row of the grid. kind: 'header', 'section', 'blank', 'other' or 'values'.

    columns: those of the header above it. parts: what its labels say. labels: header -> text of its label cells.
    """

    index: int
    kind: str
    columns: tuple[Column, ...]
    parts: tuple[Facts, ...] = (Facts(),)
    labels: Mapping[str, str] = field(default_factory=dict)
    line: Line = field(default_factory=Line)

    @property
    def block(self) -> int:
        """The header row above, which tells apart the parts of a table with several headers."""
        return self.columns[0].top if self.columns else 0


@dataclass(frozen=True)
class Layout:
    """The rows of a grid, and what the text around it says of the whole table.

    metrics: where they are named: 'columns', 'rows', 'table', or '' where nothing names any. refused: why no value of
    the table can be read.
    """

    rows: tuple[Row, ...]
    facts: Facts
    metrics: str
    refused: str | None = None

    @property
    def stated_lines(self) -> set[tuple[str, Any]]:
        """Kind (columns, rows) and key of the lines that a sidecar states something about."""
        columns = {("columns", column.line.key) for row in self.rows for column in row.columns}
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


_Block = tuple[list[int], list[int]]
"""The header rows and the body rows of a part of a table."""


def lay_out(grid: Grid, stated: Stated, names: Names, stem: str) -> Layout:
    """Find out what each row and column of a grid is; `stem` is the name of its file, which may say the data set."""
    return _Reader(grid, stated, names, stem).layout()


class _Reader:
    """The steps of `lay_out`, which share the grid and the known names."""

    def __init__(self, grid: Grid, stated: Stated, names: Names, stem: str) -> None:
        self.grid = grid
        self.stated = stated
        self.names = names
        self.around = [
            *((f"the text '{_shortened(text)}'", text) for text in grid.context),
            ("the file's name", stem),
        ]

    def layout(self) -> Layout:
        blocks = self._blocks()
        metrics, metric_column = self._where_metrics_are(blocks[0])
        around = Facts()
        if not metrics:
            around = self._metric_around(blocks[0])
            metrics = "table" if self.stated.facts.metric or around.metric else ""
        columns = [self._columns(block, metrics, metric_column) for block in blocks]
        rows = self._rows(blocks, columns, metrics)
        around = around.over(self._qualifiers_around())
        if not self.stated.facts.dataset and not any(part.dataset for part in _parts(rows)):
            around = around.over(self._dataset_around())
        rows = self._with_unknown_headers(rows, around, metrics)
        return Layout(tuple(rows), around, metrics, self._why_refused(columns[0], metrics))

    # Headers ---------------------------------------------------------------------------------------------

    def _blocks(self) -> list[_Block]:
        """Return header rows and body rows of each part of the table; a repeated header begins a new part."""
        rows = self.grid.rows
        first = min(self.stated.header_rows or self._header_rows(), len(rows))
        blocks: list[_Block] = [(list(range(first)), [])]
        has_metrics = self._metrics_in(range(first)) > 0
        for index in range(first, len(rows)):
            texts = rows[index][1:]
            if has_metrics and not any(map(is_numeric, texts)) and self._metrics_in([index]) > 1:
                blocks.append(([index], []))
            else:
                blocks[-1][1].append(index)
        return blocks

    def _header_rows(self) -> int:
        rows = self.grid.rows
        marked = max(1, self.grid.header_rows)
        # A format may mark every row as header (HTML of th only): a row of numbers never is.
        marked = next(
            (index for index in range(1, min(marked, len(rows))) if not self._is_header(index)), marked
        )
        # A row of names under an empty corner belongs to the header: units below metrics, models below data sets.
        while marked < len(rows) and not rows[marked][0] and sum(map(bool, rows[marked])) > 1:
            if not self._is_header(marked):
                break
            marked += 1
        if self._metrics_in(range(marked)):
            return marked
        for index in range(marked, min(marked + _LOOK_AHEAD, len(rows))):
            if self._is_header(index) and self._metrics_in(range(index + 1)):
                return index + 1
        return marked

    def _is_header(self, index: int) -> bool:
        """Tell whether a row holds names rather than numbers; 1, 3, 10 below 'Hits@' (in a row above) are names too."""
        cells = [
            column for column, text in enumerate(self.grid.rows[index]) if column and not is_missing(text)
        ]
        return bool(cells) and all(
            not is_numeric(self.grid.rows[index][column])
            or (self._is_metric(range(index + 1), column) and not self._is_metric(range(index), column))
            for column in cells
        )

    def _is_metric(self, rows: Iterable[int], column: int) -> bool:
        return read_stack([self.grid.rows[row][column] for row in rows], self.names)[0].metric is not None

    def _metrics_in(self, header: Iterable[int]) -> int:
        """Count the columns, the first left out, for which these header rows name a metric."""
        header = list(header)
        return sum(self._is_metric(header, column) for column in range(1, self.grid.width))

    def _where_metrics_are(self, block: _Block) -> tuple[str, int | None]:
        """Return 'columns', 'rows' or '', and for rows the column that names their metrics."""
        header, body = block
        stacks = self._stacks(header)
        stated = self._stated_columns(stacks)
        by_column = sum(
            stated[column].role is None
            and any(part.metric for part in (*stated[column].parts, *read_stack(stacks[column], self.names)))
            and not self._is_text(column, body)
            for column in range(self.grid.width)
        )
        asked = next((column for column in range(self.grid.width) if stated[column].role == "metric"), None)
        if asked is not None:
            return "rows", asked
        free = [column for column in range(self.grid.width) if stated[column].role is None]
        named = {column: self._metric_cells(column, body) for column in free}
        best = max(named, key=lambda column: named[column], default=None)
        if best is not None and named[best] > by_column < 2 and self._is_text(best, body):
            return "rows", best
        return ("columns", None) if by_column else ("", None)

    def _texts(self, column: int, body: Sequence[int]) -> list[str]:
        """Return the texts of a column; of a long one those of every n-th row, which tell what is in it."""
        return [self.grid.rows[row][column] for row in body[:: 1 + len(body) // _MANY_ROWS]]

    def _metric_cells(self, column: int, body: Sequence[int]) -> int:
        cells = self._texts(column, body)
        cells = [cell for cell in cells if cell and not is_numeric(cell)]
        named = sum(read_header(cell, self.names)[0].metric is not None for cell in cells)
        return named if 2 * named >= len(cells) else 0

    def _is_text(self, column: int, body: Sequence[int]) -> bool:
        cells = self._texts(column, body)
        numbers = sum(is_numeric(cell) for cell in cells)
        return sum(not is_missing(cell) and not is_numeric(cell) for cell in cells) > numbers

    def _stacks(self, header: Sequence[int]) -> list[list[str]]:
        """Return the header texts of each column, each text once."""
        filled = {row: self._fill_merged(list(self.grid.rows[row]), row, header) for row in header}
        return [
            list(dict.fromkeys(filter(None, (filled[row][column] for row in header))))
            for column in range(self.grid.width)
        ]

    def _fill_merged(self, texts: list[str], row: int, header: Sequence[int]) -> list[str]:
        """Return the texts of a header row; an empty cell above a metric belongs to the name on its left.

        That is how a merged cell of a spreadsheet is saved: its text stands in the first of its columns.
        """
        below = [index for index in header if index > row]
        if not below or all(texts):
            return texts
        names_metric = [self._is_metric(below, column) for column in range(len(texts))]
        for column in range(1, len(texts)):
            if not texts[column] and names_metric[column] and names_metric[column - 1]:
                texts[column] = texts[column - 1]
        return texts

    def _stated_columns(self, stacks: Sequence[Sequence[str]]) -> list[Line]:
        return [
            self.stated.column(index + 1, [*texts, " / ".join(texts)]) for index, texts in enumerate(stacks)
        ]

    # Columns ---------------------------------------------------------------------------------------------

    def _columns(self, block: _Block, metrics: str, metric_column: int | None) -> tuple[Column, ...]:
        header, body = block
        stacks = self._stacks(header)
        lines = self._stated_columns(stacks)
        classification = any(
            folded(label(text)) in words_for("classification") for stack in stacks for text in stack
        )
        columns = []
        long = next(
            (
                index
                for index, stack in enumerate(stacks)
                if metrics == "rows" and index != metric_column and _LONG & set(map(folded, stack))
            ),
            None,
        )
        for index, (stack, line) in enumerate(zip(stacks, lines, strict=True)):
            parts = read_stack(stack, self.names)
            role = self._role(index, stack, parts, line, body, metrics, long)
            if index == metric_column and line.role is None:
                role = "metric"
            # Beside metrics of classification AUC is one too.
            if role == "value" and classification and not line.parts and parts[0].metric == "auc":
                role = "other"
            texts = tuple(map(label, stack))
            columns.append(Column(index, texts, role, header[0], _merged(line.parts, parts), line))
        return self._with_label_roles(columns, body)

    def _role(
        self,
        index: int,
        stack: Sequence[str],
        parts: Sequence[Facts],
        line: Line,
        body: Sequence[int],
        metrics: str,
        long: int | None,
    ) -> str:
        if line.role:
            return line.role
        if any(part.metric for part in line.parts):
            return "value"
        role = next((role for role in map(role_of, reversed(stack)) if role), None)
        if metrics == "columns":
            is_value = parts[0].metric is not None and not (role and self._is_text(index, body))
        else:
            has_numbers = any(is_numeric(self.grid.rows[row][index]) for row in body)
            is_value = (
                metrics != ""
                and bool(stack)
                and (role is None if long is None else index == long)
                and (index > 0 or parts[0].says_something)
                and has_numbers
                and not self._is_text(index, body)
            )
        return "value" if is_value else role or "other"

    def _with_label_roles(self, columns: Sequence[Column], body: Sequence[int]) -> tuple[Column, ...]:
        """Give the label columns without a telling header a role by what they hold."""
        roles = {column.index: column.role for column in columns}
        why: dict[int, str] = {}
        values = [column.index for column in columns if column.role == "value"]
        above = any(part.dataset for index in values for part in columns[index].parts)
        for column in columns:
            # 'Dataset' in the corner may speak of the names beside it, not of those below.
            is_corner = column.role == "dataset" and above and column.line.role is None
            if is_corner and not self._datasets(column.index, body):
                roles[column.index] = "other"
            # What traces of LibKGE called 'data' is the split.
            if column.role == "dataset" and column.line.role is None and self._are_splits(column.index, body):
                roles[column.index] = "split"
        free = [
            column.index
            for column in columns
            if roles[column.index] == "other"
            and column.line.role is None
            and not any(role_of(text) == "other" for text in column.header)
        ]
        # A name is the model's where nothing else is: beside 'Method', 'Team' says who.
        has_models = "model" in roles.values()
        for index, role in roles.items():
            if role == "name":
                roles[index] = "other" if has_models else "model"
                has_models = True
        if "model" not in roles.values():
            before = [
                index for index in free if roles[index] == "other" and (not values or index < values[0])
            ]
            texts = [index for index in before if self._is_text(index, body)]
            if texts:
                roles[texts[0]] = "model"
                why[texts[0]] = f"column {texts[0] + 1} taken for the models"
        return tuple(
            replace(column, role=roles[column.index], assumed=why.get(column.index)) for column in columns
        )

    def _datasets(self, column: int, body: Sequence[int]) -> int:
        """Count the cells of a column that are the name of a known data set."""
        return sum(folded(label(text)) in self.names for text in self._texts(column, body))

    def _are_splits(self, column: int, body: Sequence[int]) -> bool:
        """Tell whether a column holds nothing but words for splits."""
        texts = set(filter(None, self._texts(column, body)))
        return bool(texts) and all(read_header(text, self.names)[0].split for text in texts)

    def _why_refused(self, columns: Sequence[Column], metrics: str) -> str | None:
        """Return why no value of a table is read: two columns of models, or a header that seems to be shifted."""
        for column in columns:
            is_named = column.role in _LABEL_ROLES and column.line.role is None
            if metrics == "columns" and is_named and column.parts[0].metric:
                return f"'{column.name}' names a metric above names: is the header shifted? state the columns"
        models = [column.index for column in columns if column.role == "model" and not column.line.role]
        values = [column.index for column in columns if column.role == "value"]
        for first, second in pairwise(models):
            if any(first < index < second for index in values) and any(index > second for index in values):
                return f"columns {first + 1} and {second + 1} both name models; state which role each has"
        return None

    # Rows ------------------------------------------------------------------------------------------------

    def _rows(
        self, blocks: Sequence[_Block], columns: Sequence[tuple[Column, ...]], metrics: str
    ) -> list[Row]:
        rows: list[Row] = []
        section = Facts()
        for (header, body), block in zip(blocks, columns, strict=True):
            rows += [Row(index, "header", block) for index in header]
            corner = self._corner(block)
            above: dict[int, str] = {}
            for index in body:
                row = self._row(index, block, above, metrics)
                if row.kind == "section":
                    section = row.parts[0]
                elif row.kind == "values" and (section.says_something or corner.says_something):
                    row = replace(row, parts=tuple(part.over(section).over(corner) for part in row.parts))
                rows.append(row)
        return sorted(rows, key=lambda row: row.index)

    def _row(self, index: int, columns: tuple[Column, ...], above: dict[int, str], metrics: str) -> Row:
        cells = self.grid.rows[index]
        beside = [column for column in columns if column.role != "value"]
        line = self.stated.row(index + 1, [cells[column.index] for column in beside])
        if not any(cells):
            return Row(index, "blank", columns, line=line)
        if line.role == "other":
            return Row(index, "other", columns, line=line)
        if section := self._section(cells, columns):
            return Row(index, "section", columns, (section,), line=line)
        texts, filled = self._filled_down(cells, columns, above)
        labels: dict[str, str] = {}
        for column in beside:
            name = (
                column.name
                if column.name and column.name not in labels
                else f"{column.name} {column.index + 1}".strip()
            )
            labels[name] = column.line.word(texts[column.index])
        parts = self._label_facts(beside, texts, filled)
        is_other = any(part.model and is_difference(part.model) for part in parts) or (
            metrics == "rows" and not any(part.metric for part in (*line.parts, *parts))
        )
        return Row(index, "other" if is_other else "values", columns, parts, labels, line)

    def _section(self, cells: Sequence[str], columns: Sequence[Column]) -> Facts | None:
        """Return what a row says that divides the table: one text over all columns, or alone in its row."""
        texts = set(filter(None, cells))
        if len(texts) != 1 or len(cells) < 2:
            return None
        text = texts.pop()
        if is_numeric(text) or is_missing(text):
            return None
        facts = read_header(text, self.names)[0]
        within = datasets_within(label(text), self.names)
        if len(within) == 1 and not facts.dataset:
            facts = replace(facts, dataset=next(iter(within)), dataset_as_printed=label(text))
        in_values = any(cell and column.role == "value" for cell, column in zip(cells, columns, strict=True))
        if all(cells) or (facts.says_something and not facts.metric and not in_values):
            return replace(facts, rest=None, metric=None, metric_as_printed=None)
        return None

    def _filled_down(
        self, cells: Sequence[str], columns: Sequence[Column], above: dict[int, str]
    ) -> tuple[dict[int, str], set[int]]:
        """Return the texts of the label cells, and which of them are empty and taken from the row above."""
        texts, filled = {}, set()
        for column in columns:
            text = cells[column.index]
            if column.role in _LABEL_ROLES:
                if text:
                    above[column.index] = text
                elif above.get(column.index) and any(
                    is_numeric(cells[other.index]) for other in columns if other.role == "value"
                ):
                    text = above[column.index]
                    filled.add(column.index)
            texts[column.index] = text
        return texts, filled

    def _label_facts(
        self, columns: Sequence[Column], texts: Mapping[int, str], filled: set[int]
    ) -> tuple[Facts, ...]:
        found: dict[str, Any] = {}
        assumed = []
        parts: tuple[Facts, ...] = (Facts(),)
        for column in columns:
            text = column.line.word(texts[column.index])
            if not text or column.role not in _LABEL_ROLES:
                continue
            if column.index in filled:
                assumed.append((column.role, "as in the row above"))
            elif column.assumed:
                assumed.append((column.role, column.assumed))
            if column.role == "metric":
                parts = tuple(
                    replace(part, rest=None) for part in read_header(texts[column.index], self.names)
                )
            elif column.role == "dataset":
                known = find_dataset(text, self.names)
                found |= {"dataset": known or text, "dataset_as_printed": text}
            elif column.role == "model":
                # A second column of models beside the first says which kind of it.
                found.setdefault("model", text)
            else:
                said = getattr(read_header(text, self.names)[0], column.role)
                found[column.role] = said or (None if column.role == "ties" else text)
        facts = Facts(**found, assumed=tuple(assumed))
        return tuple(part.agreeing(facts, "the row's metric", "another of its labels") for part in parts)

    # Around the table ------------------------------------------------------------------------------------

    def _metric_around(self, block: _Block) -> Facts:
        """Return the only metric that a label's header, the text around the table or the file's name speaks of."""
        header, body = block
        for column, stack in enumerate(self._stacks(header)):
            part = read_stack(stack, self.names)[0]
            if part.metric and self._is_text(column, body):
                return replace(part, rest=None).because(f"from the header of column {column + 1}")
        for where, text in self.around:
            found = metrics_within(text)
            if len(found) == 1:
                [(key, words)] = found.items()
                return Facts(metric=key, metric_as_printed=words).because(f"from {where}")
            if found:
                break
        return Facts()

    def _corner(self, columns: Sequence[Column]) -> Facts:
        """Return the data set that stands where a header for the models is expected."""
        for column in columns:
            part = column.parts[0]
            if column.role in ("model", "metric") and part.dataset and not column.line.parts:
                facts = Facts(dataset=part.dataset, dataset_as_printed=part.dataset_as_printed)
                return facts.because(f"from the header of column {column.index + 1}")
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
                facts = facts.over(
                    qualifiers_within(text, ("split", "side", "protocol")).because(f"from {where}")
                )
        return facts

    # Headers that name neither metric nor data set -------------------------------------------------------

    def _with_unknown_headers(self, rows: list[Row], around: Facts, metrics: str) -> list[Row]:
        """Find out what header texts are that are no known word: data sets, versions of one, or models."""
        kind = self._kind_of_unknown(rows, around, metrics)
        if kind is None:
            return rows
        has_models = any(part.model for row in rows if row.kind == "values" for part in row.parts)
        named: dict[int, tuple[Column, ...]] = {}
        for row in rows:
            if row.block not in named:
                named[row.block] = tuple(
                    replace(
                        column,
                        parts=tuple(self._named(column, part, kind, has_models) for part in column.parts),
                    )
                    if column.role == "value" and any(part.rest for part in column.parts)
                    else column
                    for column in row.columns
                )
        return [replace(row, columns=named[row.block]) for row in rows]

    def _kind_of_unknown(self, rows: Sequence[Row], around: Facts, metrics: str) -> str | None:
        """Return what the header texts that are no known word are names of; None where there are none."""
        columns = [column for row in rows[:1] for column in row.columns if column.role == "value"]
        parts = [part for column in columns for part in column.parts]
        if not any(part.rest for part in parts):
            return None
        body = [part for row in rows if row.kind == "values" for part in row.parts]
        datasets = {part.dataset_as_printed for part in body if part.dataset}
        has_models = any(part.model for part in body)
        corner = {
            role_of(text) for column in rows[0].columns if column.role == "metric" for text in column.header
        }
        versions = (f"{name} {part.rest}" for name in datasets for part in parts)
        knows_dataset = bool(datasets or around.dataset or self.stated.facts.dataset)
        kinds = {
            "data sets": "dataset" in corner or any(part.dataset for part in parts),
            "models": "model" in corner,
            "versions of the data sets": any(find_dataset(version, self.names) for version in versions),
            "unknown data sets": not knows_dataset and (has_models or metrics == "columns"),
            "variants of the models": has_models,
        }
        return next((kind for kind, holds in kinds.items() if holds), "models")

    def _named(self, column: Column, part: Facts, kind: str, has_models: bool) -> Facts:
        """Return what a header says, its unknown text as the name of a data set or model, or still unknown."""
        text = part.rest or ""
        why = (*part.assumed, ("dataset", f"header '{text}' taken for one"))
        if kind in ("data sets", "unknown data sets") and not part.dataset:
            return replace(part, dataset=text, dataset_as_printed=text, rest=None, assumed=why)
        if kind == "models" or (part.dataset and not has_models):
            model = self._model_of_header(column, text)
            return replace(part, model=model, rest=None, assumed=(*part.assumed, ("model", "from a header")))
        return part

    def _model_of_header(self, column: Column, text: str) -> str:
        """Return the model that a header names; a bare number needs the word in the corner of the table."""
        corner = label(self.grid.rows[0][0]) if self.grid.rows and column.index else ""
        return f"{corner} {text}" if is_numeric(text) and corner and not metric_key(corner) else text


def _merged(stated: Sequence[Facts], printed: Sequence[Facts]) -> tuple[Facts, ...]:
    """Return the printed facts of each value of a cell, as many as the sidecar states."""
    if not stated:
        return tuple(printed)
    # A metric that is stated explains the words of a header that names none.
    explained = [part if part.metric else replace(part, rest=None) for part in printed]
    if len(stated) == len(printed) or (len(stated) == 1 and stated[0].metric is None):
        return tuple(explained)
    return tuple(explained[0] for _ in stated)


def _parts(rows: Iterable[Row]) -> Iterator[Facts]:
    """Yield what the lines of a table say, those of the sidecar included."""
    columns = None
    for row in rows:
        yield from (*row.parts, *row.line.parts)
        if row.columns is not columns:
            columns = row.columns
            for column in columns:
                if column.role == "value":
                    yield from (*column.parts, *column.line.parts)


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
