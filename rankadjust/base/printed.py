"""Printed numbers: the only grammar for numbers that people write, and the interval that a printed number stands for.

A number may have a decimal point or a decimal comma, separators of thousands, an exponent, a % sign and a spread:
0.338, .797, 1e-3, −0.3, 0,338, 12,345.6, 12 345, 33.8 % and 0.338 ± 0.002 are numbers. The printed digits say how
far it may have been rounded: 0.338 stands for [0.3375, 0.3385].

A comma with one to three digits before it (no zero first) and three behind can be either: 1,234 separates thousands
unless its neighbours or the metric say otherwise (`Number.with_decimal_comma`). docs/adjust.md shows the rule.
"""

import math
import re
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from functools import lru_cache
from typing import NamedTuple

_THOUSANDS = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?"
_GROUPED = rf"{_THOUSANDS}|[0-9]{{1,3}}(?:[ '’][0-9]{{3}})+(?:\.[0-9]+)?"
_PLAIN = r"(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_COMMA = r"[0-9]*,[0-9]+"
NUMBER = rf"[+-]?(?:{_GROUPED}|{_PLAIN}|{_COMMA})"
"""A regular expression for a number in text that has gone through `plain`."""

PLUS_MINUS = r"(?:±|\+/-|\+-|∓)"
PRINTED = (
    rf"(?P<number>{NUMBER})\s?(?P<percent>%?)"
    rf"(?:\s*[_({{]?\s*{PLUS_MINUS}\s*(?P<spread>{NUMBER})\s?%?\s*[)}}]?)?"
)
"""A number with its % sign and spread; `number_of` makes a Number of a match."""

_READ = re.compile(PRINTED)
_SIGNS = {ord("−"): "-", ord("﹣"): "-", ord("－"): "-", ord("＋"): "+"}
_DISTINCT = 4096


class Interval(NamedTuple):
    """A value and the ends of its rounding interval, each the float nearest to the exact decimal number."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Number:
    """A printed number.

    text: digits with a decimal point, as many as printed, without thousands separators ('.797' as '0.797').
    percent: whether it carries a percent sign. spread: the number after ±. other: 'a,bcd' is read as thousands, and
    this is its reading with a decimal comma. decimal_comma: the comma can be nothing else.
    bracket: the number in brackets that a cell of a table has beside it.
    """

    text: str
    percent: bool = False
    spread: str | None = None
    bracket: str | None = None
    other: str | None = None
    decimal_comma: bool = False

    @property
    def value(self) -> float:
        """The number as printed, before any unit."""
        return float(self.text)

    def interval(self, *, percent: bool = False) -> Interval:
        """Return the value and its rounding interval, as a fraction where it is printed in percent."""
        return rounding_interval(self.text, percent=percent)

    def with_decimal_comma(self) -> "Number":
        """Return the number read with a decimal comma, where its comma leaves the choice."""
        return self if self.other is None else replace(self, text=self.other, other=None)

    def within(self, upper: float | None) -> "Number":
        """Return the number as a value that cannot exceed `upper` (None: not known): up to 1 a comma is decimal."""
        return self.with_decimal_comma() if upper is not None and upper <= 1.0 else self


@lru_cache(maxsize=_DISTINCT)
def read_number(text: str) -> Number | None:
    """Return the number that a text is, None where it is anything else or too great for a float."""
    match = _READ.fullmatch(plain(text))
    return number_of(match) if match else None


def plain(text: str) -> str:
    """Return a text with ASCII signs and digits, single spaces and no space at either end; line breaks stay."""
    text = text.translate(_SIGNS)
    # Bold and full-width digits are digits.
    text = "".join(
        str(int(character)) if character.isdecimal() and not character.isascii() else character
        for character in text
    )
    return re.sub(r"[^\S\n]+", " ", text).strip()


def number_of(match: re.Match[str]) -> Number | None:
    """Return the number of a match of PRINTED, None where it is too great for a float."""
    text, other = _normalised(match["number"])
    if not math.isfinite(float(text)):
        return None
    return Number(
        text=text,
        percent=bool(match["percent"]),
        spread=None if match["spread"] is None else _normalised(match["spread"])[0],
        other=other,
        decimal_comma="," in match["number"]
        and re.fullmatch(_THOUSANDS, match["number"].lstrip("+-")) is None,
    )


@lru_cache(maxsize=_DISTINCT)
def rounding_interval(text: str, *, percent: bool = False) -> Interval:
    """Return what a number stands for; text: digits with a decimal point, as in `Number`.

    Its half width is half a unit of the last printed digit. All is computed in decimal numbers, without error, and
    rounded to floats once at the end: 33.8 % is the same float as 0.338.
    """
    exact = Context(prec=len(text) + 5)
    printed = Decimal(text)
    half = Decimal((0, (5,), int(printed.as_tuple().exponent) - 1))
    ends = (printed, exact.subtract(printed, half), exact.add(printed, half))
    return Interval(*(float(exact.scaleb(end, -2 if percent else 0)) for end in ends))


def _normalised(text: str) -> tuple[str, str | None]:
    """Return the number with a decimal point, and how else its comma can be read."""
    sign = "-" if text.startswith("-") else ""
    text = text.lstrip("+-")
    other = None
    if re.fullmatch(r"[1-9][0-9]{0,2},[0-9]{3}", text):
        other = sign + text.replace(",", ".")
    if "," in text and not re.fullmatch(_GROUPED, text):
        text = text.replace(",", ".")
    text = re.sub(r"[, '’]", "", text)
    whole, point, rest = text.partition(".")
    decimals = point + rest if rest[:1].isdigit() else rest
    return f"{sign}{whole or '0'}{decimals}", other
