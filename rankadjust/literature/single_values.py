"""Printed values in the form that people read (PrintedValue), and what contradicts a value by itself (Finding)."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from rankadjust.base.errors import listed
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import SAMPLED
from rankadjust.chance.bounds import Attainable, attainable
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.metrics import Metric, hit, resolve
from rankadjust.consistency.statements import TOLERANCE, Interval, TaskCounts
from rankadjust.database.histograms import possible_ranks

SEVERITIES = {
    "impossible": "no ranks have these values",
    "only_if_cut": "possible only if digits were cut off instead of rounded",
    "suspicious": "possible, but so odd that a mistake is likelier",
    "unusual": "possible, but unlike nearly all published results, so a second look is worthwhile",
}

# People print at most this number of decimals; values with more come from a file.
_MOST_DECIMALS = 6

# The usual MRR is a constant and a factor for each of these Hits. It was fitted to 1,287 published results, with a
# residual of standard deviation 0.0014 (benchmarks/usual_mrr.py).
HITS = ("hits_at_1", "hits_at_3", "hits_at_10")
MRR = "inverse_harmonic_mean_rank"
COEFFICIENTS = (0.00524, 0.53179, 0.26472, 0.19759)
# A difference beyond this, about five standard deviations, and beyond the rounding is reported.
FAR = 0.01
# Among fewer candidates chance raises all four metrics.
LEAST_CANDIDATES = 200


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A contradiction, reported for one row; the fields are columns of `literature.contradictions.check`."""

    row: int
    severity: str
    bound: str
    limit: float | None = None
    excess: float | None = None
    values: str
    mended: str | None = None
    message: str


@dataclass(frozen=True)
class PrintedValue(Interval):
    """A printed value of a metric, or of an adjusted one, whose interval is in units of the adjustment.

    text: the value as people read it ("Hits@10 53.0 %"). name: the text without the number. decimals, percent: the
    printed form. is_mean: whether the value is a mean over several runs. is_ordinary: whether the true answer competes
    with wrong answers only, so that bad ranks should be rarer than good ranks.
    """

    row: int
    adjustment: str | None
    name: str
    number: str
    decimals: int
    percent: bool
    is_mean: bool
    status: str
    given_message: str | None = field(default=None, compare=False)
    is_ordinary: bool = True
    is_sampled: bool = False

    @property
    def cut(self) -> "PrintedValue":
        """The same value, with the interval that these digits allow if further digits were cut off."""
        more = 1.5 * 10.0**-self.decimals * (0.01 if self.percent else 1.0)
        # Digits are cut off towards 0.
        low = min(self.low, self.high - more) if self.low < 0 else self.low
        high = max(self.high, self.low + more) if self.high > 0 else self.high
        return replace(self, low=low, high=min(high, self.metric.upper))

    @property
    def text(self) -> str:
        """The value as people read it."""
        return f"{self.name} {self.number}"

    def shown(self, value: float) -> str:
        """Return a value in the printed form, with four digits."""
        return f"{value * (100 if self.percent else 1):.4g}" + (" %" if self.percent else "")

    def nearest(self, least: float, most: float) -> str | None:
        """Return the nearest number, with the same decimals, that stands for a value in [least, most].

        None if the printed value itself does, or if no number within the range of the metric can.
        """
        factor = 100 if self.percent else 1
        unit = 10.0 ** -min(self.decimals, _MOST_DECIMALS)
        if least > self.high:
            number = math.ceil(least * factor / unit - 0.5) * unit
        elif most < self.low:
            number = math.floor(most * factor / unit + 0.5) * unit
        else:
            return None
        if not self.metric.lower <= number / factor <= self.metric.upper:
            return None
        decimals = min(max(self.decimals, 0), _MOST_DECIMALS)
        return f"{number:.{decimals}f}" + (" %" if self.percent else "")


class TaskLists:
    """The tasks of evaluation sets, from their histograms or else the largest number of candidates; found once each.

    An evaluation is a tuple of data set, protocol, split and side. most: the largest number of candidates, which is
    used if no histogram is known.
    """

    def __init__(self, candidate_counts: Callable[..., CandidateCounts | None]) -> None:
        """Take what returns the candidates of an evaluation set, given its four names; None where they are unknown."""
        self._candidate_counts = candidate_counts
        self.tasks = cache(self._tasks)
        self.attainable = cache(self._attainable)
        self.expectation = cache(self._expectation)

    def _tasks(self, evaluation: tuple[str | None, ...], most: float | None) -> TaskCounts:
        of_set = None if None in evaluation else self._candidate_counts(*evaluation)
        if of_set is None or not of_set.counts.size:
            return TaskCounts(np.empty(0), np.empty(0), np.inf if most is None else most)
        counts = possible_ranks(str(evaluation[1]), of_set.counts)[1].clip(min=1)
        return TaskCounts(counts, of_set.tasks, float(counts.max()))

    def _attainable(
        self, evaluation: tuple[str | None, ...], most: float | None, metric: Metric
    ) -> Attainable | None:
        """Return the values that a metric can have on these tasks, None if they are not known."""
        tasks = self.tasks(evaluation, most)
        if tasks.times.size:
            return attainable(metric, tasks.counts, tasks.times)
        if not np.isfinite(tasks.most) or metric.needs_candidates:
            return None
        # `most` candidates allow every value that fewer candidates allow.
        return attainable(metric, [tasks.most], [1.0])

    def _expectation(self, evaluation: tuple[str | None, ...], metric: Metric) -> float | None:
        """Return the expectation of a metric, None if it is not known or takes long to compute."""
        of_set = None if metric.term is None or None in evaluation else self._candidate_counts(*evaluation)
        if of_set is None:
            return None
        # Only adjusted values need it, and it imports scipy.
        from rankadjust.chance.moments import metric_moments  # noqa: PLC0415

        return metric_moments(
            metric, of_set.counts.astype(np.int64), of_set.tasks.astype(np.int64)
        ).expectation


def read_value(row: Mapping[str, Any]) -> PrintedValue | None:
    """Return the printed value of a row of `rescore`, None if it says nothing about the metric.

    Skipped are z, since every source defines z differently, and averages over runs of non-additive metrics.
    """
    metric, kind = resolve(row["metric"]), row["adjustment"]
    is_mean = row["spread"] is not None
    if (is_mean and not metric.additive) or kind == "z":
        return None
    low, high = row["value_low"], row["value_high"]
    if low is None or high is None:
        low = high = row["value"]
    percent, text, protocol = row["unit"] == "percent", str(row["value_as_printed"]), str(row["protocol"])
    number = read_number(text)
    digits = "0" if number is None else number.text
    label = {None: "", "index": "index of ", "ratio": "ratio of "}[kind] + metric.label
    return PrintedValue(
        key=str(row["_row"]),
        row=row["_row"],
        metric=metric,
        side=row["side"],
        adjustment=kind,
        low=low,
        high=high,
        name=label if row["side"] == "both" else f"{label} ({row['side']})",
        number=text.rstrip(" %") + (" %" if percent else ""),
        decimals=-int(Decimal(digits).as_tuple().exponent),
        percent=percent,
        is_mean=is_mean,
        status=row["status"],
        given_message=row["message"],
        is_ordinary="raw" not in protocol,
        is_sampled=re.match(SAMPLED, protocol) is not None,
    )


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
        is_low, cut = limit.is_below(value.high), value.cut
        only_cut = bound == "candidates" and not limit.excludes(cut.low, cut.high)
        end = limit.least if is_low else limit.greatest
        said = value.given_message if value.status == "value_impossible" else None
        side = "at least" if is_low else "at most"
        return [
            Finding(
                row=value.row,
                severity="only_if_cut" if only_cut else "impossible",
                bound=bound,
                limit=end,
                excess=end - value.high if is_low else value.low - end,
                values=value.text,
                message=f"{said or f'{value.text} is impossible: {words} {side} {value.shown(end)}'}."
                + only_cut * " It would be possible if digits had been cut off instead of rounded.",
            )
        ]
    return _of_tasks(value, tasks)


def _of_tasks(value: PrintedValue, tasks: TaskCounts) -> list[Finding]:
    """Return a finding if so many tasks cannot give the value.

    Values among sampled candidates are usually means over several samples, so any value is possible there.
    """
    number = tasks.number
    if number is None or value.is_mean or value.is_sampled:
        return []
    margin = TOLERANCE * max(abs(value.low), abs(value.high))
    low, high = value.low - margin, value.high + margin
    if value.metric.key == "count":
        if low <= number <= high:
            return []
        nearest, severity, mended = number, "impossible", f"{number:.0f}"
        message = f"{value.text} contradicts the data set, because this evaluation has {number:,.0f} tasks."
    else:
        step = _step(value.metric, number)
        if step is None or np.floor(high / step) >= np.ceil(low / step):
            return []
        below, above = float(np.floor(low / step) * step), float(np.ceil(high / step) * step)
        nearest = below if value.low - below <= above - value.high else above
        severity, mended = "suspicious", value.shown(nearest)
        message = (
            f"{value.text} is not a share of {number:,.0f} tasks. The nearest shares are {value.shown(below)} and "
            f"{value.shown(above)}, but a mean over several runs may be between them."
        )
    return [
        Finding(
            row=value.row,
            severity=severity,
            bound="tasks",
            limit=nearest,
            excess=max(nearest - value.high, value.low - nearest),
            values=value.text,
            mended=f"{value.name} {mended}",
            message=message,
        )
    ]


def _step(metric: Metric, tasks: float) -> float | None:
    """Return the number that all values of a metric are multiples of, None if there is no such number."""
    if metric.additive and metric.shape is hit:
        return metric.scale / tasks
    # Ranks may be multiples of 1/2, and the median is a mean of two ranks.
    return {"arithmetic_mean_rank": 0.5 / tasks, "median_rank": 0.25}.get(metric.key)


def unusual(values: Sequence[PrintedValue], tasks: Mapping[str, TaskCounts]) -> Iterator[Finding]:
    """Yield a remark for each MRR that is further from the usual MRR than rounding and FAR explain."""
    known = {(value.side, value.metric.key): value for value in values if value.adjustment is None}
    for (side, key), value in known.items():
        hits = [known[side, name] for name in HITS if (side, name) in known]
        if key != MRR or len(hits) < len(HITS) or not LEAST_CANDIDATES <= tasks[side].most < np.inf:
            continue
        least, most = (
            COEFFICIENTS[0] + float(np.dot(COEFFICIENTS[1:], [getattr(hit, end) for hit in hits]))
            for end in ("low", "high")
        )
        excess = max(least - value.high, value.low - most) - FAR
        if excess > 0:
            yield Finding(
                row=value.row,
                severity="unusual",
                bound="usual",
                limit=(least + most) / 2,
                excess=excess,
                values="; ".join(hit.text for hit in (value, *hits)),
                message=(
                    f"Published results with {listed(hit.text for hit in hits)} usually have an MRR of about "
                    f"{value.shown((least + most) / 2)}, not {value.number}. "
                    "Such values are possible, but worth a second look."
                ),
            )
