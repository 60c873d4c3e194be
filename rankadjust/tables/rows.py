"""What each row of a sheet is, and what its labels say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankadjust.tables.cells import is_missing, is_numeric
from rankadjust.tables.sheet import LABEL_ROLES, Column, Row, Sheet
from rankadjust.tables.sidecar import Line
from rankadjust.tables.tokens import NOTHING, Facts, Names, find_dataset, is_difference, read_header

# Where a label of one of these is empty, that above it holds.
_FILLED = LABEL_ROLES


@dataclass(frozen=True)
class _Label:
    """A label of a row: its column, its text, what to put for it, and why it holds where it does not stand there."""

    column: Column
    text: str
    word: str
    assumed: str | None


def rows_of(sheet: Sheet, columns: Sequence[Column], metrics: str) -> list[Row]:
    """Return all rows, those of the header first; metrics: where these are named."""
    rows = [Row(index, "header") for index in range(sheet.first)]
    divided = corner = _corner(columns)
    above: dict[int, str] = {}
    for index in range(sheet.first, len(sheet.grid.rows)):
        row = _row(sheet, index, columns, above, metrics)
        if row.kind == "section":
            divided = row.facts.over(corner)
        elif row.kind == "values" and divided != NOTHING:
            row = replace(row, facts=row.facts.over(divided))
        rows.append(row)
    return rows


def _row(sheet: Sheet, index: int, columns: Sequence[Column], above: dict[int, str], metrics: str) -> Row:
    """Return a row; above: the last texts of the columns of labels, which this row's take the place of."""
    cells = sheet.grid.rows[index]
    beside = [column for column in columns if column.role != "value"]
    line = sheet.stated.row(index + 1, [cells[column.index] for column in beside])
    if not any(cells) or line.role == "other":
        return Row(index, "other" if any(cells) else "blank", line=line)
    if section := _section(cells, columns, sheet.names):
        return Row(index, "section", section, line=line)
    labels = [_label(column, cells[column.index], above) for column in beside]
    facts = _said_by(labels, sheet.names)
    return Row(
        index, "other" if _is_other(facts, line, metrics) else "values", facts, _by_header(labels), line
    )


def _label(column: Column, text: str, above: dict[int, str]) -> _Label:
    """Return the label in a column; where the cell is empty, the label above it holds."""
    assumed = column.assumed
    if column.role in _FILLED:
        if not text and above.get(column.index):
            text, assumed = above[column.index], "as in the row above"
        above[column.index] = text
    return _Label(column, text, column.line.word(text), assumed)


def _by_header(labels: Sequence[_Label]) -> dict[str, str]:
    """Return header -> word; the number of the column tells headers of the same name, or of none, apart."""
    found: dict[str, str] = {}
    for label in labels:
        name = label.column.name
        is_new = name and name not in found
        found[name if is_new else f"{name} {label.column.index + 1}".strip()] = label.word
    return found


def _said_by(labels: Sequence[_Label], names: Names) -> Facts:
    """Return what the labels of a row say together."""
    found: dict[str, Any] = {}
    printed = Facts()
    telling = [label for label in labels if label.word and label.column.role in LABEL_ROLES]
    for label in telling:
        role, word = label.column.role, label.word
        if role == "metric":
            printed = replace(read_header(label.text, names), rest=None)
        elif role == "model":
            # A second column of models beside the first says which kind of it.
            found.setdefault("model", word)
        elif role == "dataset":
            found |= {"dataset": find_dataset(word, names) or word, "dataset_as_printed": word}
        else:
            said = getattr(read_header(word, names), role)
            found[role] = said or (None if role == "ties" else word)
    assumed = tuple((label.column.role, label.assumed) for label in telling if label.assumed)
    facts = Facts(**found, assumed=assumed)
    if printed == NOTHING:
        return facts
    return printed.agreeing(facts, "the row's metric", "another of its labels")


def _is_other(facts: Facts, line: Line, metrics: str) -> bool:
    """Tell whether a row with these labels holds no values: it is a difference of others, or names no metric."""
    is_unnamed = metrics == "rows" and not (line.facts.metric or facts.metric)
    return is_unnamed or bool(facts.model and is_difference(facts.model))


def _section(cells: Sequence[str], columns: Sequence[Column], names: Names) -> Facts | None:
    """Return what a row says that divides the table: one text over all columns, or alone in its row."""
    texts = set(filter(None, cells))
    if len(texts) != 1 or len(cells) < 2:
        return None
    text = texts.pop()
    if is_numeric(text) or is_missing(text):
        return None
    facts = read_header(text, names)
    in_values = any(cells[column.index] for column in columns if column.role == "value")
    if all(cells) or (facts.says_something and not facts.metric and not in_values):
        return replace(facts, rest=None, metric=None, metric_as_printed=None)
    return None


def _corner(columns: Sequence[Column]) -> Facts:
    """Return the data set that stands where a header for the models is expected."""
    for column in columns:
        said = column.facts
        if column.role in ("model", "metric") and said.dataset and column.line.facts == NOTHING:
            facts = Facts(dataset=said.dataset, dataset_as_printed=said.dataset_as_printed)
            return facts.because(f"from the header of column {column.index + 1}")
    return Facts()
