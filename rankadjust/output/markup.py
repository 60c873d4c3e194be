"""Tables for people: re-scored values, and the printed table with adjusted columns, in Markdown, LaTeX and others."""

import math
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError, visible
from rankadjust.base.io import to_csv, write_parquet, write_text
from rankadjust.chance.metrics import usual_name
from rankadjust.output.terminal import cell as text_of
from rankadjust.tables.formats.cell_text import is_missing, is_numeric, label
from rankadjust.tables.reading import Reading

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


def adjusted_tables(reading: Reading, rescored: pl.DataFrame) -> list[pl.DataFrame]:
    """Return each table of a file as it was printed, with its indices: text throughout, one row per row.

    rescored: `rescore(reading.values, …)`, which keeps grid, row and column of each value. After a column with values
    comes a column of their indices, which says '(assumed)' where an index rests on facts that nobody stated; cells that
    could not be adjusted are empty there. Tables without any value are left out.
    """
    rows = rescored.with_columns(
        pl.col("grid", "row", "column").cast(pl.Int64), width=pl.col("index_high") - pl.col("index_low")
    )
    indices: dict[int, dict[int, dict[int, str]]] = {}
    assumed = set(rows.filter(status="assumed").select("grid", "column").iter_rows())
    for grid, row, column, index, width in rows.select("grid", "row", "column", "index", "width").iter_rows():
        indices.setdefault(grid, {}).setdefault(column - 1, {})[row - 1] = as_precise(index, width)
    tables = []
    for table in reading.tables:
        columns: dict[str, list[str]] = {}
        lines = [row.index for row in table.layout.rows if row.kind != "header"]
        for column in table.layout.columns if table.number in indices else ():
            name = unused(column.name or f"column {column.index + 1}", columns)
            columns[name] = [label(table.grid.rows[line][column.index]) for line in lines]
            if added := indices[table.number].get(column.index):
                is_assumed = (table.number, column.index + 1) in assumed
                title = unused(f"{name} index{' (assumed)' if is_assumed else ''}", columns)
                columns[title] = [added.get(line, "") for line in lines]
        if columns:
            tables.append(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)))
    return tables


def as_precise(value: float | None, width: float | None) -> str:
    """Return a number with as many decimals as its rounding interval of that width leaves certain.

    0.338 has an interval 0.001 wide and three decimals; no value is an empty text.
    """
    if value is None or not math.isfinite(value):
        return ""
    decimals = 3 if not width else min(15, max(0, round(-math.log10(width))))
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


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


def to_latex(frame: pl.DataFrame) -> str:
    """Return a table of text as a LaTeX tabular for the package booktabs."""
    rows = [
        " & ".join(escape_latex(text) for text in row) + r" \\" for row in [frame.columns, *frame.iter_rows()]
    ]
    alignment = "".join("r" if numeric else "l" for numeric in _numeric(frame))
    body = ["\\toprule", rows[0], "\\midrule", *rows[1:], "\\bottomrule"]
    return (
        "\n".join([f"\\begin{{tabular}}{{{alignment}}}", *(f"  {line}" for line in body), "\\end{tabular}"])
        + "\n"
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


def write_adjusted(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a table of text as .csv, .parquet, .md or .tex, as the suffix of the path says."""
    path = Path(path)
    writers: dict[str, Callable[[pl.DataFrame], str]] = {".csv": to_csv, ".md": to_markdown, ".tex": to_latex}
    if path.suffix == ".parquet":
        write_parquet(frame, path)
    elif path.suffix in writers:
        write_text(writers[path.suffix](frame), path)
    else:
        raise RankadjustError(f"{path}: unknown suffix '{path.suffix}'; write .csv, .parquet, .md or .tex")
