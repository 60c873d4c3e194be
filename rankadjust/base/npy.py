"""Files of numpy arrays from anybody: what numpy refuses, or ends too early, is one line."""

import zipfile
import zlib
from contextlib import AbstractContextManager
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rankadjust.base import io

# What numpy, its parser of headers and the archive raise for bytes that are something else.
_BROKEN = (
    OSError, ValueError, EOFError, KeyError, TypeError, ArithmeticError, NotImplementedError, RuntimeError, SyntaxError,
    MemoryError, TokenError, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error,
)  # fmt: skip


def readable(what: str, problem: str = "cannot be read as numbers") -> AbstractContextManager[None]:
    """Turn what numpy and scipy raise for a file that they cannot read into a RankadjustError. what: the file."""
    return io.readable(what, problem, broken=_BROKEN)


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether it is stored by column and the type of the numbers of an npy file; they begin behind it."""
    headers = np.lib.format
    read = (
        headers.read_array_header_1_0 if headers.read_magic(file) == (1, 0) else headers.read_array_header_2_0
    )
    shape, by_column, dtype = read(file)
    return shape, by_column, dtype


def mapped(path: Path) -> NDArray[Any]:
    """Return the array in an npy file as a map of memory: numpy allocates nothing, however many numbers are claimed."""
    with readable(str(path)):
        return np.lib.format.open_memmap(path, mode="r")
