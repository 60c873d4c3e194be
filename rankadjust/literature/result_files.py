"""Read results from files of any format: tidy tables, published tables, result files of tools."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.data.registry import Dataset, load_registry, resolve_dataset
from rankadjust.literature.assumptions import with_given
from rankadjust.literature.tidy import read_tidy, tidy_columns, tidy_separator
from rankadjust.tables.reading import Reading, known_names, read_tables
from rankadjust.tables.sidecar import given_facts


@dataclass(frozen=True)
class Results:
    """The content of a file: rows for `rankadjust.rescore`.

    reading: the full reading of a published table, None for a tidy table.
    """

    rows: pl.DataFrame
    reading: Reading | None = None


def read_results(
    path: str | Path,
    registry: Mapping[str, Dataset] | None = None,
    sidecar: str | Path | None = None,
    given: Mapping[str, str | None] | None = None,
) -> Results:
    """Read the results of a file of any format; its content decides the format, not its suffix.

    Separated values whose first line has all required columns of a tidy table are a tidy table. Everything else is read
    as a published table or as the result file of a tool. registry: the data sets with their aliases; None means the
    shipped registry. sidecar: path of a file with facts that the table does not state; None means the sidecar beside
    the file. given: facts about all its values that the file does not state, by name. Raises RankadjustError if the
    file cannot be read.
    """
    path = Path(path)
    required = len(tidy_columns()["required"])
    _, columns_present = tidy_separator(path)
    if columns_present == required:
        return _tidy(path, registry, given or {})
    try:
        reading = read_tables(path, sidecar, registry, given)
    except RankadjustError:
        # If a single required column is missing, a tidy table was meant: the error of its reader names the column.
        if columns_present == required - 1:
            return _tidy(path, registry, given or {})
        raise
    if columns_present == required - 1 and reading.values.is_empty():
        return _tidy(path, registry, given or {})
    rows = reading.values.select(
        pl.lit(path.name).alias("file"), pl.col("source_line").cast(pl.Int64).alias("file_line"), pl.all()
    )
    return Results(rows, reading)


def _tidy(path: Path, registry: Mapping[str, Dataset] | None, given: Mapping[str, str | None]) -> Results:
    rows = read_tidy(path)
    if given.get("task"):
        raise RankadjustError(f"{path}: a tidy table is about entity prediction; leave --task out")
    if any(given.values()):
        rows = with_given(
            rows, given_facts(given, known_names(load_registry() if registry is None else registry))
        )
    return Results(rows)


def rows_about(wanted: Collection[str], rows: pl.DataFrame, registry: Mapping[str, Dataset]) -> pl.DataFrame:
    """Return the rows about data sets of these names, whatever the table calls them.

    To re-score all rows takes ten times as long.
    """
    names = [name for name in rows["dataset"].unique() if name in wanted or _name(name, registry) in wanted]
    return rows.filter(pl.col("dataset").is_in(names))


def _name(name: str, registry: Mapping[str, Dataset]) -> str | None:
    try:
        return resolve_dataset(name, registry).name
    except RankadjustError:
        return None
