"""Joint consistency: whether one distribution of ranks can have all printed values of a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankadjust.base.errors import listed
from rankadjust.chance.metrics import hit
from rankadjust.consistency.program import MOST_AVERAGED, Program, Ranks
from rankadjust.consistency.statements import TaskCounts
from rankadjust.literature.single_values import Finding, PrintedValue

# After each contradiction a value is left out and the rest is checked again, at most so many times.
_MOST_FOUND = 4
_TWO = 2


def joint_findings(values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts]) -> Iterator[Finding]:
    """Return the contradictions among the values of one model.

    tasks: the tasks by side; also of head and tail if values of several sides are printed.
    """
    by_side: dict[str, list[PrintedValue]] = {}
    for value in sorted(values, key=lambda value: value.side):
        by_side.setdefault(value.side, []).append(value)
    # Head and tail constrain each other only through the mean of both sides, if their numbers of tasks are known.
    is_linked = "both" in by_side and len(by_side) > 1
    is_weighted = is_linked and None not in (tasks["head"].number, tasks["tail"].number)
    reported: set[str] = set()
    for system in [list(values)] if is_weighted else by_side.values():
        for _ in range(_MOST_FOUND):
            rest = [value for value in system if value.key not in reported]
            clash = _first(rest, tasks) if len(rest) >= _TWO else None
            if clash is None:
                break
            finding, blamed = clash
            yield finding
            reported.add(blamed)


def _program(values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts], ranks: Ranks) -> Program:
    sides = {value.side for value in values}
    if len(sides) > 1:
        parts = ("head", "tail")
        parts_of = {**{part: (part,) for part in parts}, "both": parts}
        return Program({part: tasks[part] for part in parts}, parts_of, values, ranks)
    (side,) = sides
    return Program({side: tasks[side]}, {side: (side,)}, values, ranks)


def _first(values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts]) -> tuple[Finding, str] | None:
    """Return the first contradiction and the key of the blamed value, None if the values are possible together."""
    if _are_ordered_hits(values):
        return None
    ranks, program = Ranks.HALVES, _program(values, tasks, Ranks.HALVES)
    if not program.clashes(program.names):
        # Worse ranks should be rarer if the true answer competes with wrong answers only.
        if not all(value.is_ordinary for value in values) or any(
            tasks[value.side].most > MOST_AVERAGED for value in values
        ):
            return None
        ranks, program = Ranks.DECREASING, _program(values, tasks, Ranks.DECREASING)
        if not program.clashes(program.names):
            return None
    by_key = {value.key: value for value in values}
    # Hits are left out first, since there are many of them.
    names = sorted(program.names, key=lambda name: (by_key[name].metric.shape is not hit, int(name)))
    names = program.irreducible(names)
    clashing = [_clashing(program, by_key[name], names) for name in names]
    cut = _program([value.cut for value in values], tasks, ranks)
    is_only_cut = ranks is Ranks.HALVES and not cut.clashes(names)
    return _finding_of(clashing, ranks, is_only_cut=is_only_cut)


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
    return _Clashing(value, program.allowed(value.key, rest), alone_wrong)


def _finding_of(clashing: Sequence[_Clashing], ranks: Ranks, *, is_only_cut: bool) -> tuple[Finding, str]:
    """Return the finding for values that clash, and the name of the value that it blames."""
    blamed = min(clashing, key=lambda each: each.innocence)
    least = min((each for each in clashing if each.allowed), key=lambda each: each.change, default=None)
    mended = None if least is None else least.mended
    limit, printed = (None, None) if blamed.end is None else blamed.end
    impossible = "only_if_cut" if is_only_cut else "impossible"
    cut = ["They would be possible if digits had been cut off instead of rounded."] if is_only_cut else []
    finding = Finding(
        row=blamed.value.row,
        severity="suspicious" if ranks is Ranks.DECREASING else impossible,
        bound="shape" if ranks is Ranks.DECREASING else "joint",
        limit=limit,
        excess=None if limit is None or printed is None else abs(limit - printed),
        values="; ".join(each.value.text for each in clashing),
        mended=mended,
        message=" ".join([*_sentences(ranks, clashing, blamed, mended), *cut]),
    )
    return finding, blamed.value.key


def _sentences(
    ranks: Ranks, clashing: Sequence[_Clashing], blamed: _Clashing, mended: str | None
) -> Iterator[str]:
    pair = len(clashing) == _TWO
    both = "both" if pair else "all of them"
    reason = {
        Ranks.HALVES: f"because no ranks have {both}",
        Ranks.DECREASING: f"because a rank beyond 1 would have to be more frequent than a better rank, to have {both}",
    }[ranks]
    yield f"{listed(each.value.text for each in clashing)} contradict each other, {reason}."
    if blamed.end is not None:
        limit, printed = blamed.end
        others = next(each.value.text for each in clashing if each is not blamed) if pair else "the others"
        side = "at least" if limit > printed else "at most"
        yield f"Given {others}, {blamed.value.name} is {side} {blamed.value.shown(limit)}."
    if mended is not None:
        yield f"The least change that makes them possible is {mended}."
