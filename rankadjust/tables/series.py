"""Numbers under one header: what their commas and brackets mean, and their unit."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rankadjust.base.printed import Number
from rankadjust.tables.units import Series, decide_units, is_at_most_one, is_share
from rankadjust.tables.values import States, Value

_THOUSANDS_WITH_POINT = re.compile(r"-?[1-9][0-9]{0,2}\.[0-9]{3}")


def settle(values: Sequence[Value], states: States, rows: int, signs: set[str]) -> list[Value]:
    """Settle commas, brackets and units of the values of a table with that many rows.

    signs: the decimal signs of the file (`decimal_signs`). Returns the values that are possible; the cells of the
    others become unread in `states`.
    """
    groups: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        _settle_sign(value, states, signs)
        groups[(*value.series, value.facts.metric)].append(value)
    for members in groups.values():
        _settle_brackets(members, rows)
    decisions = decide_units([_series(members) for members in groups.values()])
    for members, decision in zip(groups.values(), decisions, strict=True):
        for index, value in enumerate(members):
            value.unit = "percent" if value.number.percent else decision.unit
            reason = decision.reason if decision.unit is None else decision.impossible.get(index)
            if reason and states[value.cell][0] == "value":
                states[value.cell] = ("unread", reason)
            if decision.assumed and not value.number.percent:
                value.assumed["unit"] = decision.reason
    return [value for value in values if states[value.cell][0] == "value"]


def decimal_signs(values: Iterable[Value]) -> set[str]:
    """Return which of ',' and '.' stand before decimals somewhere in a file; 1,234 and 1.234 leave it open."""
    signs = set()
    for value in values:
        if value.number.decimal_comma:
            signs.add(",")
        elif "." in value.number.text and not _may_be_thousands(value.number):
            signs.add(".")
    return signs


def _may_be_thousands(number: Number) -> bool:
    return number.other is None and _THOUSANDS_WITH_POINT.fullmatch(number.text) is not None


def _settle_sign(value: Value, states: States, signs: set[str]) -> None:
    """Read '1,234' and '1.234' by the decimal sign of the whole file; where that has both they are unread."""
    number = value.number
    is_open = number.other is not None or (
        "," in signs and not number.decimal_comma and _may_be_thousands(number)
    )
    if not is_open:
        return
    has_comma = number.other is not None
    is_small = is_at_most_one(value.facts.metric or "")
    if signs == {",", "."} and not (has_comma and is_small):
        states[value.cell] = ("unread", "the file has decimal commas and decimal points: this may be either")
    elif has_comma and ("," in signs or is_small):
        value.number = number.with_decimal_comma()
        value.assumed["value"] = "the comma stands before decimals, as elsewhere in the file"
        if is_small and "," not in signs:
            value.assumed["value"] = "the comma stands before decimals: else it is out of range"
    elif has_comma:
        value.assumed["value"] = "the comma separates thousands"
    elif is_small:
        states[value.cell] = ("unread", "a decimal point in a file with decimal commas")
    else:
        value.number = replace(number, text=number.text.replace(".", ""))
        value.assumed["value"] = "the point separates thousands, as the file has decimal commas"


def _series(members: Sequence[Value]) -> Series:
    metric = members[0].facts.metric or ""
    # The line and the evaluation to which the numbers of several metrics belong.
    rows = tuple((value.model_line, *_evaluation(value)) for value in members)
    stated = next((value.facts.unit for value in members if value.facts.unit and is_share(metric)), None)
    return Series(metric, tuple(value.number for value in members), rows, stated)


def _evaluation(value: Value) -> tuple[str | None, ...]:
    facts = value.facts
    return value.model, facts.dataset, facts.split, facts.side, facts.protocol, facts.ties, facts.candidates


def _settle_brackets(members: Sequence[Value], rows: int) -> None:
    """Find out what the numbers in brackets after the values of a series are: places, differences or spreads."""
    bracketed = [(value, value.number.bracket) for value in members if value.number.bracket]
    if not bracketed:
        return
    if any(text[0] in "+-" for _, text in bracketed):
        meaning = "a difference"
    elif all(text.isdigit() and 1 <= int(text) <= max(rows, len(members)) for _, text in bracketed):
        meaning = "a place among the models"
    else:
        meaning = "its spread"
    for value, text in bracketed:
        value.assumed["value"] = f"the number in brackets is taken for {meaning}"
        if meaning == "its spread":
            value.spread = text.rstrip("% ")
        else:
            value.notes = (*value.notes, f"in brackets: {text}")
