"""Files of numpy arrays from anybody: what their headers claim is checked against the bytes that are there.

numpy takes as much memory as the header of a file asks for before it reads a number. So a file of a few bytes that
claims an array of 20 GB, or a small archive that unpacks to one, is refused before anything is allocated.
"""

import math
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadjust.base.errors import RankadjustError

# What is packed may unpack to this many bytes, or to a hundred times its own size: scores hardly shrink, masks do.
_LARGEST = 1 << 30
_RATIO = 100
# What numpy, its parser of headers and the archive raise for bytes that are something else.
_BROKEN = (
    OSError, ValueError, EOFError, KeyError, TypeError, ArithmeticError, NotImplementedError, RuntimeError, SyntaxError,
    MemoryError, TokenError, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error,
)  # fmt: skip


class Header(NamedTuple):
    """What a file of an array says about it: shape, whether it is stored by column, the type of its numbers."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]


@contextmanager
def readable(what: str, problem: str = "cannot be read as numbers") -> Iterator[None]:
    """Turn what numpy and scipy raise for a file that they cannot read into a RankadjustError. what: the file."""
    try:
        yield
    except FileNotFoundError:
        raise RankadjustError(f"{what}: there is no such file") from None
    except _BROKEN as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RankadjustError(f"{what}: {problem} ({said})") from None


def read_header(file: IO[bytes], size: int, what: str) -> Header:
    """Return what the header of an npy file of `size` bytes says, and leave the file where its numbers begin.

    Raises RankadjustError where it is no such file, holds Python objects, or has fewer bytes than it claims.
    """
    with readable(what, "no npy file"):
        version = np.lib.format.read_magic(file)
        headers = np.lib.format
        read = headers.read_array_header_1_0 if version == (1, 0) else headers.read_array_header_2_0
        header = Header(*read(file))
        begins = file.tell()
    if header.dtype.hasobject:
        raise RankadjustError(f"{what}: an array of Python objects; save numbers or text with numpy.save")
    if min(header.shape, default=0) < 0:
        raise RankadjustError(f"{what}: no npy file (an array of the shape {header.shape})")
    needed = math.prod(header.shape) * header.dtype.itemsize
    if needed > size - begins:
        raise RankadjustError(
            f"{what}: the file ends before its {(*header.shape, 1)[0]:,} rows do: {needed:,} bytes of numbers are "
            f"claimed, and {max(size - begins, 0):,} follow; get or write the file again"
        )
    return header


def read_array(path: Path) -> NDArray[Any]:
    """Return the array in an npy file."""
    with readable(str(path)), path.open("rb") as file:
        read_header(file, os.fstat(file.fileno()).st_size, str(path))
        file.seek(0)
        array: NDArray[Any] = np.load(file, allow_pickle=False)
        return array


def map_header(path: Path) -> Header:
    """Return what an npy file says about its array, for one that is read in parts."""
    with readable(str(path)), path.open("rb") as file:
        return read_header(file, os.fstat(file.fileno()).st_size, str(path))


def check_npz(path: Path) -> None:
    """Raise RankadjustError where an npz file is none, or would take far more memory than its own size."""
    with readable(str(path)), zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        most = max(_LARGEST, _RATIO * path.stat().st_size)
        total = sum(entry.file_size for entry in entries)
        if total > most:
            raise RankadjustError(
                f"{path}: it unpacks to {total:,} bytes, more than a hundred times its size; write the arrays as .npy "
                "files in a folder, which are read in parts"
            )
        twice = len(entries) - len({entry.filename for entry in entries})
        if twice:
            raise RankadjustError(f"{path}: an array is in it twice; write it anew with numpy.savez")
        for entry in entries:
            # Of a member that is no array, numpy would return the bytes.
            with archive.open(entry) as file:
                read_header(file, entry.file_size, f"{path}, {entry.filename}")
