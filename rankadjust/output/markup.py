"""Tables for people: re-scored values, and the printed table with adjusted columns, in Markdown, LaTeX and others."""

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean, visible
from rankadjust.base.io import to_csv, write_parquet, write_text
from rankadjust.chance.metrics import usual_name
from rankadjust.output.terminal import cell as text_of
from rankadjust.tables.formats.cell_text import is_missing, is_numeric, label
from rankadjust.tables.layout import Table
from rankadjust.tables.reading import Reading

# What a reader of a rescored table looks for; the Parquet and CSV files have every column.
READABLE = (
    "dataset", "split", "side", "protocol", "model", "metric", "value_as_printed", "expectation", "ratio", "index", "z",
    "z_random_scorer", "status", "message", "grades", "caveat",
)  # fmt: skip
ADJUSTMENTS = ("index", "ratio", "z", "z_random_scorer")
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


def adjusted_tables(
    reading: Reading, rescored: pl.DataFrame, adjustments: Sequence[str] = ("index",)
) -> list[pl.DataFrame]:
    """Return each table of a file as it was printed, with its adjusted columns: text throughout, one row per row.

    rescored: `rescore(reading.values, …)`, which keeps grid, row and column of each value. After a column with values
    comes one for each of `adjustments` (index, ratio, z, z_random_scorer), which says '(assumed)' where a value of it
    rests on facts that nobody stated; cells that could not be adjusted are empty there. Tables without any value are
    left out. Raises RankadjustError for an unknown adjustment.
    """
    for name in adjustments:
        if name not in ADJUSTMENTS:
            hint = did_you_mean(name, ADJUSTMENTS) or f"; there are {', '.join(ADJUSTMENTS)}"
            raise RankadjustError(f"unknown adjustment '{name}'{hint}")
    added = _formatted(rescored, adjustments)
    assumed: dict[int, set[int]] = defaultdict(set)
    for grid, column in rescored.filter(status="assumed").select("grid", "column").iter_rows():
        assumed[int(grid)].add(int(column) - 1)
    return [
        with_columns(table, added[table.number], adjustments, assumed.get(table.number, ()))
        for table in reading.tables
        if table.number in added
    ]


def _formatted(
    rescored: pl.DataFrame, adjustments: Sequence[str]
) -> Mapping[int, Mapping[tuple[int, int], Sequence[str]]]:
    """Return by table, and by row and column, the texts of the adjustments of a cell's value."""
    rows = rescored.with_columns(pl.col("grid", "row", "column").cast(pl.Int64)).with_columns(
        index_width=pl.col("index_high") - pl.col("index_low"),
        width=pl.col("value_high") - pl.col("value_low"),
        distance=(pl.col("value") - pl.col("expectation")).abs(),
    )
    texts: dict[int, dict[tuple[int, int], list[str]]] = defaultdict(dict)
    for row in rows.iter_rows(named=True):
        widths = {
            "index": row["index_width"],
            "ratio": _scaled(row["ratio"], row["width"], row["value"]),
            "z": _scaled(row["z"], row["width"], row["distance"]),
            "z_random_scorer": _scaled(row["z_random_scorer"], row["width"], row["distance"]),
        }
        cell = (row["row"] - 1, row["column"] - 1)
        texts[row["grid"]][cell] = [as_precise(row[name], widths[name]) for name in adjustments]
    return texts


def _scaled(adjusted: float | None, width: float | None, value: float | None) -> float | None:
    """Return the rounding interval of an adjusted value that grows in proportion to a value."""
    return abs(adjusted) * width / value if adjusted is not None and width and value else None


def as_precise(value: float | None, width: float | None) -> str:
    """Return a number with as many decimals as its rounding interval of that width leaves certain.

    0.338 has an interval 0.001 wide and three decimals; no value is an empty text.
    """
    if value is None or not math.isfinite(value):
        return ""
    decimals = 3 if not width else min(15, max(0, round(-math.log10(width))))
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def with_columns(
    table: Table,
    added: Mapping[tuple[int, int], Sequence[str]],
    adjustments: Sequence[str],
    assumed: Container[int] = (),
) -> pl.DataFrame:
    """Return a table as text with new columns, each after the column it belongs to.

    added: by row and column of the grid, a text for each of `adjustments`, by which the new columns are named. assumed:
    the columns whose adjusted columns are marked as assumed.
    """
    rows = [row for row in table.layout.rows if row.kind != "header"]
    columns: dict[str, list[str]] = {}
    for column in table.layout.columns:
        name = unused(column.name or f"column {column.index + 1}", columns)
        columns[name] = [label(table.grid.rows[row.index][column.index]) for row in rows]
        if not any(index == column.index for _, index in added):
            continue
        for position, adjustment in enumerate(adjustments):
            title = f"{name} {adjustment}{' (assumed)' if column.index in assumed else ''}"
            columns[unused(title, columns)] = [
                texts[position] if (texts := added.get((row.index, column.index))) else "" for row in rows
            ]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


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
