"""What a cell of a printed table says: numbers, nothing, or text; and the plain text of labels.

How a number is written is told in rankadjust.base.printed; here is what cells have around it.
"""

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache

from rankadjust.base.printed import NUMBER, PLUS_MINUS, PRINTED, Number, number_of, plain, read_number
from rankadjust.tables.formats.grid import tidy
from rankadjust.tables.formats.latex import latex_to_text

# The same texts are looked at several times while a table is understood.
_CACHED = 65536
# No printed number, nor several in one cell, is longer.
_LONGEST = 200
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
_CELL = re.compile(
    PRINTED + r"(?:\s*\((?P<bracket>[^()]*)\))?"
    r"(?:\s?\[(?P<reference>[\d,; ]+)\])*"
    r"(?:\s?(?P<letter>[a-g]))?"
)
# Most numbers need nothing of what follows.
_SIMPLE = re.compile(r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,20})?")
_BRACKET = re.compile(rf"(?P<sign>{PLUS_MINUS})?\s*(?P<number>{NUMBER})\s?%?")
_LATEX = re.compile(r"\$[^$]+\$|\\[A-Za-z]+|\\[%&_#,;]")
_SUPERSCRIPT = re.compile(r"\^\{[^{}]*\}|\^\S+")
_EDGE_MARKS = "*†‡§¶•_`\"'⋆★☆∗"


@lru_cache(maxsize=_CACHED)
def read_cell(text: str) -> tuple[Number | None, ...] | None:
    """Return the numbers of a cell in their order, None for each that is missing; None for a cell of other text.

    '0.35', '35.2 %', '.35 ± .01', '12,345', '177 (3)' are one number; '0.35 / 0.50' and two lines are two.
    """
    if len(text) > _LONGEST:
        return None
    if _SIMPLE.fullmatch(text):
        return (Number(text),)
    # Two lines are one number only where the second cannot be another: '0.35' above '± 0.01'.
    whole = _one(re.sub(r"\n\s*(?=[±∓(\[]|\+/?-)", " ", text))
    if whole is not None:
        return whole
    for separator in (sign for sign in "\n/|;" if sign in text):
        parts = [_one(part) for part in text.split(separator)]
        numbers = tuple(number for part in parts if part is not None for number in part)
        if len(numbers) == len(parts) > 1 and any(number is not None for number in numbers):
            return numbers
    return None


def is_missing(text: str) -> bool:
    """Tell whether a cell stands for 'no value': empty, a dash, 'n/a', 'OOM' and the like."""
    if len(text) > _LONGEST:
        return False
    return _undecorated(text).casefold() in _MISSING or text.strip().casefold() in _MISSING


def is_numeric(text: str) -> bool:
    """Tell whether a cell holds a number (or several)."""
    numbers = read_cell(text)
    return numbers is not None and any(number is not None for number in numbers)


@lru_cache(maxsize=_CACHED)
def label(text: str) -> str:
    """Return the plain text of a name: without LaTeX, emoji, arrows and footnote marks, on one line."""
    text = _without_symbols(_without_latex(text))
    text = re.sub(
        r"\^\{([^{}]*)\}", lambda match: "" if _is_mark(match.group(1)) else f"^{match.group(1)}", text
    )
    return tidy(re.sub(r"\^?[†‡§¶]+|\^$", "", text).replace("\n", " "))


def _is_mark(superscript: str) -> bool:
    return (
        re.fullmatch(r"\s*(\d{1,2}|[a-g]|[\W_]*|\[?\d+\]?|[ivx]+)\s*(,\s*\d+\s*)*", superscript) is not None
    )


def _without_latex(text: str) -> str:
    try:
        return latex_to_text(text) if len(text) <= _LONGEST * 10 and _LATEX.search(text) else text
    except RecursionError:
        # Hundreds of groups in one another: no name, and not worth an error.
        return text


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
    text = _without_latex(text)
    # An arrow before the number in brackets makes it a difference: keep it apart from a spread.
    text = re.sub(r"\(\s*[\u2190-\u21ff▲▼]\s*", "(+", text)
    # A raised number is a footnote mark, but for that of a power of ten.
    text = text if re.search(r"(?<![\d.])10\s?\^", text) else _SUPERSCRIPT.sub("", text)
    text = "".join(
        # Raised digits are marks.
        character
        for character in _without_symbols(text)
        if unicodedata.category(character) != "No"
    )
    return plain(text).strip(_EDGE_MARKS + " ").replace("( ", "(")


def _one(text: str) -> tuple[Number | None] | None:
    """Return the one number of a text, (None,) where it is missing; None for other text."""
    text = _undecorated(text)
    if text.casefold() in _MISSING:
        return (None,)
    match = _CELL.fullmatch(text)
    # A plus sign makes a number a difference, which is no value.
    if not match or match["number"].startswith("+"):
        return None
    number = number_of(match)
    if number is None:
        return None
    number = replace(number, marks=match["letter"] or "")
    bracket = (match["bracket"] or "").strip()
    if not bracket:
        return (number,)
    inner = _BRACKET.fullmatch(bracket)
    beside = read_number(inner["number"]) if inner else None
    if inner is None or beside is None:
        return None
    return (replace(number, spread=beside.text) if inner["sign"] else replace(number, bracket=bracket),)
