"""Decide the kind of each row of a sheet, and read its labels."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rankadjust.base.words import folded
from rankadjust.tables.columns import LABEL_ROLES, MEANS, Column, Sheet, explained
from rankadjust.tables.facts import ENTITY_RANKING, INFERRED, NOTHING, Fact, Facts
from rankadjust.tables.formats.cell_text import is_missing, is_numeric
from rankadjust.tables.formats.cell_text import label as label_of
from rankadjust.tables.headers import (
    Names,
    find_dataset,
    is_difference,
    read_header,
    side_within,
    split_name,
    words_for,
)
from rankadjust.tables.sidecar import NO_LINE, Line, line_about

# Text recognition of scanned tables merges cells.
_NUMBER_AT_END = re.compile(r".*\S \d*\.\d+")
# The version of a data set, in a column beside its name.
_VERSION = re.compile(r"[vV]\d+")


@dataclass(frozen=True)
class Row:
    """A row of the grid. kind: 'header', 'section', 'blank', 'other' or 'values'.

    facts: the facts that its labels state. labels: header -> text of its label cells. merged: the column whose label
    ends in a number, beside an empty cell of a value, None for none.
    """

    index: int
    kind: str
    facts: Facts = NOTHING
    labels: Mapping[str, str] = field(default_factory=dict)
    line: Line = NO_LINE
    merged: int | None = None

    @property
    def name(self) -> str:
        """The first of its labels."""
        return next(filter(None, self.labels.values()), "")


@dataclass(frozen=True)
class _Label:
    """A label of a row: its column, its text, the word to use for it, and the reason if the row does not print it."""

    column: Column
    text: str
    word: str
    assumed: str | None


def rows_of(sheet: Sheet, columns: Sequence[Column], metrics: str) -> list[Row]:
    """Return all rows, beginning with the header; metrics: where the metrics are named ('columns', 'rows', …).

    A row that divides the table gives its facts to the rows below it. Below such a row, an unknown text that is alone
    in its row ends the section, and names a data set; directly below the name of a section it names a part of it.
    """
    rows = [Row(index, "header") for index in range(sheet.first)]
    corner = section = _corner(columns)
    is_divided = was_row = False
    parts: set[str] = set()
    above: dict[int, str] = {}
    for index in range(sheet.first, len(sheet.grid.rows)):
        row = _row(sheet, index, columns, above, metrics)
        text = _only_text(sheet.grid.rows[index], columns) if row.kind == "values" and is_divided else None
        if text and not was_row:
            parts.add(text)
        if row.kind == "section" or (text and text not in parts):
            why = f"the row '{text}' read as a name"
            said = Facts(dataset=Fact(text, printed=text).because(why)) if text else row.facts
            row, section = replace(row, kind="section", facts=said), said.over(corner)
            is_divided, was_row = True, False
        elif row.kind == "values":
            row, was_row = replace(row, facts=row.facts.over(section)), True
        rows.append(row)
    return rows


def _only_text(cells: Sequence[str], columns: Sequence[Column]) -> str | None:
    """Return the text of a row that has a single text, unless a column of values holds it."""
    texts = [text for text in cells if text]
    in_values = any(cells[column.index] for column in columns if column.role == "value")
    return label_of(texts[0]) if len(texts) == 1 and not in_values and not is_missing(texts[0]) else None


def _row(sheet: Sheet, index: int, columns: Sequence[Column], above: dict[int, str], metrics: str) -> Row:
    """Return a row; above: the last label of each label column, which this row updates."""
    cells = sheet.grid.rows[index]
    others = [column for column in columns if column.role != "value"]
    line = line_about(sheet.stated.rows, index + 1, [cells[column.index] for column in others])
    if not any(cells) or line.role == "other":
        return Row(index, "other" if any(cells) else "blank", line=line)
    if section := _section(cells, columns, sheet.names, metrics):
        return Row(index, "section", section, line=line)
    # A new text ends the labels to its right, if their cells are empty: 'Average' below a column of categories.
    texts = ((column.index, cells[column.index]) for column in others if column.role == "other")
    new = next((at for at, text in texts if not is_missing(text) and not is_numeric(text)), len(cells))
    for column in (column for column in others if column.index > new):
        above.pop(column.index, None)
    labels = [_label(column, cells, above) for column in others]
    facts = _said_by(labels, sheet.names)
    facts = explained(facts) if line.facts != NOTHING else facts
    merged = next((label.column.index for label in labels if _is_merged(label, cells, columns)), None)
    if merged is not None:
        facts = facts.because("ends in a number, which may be the value beside it", "model")
    # It holds differences or spreads of other rows, or names no metric.
    beside = (folded(label.text) for label in labels if label.column.role != "metric")
    is_unnamed = metrics == "rows" and not (line.facts.metric or facts.metric)
    is_other = (
        is_unnamed or is_difference(facts["model"] or "") or bool(words_for("beside_metrics") & {*beside})
    )
    return Row(index, "other" if is_other else "values", facts, _by_header(labels), line, merged)


def _is_merged(label: _Label, cells: Sequence[str], columns: Sequence[Column]) -> bool:
    """Return whether the name of a model ends in a number beside an empty cell: 'RE-GCN w. GT 30.55'."""
    beside = columns[label.column.index + 1 : label.column.index + 2]
    is_empty = any(column.role == "value" and not cells[column.index] for column in beside)
    return label.column.role == "model" and is_empty and _NUMBER_AT_END.fullmatch(label.word) is not None


def _label(column: Column, cells: Sequence[str], above: dict[int, str]) -> _Label:
    """Return the label in a column; an empty cell repeats the label above it."""
    text, assumed = cells[column.index], column.assumed
    if column.role in LABEL_ROLES:
        if not text and above.get(column.index):
            text, assumed = above[column.index], "as in the row above"
        above[column.index] = text
    return _Label(column, text, column.line.word(text), assumed)


def _by_header(labels: Sequence[_Label]) -> dict[str, str]:
    """Return header -> word; a header that is empty or occurs twice gets the number of its column."""
    by_header: dict[str, str] = {}
    for label in labels:
        name = label.column.name
        is_new = name and name not in by_header
        by_header[name if is_new else f"{name} {label.column.index + 1}".strip()] = label.word
    return by_header


def _said_by(labels: Sequence[_Label], names: Names) -> Facts:
    """Return the facts that the labels of a row state together."""
    stated: dict[str, Fact] = {}
    printed = beside = NOTHING
    version = next((label.word for label in labels if _VERSION.fullmatch(label.word)), None)
    for label in labels:
        role, word, why = label.column.role, label.word, label.assumed
        said = read_header(word, names)
        if role == "other" and said.task and said.rest is None:
            stated.setdefault("task", said.task)
        if not word or role not in LABEL_ROLES:
            continue
        if role == "metric":
            printed = replace(read_header(label.text, names), rest=None)
            printed = printed.because(why, "metric") if why else printed
        elif role == "model":
            # A second column of models refines the first, whose text is the name.
            stated.setdefault("model", Fact(word).because(why) if why else Fact(word))
        else:
            # 'FB15k (raw)' in a column of data sets also states the protocol, 'tail prediction' as a task the side.
            known = said if said.rest is None and said.metric is None else NOTHING
            beside = beside.over(replace(known, notes=None))
            if own := _meaning(role, word, known, version, names):
                stated[role] = own.because(why) if why else own
    facts = Facts.holding(stated).over(beside)
    return (
        printed.agreeing(facts, "the row's metric", "another of its labels") if printed != NOTHING else facts
    )


def _meaning(role: str, word: str, known: Facts, version: str | None, names: Names) -> Fact | None:
    """Return the fact of a label that is neither a metric nor a model.

    known: the facts that its words state. version: the version of a data set, elsewhere in the row.
    """
    ours = known[role]
    if role == "dataset":
        if version:
            whole = f"{word} {version}"
            named = Fact(find_dataset(whole, names) or ours or whole, printed=whole)
            return named.because(f"with '{version}' beside it")
        named = Fact(find_dataset(word, names) or ours or word, printed=word)
        is_part = known.notes and ours and find_dataset(word, names) is None
        return named.because(f"'{word}' without its brackets") if is_part else named
    if role == "side" and folded(word) in MEANS:
        return Fact("both")
    usual = {"ties": None, "task": ENTITY_RANKING if known is not NOTHING else word}.get(role, word)
    meant = ours or usual
    return Fact(meant) if meant else None


def names_metric(cells: Sequence[str], names: Names) -> bool:
    """Return whether a row has a single text, which is a metric, above the values of this metric."""
    texts = set(filter(None, cells))
    facts = read_header(texts.pop(), names) if len(texts) == 1 < len(cells) else NOTHING
    return facts.metric is not None and not facts.unknown


def _section(cells: Sequence[str], columns: Sequence[Column], names: Names, metrics: str) -> Facts | None:
    """Return the facts of a row that divides the table: a single text, spread over all columns or alone in its row."""
    texts = set(filter(None, cells))
    text = texts.pop() if len(texts) == 1 < len(cells) else ""
    if is_numeric(text) or is_missing(text):
        return None
    facts = read_header(text, names)
    if metrics == "table" and names_metric(cells, names):
        return facts
    in_values = any(cells[column.index] for column in columns if column.role == "value")
    is_section = all(cells) or (any(facts.stated()) and not facts.metric and not in_values)
    return replace(facts, rest=None, metric=None) if is_section else None


def with_datasets_in_names(rows: Sequence[Row], names: Names) -> list[Row]:
    """Return the rows with the data sets within the names of their models, if all have one: 'RotatE (WN18RR)'."""
    read = {row.index: split_name(row.facts["model"] or "", names) for row in rows if row.kind == "values"}
    if not all(read.values()):
        return list(rows)
    parted = []
    for row in rows:
        if both := read.get(row.index):
            model = Fact(both[0], INFERRED, "without its data set")
            dataset = Fact(both[1], INFERRED, "within the name", row.facts["model"])
            row = replace(row, facts=replace(row.facts, model=model, dataset=dataset))  # noqa: PLW2901
        parted.append(row)
    return parted


def with_sides_in_names(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with their sides, where names of models differ only by a side: 'TransE Left', 'TransE Right'."""
    read = [side_within(row.facts["model"] or "") if not row.facts.side else None for row in rows]
    sides: dict[frozenset[str], set[str]] = defaultdict(set)
    for stem, side in filter(None, read):
        sides[stem].add(side)
    return [
        replace(row, facts=replace(row.facts, side=Fact(both[1], INFERRED, "within the name")))
        if both and len(sides[both[0]]) > 1
        else row
        for row, both in zip(rows, read, strict=True)
    ]


def _corner(columns: Sequence[Column]) -> Facts:
    """Return the data set that is printed in the corner, in place of a header for the models."""
    for column in columns:
        said = column.facts.dataset
        if column.role in ("model", "metric") and said and column.line.facts == NOTHING:
            why = f"from the header of column {column.index + 1}"
            return Facts(dataset=Fact(said.value, printed=said.printed).because(why))
    return NOTHING
