"""Rows of the same model told apart by the other columns of their table."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rankadjust.tables.cells import is_numeric
from rankadjust.tables.headers import folded, is_bookkeeping, role_of
from rankadjust.tables.values import Value


def tell_apart(values: Sequence[Value]) -> list[str]:
    """Add to the name of models with several rows in brackets what tells the rows apart; return what was done.

    Two rows are the same model where they agree in everything but their number. A name that was stated stays.
    """
    groups: dict[tuple[Any, ...], dict[int, Value]] = defaultdict(dict)
    for value in values:
        facts = value.facts
        key = (facts.model, facts.dataset, facts.split, facts.side, facts.protocol, facts.metric)
        groups[key][value.cell[0]] = value
    telling = _configuration(values)
    added: dict[tuple[str, int], str] = {}
    repeated: dict[str, int] = {}
    for (model, *_), rows in groups.items():
        if model is None or len(rows) == 1:
            continue
        headers = _telling_headers(list(rows.values()), telling)
        if not headers or any(value.patterned for value in rows.values()):
            repeated[model] = max(repeated.get(model, 0), len(rows))
            continue
        for row, value in rows.items():
            words = [_described(header, value.labels[header]) for header in headers]
            added[model, row] = ", ".join(filter(None, words))
    for value in values:
        suffix = added.get((value.facts.model or "", value.cell[0]))
        if suffix:
            value.facts = replace(value.facts, model=f"{value.facts.model} ({suffix})")
    told = ", ".join(f"'{model}'" for model in dict.fromkeys(model for model, _ in added))
    remarks = [f"rows of {told} told apart by other columns, added to the name in brackets"] if told else []
    return remarks + [
        f"{count} rows of '{model}' have the same data set, split, side, protocol and metric"
        for model, count in repeated.items()
    ]


def _configuration(values: Sequence[Value]) -> set[str]:
    """Return the label columns that may say which model it is: not those that number the rows, or its cost."""
    columns: dict[str, dict[int, str]] = defaultdict(dict)
    for value in values:
        for header, text in value.labels.items():
            columns[header][value.cell[0]] = text
    return {
        header
        for header, texts in columns.items()
        if not any(map(is_bookkeeping, header.split(" / ")))
        and not (role_of(header) == "other" and len(set(texts.values())) == len(texts) > 2)
    }


def _telling_headers(rows: Sequence[Value], telling: set[str]) -> list[str]:
    """Return the telling columns, as few as possible from the left, in which all these rows differ; else none."""

    def distinct(headers: Iterable[str]) -> int:
        headers = list(headers)
        return len({tuple(value.labels[header] for header in headers) for value in rows})

    chosen: list[str] = []
    for header in rows[0].labels:
        if header in telling and all(header in value.labels for value in rows):
            chosen += [header] if distinct([*chosen, header]) > distinct(chosen) else []
    return chosen if distinct(chosen) == len(rows) else []


def _described(header: str, text: str) -> str:
    """Return a label for a name: numbers and yes or no need their header to be understood."""
    if text and (is_numeric(text) or folded(text) in ("yes", "no", "true", "false")):
        return f"{header if header.isupper() else header.lower()} {text}"
    return text
