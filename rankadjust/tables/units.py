"""Decide the meaning of numbers: of the commas in them, and whether they are percent or fractions.

A metric in [0, 1] is printed as a fraction or in percent, and a table may mix the two. The unit is decided for a whole
series (a column, or a row where metrics are rows): values above 1 cannot be fractions, and the Hits of a table share a
unit. Where the numbers decide nothing, the cells are unread, with the reason.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from rankadjust.base.printed import Interval, Number
from rankadjust.chance.adjusted_names import find_adjusted
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.tables.values import States, Value

_THOUSANDS_WITH_POINT = re.compile(r"-?[1-9][0-9]{0,2}\.[0-9]{3}")
# The ranges of adjusted metrics that differ from the range of the metric itself.
_RANGES = {"index": (float("-inf"), 1.0), "ratio": (0.0, float("inf"))}


@dataclass(frozen=True)
class Series:
    """The numbers of one metric that were printed under one header.

    metric: its key. stated: the unit that the header or a sidecar states, None if neither does. datasets: the data
    sets, each with the label within the cell. percent: the text around the table that declares its numbers percent.
    """

    metric: str
    numbers: tuple[Number, ...]
    stated: str | None = None
    datasets: frozenset[tuple[str | None, str]] = frozenset()
    percent: str | None = None


@dataclass(frozen=True)
class Decision:
    """The unit of a series (None: undecided), its reason, and the numbers that are impossible in it, by their index.

    assumed: whether the unit follows from the numbers alone.
    """

    unit: str | None
    reason: str
    impossible: Mapping[int, str]
    assumed: bool = False


@lru_cache(maxsize=1024)
def base_metric(key: str) -> tuple[Metric | None, str | None]:
    """Return the metric of a key, and its adjustment if it is a printed adjusted metric: ratio, index or z."""
    return find_adjusted(key) or (None, None)


def is_share(key: str) -> bool:
    """Return whether a metric lies in [0, 1], so that it may be printed in percent."""
    metric, adjustment = base_metric(key)
    return metric is not None and adjustment is None and metric.upper <= 1.0


def settle(
    values: Sequence[Value], states: States, signs: set[str], percent: str | None = None
) -> list[Value]:
    """Settle commas and units of the values of a table; return the values that are possible.

    The cells of the other values become unread in `states`. signs: the decimal signs of the file (`decimal_signs`).
    percent: as in `Series`.
    """
    groups: dict[tuple[Any, ...], list[Value]] = defaultdict(list)
    for value in values:
        _settle_sign(value, states, signs)
        groups[value.series, value.facts.metric].append(value)
    series = [_series(members, percent) for members in groups.values()]
    for members, decision in zip(groups.values(), decide_units(series), strict=True):
        has_comma = any(value.number.other for value in members)
        for index, value in enumerate(members):
            if has_comma and _may_be_thousands(value.number):
                why = "the point is decimal, though other values have a decimal comma"
                value.assumed.setdefault("value", why)
            value.unit = "percent" if value.number.percent else decision.unit
            reason = decision.reason if decision.unit is None else decision.impossible.get(index)
            if reason and states[value.cell][0] == "value":
                states[value.cell] = ("unread", reason)
            if decision.assumed and not value.number.percent:
                value.assumed["unit"] = decision.reason
    _doubt_swapped(values)
    return [value for value in values if states[value.cell][0] == "value"]


def _doubt_swapped(values: Sequence[Value]) -> None:
    """Mark the metrics as assumed if the Hits@k of most models fall as k grows: the columns may be swapped."""
    rows: dict[tuple[Any, ...], dict[int, Interval]] = defaultdict(dict)
    for value in values:
        metric = value.facts.metric or ""
        if metric.startswith("hits_at_") and value.unit is not None:
            evaluation = replace(value.facts, metric=None, metric_as_printed=None, unit=None)
            interval = value.number.interval(percent=value.unit == "percent")
            rows[value.model_line, value.series[1], evaluation][resolve(metric).k or 0] = interval
    several = [row for row in rows.values() if len(row) > 1]
    wrong = sum(any(row[k].low > row[other].high for k, other in pairwise(sorted(row))) for row in several)
    for value in values if 2 * wrong > len(several) else ():
        value.assumed.setdefault("metric", "of the header, though most rows are impossible with it")


def _series(members: Sequence[Value], percent: str | None) -> Series:
    metric = members[0].facts.metric or ""
    stated = next((value.facts.unit for value in members if value.facts.unit and is_share(metric)), None)
    datasets = frozenset((value.facts.dataset, value.series[1]) for value in members)
    return Series(metric, tuple(value.number for value in members), stated, datasets, percent)


def decimal_signs(values: Iterable[Value]) -> set[str]:
    """Return the decimal signs of a file, ',' or '.' or both; 1,234 and 1.234 may be thousands and do not count."""
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
    """Read '1,234' and '1.234' by the decimal sign of the whole file; if the file has both signs, they are unread."""
    number = value.number
    has_comma = number.other is not None
    if not has_comma and not ("," in signs and not number.decimal_comma and _may_be_thousands(number)):
        return
    metric = value.facts.metric or ""
    is_small = is_share(metric) or base_metric(metric)[1] == "index"
    if has_comma and is_small:
        value.number = number.with_decimal_comma()
        value.assumed["value"] = "the comma is decimal: otherwise the value is out of range"
    elif is_small or signs == {",", "."}:
        states[value.cell] = ("unread", "the file has decimal commas and decimal points: this may be either")
    elif not has_comma:
        value.number = replace(number, text=number.text.replace(".", ""))
        value.assumed["value"] = "the point separates thousands, as the file has decimal commas"
    elif "," in signs:
        value.number = number.with_decimal_comma()
        value.assumed["value"] = "the comma is decimal, as elsewhere in the file"
    else:
        value.assumed["value"] = "the comma separates thousands"


def decide_units(series: Sequence[Series]) -> list[Decision]:
    """Return the unit of each series of a table, in the order of the series."""
    choices = [_choice(column) for column in series]
    _share_unit_of_hits(series, choices)
    return [
        Decision(unit, reason, _impossible(column, unit), bool(reason) and not column.stated)
        for column, (unit, reason) in zip(series, choices, strict=True)
    ]


# A unit (None: undecided) and the reason for it, in words for people.
_Choice = tuple[str | None, str]


def _share_unit_of_hits(series: Sequence[Series], choices: list[_Choice]) -> None:
    """Read Hits with too few values above 1 as percent if other Hits of the same data set are percent."""
    hits = [
        index
        for index, column in enumerate(series)
        if column.metric.startswith("hits_at_") and not column.stated
    ]
    sure = [index for index in hits if choices[index][0] == "percent"]
    for index in hits:
        like = [column for column in sure if series[column].datasets & series[index].datasets]
        if like and choices[index][0] != "percent":
            reason = f"percent: like the other Hits of the table ({len(like)} with values above 1)"
            choices[index] = "percent", reason


def _choice(series: Series) -> _Choice:
    """Return the unit that the numbers of a series imply by themselves."""
    metric, adjustment = base_metric(series.metric)
    count = len(series.numbers)
    above = sum(number.value > 1 and not number.percent for number in series.numbers)
    if adjustment is not None or metric is None or metric.upper > 1.0:
        is_percent = adjustment == "index" and above
        return "percent" if is_percent else _UNITS.get(adjustment, "index"), ""
    if series.stated:
        return series.stated, f"{series.stated}, as stated"
    plain = sum(not number.percent for number in series.numbers)
    if not plain:
        return "percent", f"percent: {count} of {count} values carry a percent sign"
    if not above and not series.percent:
        return "fraction", f"fraction: {count} of {count} values at most 1"
    if 2 * above >= plain:
        return "percent", f"percent: {above} of {count} values above 1"
    why = f"though {series.percent} says percent; " if series.percent else ""
    return (
        None,
        f"neither percent nor fraction is certain: {above} of {count} values above 1; {why}state the unit",
    )


# The unit of metrics that are never printed in percent.
_UNITS = {None: "rank", "z": "z"}


def _impossible(series: Series, unit: str | None) -> dict[int, str]:
    """Return the numbers, by index, with a rounding interval wholly outside the range of the metric."""
    metric, adjustment = base_metric(series.metric)
    if metric is None or adjustment == "z" or unit is None:
        return {}
    lower, upper = _RANGES.get(adjustment or "", (metric.lower, metric.upper))
    impossible = {}
    for index, number in enumerate(series.numbers):
        scale = 100 if unit == "percent" or number.percent else 1
        if lower <= number.value / scale <= upper:
            continue
        _, low, high = number.interval(percent=scale == 100)
        if high < lower or low > upper:
            least, most = (f"{bound * scale:g}" for bound in (lower, upper))
            impossible[index] = f"{number.text} as {unit} is outside {least} to {most}"
    return impossible
