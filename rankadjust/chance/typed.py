"""Values as people type them: the only reader of metric values, for commands, tables and the library.

`rankadjust.base.printed` says which texts are numbers; here the metric joins in: a comma is decimal where the metric
cannot exceed 1, a mean rank has no percent sign, and neither a value nor its rounding interval leaves the metric's
range. tests/data/values.json lists examples, which the calculator of the report is tested with, too.
"""

import math
from dataclasses import dataclass, replace

from rankadjust.base.errors import ImpossibleValueError, RankadjustError
from rankadjust.base.printed import Interval, Number, read_number
from rankadjust.chance.metrics import Metric


@dataclass(frozen=True)
class Typed:
    """A value of a metric: a fraction or a rank, and the text that was typed for it.

    low, high: what is printed alike lies between them; None for a number, whose digits are not known.
    """

    text: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the rounding interval, the value itself where nothing is known of its rounding."""
        return (self.value if self.low is None else self.low, self.value if self.high is None else self.high)

    def plus(self, number: float) -> "Typed":
        """Return the value that is larger by a number."""
        low, high = (None if end is None else end + number for end in (self.low, self.high))
        return replace(self, value=self.value + number, low=low, high=high) if number else self


def typed_value(given: float | str, metric: Metric, added: float = 0.0) -> Typed:
    """Return the value of a metric that somebody gives as a number or as text.

    given: a fraction, a rank, or text such as "0.338", "33.8 %", "0,338" and "0.338 ± 0.002". The value of a text is
        the float nearest to the printed number.
    added: what the value of the metric is larger by, where somebody prints mean ranks from 0.

    Raises RankadjustError for anything but a finite number, and for a number that the metric cannot have.

    >>> from rankadjust.chance.metrics import resolve
    >>> typed_value("33.8 %", resolve("mrr"))
    Typed(text='33.8 %', value=0.338, low=0.3375, high=0.3385)
    """
    if isinstance(given, str):
        printed = read_number(given)
        if printed is None:
            raise RankadjustError(f"'{given}' is not a value; write a number such as 0.338 or 33.8%")
        if printed.percent and not is_share(metric.upper):
            raise ImpossibleValueError(
                f"{metric.label} is not a share, so '{given.strip()}' cannot be its value; leave out the %"
            )
        interval = stands_for(printed, metric.lower - added, metric.upper, percent=printed.percent)
        typed = Typed(given.strip(), *interval).plus(added)
        can_be_percent = not printed.percent
    else:
        typed = Typed(f"{given}", _finite(given)).plus(added)
        can_be_percent = True
    if metric.lower <= typed.value <= metric.upper:
        return typed
    raise ImpossibleValueError(_out_of_range(typed, metric, can_be_percent=can_be_percent))


def stands_for(number: Number, lower: float, upper: float, *, percent: bool) -> Interval:
    """Return the value of a printed number and its rounding interval, which does not leave the range of the metric.

    A printed 1.00 does not stand for shares above 1. The value itself may be out of range.
    """
    value, low, high = number.within(upper).interval(percent=percent)
    return Interval(value, max(low, lower), min(high, upper))


def is_share(upper: float) -> bool:
    """Return, from the greatest value of a metric, whether it can be printed in percent: a mean rank cannot."""
    return math.isfinite(upper)


def _finite(given: float) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError):
        raise RankadjustError(f"{given!r} is not a value; give a number or text such as '0.338'") from None
    if not math.isfinite(number):
        raise RankadjustError(f"the value is {number}; give a finite number")
    return number


def _out_of_range(typed: Typed, metric: Metric, *, can_be_percent: bool) -> str:
    share = is_share(metric.upper)
    allowed = f"from {metric.lower:g} to {metric.upper:g}" if share else f"{metric.lower:g} or more"
    as_percent = share and can_be_percent and metric.lower <= typed.value / 100 <= metric.upper
    hint = f"; if it is a percentage, write {typed.text}%" if as_percent else ""
    return f"{metric.label} is {allowed}, so {typed.text} cannot be its value{hint}"
