"""Checks of single values: against the range of the metric, the candidates and the number of tasks."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankadjust.chance.bounds import Attainable, attainable
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.metrics import Metric, hit
from rankadjust.consistency.statements import TOLERANCE, TaskCounts
from rankadjust.database.histograms import left_out_by
from rankadjust.literature.findings import Finding, PrintedValue

_NOTHING = np.empty(0)


class TaskLists:
    """The tasks of evaluation sets, from their histograms or else their numbers of entities."""

    def __init__(
        self,
        candidate_counts: Callable[..., CandidateCounts | None],
        left_out: Callable[[str], int] = left_out_by,
    ) -> None:
        """Take what returns the candidates of an evaluation set, given its four names; None where they are not known.

        left_out: says how many candidates the histograms of a protocol leave out.
        """
        self._candidate_counts, self._left_out = candidate_counts, left_out
        self._tasks: dict[tuple[object, ...], TaskCounts] = {}
        self._expectations: dict[tuple[str, ...], float | None] = {}
        self._attainable: dict[tuple[object, ...], Attainable | None] = {}

    def tasks(self, row: Mapping[str, Any], side: str) -> TaskCounts:
        """Return the tasks of a side in the evaluation of a row; `most` of the row is used if no histogram is known."""
        evaluation = (row["dataset"], row["protocol"], row["split"], side)
        key = (*evaluation, row["most"])
        if key not in self._tasks:
            self._tasks[key] = self._found(evaluation, row["most"])
        return self._tasks[key]

    def attainable(self, row: Mapping[str, Any], side: str, metric: Metric) -> Attainable | None:
        """Return the values that a metric can have on the tasks of a side, None if they are not known."""
        key = (row["dataset"], row["protocol"], row["split"], side, row["most"], metric.key)
        if key not in self._attainable:
            self._attainable[key] = _attainable(metric, self.tasks(row, side))
        return self._attainable[key]

    def expectation(self, row: Mapping[str, Any], metric: Metric) -> float | None:
        """Return the expectation in the evaluation of a row, None if it is not known or takes long to compute."""
        if metric.term is None:
            return None
        key = (row["dataset"], row["protocol"], row["split"], row["side"], metric.key)
        if key not in self._expectations:
            of_set = None if None in key else self._candidate_counts(*key[:4])
            # Only adjusted values need it, and it imports scipy.
            from rankadjust.chance.moments import metric_moments  # noqa: PLC0415

            self._expectations[key] = (
                None
                if of_set is None
                else metric_moments(
                    metric, of_set.counts.astype(np.int64), of_set.tasks.astype(np.int64)
                ).expectation
            )
        return self._expectations[key]

    def _found(self, evaluation: tuple[Any, ...], most: float | None) -> TaskCounts:
        of_set = None if None in evaluation else self._candidate_counts(*evaluation)
        if of_set is None or not of_set.counts.size:
            return TaskCounts(_NOTHING, _NOTHING, np.inf if most is None else most)
        counts = (of_set.counts + self._left_out(evaluation[1])).clip(min=1)
        return TaskCounts(counts, of_set.tasks, float(counts.max()))


def single_findings(value: PrintedValue, tasks: TaskCounts, known: Attainable | None) -> list[Finding]:
    """Return problems of a single value: out of range, beyond the candidates, or not a value of so many tasks.

    known: the values that its metric can have on these tasks.
    """
    metric = value.metric
    if value.adjustment is not None:
        return []
    limits = [("range", Attainable(metric.lower, metric.upper), f"{metric.label} is")]
    if known is not None:
        limits.append(("candidates", known, f"among so few candidates {metric.label} is"))
    for bound, limit, words in limits:
        if not limit.excludes(value.low, value.high):
            continue
        is_low = limit.is_below(value.high)
        cut = value.cut
        only_cut = bound == "candidates" and not limit.excludes(cut.low, cut.high)
        end = limit.least if is_low else limit.greatest
        said = value.given_message if value.status == "value_impossible" else None
        return [
            Finding(
                row=value.row,
                severity="only_if_cut" if only_cut else "impossible",
                bound=bound,
                limit=end,
                excess=end - value.high if is_low else value.low - end,
                values=value.text,
                message=(
                    said
                    or f"{value.text} is impossible: {words} {'at least' if is_low else 'at most'} {value.shown(end)}."
                )
                + only_cut * " It would agree if digits had been cut off, not rounded.",
            )
        ]
    return _of_tasks(value, tasks)


def _attainable(metric: Metric, tasks: TaskCounts) -> Attainable | None:
    if tasks.times.size:
        return attainable(metric, tasks.counts, tasks.times)
    if not np.isfinite(tasks.most) or metric.needs_candidates:
        return None
    # `most` candidates allow every value that fewer candidates allow.
    return attainable(metric, [tasks.most], [1.0])


def _of_tasks(value: PrintedValue, tasks: TaskCounts) -> list[Finding]:
    """Return a finding if so many tasks cannot give the value.

    Values among sampled candidates are usually means over several samples, so any value is possible there.
    """
    number = tasks.number
    if number is None or value.is_mean or value.is_sampled:
        return []
    step = _step(value.metric, number)
    margin = TOLERANCE * max(abs(value.low), abs(value.high))
    low, high = value.low - margin, value.high + margin
    if value.metric.key == "count":
        return [] if low <= number <= high else [_count(value, number)]
    if step is None or np.floor(high / step) >= np.ceil(low / step):
        return []
    below, above = np.floor(low / step) * step, np.ceil(high / step) * step
    nearest = below if value.low - below <= above - value.high else above
    return [
        Finding(
            row=value.row,
            severity="suspicious",
            bound="tasks",
            limit=float(nearest),
            excess=float(max(nearest - value.high, value.low - nearest)),
            values=value.text,
            mended=f"{value.name} {value.shown(float(nearest))}",
            message=(
                f"{value.text} is not a share of {number:,.0f} tasks: the nearest are {value.shown(float(below))} and "
                f"{value.shown(float(above))}. A mean over several runs may have it."
            ),
        )
    ]


def _count(value: PrintedValue, number: float) -> Finding:
    return Finding(
        row=value.row,
        severity="impossible",
        bound="tasks",
        limit=number,
        excess=max(number - value.high, value.low - number),
        values=value.text,
        mended=f"{value.name} {number:.0f}",
        message=f"{value.text}: this evaluation has {number:,.0f} tasks.",
    )


def _step(metric: Metric, tasks: float) -> float | None:
    """Return the number that all values of a metric are multiples of, None if there is no such number."""
    if metric.additive and metric.shape is hit:
        return metric.scale / tasks
    # Ranks may be multiples of 1/2, and the median is a mean of two ranks.
    return {"arithmetic_mean_rank": 0.5 / tasks, "median_rank": 0.25}.get(metric.key)
