"""Sealed tables: Parquet files with their kind, the version that wrote them, and a digest of their values.

A flipped bit in a Parquet file mostly gives another number, and no error. So the metadata of the file carry a digest of
the values, which is compared whenever the file is read. It is a digest of values, not of bytes: another program may
write the same table with other compression (docs/use-the-database.md says how to compute it without this library).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import (
    Source,
    parquet_metadata,
    parquet_schema,
    read_parquet,
    readable,
    scan_parquet,
    write_parquet,
)
from rankadjust.base.parquet import check_parquet
from rankadjust.base.shipped_sums import check_shipped
from rankadjust.base.version import VERSION

_PREFIX = "rankadjust."
# Tables are sorted by data set: one of them is found in a twentieth of the rows, and files grow by 3 to 9 %.
_ROWS_A_GROUP = 20_000
_KEYS = ("table", "schema", "version", "digest")


@dataclass(frozen=True)
class TableKind:
    """A kind of table. name: 'adjustments'; schema: number of its layout, raised with every change of its columns.

    columns: those that every such table has, with their types; it may have more. what: 'an adjustment database',
    remake: what makes one; both for messages.
    """

    name: str
    schema: int
    columns: Mapping[str, pl.DataType]
    what: str
    remake: str


@dataclass(frozen=True)
class Seal:
    """What the metadata of a file say: table and schema as in `TableKind`, the version that wrote it, the digest."""

    table: str
    schema: str
    version: str
    digest: str


def write_sealed(frame: pl.DataFrame, path: str | Path, table: TableKind, version: str = VERSION) -> None:
    """Write a frame as Parquet with a seal in its metadata."""
    digest = digest_of_values(frame, table.name, str(table.schema), version)
    values = (table.name, str(table.schema), version, digest)
    metadata = {f"{_PREFIX}{key}": value for key, value in zip(_KEYS, values, strict=True)}
    write_parquet(frame, path, metadata, _ROWS_A_GROUP)


def read_sealed(path: Path, table: TableKind, dataset: str | None = None) -> tuple[pl.DataFrame, Seal | None]:
    """Return the frame in a file and its seal, None where it has none; dataset: only its rows.

    Raises RankadjustError if there is no such file or the path is a folder, the file is not Parquet, has another kind
    or schema, or its values differ from its seal. Of a table that ships with the project the bytes are compared
    instead, which takes a tenth of the time.
    """
    as_shipped = check_shipped(path)
    if path.is_dir():
        raise RankadjustError(f"{path}: this is a folder; give the Parquet file itself")
    missing = f"there is no such file; {table.remake}"
    with readable(path, "not a Parquet file, or a damaged one", missing), path.open("rb") as file:
        if not as_shipped:
            check_parquet(file)
        seal = read_seal(file)
        _require_schema(path, table, seal)
        _require_columns(path, table, parquet_schema(file))
        if as_shipped and dataset is not None:
            # Row groups of other data sets are passed over.
            return scan_parquet(file).filter(pl.col("dataset") == dataset).collect(), seal
        frame = read_parquet(file)
    if seal is not None and not as_shipped:
        digest = digest_of_values(frame, seal.table, seal.schema, seal.version)
        if digest != seal.digest:
            raise RankadjustError(
                f"{path}: damaged, its values changed after it was written; get the file again, or make it "
                f"again: {table.remake}"
            )
    return frame if dataset is None else frame.filter(pl.col("dataset") == dataset), seal


def read_seal(source: Source) -> Seal | None:
    """Return what the metadata of a Parquet file say, None where the file is not sealed."""
    metadata = parquet_metadata(source)
    values = [metadata.get(f"{_PREFIX}{key}") for key in _KEYS]
    return None if None in values else Seal(*map(str, values))


def _require_schema(path: Path, table: TableKind, seal: Seal | None) -> None:
    """Raise RankadjustError if a file has another layout, as files of other versions may."""
    if seal is None or seal.table != table.name or seal.schema == str(table.schema):
        return
    raise RankadjustError(
        f"{path}: made by rankadjust {seal.version} with schema {seal.schema}; this is rankadjust {VERSION}, which "
        f"reads schema {table.schema}: use that version, or make the file again: {table.remake}"
    )


def _require_columns(path: Path, table: TableKind, schema: Mapping[str, pl.DataType]) -> None:
    for name, kind in table.columns.items():
        if name not in schema:
            raise RankadjustError(f"{path}: not {table.what}, it lacks the column {name!r}")
        if schema[name] != kind:
            raise RankadjustError(
                f"{path}: not {table.what}, its column {name!r} holds {_in_words(schema[name])}, "
                f"not {_in_words(kind)}"
            )


def _in_words(kind: pl.DataType) -> str:
    words = {pl.String: "text", pl.Int64: "whole numbers", pl.Float64: "numbers"}
    type_name = next((word for known, word in words.items() if kind == known), None)
    return f"values of type {kind}" if type_name is None else f"{type_name} ({kind})"


def digest_of_values(frame: pl.DataFrame, *names: str) -> str:
    """Return 'sha256:' and 64 hexadecimal digits: a digest of names and of a frame's columns, types, values and order.

    Integers count as int64, floats as the bits of float64, all else as text; a null differs from every value.
    """
    digest = hashlib.sha256(_line(*names))
    for column in frame:
        _add_column(digest, column)
    return f"sha256:{digest.hexdigest()}"


def _add_column(digest: "hashlib._Hash", column: pl.Series) -> None:
    kind, values = _plain(column)
    digest.update(_line(column.name, kind, str(column.len()), str(column.null_count())))
    if column.null_count():
        digest.update(np.packbits(column.is_not_null().to_numpy()).tobytes())
    if kind != "text":
        digest.update(_little_endian(values))
        return
    # Columns of text are long runs of one word: hashing runs takes a quarter of the time.
    runs = values.rle().struct.unnest()
    words = runs["value"]
    digest.update(_little_endian(runs["len"].cast(pl.Int64)))
    digest.update(_little_endian(words.str.len_bytes().cast(pl.Int64)))
    digest.update((words.str.join("").item() or "").encode())


def _plain(column: pl.Series) -> tuple[str, pl.Series]:
    """Return what a column holds in one word, and its values without nulls in the type that is hashed."""
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return "integer", column.cast(pl.Int64).fill_null(0)
    if column.dtype.is_float():
        return "number", column.cast(pl.Float64).fill_null(0.0)
    return "text", column.cast(pl.String).fill_null("")


def _little_endian(values: pl.Series) -> memoryview:
    array = values.to_numpy()
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).data


def _line(*words: str) -> bytes:
    return ("\0".join(words) + "\n").encode()
