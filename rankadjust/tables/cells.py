"""What a cell of a printed table says: numbers, nothing, or text; and the plain text of labels."""

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from rankadjust.tables.formats.grid import tidy
from rankadjust.tables.formats.latex import latex_to_text

# The same texts are looked at several times while a table is understood.
_CACHED = 4096
_MISSING = {
    *(
        "",
        "-",
        "--",
        "---",
        "–",
        "—",
        "−",
        "‐",
        "‑",
        "―",
        "/",
        "\\",
        "?",
        ".",
        "..",
        "...",
        "…",
        "x",
        "✗",
        "×",
    ),
    *("n/a", "na", "n.a.", "n/r", "nr", "n.r.", "nan", "none", "null", "tbd", "tba", "oom", "oot", "unknown"),
    *("not reported", "out of memory", "out of time", "not available", "timeout"),
}
_THOUSANDS = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"
_GROUPED = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[ '’]\d{3})+(?:\.\d+)?"
_PLAIN = r"(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?"
_COMMA = r"\d*,\d+"
_ANY = rf"[+-]?(?:{_GROUPED}|{_PLAIN}|{_COMMA})"
_PLUS_MINUS = r"(?:±|\+/-|\+-|∓)"
_CELL = re.compile(
    rf"(?P<number>{_ANY})\s?(?P<percent>%?)"
    rf"(?:\s*[_({{]?\s*{_PLUS_MINUS}\s*(?P<spread>{_ANY})\s?%?\s*[)}}]?)?"
    r"(?:\s*\((?P<bracket>[^()]*)\))?"
    r"(?:\s?\[(?P<reference>[\d,; ]+)\])*"
    r"(?:\s?(?P<letter>[a-g]))?"
)
_LATEX = re.compile(r"\$[^$]+\$|\\[A-Za-z]+|\\[%&_#,;]")
_SUPERSCRIPT = re.compile(r"\^\{[^{}]*\}|\^\S+")
_EDGE_MARKS = "*†‡§¶•_`\"'⋆★☆∗"
_BLANKS = dict.fromkeys(map(ord, "\u00a0\u2007\u2008\u2009\u200a\u202f\u3000"), " ")
_SIGNS = {ord("−"): "-", ord("﹣"): "-", ord("－"): "-"}


@dataclass(frozen=True)
class Number:
    """A printed number.

    text: digits with a decimal point, as many as printed, without thousands separators ('.797' as '0.797').
    percent: whether it carries a percent sign. spread: what stands after ±. bracket: what stands in brackets after it.
    marks: footnote marks. other: 'a,bcd' is read as thousands, and this is its reading with a decimal comma.
    decimal_comma: the comma can be nothing else.
    """

    text: str
    percent: bool = False
    spread: str | None = None
    bracket: str | None = None
    marks: str = ""
    other: str | None = None
    decimal_comma: bool = False

    @property
    def value(self) -> float:
        """The number as printed, before any unit."""
        return float(self.text)

    @property
    def half(self) -> float:
        """Half a unit of the last printed digit."""
        mantissa, _, exponent = self.text.lower().partition("e")
        return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))

    def with_decimal_comma(self) -> "Number":
        """Return the number read with a decimal comma, where its comma leaves the choice."""
        return self if self.other is None else replace(self, text=self.other, other=None)


@lru_cache(maxsize=_CACHED)
def read_cell(text: str) -> tuple[Number | None, ...] | None:
    """Return the numbers of a cell in their order, None for each that is missing; None for a cell of other text.

    '0.35', '35.2 %', '.35 ± .01', '12,345', '177 (3)' are one number; '0.35 / 0.50' and two lines are two.
    """
    # Two lines are one number only where the second cannot be another: '0.35' above '± 0.01'.
    whole = _one(re.sub(r"\n\s*(?=[±∓(\[]|\+/?-)", " ", text))
    if whole is not None:
        return whole
    for separator in ("\n", "/", "|", ";"):
        parts = [_one(part) for part in text.split(separator)]
        numbers = tuple(number for part in parts if part is not None for number in part)
        if len(numbers) == len(parts) > 1 and any(number is not None for number in numbers):
            return numbers
    return None


def is_missing(text: str) -> bool:
    """Tell whether a cell stands for 'no value': empty, a dash, 'n/a', 'OOM' and the like."""
    return _undecorated(text).casefold() in _MISSING or text.strip().casefold() in _MISSING


def is_numeric(text: str) -> bool:
    """Tell whether a cell holds a number (or several)."""
    numbers = read_cell(text)
    return numbers is not None and any(number is not None for number in numbers)


@lru_cache(maxsize=_CACHED)
def label(text: str) -> str:
    """Return the plain text of a name: without LaTeX, emoji, arrows and footnote marks, on one line."""
    text = _without_symbols(_plain(text))
    text = re.sub(
        r"\^\{([^{}]*)\}", lambda match: "" if _is_mark(match.group(1)) else f"^{match.group(1)}", text
    )
    return tidy(re.sub(r"\^?[†‡§¶]+|\^$", "", text).replace("\n", " "))


def _is_mark(superscript: str) -> bool:
    return (
        re.fullmatch(r"\s*(\d{1,2}|[a-g]|[\W_]*|\[?\d+\]?|[ivx]+)\s*(,\s*\d+\s*)*", superscript) is not None
    )


def _plain(text: str) -> str:
    return latex_to_text(text) if _LATEX.search(text) else text


def _without_symbols(text: str) -> str:
    """Leave out emoji, arrows, and the invisible characters that join or colour them."""
    return "".join(
        character
        for character in text
        if (
            unicodedata.category(character) not in ("So", "Sk", "Cf", "Co", "Cs")
            and not "\u2190" <= character <= "\u21ff"
            and character != "\ufe0f"
        )
        or character in "^`"
    )


def _undecorated(text: str) -> str:
    text = _plain(text).translate(_BLANKS).translate(_SIGNS)
    # An arrow before the number in brackets makes it a difference: keep it apart from a spread.
    text = re.sub(r"\(\s*[\u2190-\u21ff▲▼]\s*", "(+", text)
    # A raised number is a footnote mark, but for that of a power of ten.
    text = text if re.search(r"(?<![\d.])10\s?\^", text) else _SUPERSCRIPT.sub("", text)
    text = "".join(
        # Bold and full-width digits are digits; raised ones are marks.
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in _without_symbols(text)
        if unicodedata.category(character) != "No"
    )
    return re.sub(r"[^\S\n]+", " ", text).strip(_EDGE_MARKS + " ").replace("( ", "(")


def _one(text: str) -> tuple[Number | None] | None:
    """Return the one number of a text, (None,) where it is missing; None for other text."""
    text = _undecorated(text)
    if text.casefold() in _MISSING:
        return (None,)
    match = _CELL.fullmatch(text)
    # A plus sign makes a number a difference, which is no value.
    if not match or match["number"].startswith("+"):
        return None
    bracket = (match["bracket"] or "").strip()
    spread = match["spread"]
    if bracket:
        inner = re.fullmatch(rf"(?P<sign>{_PLUS_MINUS})?\s*(?P<number>{_ANY})\s?%?", bracket)
        if not inner:
            return None
        if inner["sign"]:
            spread, bracket = inner["number"], ""
    number, other = _normalised(match["number"])
    return (
        Number(
            text=number,
            percent=bool(match["percent"]),
            spread=None if spread is None else _normalised(spread)[0],
            bracket=bracket or None,
            marks=match["letter"] or "",
            other=other,
            decimal_comma="," in match["number"]
            and not re.fullmatch(_THOUSANDS, match["number"].lstrip("+-")),
        ),
    )


def _normalised(text: str) -> tuple[str, str | None]:
    """Return the number with a decimal point, and how else its comma can be read."""
    sign = "-" if text.startswith("-") else ""
    text = text.lstrip("+-")
    other = None
    if re.fullmatch(r"[1-9]\d{0,2},\d{3}", text):
        other = sign + text.replace(",", ".")
    if "," in text and (not re.fullmatch(_GROUPED, text) or text.startswith("0")):
        text = text.replace(",", ".")
    text = re.sub(r"[, '’]", "", text)
    whole, point, rest = text.partition(".")
    decimals = point + rest if rest[:1].isdigit() else rest
    return f"{sign}{whole or '0'}{decimals}", other
