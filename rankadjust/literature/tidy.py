"""Read tidy tables of printed results, which have one value a row (workflow/schemas/tidy.schema.yaml)."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.frames import filled
from rankadjust.base.io import read_csv, readable, shipped, without_guards
from rankadjust.base.schemas import read_yaml
from rankadjust.base.vocabulary import EVALUATION, KEY
from rankadjust.chance.metrics import find_adjusted
from rankadjust.tables.formats.grid import MAX_COLUMNS

# Two rows that agree in these columns are the same result: a result that is printed twice in a table is a mistake.
RESULT = ("source", "table", "source_line", "model", *KEY, "ties", "candidates", "adjustment")


@cache
def tidy_columns() -> Mapping[str, Any]:
    """Return the schema of a tidy table: its columns (properties), and the list of required columns."""
    schema: Mapping[str, Any] = read_yaml(shipped("workflow/schemas/tidy.schema.yaml"))
    return schema


def read_tidy(path: str | Path) -> pl.DataFrame:
    """Read a tidy table as text, with the file's name and each row's line added.

    The first line decides the separator: comma, tab or semicolon. The columns of the file follow `file` and
    `file_line` (Int64; the header is line 1), unchanged. Raises RankadjustError if the file cannot be read or lacks a
    required column.
    """
    path = Path(path)
    separator, _ = tidy_separator(path)
    with readable(path):
        frame = read_csv(path, separator=separator, raise_if_empty=False)
    if frame.width > MAX_COLUMNS:
        raise RankadjustError(f"{path}: {frame.width:,} columns, but at most {MAX_COLUMNS:,} are read")
    frame = without_guards(frame)
    require_columns(frame, str(path))
    # A quoted cell may contain line breaks: they shift the lines of later rows.
    breaks = pl.sum_horizontal(pl.all().str.count_matches("\n").fill_null(0)).cast(pl.Int64)
    lines = frame.select(
        file=pl.lit(path.name),
        file_line=pl.int_range(pl.len(), dtype=pl.Int64) + 2 + breaks.cum_sum().shift(1, fill_value=0),
    )
    return lines.hstack(frame.drop("file", "file_line", strict=False))


def tidy_separator(path: str | Path) -> tuple[str, int]:
    """Return the separator of a file, and how many of the required columns of a tidy table it has.

    The first line decides the separator; if it has no required column, the suffix does. A missing file has no columns.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            header = file.readline()
    except OSError:
        header = ""
    required = set(tidy_columns()["required"])
    columns_of = {
        separator: len(required & {name.strip().strip('"') for name in header.split(separator)})
        for separator in ("\t,;" if path.suffix in (".tsv", ".tab") else ",\t;")
    }
    return max(columns_of.items(), key=lambda item: item[1])


def long_table(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with a row for each value; a table with a column for each metric is unpivoted.

    Empty cells get no row. A table with a column metric or value is returned as it is.
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
    """Raise a RankadjustError if a tidy table lacks a required column."""
    for column in tidy_columns()["required"]:
        if column not in frame.columns:
            hint = (
                did_you_mean(column, frame.columns) or f"; it has {', '.join(frame.columns) or 'no columns'}"
            )
            raise RankadjustError(f"{name}: the table lacks the column '{column}'{hint}")


def where_of(rows: pl.DataFrame) -> pl.Expr:
    """Return the file and line of each row, as far as known: 'mine.csv:3', 'mine.csv', 'the table'."""
    known = [name for name in ("file", "file_line") if "file" in rows.columns and name in rows.columns]
    place = pl.concat_str(known, separator=":", ignore_nulls=True) if known else pl.lit(None, dtype=pl.String)
    return pl.coalesce(place.replace("", None), pl.lit("the table"))


def add_run(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column `run`, which is equal for the metrics of one model in one evaluation."""
    absent = [name for name in RESULT if name not in rows.columns]
    whole = rows.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)
    run = run_of(["source", "model", *EVALUATION, "ties", "candidates"])
    return rows.with_columns(whole.select(run=run))


def run_of(columns: Sequence[str], *others: str) -> pl.Expr:
    """Return a text that is equal for the values of one model, which agree in these columns.

    The name identifies a model within its source. Table and line separate runs only if the source prints a metric of
    that name twice (with equal `others`). Otherwise tables of one metric each, or tables with a metric per line, would
    fall to pieces.
    """
    repeated = pl.struct(*columns, *others, "metric", "adjustment").is_duplicated().any().over(columns)
    printed_in = pl.concat_str("table", "source_line", separator=":", ignore_nulls=True)
    parts = [*map(pl.col, columns), pl.when(repeated).then(printed_in)]
    return pl.concat_str(*(part.fill_null("") for part in parts), separator="\t")


def add_duplicate(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the column duplicate: a message for each row that repeats the result of an earlier row, else null."""
    whole = rows.with_row_index("row_number", offset=1)
    line = pl.coalesce("file_line", "row_number") if "file_line" in rows.columns else pl.col("row_number")
    repeated = filled(
        "line {} already has the same model, evaluation and metric; leave one of the two out",
        line.first().over(RESULT),
    )
    return whole.with_columns(duplicate=pl.when(~pl.struct(RESULT).is_first_distinct()).then(repeated))
