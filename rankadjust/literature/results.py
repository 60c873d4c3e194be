"""Published results in whatever form they come: tidy files, or tables as people have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.data.registry import Dataset
from rankadjust.literature.tidy import read_tidy, tidy_separator
from rankadjust.literature.wording import tidy_columns
from rankadjust.tables.account import describe, unread_cells
from rankadjust.tables.reading import read_tables


@dataclass(frozen=True)
class Results:
    """What a file holds: rows for `rankadjust.rescore`.

    understood: what was understood of a published table, empty for a tidy one. unread: a line for each cell that could
    not be read.
    """

    rows: pl.DataFrame
    understood: str
    unread: tuple[str, ...]


def read_results(path: str | Path, registry: Mapping[str, Dataset] | None = None) -> Results:
    """Read the results of a file of any format; its content says which, not its suffix.

    A text of separated values whose first line has all the columns that a tidy table needs is one; everything else is
    read as a published table, with the sidecar beside it. registry: the data sets with their aliases; None means the
    shipped ones. Raises RankadjustError where the file cannot be read.
    """
    path = Path(path)
    required = len(tidy_columns()["required"])
    _, found = tidy_separator(path)
    if found == required:
        return Results(read_tidy(path), "", ())
    try:
        reading = read_tables(path, registry=registry)
    except RankadjustError:
        # With all needed columns but one a tidy table was meant: its own error says which one is missing.
        if found == required - 1:
            return Results(read_tidy(path), "", ())
        raise
    if found == required - 1 and reading.values.is_empty():
        return Results(read_tidy(path), "", ())
    rows = reading.values.select(
        pl.lit(path.name).alias("file"), pl.col("source_line").cast(pl.Int64).alias("file_line"), pl.all()
    )
    return Results(rows, describe(reading), tuple(f"{path.name}: {line}" for line in unread_cells(reading)))
