"""Contradictions within the values of one model, in plain numbers: typed values need no frames."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rankadjust.consistency.statements import TOLERANCE
from rankadjust.literature.findings import Finding, PrintedValue, read_value
from rankadjust.literature.joint import joint_findings
from rankadjust.literature.single import TaskLists, single_findings
from rankadjust.literature.usual import unusual


def findings_of_model(rows: Sequence[Mapping[str, Any]], lists: TaskLists) -> Iterator[Finding]:
    """Return the contradictions within the values of one model; rows: of `rescore`, with _row and most."""
    tasks = {side: lists.tasks(rows[0], side) for side in {row["side"] for row in rows} | _halves_of(rows)}
    values = [value for row in rows if (value := read_value(row, lists.expectation)) is not None]
    possible: list[PrintedValue] = []
    for value in values:
        attainable = lists.attainable(rows[0], value.side, value.metric)
        alone = single_findings(value, tasks[value.side], attainable)
        yield from alone
        # A value that is impossible by itself says nothing about other values.
        if (
            not any(finding.severity in ("impossible", "only_if_cut") for finding in alone)
            and value.status != "value_impossible"
        ):
            possible.append(value)
    base, adjusted = _split(possible)
    disagreeing = list(_against_base(base, adjusted))
    yield from disagreeing
    alone_printed = [value for value in adjusted if (value.side, value.metric.key) not in base]
    used = [*base.values(), *alone_printed]
    together = list(joint_findings(used, tasks))
    yield from together
    if not together:
        yield from unusual(used, tasks)


def _halves_of(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    return {"head", "tail", "both"} if len({row["side"] for row in rows}) > 1 else set()


def _split(values: Iterable[PrintedValue]) -> tuple[dict[tuple[str, str], PrintedValue], list[PrintedValue]]:
    """Return the unadjusted values by side and metric, and the list of printed adjusted values."""
    base: dict[tuple[str, str], PrintedValue] = {}
    adjusted: list[PrintedValue] = []
    for value in values:
        if value.adjustment is not None:
            adjusted.append(value)
        else:
            base.setdefault((value.side, value.metric.key), value)
    return base, adjusted


def _against_base(
    base: Mapping[tuple[str, str], PrintedValue], adjusted: Iterable[PrintedValue]
) -> Iterator[Finding]:
    """Return the printed adjusted values that do not follow from the printed metric."""
    for value in adjusted:
        own = base.get((value.side, value.metric.key))
        if own is None:
            continue
        margin = 2 * TOLERANCE * max(abs(own.low), abs(own.high), 1.0)
        limit = (
            own.low if value.high < own.low - margin else own.high if value.low > own.high + margin else None
        )
        if limit is None:
            continue
        ends = sorted(value.as_adjusted(end) for end in (own.low, own.high))
        expected = ends[0] if value.printed_high < ends[0] else ends[1]
        excess = max(expected - value.printed_high, value.printed_low - expected)
        yield Finding(
            row=value.row,
            severity="suspicious",
            bound="adjusted",
            limit=expected,
            excess=excess,
            values=f"{value.text}; {own.text}",
            mended=f"{value.name} {value.as_adjusted((own.low + own.high) / 2):.4g}",
            message=(
                f"{value.text} does not follow from {own.text}, which under this protocol gives "
                f"{value.as_adjusted((own.low + own.high) / 2):.4g}: one of the two is wrong, or the "
                "source adjusts with another expectation."
            ),
        )
