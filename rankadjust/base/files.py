"""Files: written whole or not at all, the same bytes every time; and the files that ship with the package."""

import gzip
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.faults import is_of_writing, unwritable
from rankadjust.base.spreadsheets import to_csv

_PACKAGE = Path(__file__).parent.parent


def path_from(text: str, folder: Path) -> Path:
    """Return the path that somebody wrote in a file of this folder: relative to it, with ~ for a home folder."""
    try:
        return (folder / Path(text).expanduser()).resolve()
    except RuntimeError:
        home = Path(text).parts[0]
        raise RankadjustError(f"{text}: there is no home folder {home}; write the path in full") from None


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it on success and removed on failure.

    Raises RankadjustError where the path cannot be written, also where its disk is full before the end.
    """
    path = Path(path)
    with _unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        with _writing(path, temporary):
            yield temporary
        # mkstemp makes files for the owner alone; results are for everybody the umask allows.
        temporary.chmod(0o666 & ~_umask())
        with _unwritable(path):
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _unwritable(path: Path) -> Iterator[None]:
    """Turn what the system says against a path into one line for people."""
    try:
        yield
    except OSError as error:
        raise RankadjustError(unwritable(path, error)) from None


@contextmanager
def _writing(path: Path, temporary: Path) -> Iterator[None]:
    """Turn a disk that is full into one line; another error need not have to do with the path."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        cause = error if is_of_writing(error) else _tried(temporary)
        if cause is None:
            raise
        raise RankadjustError(unwritable(path, cause)) from None


def _tried(temporary: Path) -> OSError | None:
    """Return why nothing can be added to a file, None where it can: a library need not say of what it failed."""
    try:
        with temporary.open("ab") as file:
            file.write(bytes(1 << 16))
    except OSError as error:
        return error if is_of_writing(error) else None
    return None


def write_text(text: str, path: str | Path) -> None:
    """Write text as UTF-8; a line ends with a line feed on every system."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_bytes(data: bytes, path: str | Path) -> None:
    """Write bytes."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_parquet(frame: pl.DataFrame, path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write a frame as zstd-compressed Parquet; metadata: keys and values for the end of the file."""
    with atomic_path(path) as temporary:
        frame.write_parquet(
            temporary, compression="zstd", statistics=True, metadata=dict(metadata) if metadata else None
        )


def write_tsv(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a frame as tab-separated text that is safe in a spreadsheet, gzipped where the name ends in .gz."""
    _write_delimited(frame, path, "\t")


def write_csv(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a frame as comma-separated text that is safe in a spreadsheet, gzipped where the name ends in .gz."""
    _write_delimited(frame, path, ",")


def _write_delimited(frame: pl.DataFrame, path: str | Path, separator: str) -> None:
    text = to_csv(frame, separator).encode()
    # Without a time stamp, so that the same frame gives the same bytes.
    write_bytes(gzip.compress(text, mtime=0) if Path(path).suffix == ".gz" else text, path)


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes as 64 hexadecimal digits."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def contained(path: str | Path, folder: str | Path) -> Path:
    """Return `path` where it lies inside of `folder` once links are followed; else raise RankadjustError.

    For every path of which a part comes from somebody else's file, before it is touched.
    """
    try:
        inside = Path(folder).resolve() in Path(path).resolve().parents
    except (OSError, ValueError, RuntimeError) as error:
        raise RankadjustError(f"{str(path)!r} is no path ({error})") from None
    if not inside:
        raise RankadjustError(f"{path} leads out of the folder {folder}; nothing there is touched")
    return Path(path)


def shipped(relative: str) -> Path:
    """Return the path of a file of the project ('config/protocols.yaml', 'resources/database/…').

    A wheel holds these files inside the package; a checkout has them beside it.
    """
    inside = _PACKAGE / "shipped" / relative
    return inside if inside.exists() else _PACKAGE.parent / relative


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
