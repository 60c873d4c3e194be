"""Percent or fraction: the unit of each column of a table, from all its values and what metrics must satisfy.

A metric in [0, 1] is printed as a fraction or in percent, and a table may mix the two. The unit is decided for a
whole series (a column, or a row where metrics are rows): values above 1 cannot be fractions; the Hits of a table share
a unit; and a choice by which most rows break a bound by far (docs/methods.md, "Consistency") is the wrong one. What
cannot be decided is left undecided and said so.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from rankadjust.base.printed import Number
from rankadjust.chance.adjusted_names import find_adjusted
from rankadjust.chance.metrics import Metric

# A unit changes a value by a factor of 100; small breaches of a bound are errors of print, not of the unit.
_GROSS_FACTOR = 1.25
_GROSS_STEP = 0.02
_MOST_COMBINED = 8
_MANY_ROWS = 200
_MOST_ROWS = 1000
# A series with at most this share of values above 1 may be fractions with misprints among them.
_MISPRINTS = 0.1


@dataclass(frozen=True)
class Series:
    """The numbers of one metric that were printed under one header, and the evaluation that each belongs to.

    metric: its key. stated: the unit that header or sidecar state, None if neither does.
    """

    metric: str
    numbers: tuple[Number, ...]
    rows: tuple[Hashable, ...]
    stated: str | None = None


@dataclass(frozen=True)
class Decision:
    """The unit of a series (None: not to be decided), why, and by index the numbers that it makes impossible.

    assumed: whether nothing but the numbers says it.
    """

    unit: str | None
    reason: str
    impossible: Mapping[int, str]
    assumed: bool = False


@lru_cache(maxsize=1024)
def base_metric(key: str) -> tuple[Metric | None, str | None]:
    """Return the metric of a key and, for printed adjusted metrics, the adjustment: ratio, index or z."""
    return find_adjusted(key) or (None, None)


def is_share(key: str) -> bool:
    """Tell whether a metric lies in [0, 1], so that it may be printed in percent."""
    metric, adjustment = base_metric(key)
    return metric is not None and adjustment is None and metric.upper <= 1.0


def is_at_most_one(key: str) -> bool:
    """Tell whether nothing that a metric, or its index, is printed as can exceed 1 (or 100 percent)."""
    metric, adjustment = base_metric(key)
    return metric is not None and (adjustment == "index" or (adjustment is None and metric.upper <= 1.0))


def decide_units(series: Sequence[Series]) -> list[Decision]:
    """Return the unit of each series of a table, in their order."""
    choices = [_first_choice(one) for one in series]
    _share_unit_of_hits(series, choices)
    for component in _components(series):
        _settle_by_bounds(series, component, choices)
    return [
        Decision(
            unit, reason, {} if unit is None else _impossible(one, unit), bool(reason) and not one.stated
        )
        for one, (unit, reason) in zip(series, choices, strict=True)
    ]


# A unit (None while it is not decided) and the reason for it, in words for people.
_Choice = tuple[str | None, str]


def _first_choice(series: Series) -> _Choice:
    """Return the unit that the numbers of a series speak for by themselves."""
    metric, adjustment = base_metric(series.metric)
    count, above = len(series.numbers), _above_one(series)
    if adjustment is not None or metric is None or metric.upper > 1.0:
        return _unit_without_choice(adjustment, above), ""
    if series.stated:
        return series.stated, f"{series.stated}, as stated"
    plain = sum(not number.percent for number in series.numbers)
    if not plain:
        return "percent", f"percent: {count} of {count} values carry a percent sign"
    if not above:
        return "fraction", f"fraction: {count} of {count} values at most 1"
    if 2 * above >= plain or above <= _MISPRINTS * plain:
        unit = "percent" if 2 * above >= plain else "fraction"
        return unit, f"{unit}: {above} of {count} values above 1"
    return None, f"neither percent nor fraction is certain: {above} of {count} values above 1; state the unit"


def _unit_without_choice(adjustment: str | None, above: int) -> str:
    if adjustment == "index" and above:
        return "percent"
    return "rank" if adjustment is None else "z" if adjustment == "z" else "index"


def _above_one(series: Series) -> int:
    return sum(number.value > 1 and not number.percent for number in series.numbers)


def _share_unit_of_hits(series: Sequence[Series], choices: list[_Choice]) -> None:
    """Read Hits columns without a value above 1 as percent where the other Hits of the table are."""
    hits = [index for index, one in enumerate(series) if one.metric.startswith("hits_at_") and not one.stated]
    certain = sum(choices[index][0] == "percent" for index in hits)
    for index in hits:
        if certain and choices[index][0] != "percent":
            reason = f"percent: like the other Hits of the table ({certain} with values above 1)"
            choices[index] = "percent", reason


def _components(series: Sequence[Series]) -> list[list[int]]:
    """Return the groups of series that have rows in common."""
    group = list(range(len(series)))
    first: dict[Hashable, int] = {}
    for index, one in enumerate(series):
        for row in one.rows:
            old, new = group[index], group[first.setdefault(row, index)]
            if old != new:
                group = [new if number == old else number for number in group]
    members = defaultdict(list)
    for index, number in enumerate(group):
        members[number].append(index)
    return list(members.values())


def _settle_by_bounds(series: Sequence[Series], component: Sequence[int], choices: list[_Choice]) -> None:
    """Change the unit of as few series as possible where by the first choice most rows break a bound by far.

    A series that is not decided yet is decided if it shares rows with others and one unit breaks fewer bounds.
    """
    table = _by_row(series, component)
    free = [index for index in component if is_share(series[index].metric) and not series[index].stated]
    undecided = [index for index in free if choices[index][0] is None]
    first = {index: choices[index][0] or "percent" for index in component}
    broken = _broken_rows(table, series, first)
    if 2 * broken <= len(table) and not undecided:
        return
    best = broken
    changed: tuple[int, ...] = ()
    for flips in _subsets(free, many=len(table) > _MANY_ROWS):
        count = _broken_rows(table, series, first | {index: _other(first[index]) for index in flips})
        if count < best and (2 * count <= best or undecided):
            best, changed = count, flips
    for index in changed:
        unit = _other(first[index])
        reason = f"as {first[index]} it contradicts the other metrics in {broken} of {len(table)} rows"
        choices[index] = unit, f"{unit}: {reason}"
    for index in undecided:
        shared = sum(index in row for row in table.values() if len(row) > 1)
        if index not in changed and shared and 2 * best <= shared:
            above, count = _above_one(series[index]), len(series[index].numbers)
            choices[index] = "percent", f"percent: {above} of {count} values above 1"


def _other(unit: str) -> str:
    return "percent" if unit == "fraction" else "fraction"


def _subsets(items: Sequence[int], *, many: bool) -> Iterable[tuple[int, ...]]:
    sizes = range(1, len(items) + 1) if len(items) <= _MOST_COMBINED and not many else (1, len(items))
    return (subset for size in sizes for subset in combinations(items, size))


def _by_row(series: Sequence[Series], component: Iterable[int]) -> dict[Hashable, dict[int, Number]]:
    table: dict[Hashable, dict[int, Number]] = defaultdict(dict)
    for index in component:
        for row, number in zip(series[index].rows, series[index].numbers, strict=True):
            table[row].setdefault(index, number)
    # A unit that most rows contradict is found in a part of them: every n-th.
    step = -(-len(table) // _MOST_ROWS)
    return dict(list(table.items())[::step]) if step > 1 else table


def _broken_rows(
    table: Mapping[Hashable, Mapping[int, Number]], series: Sequence[Series], units: Mapping[int, str]
) -> int:
    return sum(
        _breaks_a_bound(
            {series[index].metric: _interval(number, units[index]) for index, number in row.items()}
        )
        for row in table.values()
    )


def _interval(number: Number, unit: str) -> tuple[float, float]:
    _, low, high = number.interval(percent=unit == "percent" or number.percent)
    return low, high


def _breaks_a_bound(values: Mapping[str, tuple[float, float]]) -> bool:
    """Tell whether the metrics of one row contradict each other by far; the bounds are those of integer ranks."""
    hits = sorted(
        (int(key.removeprefix("hits_at_")), *values[key]) for key in values if key.startswith("hits_at_")
    )
    mrr, mean = values.get("inverse_harmonic_mean_rank"), values.get("arithmetic_mean_rank")
    # Pairs of a number and another that it cannot exceed, each with the end of its interval that allows the most.
    pairs = [(low, 1.0) for key, (low, _) in values.items() if is_share(key)]
    pairs += [(below[1], above[2]) for below, above in pairwise(hits)]
    if mrr and hits:
        # The share of ranks in (k_{j-1}, k_j] has 1/k_j <= 1/r <= 1/(k_{j-1} + 1); 1/r > 0 beyond the last k.
        steps = list(pairwise([(0, 0.0, 0.0), *hits]))
        least = sum(max(0.0, here[1] - before[1]) / here[0] for before, here in steps)
        most = sum(max(0.0, here[2] - before[2]) / (before[0] + 1) for before, here in steps)
        most += max(0.0, 1.0 - hits[-1][2]) / (hits[-1][0] + 1)
        pairs += [(least, mrr[1]), (mrr[0], most)]
    if mrr and mean and mean[1] >= 1.0:
        pairs.append((1.0 / mean[1], mrr[1]))
    return any(low > _GROSS_FACTOR * high + _GROSS_STEP for low, high in pairs)


def _impossible(series: Series, unit: str) -> dict[int, str]:
    metric, adjustment = base_metric(series.metric)
    if metric is None or adjustment == "z":
        return {}
    lower, upper = {"index": (float("-inf"), 1.0), "ratio": (0.0, float("inf"))}.get(
        adjustment or "", (metric.lower, metric.upper)
    )
    found = {}
    for index, number in enumerate(series.numbers):
        scale = 100 if unit == "percent" or number.percent else 1
        if lower <= number.value / scale <= upper:
            continue
        low, high = _interval(number, unit)
        if high < lower or low > upper:
            least, most = (f"{bound * scale:g}" for bound in (lower, upper))
            found[index] = f"{number.text} as {unit} is outside {least} to {most}"
    return found
