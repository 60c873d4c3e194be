"""Decide the kind of each row of a sheet, and read its labels."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rankadjust.base.words import folded
from rankadjust.tables.columns import LABEL_ROLES, MEANS, Column, Sheet, explained
from rankadjust.tables.facts import ENTITY_RANKING, NOTHING, Fact, Facts
from rankadjust.tables.formats.cell_text import is_missing, is_numeric
from rankadjust.tables.formats.cell_text import label as label_of
from rankadjust.tables.headers import (
    Names,
    find_dataset,
    is_difference,
    read_header,
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


def rows_of(sheet: Sheet, columns: Sequence[Column], metrics: str) -> list[Row]:
    """Return all rows, beginning with the header; metrics: where the metrics are named ('columns', 'rows', …).

    A row that divides the table gives its facts to the rows below it. Below such a row, an unknown text that is alone
    in its row may name the next data set, or a part of the section.
    """
    rows = [Row(index, "header") for index in range(sheet.first)]
    corner = section = _corner(columns)
    refused = None
    above: dict[int, str] = {}
    for index in range(sheet.first, len(sheet.grid.rows)):
        cells = sheet.grid.rows[index]
        row = _row(sheet, index, columns, above, metrics)
        if _is_header(cells, columns, sheet.names):
            refused = f"row {index + 1} is another header; divide the table there"
        if row.kind == "section":
            section = row.facts.over(corner)
        elif section is not corner and row.kind == "values" and (text := _only_text(cells, columns)):
            said = f"the row '{text}' may name a data set; state the data set of the rows below it"
            row, section = replace(row, kind="section"), Facts(conflicts=(said,))
        elif row.kind == "values":
            row = replace(row, facts=row.facts.over(section), refused=refused or row.refused)
        rows.append(row)
    return rows


def _is_header(cells: Sequence[str], columns: Sequence[Column], names: Names) -> bool:
    """Return whether a row names two metrics or more above the numbers below it."""
    texts = {cells[column.index] for column in columns if column.role == "value"}
    if any(map(is_numeric, texts)):
        return False
    return sum(read_header(text, names).metric is not None for text in texts) > 1


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
    if section := _section(cells, columns, sheet.names):
        return Row(index, "section", section, line=line)
    # A new text ends the labels to its right, if their cells are empty: 'Average' below a column of categories.
    own = ((column.index, cells[column.index]) for column in others if column.role == "other")
    new = next((at for at, text in own if not is_missing(text) and not is_numeric(text)), len(cells))
    for column in (column for column in others if column.index > new):
        above.pop(column.index, None)
    repeated = {}
    for column in (column for column in others if column.role in LABEL_ROLES):
        if not cells[column.index] and above.get(column.index):
            repeated[column.index] = above[column.index]
        above[column.index] = repeated.get(column.index, cells[column.index])
    texts = {column.index: repeated.get(column.index, cells[column.index]) for column in others}
    words = {column.index: column.line.word(texts[column.index]) for column in others}
    facts = _said_by(others, texts, words, {*repeated}, sheet.names)
    facts = explained(facts) if line.facts != NOTHING else facts
    # It holds differences or spreads of other rows, or names no metric.
    beside = {folded(texts[column.index]) for column in others if column.role != "metric"}
    is_unnamed = metrics == "rows" and not (line.facts.metric or facts.metric)
    is_other = is_unnamed or is_difference(facts["model"] or "") or bool(words_for("beside_metrics") & beside)
    labels: dict[str, str] = {}
    for column in others:
        is_new = column.name and column.name not in labels
        labels[column.name if is_new else f"{column.name} {column.index + 1}".strip()] = words[column.index]
    refused = _lost_cell(cells, columns, sheet.names)
    kind = "values" if refused or not is_other else "other"
    return Row(index, kind, facts, labels, line, refused)


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


def _said_by(
    columns: Sequence[Column],
    texts: Mapping[int, str],
    words: Mapping[int, str],
    repeated: Collection[int],
    names: Names,
) -> Facts:
    """Return the facts that the labels of a row state together.

    texts: column -> its label. words: the words to use for these. repeated: the columns that repeat the label above.
    """
    stated: dict[str, Fact] = {}
    printed = beside = NOTHING
    version = next(filter(_VERSION.fullmatch, words.values()), None)
    for column in columns:
        role, word = column.role, words[column.index]
        why = "as in the row above" if column.index in repeated else column.assumed
        said = read_header(word, names)
        if role == "other" and said.task and said.rest is None:
            stated.setdefault("task", said.task)
        if not word or role not in LABEL_ROLES:
            continue
        if role == "metric":
            printed = read_header(texts[column.index], names)
            printed = replace(printed, rest=None, unknown=printed.unknown or printed.rest)
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
    if printed == NOTHING:
        return facts
    return printed.agreeing(facts, "the row's metric", "another of its labels")


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
    if role == "side" and folded(word) in MEANS:
        return Fact("both")
    usual = {"ties": None, "task": ENTITY_RANKING if known is not NOTHING else word}.get(role, word)
    meant = ours or usual
    return Fact(meant) if meant else None


def _section(cells: Sequence[str], columns: Sequence[Column], names: Names) -> Facts | None:
    """Return the facts of a row that divides the table: a single text, spread over all columns or alone in its row."""
    texts = set(filter(None, cells))
    text = texts.pop() if len(texts) == 1 < len(cells) else ""
    if is_numeric(text) or is_missing(text):
        return None
    facts = read_header(text, names)
    in_values = any(cells[column.index] for column in columns if column.role == "value")
    is_section = all(cells) or (any(facts.stated()) and not facts.metric and not in_values)
    return replace(facts, rest=None, metric=None) if is_section else None


def _corner(columns: Sequence[Column]) -> Facts:
    """Return the data set that is printed in the corner, in place of a header for the models."""
    for column in columns:
        said = column.facts.dataset
        if column.role in ("model", "metric") and said and column.line.facts == NOTHING:
            why = f"from the header of column {column.index + 1}"
            return Facts(dataset=Fact(said.value, printed=said.printed).because(why))
    return NOTHING
