"""Files that one stage of a run writes and another reads: plain Parquet, with the number of its layout, and plain JSON.

The number is in the metadata of the Parquet file: a command that reads the results of a run may be of another version.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import parquet_metadata, read_parquet, readable, write_parquet, write_text

_KEY = "rankadjust.layout"
# The number of each layout is raised with every change of its columns.
LAYOUTS = {
    "triples": 1,
    "labels": 1,
    "candidates": 1,
    "pairs": 1,
    "moments": 1,
    "baselines": 1,
    "benchmarks": 1,
    "bounds": 1,
    "tasks": 2,
    "rescored": 1,
}


def write_product(frame: pl.DataFrame, path: str | Path, layout: str) -> None:
    """Write a frame as Parquet with the number of its layout. layout: a key of LAYOUTS."""
    write_parquet(frame, path, metadata_of(layout))


def read_product(path: str | Path, layout: str) -> pl.DataFrame:
    """Return the frame in a file that `write_product` wrote.

    Raises RankadjustError, with the command that makes the file again, where it has another layout, and where it is
    missing or no Parquet file.
    """
    with readable(path, "cannot be read as Parquet"), Path(path).open("rb") as file:
        found = parquet_metadata(file).get(_KEY)
        if found != metadata_of(layout)[_KEY]:
            raise RankadjustError(
                f"{path}: has the layout {found or 'of another program'}, and this version of rankadjust reads "
                f"{metadata_of(layout)[_KEY]}; make it again: snakemake --cores all --force {path}"
            )
        return read_parquet(file)


def metadata_of(layout: str) -> dict[str, str]:
    """Return what the metadata of a file of this layout say."""
    return {_KEY: f"{layout} {LAYOUTS[layout]}"}


def write_json(data: Mapping[str, Any], path: str | Path) -> None:
    """Write an object as indented JSON."""
    write_text(json.dumps(data, indent=2) + "\n", path)


def read_json(path: str | Path) -> dict[str, Any]:
    """Return the object in a JSON file that a stage wrote; a RankadjustError where it is missing or damaged."""
    with readable(path, "cannot be read as JSON", broken=(OSError, ValueError)):
        data: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return data
