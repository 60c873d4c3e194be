"""Decide the role of each column of a sheet: values, labels of a kind, or other."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rankadjust.base.words import folded
from rankadjust.tables.facts import NOTHING, SUBSET, Fact, Facts, name_of
from rankadjust.tables.formats.cell_text import (
    holds_numbers,
    is_missing,
    is_numeric,
    label,
    number_beside_name,
)
from rankadjust.tables.headers import (
    find_dataset,
    is_difference,
    metric_key,
    metrics_within,
    read_header,
    role_of,
    split_name,
    words_for,
)
from rankadjust.tables.sheet import Sheet
from rankadjust.tables.sidecar import NO_LINE, Line

LABEL_ROLES = ("model", "dataset", "metric", "split", "side", "protocol", "ties", "task")
# Names of data sets have capitals or digits within (WikiPeople, WD50K, YAGO-hy); 'Best' and 'final' have none.
_NAME = re.compile(r"[A-Za-z].*[A-Z0-9]")
_ONE_NAME = re.compile(r"[A-Za-z][\w.-]*[A-Z0-9][\w.-]*")
# Neither differences nor versions name a model: '+1.2%', 'v1'.
_NO_NAME = re.compile(r"[+-]\d|v\d+$", re.IGNORECASE)
# Letters and words for head and tail side, as used beside metrics.
_LETTERS = (("h", "t"), ("l", "r"), ("s", "o"), ("backward", "forward"))
# Words for a mean over sides or data sets.
MEANS = {"mean", "avg", "average", "overall", "all"}
# A class of entities by their frequency, between head and tail; beside it, head and tail are classes too, not sides.
_BETWEEN = {"torso", "body", "medium", "mid", "middle"}
# Web pages hide each text with an @ as a mail address, even Hits@10: the values below are reported as unread.
_HIDDEN = re.compile(r"\[email\s+protected\]")
_MODEL = {"model", "models", "modelname"}
# Where rows are metrics, a column with one of these headers holds all their values.
_LONG = {"value", "values", "metric", "score", "result"}


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
    best = max(named, key=lambda column: named[column], default=None)
    if best is not None and named[best] > by_column < 2 and sheet.is_text(best):
        return "rows", best
    return ("columns", None) if by_column else ("", None)


def _metric_cells(sheet: Sheet, column: int) -> int:
    # A metric that is alone in its row names the metric of the rows below.
    rows = (row for row in zip(*sheet.cells, strict=True) if sum(map(bool, row)) > 1)
    cells = [row[column] for row in rows if row[column] and not is_numeric(row[column])]
    read = (read_header(cell, sheet.names) for cell in cells)
    return sum(facts.metric is not None and not facts.unknown for facts in read)


def columns_of(sheet: Sheet, metrics: str, metric_column: int | None) -> tuple[Column, ...]:
    """Return the columns with their roles; `metrics`, `metric_column`: the result of `where_metrics_are`."""
    indices = range(sheet.grid.width)
    words = [set(map(folded, stack)) for stack in sheet.stacks]
    # Beside a spread, 'mean' names the values themselves.
    means = MEANS if any(own & words_for("beside_metrics") for own in words) else set()
    others = (index for index in indices if metrics == "rows" and index != metric_column)
    long = next((index for index in others if (_LONG | means) & words[index]), None)
    roles = ["metric" if index == metric_column else _role(sheet, index, metrics, long) for index in indices]
    assumed = _settle_label_roles(sheet, roles)
    # If a sidecar states facts of a column, the unknown words of its header need no explanation any more.
    said = [
        explained(facts) if line.facts != NOTHING else facts
        for facts, line in zip(sheet.facts, sheet.lines, strict=True)
    ]
    said = [replace(facts, rest=None) if folded(facts.rest or "") in means else facts for facts in said]
    return tuple(
        Column(index, tuple(map(label, stack)), roles[index], said[index], line, assumed.get(index))
        for index, (stack, line) in enumerate(zip(sheet.stacks, sheet.lines, strict=True))
    )


def explained(facts: Facts) -> Facts:
    """Return the facts of a line without its unknown words: a sidecar explains the line."""
    return replace(facts, unknown=None, rest=facts.rest if facts.metric and not facts.unknown else None)


def _role(sheet: Sheet, index: int, metrics: str, long: int | None) -> str:
    line, stack = sheet.lines[index], sheet.stacks[index]
    if line.role or line.facts.metric:
        return line.role or "value"
    role = next((role for role in map(role_of, reversed(stack)) if role), None)
    decimals = sum("." in cell and is_numeric(cell) for cell in sheet.cells[index])
    role = None if role in LABEL_ROLES and 2 * decimals > len(sheet.cells[index]) else role
    if metrics == "columns":
        is_value = _names_values(sheet, index, role)
    else:
        is_free = role is None if long is None else index == long
        is_value = metrics != "" and is_free and _may_be_values(sheet, index)
    return "value" if is_value else role or "other"


def _names_values(sheet: Sheet, index: int, role: str | None) -> bool:
    """Return whether the header of a column names a metric, or hides one; role: the role that its words suggest."""
    facts, stack = sheet.facts[index], sheet.stacks[index]
    is_hidden = role is None and facts.metric is None and _HIDDEN.search(facts.rest or "") is not None
    if not (facts.metric or is_hidden) or folded(stack[-1]) in words_for("beside_metrics"):
        return False
    return not ((role or is_hidden) and sheet.is_text(index))


def _may_be_values(sheet: Sheet, index: int) -> bool:
    """Return whether a column, whose header names no metric, holds values rather than differences or labels."""
    stack, cells = sheet.stacks[index], sheet.cells[index]
    # The mean over data sets is not a value of any.
    is_mean = bool(stack) and folded(stack[-1]) in MEANS and any(facts.dataset for facts in sheet.facts)
    if not stack or is_difference(stack[-1]) or is_mean:
        return False
    texts = [cell for cell in cells if not is_missing(cell)]
    if texts and all(map(number_beside_name, texts)):
        return True
    return any(map(holds_numbers, cells)) and not _is_numbering(cells) and not sheet.is_text(index)


def _is_numbering(cells: Sequence[str]) -> bool:
    """Return whether cells number their rows, from any number on."""
    if len(cells) < 3 or not all(map(str.isdecimal, cells)):
        return False
    return list(map(int, cells)) == list(range(int(cells[0]), int(cells[0]) + len(cells)))


def _settle_label_roles(sheet: Sheet, roles: list[str]) -> dict[int, str]:
    """Give a role to label columns with an unclear header, by their cells; return the reason of each assumption."""
    above = any(sheet.facts[index].dataset for index, role in enumerate(roles) if role == "value")
    free = [index for index, line in enumerate(sheet.lines) if line.role is None]
    for index in free:
        roles[index] = _settled(sheet, index, roles, above)
    models = [index for index in free if roles[index] == "model"]
    # Beside 'model', 'baseline' says something about it.
    named = (
        [index for index in models if folded(sheet.stacks[index][-1]) in _MODEL] if len(models) > 1 else []
    )
    for index in set(models) - set(named) if named else ():
        roles[index] = "other"
    models = named or models
    same = [index for index in models if len(set(sheet.cells[index])) == 1]
    for index in same if len(same) < len(models) else ():
        roles[index] = "other"
    assumed: dict[int, str] = {}
    for index in free:
        is_label = (
            roles[index] == "other"
            and "other" not in map(role_of, sheet.stacks[index])
            and not all(map(_NO_NAME.match, filter(None, sheet.cells[index])))
        )
        if is_label and sheet.is_text(index):
            role = _role_of_labels(sheet, index, roles)
            if role not in roles and (role != "model" or not assumed):
                roles[index] = role
                assumed[index] = (
                    f"column {index + 1} taken for the {name_of(role)}{'s' * (role in ('model', 'dataset'))}"
                )
    return assumed


def _settled(sheet: Sheet, index: int, roles: Sequence[str], above: bool) -> str:
    """Return the role of a column, corrected by its cells; above: whether headers of values name data sets."""
    role, texts = roles[index], set(filter(None, sheet.cells[index]))
    # Traces of LibKGE call the split 'data'.
    if role == "dataset" and all(read_header(text, sheet.names).split for text in texts):
        return "split"
    # 'Dataset' or 'Metric' in the corner may describe the headers to its right rather than the cells below.
    if role == "dataset" and above:
        return "dataset" if any(find_dataset(text, sheet.names) for text in texts) else "other"
    if role == "metric" and not _metric_cells(sheet, index):
        return "other"
    # 'Name' means the model if no other column does: beside 'Method', 'Team' means the authors.
    return ("other" if "model" in roles else "model") if role == "name" else role


def _role_of_labels(sheet: Sheet, index: int, roles: Sequence[str]) -> str:
    """Return the role of labels without a header: data set, split, side or protocol if most labels are, else model."""
    read = [read_header(text, sheet.names) for text in dict.fromkeys(filter(None, sheet.cells[index]))]
    for role in ("dataset", "split", "side", "protocol"):
        said = sum(getattr(facts, role) is not None and facts.rest is None for facts in read)
        if 2 * said > len(read) and role not in roles:
            return role
    return "model"


def with_unknown_words(sheet: Sheet) -> Sheet:
    """Read the unknown words beside the metrics as names, if every metric of the table has a name.

    'WikiPeople MRR' beside 'WD50K MRR' is an MRR on a data set missing in our registry; 'best_mrr' beside 'mrr' is not.
    In a key with a data set ('FB15k.TransE.mrr'), the word names the model; in 'FB15k-237 O MRR' it does not.
    """
    said = [facts for facts in sheet.facts if facts.metric]
    words = [facts.unknown or "" for facts in said]
    is_named = all(facts.dataset or _NAME.search(facts.unknown or "") for facts in said)
    # 'MRR Hits@1' names two metrics.
    if not is_named or any(map(metrics_within, words)):
        return sheet
    return replace(sheet, facts=[_with_name(facts) for facts in sheet.facts])


def _with_name(facts: Facts) -> Facts:
    words = facts.unknown
    if not words:
        return facts
    if not facts.dataset:
        name = Fact(words, printed=words).because(f"'{words}' of a header read as a name")
        return replace(explained(facts), dataset=name)
    if words not in ((facts.metric and facts.metric.printed) or "").split("."):
        return facts
    return replace(explained(facts), model=Fact(words).because("from a key"))


def with_sides_of_pairs(sheet: Sheet) -> Sheet:
    """Read two letters beside the same metrics as the two sides: 'l-MRR', 'r-MRR'; a mean beside sides as both."""
    letters = [(facts.unknown or facts.notes or facts.rest or "").casefold() for facts in sheet.facts]
    if _BETWEEN & set(letters):
        return replace(sheet, facts=[_of_frequency(facts) for facts in sheet.facts])
    metrics: dict[str, set[str | None]] = defaultdict(set)
    for facts, letter in zip(sheet.facts, letters, strict=True):
        metrics[letter].add(facts["metric"])
    sides: dict[str, str] = {}
    for head, tail in _LETTERS:
        if metrics[head] and metrics[head] == metrics[tail]:
            sides |= {head: "head", tail: "tail"}
    if {*sides.values(), *(facts["side"] for facts in sheet.facts)} >= {"head", "tail"}:
        sides |= dict.fromkeys(MEANS, "both")
    pairs = zip(sheet.facts, letters, strict=True)
    return replace(sheet, facts=[_of_side(facts, letter, sides.get(letter)) for facts, letter in pairs])


def _of_frequency(facts: Facts) -> Facts:
    is_class = facts["side"] in ("head", "tail")
    return replace(facts, side=None, task=facts.task or Fact(SUBSET)) if is_class else facts


def _of_side(facts: Facts, letter: str, side: str | None) -> Facts:
    if side is None or facts.side is not None:
        return facts
    return replace(explained(facts), side=Fact(side).because(f"from '{letter}'"), notes=None, rest=None)


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
    """Decide which names the unknown header texts are: data sets, versions of a data set, or models.

    labels: the facts of the rows with values. around: the facts of the text around the table.
    """
    unknown = [column.facts for column in columns if column.role == "value" and column.facts.rest]
    if not unknown:
        return columns
    datasets = {facts.dataset.printed or facts.dataset.value for facts in labels if facts.dataset}
    has_models = any(facts.model for facts in labels)
    # The header of the only column of values describes its numbers: 'Valeur'.
    is_only = has_models and sum(column.role == "value" for column in columns) == 1
    # Several single words that look like names are data sets, even if the text around names a data set.
    names = {facts.rest or "" for facts in unknown}
    are_names = len(names) > 1 and all(map(_ONE_NAME.fullmatch, names))
    knows_dataset = bool(datasets or (around.dataset and not are_names) or sheet.stated.facts.dataset)
    if all(any(find_dataset(f"{name} {facts.rest}", sheet.names) for name in datasets) for facts in unknown):
        kind = "versions"
    elif is_only and not unknown[0].metric:
        kind = "numbers"
    elif has_models:
        kind = "variants" if knows_dataset else "data sets"
    else:
        kind = "models"
    return tuple(
        replace(column, facts=_named(sheet, column, kind, has_models=has_models))
        if column.role == "value" and column.facts.rest
        else column
        for column in columns
    )


def _named(sheet: Sheet, column: Column, kind: str, *, has_models: bool) -> Facts:
    """Return the facts of a header with its unknown text as the name of a data set or model, where `kind` allows it."""
    facts, text = column.facts, column.facts.rest or ""
    if kind == "numbers":
        return replace(facts, rest=None)
    if kind == "data sets" and not facts.dataset:
        dataset = Fact(text, printed=text).because(f"header '{text}' read as a name")
        return replace(facts, dataset=dataset, rest=None)
    if kind != "models" and (has_models or not facts.dataset):
        return facts
    if not facts.dataset and (both := split_name(text, sheet.names)):
        why = f"within the header '{text}'"
        dataset = Fact(both[1], printed=text).because(why)
        return replace(facts, model=Fact(both[0]).because(why), dataset=dataset, rest=None)
    # A bare number is a name only together with the word in the corner: 'rank' and 64.
    corner = label(sheet.grid.rows[0][0]) if column.index and is_numeric(text) else ""
    name = f"{corner} {text}" if corner and not metric_key(corner) else text
    return replace(facts, model=Fact(name).because("from a header"), rest=None)
