"""Numbers and tables as text that people read."""

import polars as pl

from rankadjust.base.errors import visible
from rankadjust.chance.metrics import usual_name

# What a reader of a rescored table looks for; the Parquet and CSV files have every column.
READABLE = (
    "dataset", "split", "side", "protocol", "model", "metric", "value_as_printed", "expectation", "ratio", "index", "z",
    "z_random_scorer", "status", "message", "grades", "caveat",
)  # fmt: skip

# The backslash first: the others add backslashes, which must not be escaped again.
_ESCAPES = {
    "\\": "\\\\",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "|": "\\|",
    "[": "\\[",
    "`": "\\`",
    "\n": " ",
}


def readable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of rescored rows that people read.

    A metric has the name that papers print. The column `grades` lists the facts that are not printed.
    """
    shown = rescored.select(name for name in READABLE if name in rescored.columns)
    not_printed = pl.col("^grades$").str.replace_all(r"\w+ printed(?:; |$)", "").str.strip_chars("; ")
    names = pl.col("^metric$").map_elements(usual_name, return_dtype=pl.String)
    return shown.with_columns(names, not_printed.replace("", None))


def markdown_table(rescored: pl.DataFrame) -> str:
    """Return rescored rows as a Markdown table with the columns that people read."""
    shown = readable(rescored)
    cells = [[_escaped(number(value)) for value in row] for row in shown.iter_rows()]
    lines = [shown.columns, ["---"] * shown.width, *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escaped(text: str) -> str:
    """Return a text as the same text in Markdown: no HTML, no link or picture, no other cell."""
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return visible(text)


def number(value: object) -> str:
    """Return a number for people: four significant digits, thousands apart, empty for null."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
