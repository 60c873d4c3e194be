"""Printed values of one model against each other: whether one distribution of ranks can have them all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from rankadjust.base.errors import listed
from rankadjust.chance.metrics import hit, resolve
from rankadjust.consistency.program import MOST_AVERAGED, Program, Ranks
from rankadjust.consistency.statements import (
    Demand,
    Printed,
    Statement,
    Tasks,
    at_least,
    at_most,
    mean_demand,
    share_demand,
    statement_of,
)
from rankadjust.literature.findings import Finding, Value

_SEVERITY = {Ranks.HALVES: "impossible", Ranks.WHOLE: "only_with_ties", Ranks.DECREASING: "suspicious"}
# A contradiction is mended by leaving one value out, and the rest is looked at again; so often at most.
_MOST_FOUND = 4
_TWO = 2


class _Model:
    """The values of one model that belong to one system, and the programs for each kind of ranks."""

    def __init__(self, values: Sequence[Value], tasks: Mapping[str, Tasks]) -> None:
        sides = {value.side for value in values}
        linked = "both" in sides and len(sides) > 1
        self.values = {value.key: value for value in values}
        names = ("head", "tail") if linked else tuple(sorted(sides))
        self.tasks = {name: tasks[name] for name in names}
        self.parts_of = {name: (name,) for name in names} | ({"both": names} if linked else {})
        numbers = {name: one.number for name, one in self.tasks.items()}
        total = sum(number or 0.0 for number in numbers.values())
        self.shares = (
            None
            if not linked or None in numbers.values()
            else {name: float(number or 0.0) / total for name, number in numbers.items()}
        )
        self._programs: dict[Ranks, Program] = {}

    def program(self, ranks: Ranks) -> Program:
        """Return the program for a kind of ranks."""
        if ranks not in self._programs:
            statements = _statements(self.values.values())
            self._programs[ranks] = Program(self.tasks, self.shares, self.parts_of, statements, ranks)
        return self._programs[ranks]


def joint_findings(values: Sequence[Value], tasks: Mapping[str, Tasks]) -> Iterator[Finding]:
    """Return the contradictions among the values of one model.

    tasks: the lists of tasks by side; head and tail too where values of several sides are printed.
    """
    sides = {value.side for value in values}
    # Where it is not known how many tasks each side has, the sum of the sides may hide what one alone shows.
    unknown = "both" in sides and len(sides) > 1 and None in (tasks["head"].number, tasks["tail"].number)
    systems = [[value for value in values if value.side == side] for side in sorted(sides)] if unknown else []
    told: set[str] = set()
    for system in [*systems, list(values)]:
        rest = [value for value in system if value.key not in told]
        for _ in range(_MOST_FOUND):
            if len(rest) < _TWO:
                break
            found = _first(rest, tasks)
            if found is None:
                break
            finding, blamed = found
            yield finding
            told.add(blamed)
            rest = [value for value in rest if value.key != blamed]


def _statements(values: Iterable[Value]) -> list[Statement]:
    printed = [Printed(value.key, value.metric, value.side, value.low, value.high) for value in values]
    by_side: dict[str, dict[str, Printed]] = {}
    for each in printed:
        by_side.setdefault(each.side, {}).setdefault(each.metric.key, each)
    found = (statement_of(each, by_side[each.side]) for each in printed)
    return [statement for statement in found if statement is not None]


def _first(values: Sequence[Value], tasks: Mapping[str, Tasks]) -> tuple[Finding, str] | None:
    """Return the first contradiction and the value that it is told of, None where the values can be together."""
    if _are_ordered_hits(values):
        return None
    model = _Model(values, tasks)
    whole = model.program(Ranks.WHOLE)
    if len(whole.names) < _TWO:
        return None
    if not whole.clashes(whole.names):
        ranks = Ranks.DECREASING
        if not _is_ordinary(values, model.tasks):
            return None
    else:
        ranks = Ranks.HALVES if model.program(Ranks.HALVES).clashes(whole.names) else Ranks.WHOLE
    program = model.program(ranks)
    if not program.clashes(program.names):
        return None
    return _told(model, ranks, program.irreducible(_in_order(model, program)))


def _are_ordered_hits(values: Sequence[Value]) -> bool:
    """Return whether all values are Hits of one side that do not decrease in k: some ranks have these."""
    if len({value.side for value in values}) > 1 or any(
        value.metric.family != "hits_at_k" for value in values
    ):
        return False
    low = -np.inf
    for value in sorted(values, key=lambda value: value.metric.k or 0):
        low = max(low, value.low)
        if value.high < low:
            return False
    return True


def _in_order(model: _Model, program: Program) -> list[str]:
    """Return the names in the order in which they are left out, if they can be: Hits first, of which there are many."""
    return sorted(program.names, key=lambda name: (model.values[name].metric.shape is not hit, int(name)))


def _is_ordinary(values: Sequence[Value], tasks: Mapping[str, Tasks]) -> bool:
    """Return whether shares that do not increase are to be expected: the true answer competes with wrong ones only."""
    return all(value.is_ordinary for value in values) and all(
        one.most <= MOST_AVERAGED for one in tasks.values()
    )


def _told(model: _Model, ranks: Ranks, names: Sequence[str]) -> tuple[Finding, str]:
    """Return the finding for values that clash, and which of them it is told of."""
    program = model.program(ranks)
    clashing = [model.values[name] for name in names]
    allowed: dict[str, tuple[float, float]] = {}
    alone_wrong = set()
    for value in clashing:
        rest = [name for name in program.names if name != value.key]
        if program.clashes(rest):
            rest = [name for name in names if name != value.key]
        else:
            alone_wrong.add(value.key)
        ends = _allowed(program, value, rest)
        if ends is not None:
            allowed[value.key] = ends
    changes = {key: _change(model.values[key], *ends) for key, ends in allowed.items()}
    blamed = min(
        clashing,
        key=lambda value: (
            value.key not in alone_wrong,
            value.metric.shape is hit,
            changes.get(value.key, np.inf),
            value.row,
        ),
    )
    least = min(changes, key=lambda key: changes[key], default=None)
    mended = None
    if least is not None and (number := model.values[least].nearest(*allowed[least])) is not None:
        mended = f"{model.values[least].name} {number} instead of {model.values[least].number}"
    limit, excess = _limit(blamed, allowed.get(blamed.key))
    both = "both" if len(clashing) == _TWO else "all of them"
    reason = {
        Ranks.HALVES: f"no ranks have {both}",
        Ranks.WHOLE: f"whole ranks cannot have {both}, only ranks with ties",
        Ranks.DECREASING: f"to have {both}, some rank beyond 1 would have to be more frequent than a better one",
    }[ranks]
    parts = [f"{listed([value.text for value in clashing])} contradict each other: {reason}."]
    if limit is not None:
        others = "the other value" if len(clashing) == _TWO else "the other values"
        side = "at least" if limit > blamed.high else "at most"
        parts.append(f"With {others}, {blamed.name} is {side} {blamed.shown(limit)}.")
    if mended is not None:
        parts.append(f"The least change that mends it: {mended}.")
    hint = _hint(model, program, blamed) if ranks is not Ranks.DECREASING else None
    if hint is not None:
        parts.append(hint)
    return (
        Finding(
            row=blamed.row,
            severity=_SEVERITY[ranks],
            bound="shape" if ranks is Ranks.DECREASING else "joint",
            limit=None if limit is None else blamed.as_adjusted(limit),
            excess=excess,
            values="; ".join(value.text for value in clashing),
            mended=mended,
            message=" ".join(parts),
        ),
        blamed.key,
    )


def _limit(value: Value, allowed: tuple[float, float] | None) -> tuple[float | None, float | None]:
    if allowed is None:
        return None, None
    if allowed[0] > value.high:
        return allowed[0], abs(value.as_adjusted(allowed[0]) - value.as_adjusted(value.high))
    if allowed[1] < value.low:
        return allowed[1], abs(value.as_adjusted(value.low) - value.as_adjusted(allowed[1]))
    return None, None


def _change(value: Value, least: float, most: float) -> float:
    """Return how much a value has to change, relative to its size."""
    away = max(least - value.high, value.low - most, 0.0)
    return away / max(abs(value.low), abs(value.high), 1e-12) if away else np.inf


def _allowed(program: Program, value: Value, rest: Sequence[str]) -> tuple[float, float] | None:
    """Return between which values of a metric the others leave room, None where they leave none or it is not known."""
    metric = value.metric
    if metric.term is not None and not metric.needs_candidates:
        demand = mean_demand(metric, value.low, value.high)
        found = None if demand is None else program.mean_between(value.side, demand, rest)
        if found is None:
            return None
        with np.errstate(divide="ignore"):
            ends = metric.link(np.array(found))
        return float(ends.min()), float(ends.max())
    if metric.key == "median_rank":
        return _median_allowed(program, value.side, rest)
    return None


def _median_allowed(program: Program, side: str, rest: Sequence[str]) -> tuple[float, float] | None:
    """Return the least and the greatest median, among the points of the grid, by halving."""
    points = program.grid.points

    def holds(demand: Demand) -> bool:
        found = program.mean_between(side, demand, rest)
        return found is not None and found[1] >= 1 / 2

    if not holds(share_demand(at_least(points[0]), 0.5, ())):
        return None
    least = _first_that(lambda place: holds(share_demand(at_most(points[place]), 0.5, ())), len(points))
    most = _first_that(
        lambda place: holds(share_demand(at_least(points[len(points) - 1 - place]), 0.5, ())), len(points)
    )
    return float(points[least]), float(points[len(points) - 1 - most])


def _first_that(holds: Callable[[int], bool], number: int) -> int:
    """Return the first place where something holds that then holds at every later place."""
    low, high = 0, number - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


# --- what may have happened ---------------------------------------------------------------------------------


def _hint(model: _Model, program: Program, blamed: Value) -> str | None:
    """Return a sentence with a slip that would explain all, None where none does."""
    values = list(model.values.values())
    for words, changed in _slips(values, blamed):
        again = Program(model.tasks, model.shares, model.parts_of, _statements(changed), Ranks.HALVES)
        if set(again.names) == set(program.names) and not again.clashes(again.names):
            return f"All would agree if {words}."
    return None


def _slips(values: Sequence[Value], blamed: Value) -> Iterator[tuple[str, list[Value]]]:
    hits = [value for value in values if value.metric.family == "hits_at_k" and value.metric.k is not None]
    means = [value for value in values if value.metric.upper <= 1]
    for first, second in combinations(means, _TWO):
        if first.side == second.side and blamed.key in (first.key, second.key) and first.low != second.low:
            yield (
                f"{first.name} and {second.name} were swapped",
                [
                    _with(value, second)
                    if value.key == first.key
                    else _with(value, first)
                    if value.key == second.key
                    else value
                    for value in values
                ],
            )
    for words, factor in (("in percent", 0.01), ("a fraction", 100.0)):
        if blamed.metric.upper <= 1 and blamed.high * factor <= 1:
            changed = replace(blamed, low=blamed.low * factor, high=blamed.high * factor)
            yield (
                f"{blamed.name} were {words}",
                [changed if value.key == blamed.key else value for value in values],
            )
    if hits and min(value.metric.k or 0 for value in hits) > 1:
        yield "Hits@k counted the ranks below k only", [_shifted(value, -1) for value in values]
    if hits:
        yield "Hits@k counted the ranks up to k + 1", [_shifted(value, 1) for value in values]


def _with(value: Value, other: Value) -> Value:
    return replace(value, low=other.low, high=other.high)


def _shifted(value: Value, by: int) -> Value:
    if value.metric.family != "hits_at_k" or value.metric.k is None:
        return value
    return replace(value, metric=resolve(f"hits@{value.metric.k + by}"))
