"""Tables for people: re-scored values in Markdown, and text that is safe in LaTeX."""

from collections.abc import Iterable
from itertools import count

import polars as pl

from rankadjust.base.errors import visible
from rankadjust.chance.metrics import usual_name
from rankadjust.output.terminal import cell as text_of
from rankadjust.tables.formats.cell_text import is_missing, is_numeric

# What a reader of a rescored table looks for; the Parquet and CSV files have every column.
READABLE = (
    "dataset", "split", "side", "protocol", "model", "metric", "value_as_printed", "expectation", "ratio", "index", "z",
    "z_random_scorer", "status", "message", "grades", "caveat",
)  # fmt: skip
_LATEX_ESCAPES = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "<": "$<$",
    ">": "$>$",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    '"': r"\textquotedbl{}",
}


def unused(name: str, taken: Iterable[str]) -> str:
    """Return the name, or the first of 'name (2)', 'name (3)', … that is not taken."""
    names = (name if number == 1 else f"{name} ({number})" for number in count(1))
    return next(candidate for candidate in names if candidate not in taken)


def to_markdown(frame: pl.DataFrame) -> str:
    """Return a table of text as a Markdown pipe table; columns of numbers are aligned to the right."""
    escaped = [[_escape_markdown(text) for text in row] for row in [frame.columns, *frame.iter_rows()]]
    widths = [max(3, *(len(row[column]) for row in escaped)) for column in range(frame.width)]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |"
        for row in escaped
    ]
    rules = [
        "-" * (width - 1) + (":" if numeric else "-")
        for width, numeric in zip(widths, _numeric(frame), strict=True)
    ]
    return "\n".join([lines[0], "| " + " | ".join(rules) + " |", *lines[1:]]) + "\n"


def _escape_markdown(text: str | None) -> str:
    escaped = "".join(
        f"\\{character}" if character in "\\`*_[]<>|&~#" else character for character in visible(text or "")
    )
    return escaped.replace("\n", "<br>")


def readable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of re-scored rows that people read, as a table of text.

    A metric has the name that papers print. The column `grades` lists the facts that are not printed.
    """
    shown = rescored.select(name for name in READABLE if name in rescored.columns)
    not_printed = pl.col("^grades$").str.replace_all(r"\w+ printed(?:; |$)", "").str.strip_chars("; ")
    names = pl.col("^metric$").map_elements(usual_name, return_dtype=pl.String)
    return pl.DataFrame(
        [
            pl.Series(column.name, [text_of(value) for value in column])
            for column in shown.with_columns(names, not_printed)
        ],
        schema=dict.fromkeys(shown.columns, pl.String),
    )


def escape_latex(text: str | None) -> str:
    """Return a text as the same text in LaTeX, on one line."""
    # Two hyphens in a row would become a dash.
    escaped = "".join(
        _LATEX_ESCAPES.get(character, character) for character in visible(text or "").replace("\n", " / ")
    )
    return escaped.replace("--", "-{}-").replace("--", "-{}-")


def _numeric(frame: pl.DataFrame) -> list[bool]:
    """Return for each column whether its cells are numbers; missing cells do not count."""
    return [
        any(map(is_numeric, texts)) and all(is_numeric(text) or is_missing(text) for text in texts)
        for texts in ([text or "" for text in frame[name]] for name in frame.columns)
    ]
