"""Integer triples from Parquet and npy files, in blocks: what is larger than memory is never there as a whole."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.npy import read_header, readable
from rankadjust.base.parquet import check_parquet
from rankadjust.base.reading import readable as readable_table
from rankadjust.base.reading import scan_parquet
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, time_columns

# Triples of a block: some 50 MB.
_ROWS = 1 << 22
# What the columns of a file are, or for each of ours the name that it has there.
_Columns = Sequence[str] | Mapping[str, str]


def integer_blocks(
    paths: Mapping[str, str | Path],
    columns: _Columns = LABEL_COLUMNS,
    rows: int = _ROWS,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[pl.DataFrame]:
    """Yield the triples of the splits in blocks, with the columns split, head, relation, tail and times.

    paths: for each split a file .npy with an array of triples by columns, or .parquet. columns: what the columns of an
    array are, in their order, `ignore` for a column that is not read. A Parquet file has columns with these names, or
    with the values of a mapping.
    rows: triples of a block. names: what the user calls the file of a split, for errors, where that is not its path.

    Raises RankadjustError for an unknown split, and for a file that is missing, is neither or holds other columns.
    """
    for split, name in paths.items():
        path = Path(name)
        if split not in SPLITS:
            raise RankadjustError(f"unknown split '{split}'; the splits are {', '.join(SPLITS)}")
        where = names.get(split, str(path))
        if not path.is_file():
            raise RankadjustError(f"{where}: there is no such file")
        if path.suffix not in _READERS:
            raise RankadjustError(f"{where}: blocks are read from .npy and .parquet files only")
        kept = [name for name in columns if name != "ignore"]
        for block in _READERS[path.suffix](path, columns, rows, where):
            yield block.select(pl.lit(split, pl.Enum(SPLITS)).alias("split"), *kept)


def encoded_blocks(path: str | Path, rows: int = _ROWS) -> Callable[[], Iterator[pl.DataFrame]]:
    """Return what yields encoded triples (results/triples/<dataset>.parquet) in blocks; times become integers."""
    scan = scan_parquet(path)
    schema = scan.collect_schema()
    times = [name for name in time_columns(schema.names()) if schema[name] == pl.String]
    # Times are compared for equality alone: a number of each value stands for it.
    values = [scan.select(pl.col(name).unique()).collect().to_series() for name in times]
    numbers = pl.Enum(pl.concat(values).unique().sort()) if times else pl.UInt32
    triples = scan.with_columns(pl.col(times).cast(numbers).to_physical())
    height = scan.select(pl.len()).collect().item()
    return lambda: (triples.slice(start, rows).collect() for start in range(0, height, rows))


def _npy_blocks(path: Path, columns: _Columns, rows: int, where: str) -> Iterator[pl.DataFrame]:
    # Not a memory map: a limit on a process counts the whole file then.
    with path.open("rb") as file:
        with readable(where, "no npy file"):
            shape, by_column, dtype = read_header(file)
        if len(shape) != 2 or shape[1] != len(columns) or by_column or dtype.kind not in "iu":
            raise RankadjustError(
                f"{where}: an array {shape} of {dtype}{' by column' if by_column else ''}; needed are rows of "
                f"{len(columns)} integers ({', '.join(columns)})"
            )
        named = [f"ignore {place}" if name == "ignore" else name for place, name in enumerate(columns)]
        for start in range(0, shape[0], rows):
            height = min(rows, shape[0] - start)
            block = np.fromfile(file, dtype, height * shape[1])
            if block.size < height * shape[1]:
                raise RankadjustError(
                    f"{where}: the file ends before its {shape[0]:,} rows do; get or write it again"
                )
            yield pl.DataFrame(block.reshape(height, shape[1]), schema=named, orient="row")


def _parquet_blocks(path: Path, columns: _Columns, rows: int, where: str) -> Iterator[pl.DataFrame]:
    with readable_table(where, "no Parquet file, or a damaged one"):
        with path.open("rb") as file:
            check_parquet(file)
            scan = scan_parquet(file)
        height = scan.select(pl.len()).collect().item()
        names = scan.collect_schema().names()
    theirs = columns if isinstance(columns, Mapping) else dict(zip(columns, columns, strict=True))
    for name in theirs.values():
        if name not in names:
            raise RankadjustError(f"{where}: lacks the column {name!r}; it has {', '.join(names)}")
    for start in range(0, height, rows):
        with readable_table(where, "no Parquet file, or a damaged one"):
            ours = scan.select(pl.col(name).alias(own) for own, name in theirs.items())
            block = ours.slice(start, rows).collect()
        yield block


_READERS = {".npy": _npy_blocks, ".parquet": _parquet_blocks}
