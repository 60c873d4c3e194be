"""Read the cells of a printed table (a number, nothing, or text), and the plain text of labels.

rankadjust.base.printed reads the number itself; this module removes the marks, spreads and notes around it.
"""

import re
import unicodedata
from dataclasses import replace
from functools import cache, lru_cache

from rankadjust.base.printed import NUMBER, PLUS_MINUS, PRINTED, Number, number_of, plain, read_number
from rankadjust.base.words import shipped_mapping
from rankadjust.tables.formats.grid import tidy
from rankadjust.tables.formats.latex import latex_to_text

# The layout of a table needs the same texts several times.
_CACHED = 65536
# No printed number is longer.
_LONGEST = 200
_CELL = re.compile(PRINTED + r"(?:\s*(?P<open>[(\[])(?P<bracket>[^()\[\]]*)[)\]])?(?:\s?[a-g])?")
# Most numbers are this simple and need none of the steps below.
_SIMPLE = re.compile(r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,20})?")
_BRACKET = re.compile(rf"(?P<sign>{PLUS_MINUS})?\s*(?P<number>{NUMBER})\s?%?")
_RANGE = re.compile(rf"(?:\d+\s?%\s?CI:?\s)?{NUMBER}\s?(?:[-–,;]|to)\s?{NUMBER}")
_DECIMAL = re.compile(r"(?<![\w.])\d*[.,]\d+(?![\w.]\d)")
# Values that are not exact, and values beside a name: '~0.48', '0.49 (ConvE)', 'SACN (0.54)'.
_ABOUT = re.compile(rf"[~≈≃<>≤≥]\s?{NUMBER}\s?%?")
_BESIDE_NAME = re.compile(r"\d*\.\d+\s?\([^()\d]+\)|[^\W\d][\w+-]*\s?\(\d*\.\d+\)|[^\W\d][\w+-]* \d*\.\d+")
_LATEX = re.compile(r"\$[^$]+\$|\\[A-Za-z]+|\\[%&_#,;]")
_SUPERSCRIPT = re.compile(r"\^\{[^{}]*\}|\^\S+")
_SYMBOLS = ("So", "Sk", "Cf", "Co", "Cs")
_EDGE_MARKS = "*†‡§¶•_`\"'⋆★☆∗"


@lru_cache(maxsize=_CACHED)
def read_cell(text: str) -> Number | str | None:
    """Return the number of a cell, '' for a mark such as a dash that means no value, None for any other text.

    '0.35', '35.2 %', '.35 ± .01', '12,345' and '177 (3)' each hold one number.
    """
    if len(text) > _LONGEST:
        return None
    if _SIMPLE.fullmatch(text):
        return Number(text)
    text = _undecorated(text)
    if text.casefold() in _missing():
        return ""
    match = _CELL.fullmatch(text)
    number = number_of(match) if match else None
    # A plus sign makes the number a difference from another value.
    if match is None or number is None or match["number"].startswith("+"):
        return None
    bracket = (match["bracket"] or "").strip()
    inner = _BRACKET.fullmatch(bracket)
    beside = read_number(inner["number"]) if inner else None
    if inner and beside and inner["sign"]:
        return replace(number, spread=beside.text)
    is_range = _RANGE.fullmatch(bracket) and (match["open"] == "[" or "CI" in bracket)
    return replace(number, bracket=bracket or None) if beside or is_range or not bracket else None


def is_missing(text: str) -> bool:
    """Return whether a cell means 'no value': empty, a dash, 'n/a', 'OOM' and the like."""
    return not {_undecorated(text).casefold(), text.strip().casefold()}.isdisjoint(_missing())


@cache
def _missing() -> frozenset[str]:
    return frozenset(shipped_mapping()["missing"])


def is_numeric(text: str) -> bool:
    """Return whether a cell holds a number."""
    return isinstance(read_cell(text), Number)


def several_numbers(text: str) -> bool:
    """Return whether a cell holds several values and few words: 'paper: 0.49 ours: 0.44', '19.8/33.0/46.5'."""
    count = 0 if is_numeric(text) else len(_DECIMAL.findall(_undecorated(text)))
    return count > 1 and len(text.split()) <= 2 * count + 2


def number_beside_name(text: str) -> bool:
    """Return whether a cell holds a name and a decimal number: 'SACN (0.54)', 'SACN 0.54'; it may be a name."""
    return _BESIDE_NAME.fullmatch(_undecorated(text)) is not None


def holds_numbers(text: str) -> bool:
    """Return whether a cell holds one value or several, readable or not."""
    return is_numeric(text) or several_numbers(text) or _ABOUT.fullmatch(text) is not None


@lru_cache(maxsize=_CACHED)
def label(text: str) -> str:
    """Return the plain text of a name: without LaTeX, emoji, arrows and footnote marks, on one line."""
    text = _without_symbols(_without_latex(text))
    # A short raised text is a footnote mark.
    text = re.sub(r"\^\{([^{}]*)\}", r"^\1", re.sub(r"\^\{[^{}]{0,3}\}", "", text))
    return tidy(re.sub(r"\^?[†‡§¶]+|\^$", "", text).replace("\n", " "))


def _without_latex(text: str) -> str:
    return latex_to_text(text) if len(text) <= _LONGEST * 10 and _LATEX.search(text) else text


def _without_symbols(text: str) -> str:
    """Leave out emoji, arrows, and the invisible characters that join or colour them."""
    text = re.sub("[\u2190-\u21ff\ufe0f]", "", text)
    return "".join(sign for sign in text if sign in "^`" or unicodedata.category(sign) not in _SYMBOLS)


@lru_cache(maxsize=_CACHED)
def _undecorated(text: str) -> str:
    text = _without_latex(text)
    # An arrow before the number in brackets makes it a difference; the sign keeps it from being read as a spread.
    text = re.sub(r"\(\s*[\u2190-\u21ff▲▼]\s*", "(+", text)
    # A raised number is a footnote mark, except in a power of ten.
    text = text if re.search(r"(?<![\d.])10\s?\^", text) else _SUPERSCRIPT.sub("", text)
    # Raised digits are footnote marks, too.
    text = "".join(sign for sign in _without_symbols(text) if unicodedata.category(sign) != "No")
    return plain(text).strip(_EDGE_MARKS + " ").replace("( ", "(")
