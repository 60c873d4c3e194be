"""Lay out a grid: find its headers, labels and values, and the facts that headers, labels and the text around state."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rankadjust.base.words import folded, shipped_mapping
from rankadjust.counting.evaluators import shipped_evaluators
from rankadjust.tables import columns as of_columns
from rankadjust.tables import headers
from rankadjust.tables.columns import LABEL_ROLES, MEANS, Column, Sheet, explained
from rankadjust.tables.facts import ENTITY_RANKING, INFERRED, NOTHING, QUERIES, SUBSET, Fact, Facts
from rankadjust.tables.formats.cell_text import is_missing, is_numeric
from rankadjust.tables.formats.cell_text import label as label_of
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import Names, find_dataset, is_difference, read_header, words_for
from rankadjust.tables.sidecar import NO_LINE, Line, Stated, line_about

# Authors name the task and the unit of a table in its caption or in the heading above it.
_NEXT, _CAPTION_WORDS = 2, 20
_IN_PERCENT = re.compile(r"\bin (?:%|percent|per cent)|\(%\)", re.IGNORECASE)

# The texts around a table, the nearest first; each with a description of its place, for people.
_Around = Sequence[tuple[str, str]]
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


@dataclass(frozen=True)
class Table:
    """One table of a file: the meaning of its columns and rows, and the facts that the text around states about it.

    number: from 1. stated: the statements of the sidecar about it. metrics: where the metrics are named: 'columns',
    'rows', 'table', or '' (nowhere). percent: the text around the table that declares its numbers percent. other: the
    words around the table that speak of another evaluation. left: the side that left is, with the reason.
    """

    number: int
    grid: Grid
    stated: Stated
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    facts: Facts
    metrics: str
    percent: str | None
    other: str | None
    left: tuple[str, str]

    def text(self, row: int, column: int) -> str:
        """Return the text of the cell in a row and column (from 0)."""
        return self.grid.rows[row][column]


def lay_out(number: int, grid: Grid, stated: Stated, names: Names, stem: str) -> Table:
    """Find out the meaning of each row and column of a grid; `stem`, the name of its file, may name the data set."""
    sheet = Sheet(grid, stated, names)
    texts = [(f"the text '{text if len(text) <= 60 else f'{text[:57]}…'}'", text) for text in grid.context]
    captions = [(where, text) for where, text in texts[:_NEXT] if len(text.split()) <= _CAPTION_WORDS]
    texts.append(("the file's name", stem))
    metrics, metric_column = of_columns.where_metrics_are(sheet)
    around = NOTHING
    if not metrics:
        around = _nearest("metric", [(where, headers.within("metric", text, names)) for where, text in texts])
        metrics = "table" if stated.facts.metric or around.metric else ""
    columns = of_columns.columns_of(sheet, metrics, metric_column)
    rows = _rows_of(sheet, columns, metrics)
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
    return Table(
        number,
        grid,
        stated,
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


def _rows_of(sheet: Sheet, columns: Sequence[Column], metrics: str) -> list[Row]:
    """Return all rows, beginning with the header; metrics: where the metrics are named ('columns', 'rows', …).

    A row that divides the table gives its facts to the rows below it. Below such a row, an unknown text that is alone
    in its row may name the next data set, or a part of the section.
    """
    rows = [Row(index, "header") for index in range(sheet.first)]
    corner = section = _corner(columns, sheet.names)
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


def _corner(columns: Sequence[Column], names: Names) -> Facts:
    """Return the data set that is printed in the corner, in place of a header for the models or beside it."""
    labels = [column for column in columns if column.role in ("model", "metric")]
    said = [
        (f"the header of column {column.index + 1}", headers.within("dataset", column.name, names))
        for column in labels
        if column.line.facts == NOTHING
    ]
    return _nearest("dataset", said)
