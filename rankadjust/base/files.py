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

_PACKAGE = Path(__file__).parent.parent


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it on success and removed on failure.

    Raises RankadjustError where the path cannot be written.
    """
    path = Path(path)
    with _unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
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
        raise RankadjustError(f"{path}: cannot be written ({error.strerror}); choose another path") from None


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
    """Write a frame as tab-separated text, gzipped without a time stamp where the name ends in .gz."""
    text = frame.write_csv(separator="\t").encode()
    with atomic_path(path) as temporary:
        temporary.write_bytes(gzip.compress(text, mtime=0) if Path(path).suffix == ".gz" else text)


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
