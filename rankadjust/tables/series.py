"""Numbers under one header: what their commas and brackets mean, and their unit."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rankadjust.tables.units import Decision, Series, decide_units, is_at_most_one, is_share
from rankadjust.tables.values import States, Value


def settle(values: Sequence[Value], states: States, rows: int) -> tuple[list[Value], list[str]]:
    """Settle commas, brackets and units of the values of a table with that many rows.

    Returns the values that are possible and what was decided; the cells of the others become unread in `states`.
    """
    groups: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        groups[(*value.series, value.facts.metric)].append(value)
    remarks = []
    for members in groups.values():
        remarks += [*_settle_commas(members), *_settle_brackets(members, rows)]
    decisions = decide_units([_series(members) for members in groups.values()])
    for members, decision in zip(groups.values(), decisions, strict=True):
        for index, value in enumerate(members):
            value.unit = "percent" if value.number.percent else decision.unit
            reason = decision.reason if decision.unit is None else decision.impossible.get(index)
            if reason:
                states[value.cell] = ("unread", reason)
    remarks += _about_units(groups.values(), decisions)
    return [value for value in values if states[value.cell][0] == "value"], remarks


def _series(members: Sequence[Value]) -> Series:
    metric = members[0].facts.metric or ""
    return Series(
        metric=metric,
        numbers=tuple(value.number for value in members),
        rows=tuple(
            (
                value.model_line,
                replace(value.facts, metric=None, metric_as_printed=None, unit=None, notes=None),
            )
            for value in members
        ),
        stated=next((value.facts.unit for value in members if value.facts.unit and is_share(metric)), None),
    )


def _settle_commas(members: Sequence[Value]) -> list[str]:
    """Read '12,345' as 12.345 where the other numbers of the series or its range ask for it, else as thousands."""
    ambiguous = [value for value in members if value.number.other]
    if not ambiguous:
        return []
    many = f"{members[0].name}: the commas of {len(ambiguous)} of {len(members)} values"
    if any(value.number.decimal_comma for value in members):
        reason = "as other numbers of the column have decimal commas"
    elif is_at_most_one(members[0].facts.metric or ""):
        reason = "as with thousands they would be out of range"
    else:
        return [f"{many} read as separators of thousands"]
    for value in ambiguous:
        value.number = value.number.with_decimal_comma()
    return [f"{many} read as decimal points, {reason}"]


def _settle_brackets(members: Sequence[Value], rows: int) -> list[str]:
    """Find out what the numbers in brackets after the values of a series are: places, differences or spreads."""
    bracketed = [(value, value.number.bracket) for value in members if value.number.bracket]
    if not bracketed:
        return []
    if any(text[0] in "+-" for _, text in bracketed):
        meaning = "differences, kept in the notes"
    elif all(text.isdigit() and 1 <= int(text) <= max(rows, len(members)) for _, text in bracketed):
        meaning = "places among the models, kept in the notes"
    else:
        meaning = "spreads"
    for value, text in bracketed:
        if meaning == "spreads":
            value.spread = text.rstrip("% ")
        else:
            value.notes.append(f"in brackets: {text}")
    return [f"{members[0].name}: the numbers in brackets after {len(bracketed)} values read as {meaning}"]


def _about_units(groups: Iterable[Sequence[Value]], decisions: Sequence[Decision]) -> list[str]:
    """Return one remark for each reason, with the names of the columns it holds for."""
    names: dict[tuple[str | None, str], list[str]] = defaultdict(list)
    for members, decision in zip(groups, decisions, strict=True):
        if decision.reason:
            names[decision.unit, decision.reason].append(members[0].name)
    return [
        f"{', '.join(dict.fromkeys(same))}{' read as' if unit else ':'} {reason}"
        for (unit, reason), same in names.items()
    ]
