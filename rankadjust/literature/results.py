"""Published results in whatever form they come: tidy files, or tables as people have them."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from rankadjust.data.registry import Dataset
from rankadjust.literature.rescore import read_tidy
from rankadjust.literature.wording import tidy_columns
from rankadjust.tables.account import describe
from rankadjust.tables.reading import read_tables

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def read_results(path: str | Path, registry: Mapping[str, Dataset] | None = None) -> tuple[pl.DataFrame, str]:
    """Return the rows of a file for `rankadjust.rescore`, and what was understood of it ('' where it is tidy).

    A .csv or .tsv file that has all the columns a tidy table needs is one; everything else is read as a published
    table, with the sidecar beside it. registry: the data sets with their aliases; None means the shipped ones.
    """
    path = Path(path)
    if _is_tidy(path):
        return read_tidy(path), ""
    reading = read_tables(path, registry=registry)
    return reading.values.select(pl.lit(path.name).alias("file"), pl.all()), describe(reading)


def _is_tidy(path: Path) -> bool:
    if path.suffix not in _SEPARATORS or not path.is_file():
        return path.suffix in _SEPARATORS
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        names = {name.strip().strip('"') for name in file.readline().split(_SEPARATORS[path.suffix])}
    required = set(tidy_columns()["required"])
    # With two of the three needed columns a tidy table was meant: its own error says which one is missing.
    return len(required & names) >= len(required) - 1
