"""What each column of a sheet is: values, labels of a kind, or something else."""

from collections.abc import Sequence
from dataclasses import replace

from rankadjust.base.words import folded
from rankadjust.tables.cells import is_numeric, label
from rankadjust.tables.sheet import Column, Row, Sheet
from rankadjust.tables.tokens import NOTHING, Facts, find_dataset, metric_key, read_header, role_of

# Where rows are metrics, a column with one of these headers holds all their values.
_LONG = {"value", "values", "metric", "score", "result"}


def where_metrics_are(sheet: Sheet) -> tuple[str, int | None]:
    """Return 'columns', 'rows' or '', and for rows the column that names their metrics."""
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
    cells = [cell for cell in sheet.cells[column] if cell and not is_numeric(cell)]
    named = sum(read_header(cell, sheet.names).metric is not None for cell in cells)
    return named if 2 * named >= len(cells) else 0


def columns_of(sheet: Sheet, metrics: str, metric_column: int | None) -> tuple[Column, ...]:
    """Return the columns with their roles, by where metrics are named."""
    indices = range(sheet.grid.width)
    others = (index for index in indices if metrics == "rows" and index != metric_column)
    long = next((index for index in others if _LONG & set(map(folded, sheet.stacks[index]))), None)
    roles = ["metric" if index == metric_column else _role(sheet, index, metrics, long) for index in indices]
    assumed = _settle_label_roles(sheet, roles)
    columns = []
    for index, (stack, line, facts) in enumerate(zip(sheet.stacks, sheet.lines, sheet.facts, strict=True)):
        # A metric that is stated explains the words of a header that names none.
        said = replace(facts, rest=None) if line.facts != NOTHING and not facts.metric else facts
        header = tuple(map(label, stack))
        columns.append(Column(index, header, roles[index], said, line, assumed.get(index)))
    return tuple(columns)


def _role(sheet: Sheet, index: int, metrics: str, long: int | None) -> str:
    line, stack = sheet.lines[index], sheet.stacks[index]
    if line.role or line.facts.metric:
        return line.role or "value"
    role = next((role for role in map(role_of, reversed(stack)) if role), None)
    if metrics == "columns":
        is_value = sheet.facts[index].metric is not None and not (role and sheet.is_text(index))
    else:
        is_value = (
            metrics != ""
            and bool(stack)
            and (role is None if long is None else index == long)
            and any(map(is_numeric, sheet.cells[index]))
            and not sheet.is_text(index)
        )
    return "value" if is_value else role or "other"


def _settle_label_roles(sheet: Sheet, roles: list[str]) -> dict[int, str]:
    """Give label columns without a telling header a role by what they hold; return why, where it is assumed."""
    above = any(sheet.facts[index].dataset for index, role in enumerate(roles) if role == "value")
    free = [index for index, line in enumerate(sheet.lines) if line.role is None]
    for index in free:
        texts = set(filter(None, sheet.cells[index]))
        # What traces of LibKGE called 'data' is the split.
        if roles[index] == "dataset" and all(read_header(text, sheet.names).split for text in texts):
            roles[index] = "split"
        # 'Dataset' in the corner may speak of the names beside it, not of those below.
        elif roles[index] == "dataset" and above:
            is_known = any(find_dataset(text, sheet.names) for text in texts)
            roles[index] = "dataset" if is_known else "other"
        # A name is the model's where nothing else is: beside 'Method', 'Team' says who.
        elif roles[index] == "name":
            roles[index] = "other" if "model" in roles else "model"
    if "model" in roles:
        return {}
    for index in free:
        is_label = roles[index] == "other" and "other" not in map(role_of, sheet.stacks[index])
        if is_label and sheet.is_text(index):
            roles[index] = "model"
            return {index: f"column {index + 1} taken for the models"}
    return {}


def with_unknown_headers(
    sheet: Sheet, columns: tuple[Column, ...], rows: Sequence[Row], around: Facts
) -> tuple[Column, ...]:
    """Find out what header texts are that are no known word: data sets, versions of one, or models."""
    unknown = [column.facts for column in columns if column.role == "value" and column.facts.rest]
    if not unknown:
        return columns
    body = [row.facts for row in rows if row.kind == "values"]
    datasets = {facts.dataset_as_printed for facts in body if facts.dataset}
    has_models = any(facts.model for facts in body)
    knows_dataset = bool(datasets or around.dataset or sheet.stated.facts.dataset)
    versions = (f"{name} {facts.rest}" for name in datasets for facts in unknown)
    if any(find_dataset(version, sheet.names) for version in versions):
        kind = "versions"
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
    """Return what a header says, its unknown text as the name of a data set or model, or still unknown."""
    facts, text = column.facts, column.facts.rest or ""
    if kind == "data sets" and not facts.dataset:
        why = (*facts.assumed, ("dataset", f"header '{text}' taken for one"))
        return replace(facts, dataset=text, dataset_as_printed=text, rest=None, assumed=why)
    if kind == "models" or (facts.dataset and not has_models):
        # A bare number needs the word in the corner of the table.
        corner = label(sheet.grid.rows[0][0]) if column.index else ""
        model = f"{corner} {text}" if is_numeric(text) and corner and not metric_key(corner) else text
        why = (*facts.assumed, ("model", "from a header"))
        return replace(facts, model=model, rest=None, assumed=why)
    return facts
