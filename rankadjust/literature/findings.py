"""Data classes: a contradiction (Finding), and a printed value in the form that people read (PrintedValue)."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np

from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import SAMPLED
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.consistency.statements import Interval

SEVERITIES = {
    "impossible": "no ranks have these values",
    "only_with_ties": "only ranks that are halves, as the mean rank of tied candidates, have these values",
    "only_over_runs": "no single ranking has these values; means over several runs, or over head and tail, may",
    "only_if_cut": "possible only if digits were cut off, not rounded",
    "suspicious": "possible, but so odd that a mistake is likelier",
    "unusual": "possible, but unlike nearly all published results: a statistical remark",
}

BOUNDS = {
    "range": "a value outside the metric's range",
    "candidates": "a value that no ranks among so few candidates have",
    "tasks": "a share that no number of hits among so many tasks gives, or a count of other tasks",
    "joint": "values that no distribution of ranks has together",
    "shape": "values that need a higher rank to be more frequent than a lower one",
    "usual": "an MRR far from the usual MRR beside such Hits@1, 3 and 10",
    "adjusted": "an adjusted value that does not follow from the metric printed beside it",
    "differs": "a copy of another row with one value changed",
    "repeated_row": "the same values on two data sets",
    "repeated_column": "a column with the same values as another",
}

# People print at most this number of decimals; values with more come from a file.
_MOST_DECIMALS = 6


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
    """A printed value of a metric, or of an adjusted one.

    printed_low, printed_high: the rounding interval of the printed number, which is scale x metric + offset. text: the
    value as people read it ("Hits@10 53.0 %"). name: the text without the number. decimals, percent: the printed form.
    is_mean: whether the value is a mean over several runs. is_ordinary: whether the true answer competes with wrong
    answers only, so that bad ranks should be rarer than good ranks.
    """

    row: int
    adjustment: str | None
    printed_low: float
    printed_high: float
    scale: float
    offset: float
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
        printed_low, printed_high = self.printed_low, self.printed_high
        # Digits are cut off towards 0.
        if printed_high > 0:
            printed_high = max(printed_high, self.printed_low + more)
        if printed_low < 0:
            printed_low = min(printed_low, self.printed_high - more)
        low, high = sorted((end - self.offset) / self.scale for end in (printed_low, printed_high))
        return replace(self, low=min(low, self.low), high=min(max(high, self.high), self.metric.upper))

    @property
    def text(self) -> str:
        """The value as people read it."""
        return f"{self.name} {self.number}"

    def as_adjusted(self, metric: float) -> float:
        """Return the number that would be printed for this value of the metric."""
        return self.scale * metric + self.offset

    def shown(self, metric: float) -> str:
        """Return a value of the metric in its printed form, with four digits."""
        value = self.as_adjusted(metric) * (100 if self.percent else 1)
        return f"{value:.4g}" + (" %" if self.percent else "")

    def nearest(self, least: float, most: float) -> str | None:
        """Return the nearest number, with the same decimals, that stands for a metric in [least, most].

        None if the printed value itself does, or if no number within the range of the metric can.
        """
        ends = sorted(self.as_adjusted(end) for end in (least, most))
        factor = 100 if self.percent else 1
        unit = 10.0**-self.decimals if self.decimals <= _MOST_DECIMALS else 10.0**-_MOST_DECIMALS
        if ends[0] > self.printed_high:
            number = math.ceil(ends[0] * factor / unit - 0.5) * unit
        elif ends[1] < self.printed_low:
            number = math.floor(ends[1] * factor / unit + 0.5) * unit
        else:
            return None
        if self.adjustment is None and not self.metric.lower <= number / factor <= self.metric.upper:
            return None
        decimals = min(max(self.decimals, 0), _MOST_DECIMALS)
        return f"{number:.{decimals}f}" + (" %" if self.percent else "")


def read_value(
    row: Mapping[str, Any], expectation: Callable[[Mapping[str, Any], Metric], float | None]
) -> PrintedValue | None:
    """Return the printed value of a row of `rescore`, None if it says nothing about the metric.

    expectation: a function that returns the expectation of a metric for a row, None if it is not known; adjusted values
    need it. Skipped are z, since every source defines z differently, and averages over runs of non-additive metrics.
    """
    metric = resolve(row["metric"])
    is_mean = row["spread"] is not None
    kind = row["adjustment"]
    if (is_mean and not metric.additive) or kind == "z":
        return None
    low, high, scale, offset = row["value_low"], row["value_high"], 1.0, 0.0
    if low is None or high is None:
        low = high = row["value"]
    printed = low, high
    if kind is not None:
        chance = expectation(row, metric)
        if chance is None or not math.isfinite(chance) or chance in (0.0, metric.optimum):
            return None
        scale = 1 / chance if kind == "ratio" else 1 / (metric.optimum - chance)
        offset = 0.0 if kind == "ratio" else -chance / (metric.optimum - chance)
        low, high = sorted((end - offset) / scale for end in (low, high))
        low, high = (
            float(np.clip(low, metric.lower, metric.upper)),
            float(np.clip(high, metric.lower, metric.upper)),
        )
    percent = row["unit"] == "percent"
    text = str(row["value_as_printed"])
    number = read_number(text)
    digits = "0" if number is None else number.text
    label = {None: "", "index": "index of ", "ratio": "ratio of "}[kind] + metric.label
    side = "" if row["side"] == "both" else f" ({row['side']})"
    return PrintedValue(
        key=str(row["_row"]),
        row=row["_row"],
        metric=metric,
        side=row["side"],
        adjustment=kind,
        low=low,
        high=high,
        printed_low=printed[0],
        printed_high=printed[1],
        scale=scale,
        offset=offset,
        name=f"{label}{side}",
        number=text.rstrip(" %") + (" %" if percent else ""),
        decimals=-int(Decimal(digits).as_tuple().exponent),
        percent=percent,
        is_mean=is_mean,
        status=row["status"],
        given_message=row["message"],
        is_ordinary="raw" not in str(row["protocol"]),
        is_sampled=re.match(SAMPLED, str(row["protocol"])) is not None,
    )
