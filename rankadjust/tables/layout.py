"""What the rows and columns of a grid are: headers, labels, values, and what they say about the values."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rankadjust.tables.cells import is_missing, is_numeric, label
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import (
    Facts,
    Names,
    datasets_within,
    find_dataset,
    folded,
    is_bookkeeping,
    is_classification_metric,
    is_difference,
    metric_key,
    read_header,
    read_stack,
    role_of,
)
from rankadjust.tables.sidecar import Line, Stated

# How far below the marked header a second header row may stand.
_LOOK_AHEAD = 2
_TITLE_WORDS = 12
_LABEL_ROLES = ("model", "dataset", "metric", "split", "side", "protocol")


@dataclass(frozen=True)
class Column:
    """A column under one header, which begins in the row `top`. role: 'value', one of the label roles, or 'other'.

    header: its texts from the top down, each once. parts: what they say, one for each value of a cell.
    """

    index: int
    header: tuple[str, ...]
    role: str
    top: int = 0
    parts: tuple[Facts, ...] = (Facts(),)
    line: Line = field(default_factory=Line)

    @property
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
    """The rows of a grid, what holds for the whole table, and what had to be assumed.

    metrics: where they are named: 'columns', 'rows', 'table', or '' where nothing names any.
    """

    rows: tuple[Row, ...]
    facts: Facts
    metrics: str
    remarks: tuple[str, ...]

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


def lay_out(grid: Grid, stated: Stated, names: Names, stem: str) -> Layout:
    """Find out what each row and column of a grid is; `stem` is the name of its file, which may say the data set."""
    return _Reader(grid, stated, names, stem).layout()


class _Reader:
    """The steps of `lay_out`, which share the grid, the known names and the remarks."""

    def __init__(self, grid: Grid, stated: Stated, names: Names, stem: str) -> None:
        self.grid = grid
        self.stated = stated
        self.names = names
        self.stem = stem
        self.remarks: list[str] = []

    def layout(self) -> Layout:
        blocks = self._blocks()
        metrics, metric_column = self._where_metrics_are(blocks)
        table = Facts()
        if metrics == "":
            table = self._metric_around(blocks[0])
            metrics = "table" if self.stated.facts.metric or table.metric else ""
        columns = [self._columns(block, metrics, metric_column) for block in blocks]
        rows = self._rows(blocks, columns, metrics)
        if not self._names_datasets(rows) and not table.dataset:
            table = self._dataset_around().over(table)
        if not any(part.protocol for row in rows for part in (*row.parts, *_value_parts(row))):
            table = self._protocol_around().over(table)
        rows = self._with_unknown_headers(rows, table, metrics)
        return Layout(tuple(rows), table, metrics, tuple(self.remarks))

    # Headers ---------------------------------------------------------------------------------------------

    def _blocks(self) -> list[tuple[list[int], list[int]]]:
        """Return header rows and body rows of each part of the table; a repeated header begins a new part."""
        rows = self.grid.rows
        first = self.stated.header_rows or self._header_rows()
        first = min(first, len(rows))
        blocks: list[tuple[list[int], list[int]]] = [(list(range(first)), [])]
        has_metrics = self._metrics_in(range(first)) > 0
        for index in range(first, len(rows)):
            if has_metrics and self._is_header(index) and self._metrics_in([index]) > 1:
                blocks.append(([index], []))
            else:
                blocks[-1][1].append(index)
        return blocks

    def _header_rows(self) -> int:
        rows = self.grid.rows
        marked = max(1, self.grid.header_rows)
        # A format may mark every row as header (HTML of th only): a row of numbers never is.
        marked = next(
            (index for index in range(1, min(marked, len(rows))) if not self._is_header(index, range(index))),
            marked,
        )
        # A row of names under an empty corner belongs to the header: units below metrics, models below data sets.
        while marked < len(rows) and not rows[marked][0] and sum(map(bool, rows[marked])) > 1:
            if not self._is_header(marked, range(marked)):
                break
            marked += 1
        if self._metrics_in(range(marked)):
            return marked
        for index in range(marked, min(marked + _LOOK_AHEAD, len(rows))):
            if self._is_header(index, range(index)) and self._metrics_in(range(index + 1)):
                return index + 1
        return marked

    def _is_header(self, index: int, above: Sequence[int] = ()) -> bool:
        """Tell whether a row holds names rather than numbers; 1, 3, 10 below 'Hits@' (in a row above) are names too."""
        cells = [
            column for column, text in enumerate(self.grid.rows[index]) if column and not is_missing(text)
        ]
        return bool(cells) and all(
            not is_numeric(self.grid.rows[index][column])
            or (self._is_metric([*above, index], column) and not self._is_metric(above, column))
            for column in cells
        )

    def _metrics_in(self, header: Iterable[int]) -> int:
        """Count the columns, the first left out, for which these header rows name a metric."""
        header = list(header)
        return sum(self._is_metric(header, column) for column in range(1, self.grid.width))

    def _where_metrics_are(self, blocks: Sequence[tuple[list[int], list[int]]]) -> tuple[str, int | None]:
        """Return 'columns', 'rows' or '', and for rows the column that names their metrics."""
        header, body = blocks[0]
        stated = self._stated_columns(header)
        by_column = sum(
            self._names_metric(stated[column], header, column) and not self._is_text(column, body)
            for column in range(self.grid.width)
        )
        named = {column: self._metric_cells(column, body) for column in range(self.grid.width)}
        asked = next((column for column in named if stated[column].role == "metric"), None)
        best = max(named, key=lambda column: named[column], default=None) if asked is None else asked
        if asked is not None or (best is not None and named[best] > by_column and self._is_text(best, body)):
            return "rows", best
        return ("columns", None) if by_column else ("", None)

    def _names_metric(self, line: Line, header: Sequence[int], column: int) -> bool:
        """Tell whether a column's header names a metric, or the sidecar does."""
        printed = read_stack(self._stack(header, column), self.names)
        return line.role is None and any(part.metric is not None for part in (*line.parts, *printed))

    def _metric_cells(self, column: int, body: Iterable[int]) -> int:
        cells = [self.grid.rows[row][column] for row in body]
        cells = [cell for cell in cells if cell and not is_numeric(cell)]
        named = sum(read_header(cell, self.names)[0].metric is not None for cell in cells)
        return named if 2 * named >= len(cells) else 0

    def _is_text(self, column: int, body: Iterable[int]) -> bool:
        cells = [self.grid.rows[row][column] for row in body]
        numbers = sum(is_numeric(cell) for cell in cells)
        return sum(not is_missing(cell) and not is_numeric(cell) for cell in cells) > numbers

    def _has_numbers(self, column: int, body: Iterable[int]) -> bool:
        return any(is_numeric(self.grid.rows[row][column]) for row in body)

    def _stack(self, header: Iterable[int], column: int) -> list[str]:
        return list(dict.fromkeys(filter(None, (self._header_text(row, column, header) for row in header))))

    def _header_text(self, row: int, column: int, header: Iterable[int]) -> str:
        """Return a header's text; an empty cell above a metric belongs to the name on its left.

        That is how a merged cell of a spreadsheet is saved: its text stands in the first of its columns.
        """
        below = [index for index in header if index > row]
        left = column
        while not self.grid.rows[row][left] and left > 0 and below and self._is_metric(below, left):
            left -= 1
        return self.grid.rows[row][left] if left == column or self._is_metric(below, left) else ""

    def _is_metric(self, rows: Iterable[int], column: int) -> bool:
        return read_stack([self.grid.rows[row][column] for row in rows], self.names)[0].metric is not None

    def _stated_columns(self, header: Sequence[int]) -> list[Line]:
        lines = []
        for column in range(self.grid.width):
            texts = self._stack(header, column)
            lines.append(self.stated.column(column + 1, [*texts, " / ".join(texts)]))
        return lines

    # Columns ---------------------------------------------------------------------------------------------

    def _columns(
        self, block: tuple[list[int], list[int]], metrics: str, metric_column: int | None
    ) -> tuple[Column, ...]:
        header, body = block
        lines = self._stated_columns(header)
        stacks = [self._stack(header, column) for column in range(self.grid.width)]
        read = [tuple(read_stack(stack, self.names)) for stack in stacks]
        classification = any(is_classification_metric(text) for stack in stacks for text in stack)
        columns: list[Column] = []
        for index, (stack, parts, line) in enumerate(zip(stacks, read, lines, strict=True)):
            role = self._column_role(index, stack, parts, line, body, metrics)
            if index == metric_column and line.role is None:
                role = "metric"
            if role == "value" and classification and not line.parts and parts[0].metric == "auc":
                self.remarks.append(
                    f"'{stack[-1]}' stands beside a metric of classification and is taken for one, not for a "
                    "metric of ranks"
                )
                role = "other"
            texts = tuple(map(label, stack))
            columns.append(Column(index, texts, role, header[0], _merged(line.parts, parts), line))
        return self._with_label_roles(columns, body)

    def _column_role(
        self,
        index: int,
        stack: Sequence[str],
        parts: Sequence[Facts],
        line: Line,
        body: Sequence[int],
        metrics: str,
    ) -> str:
        if line.role:
            return line.role
        if any(part.metric for part in line.parts):
            return "value"
        role = next((role for role in map(role_of, reversed(stack)) if role), None)
        if metrics == "columns":
            if parts[0].metric and not (self._is_text(index, body) and role):
                return "value"
            return role or "other"
        if metrics in ("rows", "table"):
            is_value = self._has_numbers(index, body) and not self._is_text(index, body)
            if (
                is_value
                and (index or parts[0].says_something)
                and stack
                and role not in ("other", *_LABEL_ROLES)
            ):
                return "value"
        return role or "other"

    def _with_label_roles(self, columns: Sequence[Column], body: Sequence[int]) -> tuple[Column, ...]:
        """Give the label columns without a telling header a role by what they hold."""
        roles = {column.index: column.role for column in columns}
        values = [column.index for column in columns if column.role == "value"]
        above = any(part.dataset for index in values for part in columns[index].parts)
        for column in columns:
            # 'Dataset' in the corner may speak of the names beside it, not of those below.
            if (
                column.role == "dataset"
                and above
                and column.line.role is None
                and not self._datasets(column, body)
            ):
                roles[column.index] = "other"
        free = [
            column.index
            for column in columns
            if roles[column.index] == "other" and column.line.role is None and not self._says_other(column)
        ]
        for index in free:
            filled = sum(self.grid.rows[row][index] != "" for row in body)
            known = self._datasets(columns[index], body)
            if "dataset" not in roles.values() and known and 2 * known >= filled:
                roles[index] = "dataset"
        models = [column for column in columns if roles[column.index] == "model"]
        for column in models:
            # Beside 'Method', 'Team' says who, not what.
            if len(models) > 1 and column.line.role is None and any(map(is_bookkeeping, column.header)):
                roles[column.index] = "other"
        if "model" not in roles.values():
            before = [
                index for index in free if roles[index] == "other" and (not values or index < values[0])
            ]
            texts = [index for index in before if self._is_text(index, body)]
            if texts:
                roles[texts[0]] = "model"
        return tuple(replace(column, role=roles[column.index]) for column in columns)

    def _datasets(self, column: Column, body: Iterable[int]) -> int:
        """Count the cells of a column that are the name of a known data set."""
        return sum(folded(label(self.grid.rows[row][column.index])) in self.names for row in body)

    def _says_other(self, column: Column) -> bool:
        return any(role_of(text) == "other" for text in column.header)

    # Rows ------------------------------------------------------------------------------------------------

    def _rows(
        self,
        blocks: Sequence[tuple[list[int], list[int]]],
        columns: Sequence[tuple[Column, ...]],
        metrics: str,
    ) -> list[Row]:
        rows: list[Row] = []
        section: Facts = Facts()
        for (header, body), block in zip(blocks, columns, strict=True):
            rows += [Row(index, "header", block) for index in header]
            corner = self._corner(block)
            above: dict[int, str] = {}
            for index in body:
                row = self._row(index, block, above, metrics)
                if row.kind == "section":
                    section = row.parts[0]
                elif row.kind == "values":
                    row = replace(row, parts=tuple(part.over(section).over(corner) for part in row.parts))
                rows.append(row)
        return sorted(rows, key=lambda row: row.index)

    def _row(self, index: int, columns: tuple[Column, ...], above: dict[int, str], metrics: str) -> Row:
        cells = self.grid.rows[index]
        line = self.stated.row(
            index + 1, [cells[column.index] for column in columns if column.role != "value"]
        )
        if not any(cells):
            return Row(index, "blank", columns, line=line)
        if line.role == "other":
            return Row(index, "other", columns, line=line)
        if section := self._section(cells, columns):
            return Row(index, "section", columns, (section,), line=line)
        texts = self._filled_down(index, columns, above)
        labels: dict[str, str] = {}
        for column in columns:
            if column.role != "value":
                name = (
                    column.name
                    if column.name not in ("", *labels)
                    else f"{column.name} {column.index + 1}".strip()
                )
                labels[name] = column.line.word(texts[column.index])
        parts = self._label_facts(columns, texts)
        if any(part.model and is_difference(part.model) for part in parts):
            return Row(index, "other", columns, parts, labels, line)
        if metrics == "rows" and not any(part.metric for part in (*line.parts, *parts)):
            return Row(index, "other", columns, parts, labels, line)
        return Row(index, "values", columns, parts, labels, line)

    def _section(self, cells: Sequence[str], columns: Sequence[Column]) -> Facts | None:
        """Return what a row says that divides the table: one text over all columns, or alone in its row."""
        texts = list(dict.fromkeys(filter(None, cells)))
        if len(texts) != 1 or len(cells) < 2 or is_numeric(texts[0]) or is_missing(texts[0]):
            return None
        spans = all(cells)
        facts = read_header(texts[0], self.names)[0]
        within = datasets_within(label(texts[0]), self.names)
        if len({name for name, _ in within}) == 1 and not facts.dataset:
            facts = replace(facts, dataset=within[0][0], dataset_as_printed=label(texts[0]))
        in_values = any(text and column.role == "value" for text, column in zip(cells, columns, strict=True))
        if spans or (facts.says_something and not facts.metric and not in_values):
            return replace(facts, rest=None, metric=None, metric_as_printed=None)
        return None

    def _filled_down(self, index: int, columns: Sequence[Column], above: dict[int, str]) -> dict[int, str]:
        """Return the texts of the label cells; an empty name of a model or data set is the one above it."""
        cells = self.grid.rows[index]
        has_numbers = any(is_numeric(cells[column.index]) for column in columns if column.role == "value")
        texts = {}
        for column in columns:
            text = cells[column.index]
            if column.role in _LABEL_ROLES:
                if text:
                    above[column.index] = text
                elif has_numbers and above.get(column.index):
                    text = above[column.index]
                    self.remarks.append(
                        f"row {index + 1}: the empty cell of column '{column.name}' is read as '{label(text)}', "
                        "as above it"
                    )
            texts[column.index] = text
        return texts

    def _label_facts(self, columns: Sequence[Column], texts: Mapping[int, str]) -> tuple[Facts, ...]:
        facts = Facts()
        parts: list[Facts] = [Facts()]
        for column in columns:
            text = column.line.word(texts[column.index])
            if not text:
                continue
            if column.role == "metric":
                parts = [replace(part, rest=None) for part in read_header(texts[column.index], self.names)]
            elif column.role == "dataset":
                known = find_dataset(text, self.names)
                facts = replace(facts, dataset=known or text, dataset_as_printed=text)
            elif column.role == "model":
                facts = replace(facts, model=text)
            elif column.role in ("split", "side", "protocol"):
                read = getattr(read_header(text, self.names)[0], column.role)
                facts = replace(facts, **{column.role: read or text})
        return tuple(part.over(facts) for part in parts)

    # Around the table ------------------------------------------------------------------------------------

    def _metric_around(self, block: tuple[list[int], list[int]]) -> Facts:
        """Return the only metric that a label's header, the text around the table or the file's name speaks of."""
        header, body = block
        for column in range(self.grid.width):
            part = read_stack(self._stack(header, column), self.names)[0]
            if part.metric and self._is_text(column, body):
                self.remarks.append(f"metric {part.metric} taken from the header of column {column + 1}")
                return replace(part, rest=None)
        for where, text in self._around():
            found = {key: words for words in _runs_of_words(text) if (key := metric_key(words))}
            if len(found) == 1:
                key, words = next(iter(found.items()))
                self.remarks.append(f"metric {key} taken from {where}")
                return Facts(metric=key, metric_as_printed=words)
            if found:
                break
        return Facts()

    def _corner(self, columns: Sequence[Column]) -> Facts:
        """Return the data set that stands where a header for the models is expected."""
        for column in columns:
            if column.role in ("model", "metric") and column.parts[0].dataset and not column.line.parts:
                part = column.parts[0]
                self.remarks.append(
                    f"data set {part.dataset} taken from the header of column {column.index + 1}"
                )
                return Facts(dataset=part.dataset, dataset_as_printed=part.dataset_as_printed)
        return Facts()

    def _dataset_around(self) -> Facts:
        """Return the data set that the nearest text naming any names alone; a remark tells which others are near."""
        texts = [(where, dict(datasets_within(text, self.names))) for where, text in self._around()]
        # A text that names several leaves the choice to the others, but only among these.
        possible = next((set(found) for _, found in texts if len(found) > 1), None)
        alone = [
            (where, *found.items())
            for where, found in texts
            if len(found) == 1 and (possible is None or set(found) <= possible)
        ]
        if not alone:
            return Facts()
        where, (dataset, printed) = alone[0]
        others = dict.fromkeys(name for _, found in texts for name in found if name != dataset)
        if not self.stated.facts.dataset:
            also = f"; other texts name {', '.join(others)}" if others else ""
            self.remarks.append(f"data set {dataset} taken from {where}{also}")
        return Facts(dataset=dataset, dataset_as_printed=printed)

    def _protocol_around(self) -> Facts:
        """Return 'raw' or 'filtered' where a title or the file's name has one of these words; prose is not asked."""
        for where, text in self._around():
            words = re.findall(r"[^\W_]+", text.casefold())
            found = {facts.protocol for word in words if (facts := read_header(word, {})[0]).protocol}
            if len(found) == 1 and len(words) <= _TITLE_WORDS:
                if not self.stated.facts.protocol:
                    self.remarks.append(f"protocol {min(map(str, found))} taken from {where}")
                return Facts(protocol=min(map(str, found)))
        return Facts()

    def _around(self) -> list[tuple[str, str]]:
        texts = [(f"the text '{_shortened(text)}'", text) for text in self.grid.context]
        return [*texts, (f"the name of the file, {self.stem}", self.stem)]

    # Headers that name neither metric nor data set -------------------------------------------------------

    def _names_datasets(self, rows: Sequence[Row]) -> bool:
        return bool(self.stated.facts.dataset) or any(
            part.dataset for row in rows for part in (*row.parts, *row.line.parts, *_value_parts(row))
        )

    def _with_unknown_headers(self, rows: list[Row], table: Facts, metrics: str) -> list[Row]:
        """Find out what header texts are that are no known word: data sets, versions of one, or models."""
        kind = self._kind_of_unknown(rows, table, metrics)
        if kind is None:
            return rows
        has_models = any(part.model for row in rows if row.kind == "values" for part in row.parts)
        named = {
            part: self._named(column, part, kind, has_models)
            for row in rows
            for column in row.columns
            for part in column.parts
            if column.role == "value" and part.rest
        }
        told: dict[str, dict[str, None]] = {}
        for part, now in named.items():
            what = (
                kind
                if now.dataset != part.dataset or kind.startswith("versions")
                else "variants of the models"
            )
            what = "models" if now.model != part.model else what
            told.setdefault(what, {})[f"'{part.rest}'"] = None
        self.remarks += [
            f"{', '.join(texts)} above the values read as {what}" for what, texts in told.items()
        ]
        return [
            replace(
                row,
                columns=tuple(
                    replace(column, parts=tuple(named.get(part, part) for part in column.parts))
                    for column in row.columns
                ),
            )
            for row in rows
        ]

    def _kind_of_unknown(self, rows: Sequence[Row], table: Facts, metrics: str) -> str | None:
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
        knows_dataset = bool(datasets or table.dataset or self.stated.facts.dataset)
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
        if kind in ("data sets", "unknown data sets") and not part.dataset:
            return replace(part, dataset=text, dataset_as_printed=text, rest=None)
        if kind == "models" or (part.dataset and not has_models):
            return replace(part, model=self._model_of_header(column, text), rest=None)
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
    return tuple(explained) if len(stated) == len(printed) else tuple(explained[0] for _ in stated)


def _value_parts(row: Row) -> list[Facts]:
    return [
        part
        for column in row.columns
        if column.role == "value"
        for part in (*column.parts, *column.line.parts)
    ]


def _runs_of_words(text: str) -> list[str]:
    """Return the runs of up to four words of a text that may be a name; in prose only those with capital or digit."""
    words = re.findall(r"[^\W_]+(?:@\d+)?", text)
    runs = [" ".join(words[start : start + length]) for length in range(1, 5) for start in range(len(words))]
    is_prose = " " in text.strip()
    return [
        run for run in dict.fromkeys(runs) if not is_prose or run != run.lower() or any(map(str.isdigit, run))
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
