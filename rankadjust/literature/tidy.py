"""Tidy tables of printed results, one value a row, as files (workflow/schemas/tidy.schema.yaml)."""

from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.reading import read_csv, readable
from rankadjust.base.shipped_sums import check_shipped
from rankadjust.base.spreadsheets import without_guards
from rankadjust.chance.adjusted_names import find_adjusted
from rankadjust.literature.wording import tidy_columns
from rankadjust.tables.formats.grid import MAX_COLUMNS


def read_tidy(path: str | Path) -> pl.DataFrame:
    """Read a tidy table as text, with the file's name and each row's line added.

    What separates its cells (comma, tab or semicolon) is what its first line is written with.

    Every column of the file comes as it is, after `file` and `file_line` (Int64; the header is line 1).
    Raises RankadjustError where the file cannot be read or lacks a needed column, and where it is a shipped one that
    has other bytes than it was shipped with.
    """
    path = Path(path)
    check_shipped(path)
    separator, _ = tidy_separator(path)
    with readable(path):
        frame = read_csv(path, separator=separator, raise_if_empty=False)
    if frame.width > MAX_COLUMNS:
        raise RankadjustError(f"{path}: {frame.width:,} columns; at most {MAX_COLUMNS:,} are read")
    frame = without_guards(frame)
    require_columns(frame, str(path))
    # A quoted cell may hold line breaks: the rows after it stand lower in the file than their number says.
    breaks = pl.sum_horizontal(pl.all().str.count_matches("\n").fill_null(0)).cast(pl.Int64)
    lines = frame.select(
        file=pl.lit(path.name),
        file_line=pl.int_range(pl.len(), dtype=pl.Int64) + 2 + breaks.cum_sum().shift(1, fill_value=0),
    )
    return lines.hstack(frame.drop("file", "file_line", strict=False))


def tidy_separator(path: str | Path) -> tuple[str, int]:
    """Return what separates the cells of a file, and how many of the columns that a tidy table needs are there.

    The first line says so; where it has none of them the suffix does. A file that is not there has none.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            header = file.readline()
    except OSError:
        header = ""
    required = set(tidy_columns()["required"])
    found = {
        separator: len(required & {name.strip().strip('"') for name in header.split(separator)})
        for separator in ("\t,;" if path.suffix in (".tsv", ".tab") else ",\t;")
    }
    return max(found.items(), key=lambda one: one[1])


def long_table(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with a row for each value; one that has a column for each metric is turned round.

    Of an empty cell there is no row. A table with a column metric or value is taken as it is.
    """
    known = tidy_columns()["properties"]
    metrics = [name for name in frame.columns if name not in known and find_adjusted(name) is not None]
    if {"metric", "value"} & {*frame.columns} or not metrics:
        return frame
    others = [name for name in frame.columns if name not in metrics]
    values = [
        frame.select(
            *others, place=pl.int_range(pl.len()), metric=pl.lit(name), value=pl.col(name).cast(pl.String)
        )
        for name in metrics
    ]
    whole = pl.concat(values).drop_nulls("value")
    return whole.sort("place", maintain_order=True).drop("place")


def require_columns(frame: pl.DataFrame, name: str) -> None:
    """Raise a RankadjustError where a tidy table lacks a needed column."""
    for column in tidy_columns()["required"]:
        if column not in frame.columns:
            hint = (
                did_you_mean(column, frame.columns) or f"; it has {', '.join(frame.columns) or 'no columns'}"
            )
            raise RankadjustError(f"{name}: the table lacks the column '{column}'{hint}")


def where_of(rows: pl.DataFrame) -> pl.Expr:
    """Return file and line of each row, as far as the rows have them: 'mine.csv:3', 'mine.csv', 'the table'."""
    known = [name for name in ("file", "file_line") if "file" in rows.columns and name in rows.columns]
    found = pl.concat_str(known, separator=":", ignore_nulls=True) if known else pl.lit(None, dtype=pl.String)
    return pl.coalesce(found.replace("", None), pl.lit("the table"))
