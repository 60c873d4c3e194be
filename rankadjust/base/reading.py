"""Tables from files: what is parsed are the bytes that were checked, of the file that was named.

polars may interpret a path as a pattern, an address or a partition: asked for `ranks[1].csv` it reads `ranks1.csv`. So
it never gets a path. It gets the open file that was checked before; a linter refuses its own readers elsewhere.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from rankadjust.base.errors import RankadjustError

# What polars raises for a file that it cannot read. A damaged Parquet file can make it panic: no subclass of Exception.
_BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError)

Source = str | Path | BinaryIO
"""The path of a file, or a file that is open: it is read from its beginning, and stays open."""


@contextmanager
def readable(
    what: str | Path,
    problem: str = "cannot be read as a table",
    missing: str = "there is no such file",
    broken: tuple[type[BaseException], ...] = _BROKEN,
) -> Iterator[None]:
    """Turn an error of reading into a RankadjustError. what: the file. broken: the errors of a damaged file."""
    try:
        yield
    except FileNotFoundError:
        raise RankadjustError(f"{what}: {missing}") from None
    except broken as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise RankadjustError(f"{what}: {problem} ({reason})") from None


@contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """Yield an open file."""
    if isinstance(source, str | Path):
        with Path(source).open("rb") as file:
            yield file
    else:
        source.seek(0)
        yield source


def read_parquet(source: Source) -> pl.DataFrame:
    """Return the frame in a Parquet file; `rankadjust.base.parquet` checks one from anybody first."""
    with opened(source) as file:
        return pl.read_parquet(file, use_pyarrow=False)


def scan_parquet(source: Source) -> pl.LazyFrame:
    """Return what reads a Parquet file in parts; it keeps a file of its own open."""
    with opened(source) as file:
        return pl.scan_parquet(file)


def parquet_schema(source: Source) -> Mapping[str, pl.DataType]:
    """Return the columns of a Parquet file and their types."""
    with opened(source) as file:
        return pl.read_parquet_schema(file)


def parquet_metadata(source: Source) -> Mapping[str, str]:
    """Return keys and values from the end of a Parquet file."""
    with opened(source) as file:
        return pl.read_parquet_metadata(file)


def read_csv(source: Source | bytes, **options: Any) -> pl.DataFrame:  # noqa: ANN401 - polars.read_csv's
    """Return the frame in delimited text; cells are text where no option says otherwise."""
    options = {"infer_schema": False} | options
    if isinstance(source, bytes):
        return pl.read_csv(source, **options)
    with opened(source) as file:
        return pl.read_csv(file, **options)
