"""Joint consistency: whether one distribution of ranks can have all printed values of a model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankadjust.base.errors import listed
from rankadjust.chance.metrics import hit
from rankadjust.consistency.program import MOST_AVERAGED, Program, Ranks
from rankadjust.consistency.rank_grid import RankFunction
from rankadjust.consistency.statements import (
    Statement,
    TaskCounts,
    at_least,
    at_most,
    mean_demand,
    share_demand,
    statement_of,
)
from rankadjust.literature.single_values import Finding, PrintedValue

_SEVERITY = {Ranks.HALVES: "impossible", Ranks.WHOLE: "only_with_ties", Ranks.DECREASING: "suspicious"}
# After each contradiction a value is left out and the rest is checked again, at most so many times.
_MOST_FOUND = 4
_TWO = 2


class _Model:
    """The values of a model in one system of constraints, and its linear program for each kind of ranks."""

    def __init__(self, values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts]) -> None:
        sides = {value.side for value in values}
        linked = "both" in sides and len(sides) > 1
        self.values = {value.key: value for value in values}
        names = ("head", "tail") if linked else tuple(sorted(sides))
        self.tasks = {name: tasks[name] for name in names}
        self.parts_of = {name: (name,) for name in names} | ({"both": names} if linked else {})
        numbers = {name: counts.number for name, counts in self.tasks.items()}
        total = sum(number or 0.0 for number in numbers.values())
        self.shares = (
            {name: float(number or 0.0) / total for name, number in numbers.items()}
            if linked and None not in numbers.values()
            else None
        )
        self._programs: dict[Ranks, Program] = {}

    def program(self, ranks: Ranks) -> Program:
        """Return the program for a kind of ranks."""
        if ranks not in self._programs:
            self._programs[ranks] = self.program_of(self.values.values(), ranks)
        return self._programs[ranks]

    def program_of(self, values: Iterable[PrintedValue], ranks: Ranks) -> Program:
        """Return the program of other values on the same tasks."""
        return Program(self.tasks, self.shares, self.parts_of, _statements(values), ranks)


def joint_findings(values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts]) -> Iterator[Finding]:
    """Return the contradictions among the values of one model.

    tasks: the tasks by side; also of head and tail if values of several sides are printed.
    """
    by_side: dict[str, list[PrintedValue]] = {}
    for value in sorted(values, key=lambda value: value.side):
        by_side.setdefault(value.side, []).append(value)
    # Head and tail constrain each other only through the mean of both sides. If the numbers of tasks per side are not
    # known, that mean may hide a contradiction of a single side.
    linked = "both" in by_side and len(by_side) > 1
    weighted = linked and None not in (tasks["head"].number, tasks["tail"].number)
    systems = [*([] if weighted else by_side.values()), *([list(values)] if linked else [])]
    reported: set[str] = set()
    for system in systems:
        for _ in range(_MOST_FOUND):
            rest = [value for value in system if value.key not in reported]
            clash = _first(rest, tasks) if len(rest) >= _TWO else None
            if clash is None:
                break
            finding, blamed = clash
            yield finding
            reported.add(blamed)


def _statements(values: Iterable[PrintedValue]) -> list[Statement]:
    statements = (statement_of(value) for value in values)
    return [statement for statement in statements if statement is not None]


def _first(values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts]) -> tuple[Finding, str] | None:
    """Return the first contradiction and the key of the blamed value, None if the values are possible together."""
    if _are_ordered_hits(values):
        return None
    model = _Model(values, tasks)
    whole = model.program(Ranks.WHOLE)
    if len(whole.names) < _TWO:
        return None
    if not whole.clashes(whole.names):
        ranks = Ranks.DECREASING
        # Worse ranks should be rarer if the true answer competes with wrong answers only.
        if not all(value.is_ordinary for value in values) or any(
            counts.most > MOST_AVERAGED for counts in model.tasks.values()
        ):
            return None
    else:
        ranks = Ranks.HALVES if model.program(Ranks.HALVES).clashes(whole.names) else Ranks.WHOLE
    program = model.program(ranks)
    if not program.clashes(program.names):
        return None
    additive = [value for value in values if value.metric.additive]
    if ranks is Ranks.HALVES and 0 < len(additive) < len(values):
        # A mean over runs of an additive metric is its value for all ranks of the runs together. So a contradiction
        # among additive metrics holds for means over runs, too.
        finding = _first(additive, tasks)
        if finding is not None and finding[0].severity == _SEVERITY[ranks]:
            return finding
    # Hits are left out first, since there are many of them.
    names = sorted(program.names, key=lambda name: (model.values[name].metric.shape is not hit, int(name)))
    return _finding_of(model, ranks, program.irreducible(names))


def _are_ordered_hits(values: Sequence[PrintedValue]) -> bool:
    """Return whether all values are Hits of one side that do not decrease in k: some ranks have such values."""
    if len({value.side for value in values}) > 1 or any(
        value.metric.family != "hits_at_k" for value in values
    ):
        return False
    ordered = sorted(values, key=lambda value: value.metric.k or 0)
    lows = np.maximum.accumulate([value.low for value in ordered])
    return bool((lows <= [value.high for value in ordered]).all())


@dataclass(frozen=True)
class _Clashing:
    """A value that clashes with others.

    allowed: the interval that the other values leave for this value, None if there is none or it is not known.
    alone_wrong: whether the other values are consistent without this value.
    """

    value: PrintedValue
    allowed: tuple[float, float] | None
    alone_wrong: bool

    @property
    def change(self) -> float:
        """The change that the value needs, relative to its size; inf if no change is known."""
        if self.end is None:
            return np.inf
        limit, printed = self.end
        return abs(limit - printed) / max(abs(self.value.low), abs(self.value.high), 1e-12)

    @property
    def innocence(self) -> tuple[object, ...]:
        """The sort key of the values of a clash; the finding blames the value with the least key."""
        return not self.alone_wrong, self.value.metric.shape is hit, self.change, self.value.row

    @property
    def end(self) -> tuple[float, float] | None:
        """The end of the allowed interval that the value violates, and the nearest end of the printed interval."""
        if self.allowed is not None and self.allowed[0] > self.value.high:
            return self.allowed[0], self.value.high
        if self.allowed is not None and self.allowed[1] < self.value.low:
            return self.allowed[1], self.value.low
        return None

    @property
    def mended(self) -> str | None:
        """The least change of the value that removes the clash, in words."""
        number = None if self.allowed is None else self.value.nearest(*self.allowed)
        return None if number is None else f"{self.value.name} {number} instead of {self.value.number}"


def _clashing(program: Program, value: PrintedValue, names: Sequence[str]) -> _Clashing:
    """Return a value with the interval that the others allow; names: the names of the clashing values."""
    others = [name for name in program.names if name != value.key]
    alone_wrong = not program.clashes(others)
    rest = others if alone_wrong else [name for name in names if name != value.key]
    return _Clashing(value, _allowed(program, value, rest), alone_wrong)


def _finding_of(model: _Model, ranks: Ranks, names: Sequence[str]) -> tuple[Finding, str]:
    """Return the finding for values that clash, and the name of the value that it blames."""
    program = model.program(ranks)
    clashing = [_clashing(program, model.values[name], names) for name in names]
    blamed = min(clashing, key=lambda each: each.innocence)
    value = blamed.value
    least = min((each for each in clashing if each.allowed), key=lambda each: each.change, default=None)
    mended = None if least is None else least.mended
    limit, printed = (None, None) if blamed.end is None else map(value.as_adjusted, blamed.end)
    severity, remark = _severity(model, ranks, names)
    finding = Finding(
        row=value.row,
        severity=severity,
        bound="shape" if ranks is Ranks.DECREASING else "joint",
        limit=limit,
        excess=None if limit is None or printed is None else abs(limit - printed),
        values="; ".join(each.value.text for each in clashing),
        mended=mended,
        message=" ".join([*_sentences(ranks, clashing, blamed, mended), *remark]),
    )
    return finding, value.key


def _severity(model: _Model, ranks: Ranks, names: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the severity of a clash, and sentences on circumstances that would still make the values possible."""
    values = [model.values[name] for name in names]
    if ranks is Ranks.DECREASING:
        return _SEVERITY[ranks], []
    sides = len({value.side for value in values})
    # The index of the mean of two sides is not the mean of their indices: each side has an expectation of its own.
    others = {
        value.name.removesuffix(f" ({value.side})")
        for value in values
        if not value.metric.additive or (value.adjustment and sides > 1)
    }
    if others:
        verb = "is" if len(others) == 1 else "are"
        means = "several runs" if sides == 1 else "several runs, or over head and tail,"
        return "only_over_runs" if ranks is Ranks.HALVES else _SEVERITY[ranks], [
            f"Means over {means} may have these values, as {listed(sorted(others))} {verb} no mean over the tasks."
        ]
    if ranks is Ranks.HALVES and not model.program_of([value.cut for value in values], ranks).clashes(names):
        return "only_if_cut", ["All would agree if digits had been cut off, not rounded."]
    return _SEVERITY[ranks], []


def _sentences(
    ranks: Ranks, clashing: Sequence[_Clashing], blamed: _Clashing, mended: str | None
) -> Iterator[str]:
    pair = len(clashing) == _TWO
    both = "both" if pair else "all of them"
    reason = {
        Ranks.HALVES: f"no ranks have {both}",
        Ranks.WHOLE: f"whole ranks cannot have {both}, only ranks with ties",
        Ranks.DECREASING: f"to have {both}, some rank beyond 1 would have to be more frequent than a better one",
    }[ranks]
    yield f"{listed(each.value.text for each in clashing)} contradict each other: {reason}."
    if blamed.end is not None:
        limit, printed = map(blamed.value.as_adjusted, blamed.end)
        others = "the other value" if pair else "the other values"
        side = "at least" if limit > printed else "at most"
        yield f"With {others}, {blamed.value.name} is {side} {blamed.value.shown(blamed.end[0])}."
    if mended is not None:
        yield f"The least change that mends it: {mended}."


def _allowed(program: Program, value: PrintedValue, rest: Sequence[str]) -> tuple[float, float] | None:
    """Return the interval that the other values leave for a metric, None if there is none or it is not known."""
    metric = value.metric
    if metric.term is not None and not metric.needs_candidates:
        demand = mean_demand(metric, value.low, value.high)
        allowed = None if demand is None else program.mean_between(value.side, demand, rest)
        if allowed is None:
            return None
        with np.errstate(divide="ignore"):
            ends = metric.link(np.array(allowed))
        return float(ends.min()), float(ends.max())
    return _median_allowed(program, value.side, rest) if metric.key == "median_rank" else None


def _median_allowed(program: Program, side: str, rest: Sequence[str]) -> tuple[float, float] | None:
    """Return the least and the greatest possible median among the points of the grid, by bisection."""
    points = program.grid.points

    def holds(ranks: Callable[[float], RankFunction], place: int) -> bool:
        between = program.mean_between(side, share_demand(ranks(points[place]), 0.5, ()), rest)
        return between is not None and between[1] >= 1 / 2

    last = len(points) - 1
    if not holds(at_least, 0):
        return None
    least = _first_that(lambda place: holds(at_most, place), last)
    most = _first_that(lambda place: holds(at_least, last - place), last)
    return float(points[least]), float(points[last - most])


def _first_that(holds: Callable[[int], bool], last: int) -> int:
    """Return the first place where a condition holds, given that it then holds at every later place (bisection)."""
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
