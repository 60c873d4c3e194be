"""Files and folders that are whole under their names or absent, whatever ends the program, even a power cut.

A file is written beside its place under a name that says it is unfinished, brought to the disk, and renamed. Without
the second step a power cut leaves the new name before the bytes: an empty file that looks finished.
"""

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankadjust.base.errors import RankadjustError
from rankadjust.base.faults import is_of_writing, unwritable

# A network's file system may have no way to bring a folder to its disk; it does so by itself.
_CANNOT = (errno.EINVAL, errno.ENOTSUP)
# So many links the system follows, one after the other.
_LINKS = 40


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it on success and removed on failure.

    A symbolic link stays one: the file that it leads to is written. Into a device or a pipe (/dev/null, /dev/stdout)
    goes what was written, once it is whole.

    Raises RankadjustError where the path cannot be written, also where its disk is full before the end.
    """
    path = Path(path)
    with _unwritable(path):
        stream = _stream(path)
        place = Path(os.path.realpath(path)) if path.is_symlink() else path
        handle, name = _temporary(place) if stream is None else tempfile.mkstemp(prefix=_prefix())
    os.close(handle)
    temporary = Path(name)
    try:
        with _writing(path, temporary):
            yield temporary
        with _unwritable(path):
            if stream is None:
                # mkstemp makes files for the owner alone; results are for everybody the umask allows.
                temporary.chmod(0o666 & ~_umask())
                put_in_place(temporary, place)
            else:
                _pour(temporary, stream)
    finally:
        temporary.unlink(missing_ok=True)
        if stream is not None:
            os.close(stream)


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a finished file its name; after a power cut the old or the new file is there, whole."""
    _sync(temporary)
    temporary.replace(path)
    _sync(path.parent)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that takes the place of `folder` on success and vanishes on failure."""
    _make(folder.parent)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.", suffix=".tmp") as scratch:
        # The scratch folder is for its owner alone; the folder inside gets the usual permissions.
        new = Path(scratch) / "new"
        new.mkdir()
        yield new
        for path in (*new.rglob("*"), new):
            _sync(path)
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        new.rename(folder)
        _sync(folder.parent)


def _temporary(place: Path) -> tuple[int, str]:
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    _make(place.parent)
    return tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".tmp")


def _make(folder: Path) -> None:
    """Make a folder and those above it, so that a power cut loses neither them nor their content."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for parent in missing:
        _sync(parent.parent)


def _sync(path: Path) -> None:
    """Wait until the bytes of a file, or the names in a folder, are on the disk."""
    # Windows opens no folder, and brings no file to its disk that is open for reading.
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    finally:
        os.close(handle)


def _stream(path: Path) -> int | None:
    """Return a descriptor of a device, pipe or socket; None for files, folders and missing paths."""
    number = _number(path)
    if number is not None:
        return os.dup(number)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else os.open(path, os.O_WRONLY)


def _number(path: Path) -> int | None:
    """Return the number of the open file that a path (/dev/stdout, /dev/fd/63) names.

    Opened by such a path, a file would be written from its beginning, over what the shell has put there.
    """
    numbers = os.path.realpath("/dev/fd")
    for _ in range(_LINKS):
        if os.path.realpath(path.parent) == numbers and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def _pour(temporary: Path, stream: int) -> None:
    """Write what a file holds where a descriptor leads."""
    sys.stdout.flush()
    with temporary.open("rb") as source, os.fdopen(os.dup(stream), "wb") as sink:
        shutil.copyfileobj(source, sink)


def _prefix() -> str:
    # By this name the next run finds what a job that was killed has left (rankadjust.base.claims).
    return f"rankadjust-{os.getpid()}-"


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
    except _errors_of_writing() as error:
        cause = error if is_of_writing(error) else _tried(temporary)
        if cause is None:
            raise
        raise RankadjustError(unwritable(path, cause)) from None


def _errors_of_writing() -> tuple[type[Exception], ...]:
    """Return the errors of the system, and of polars where it was imported: not every file holds a frame."""
    frames = sys.modules.get("polars")
    return (OSError,) if frames is None else (OSError, frames.exceptions.PolarsError)


def _tried(temporary: Path) -> OSError | None:
    """Return why a file cannot be extended, None if it can: a library need not say why it failed."""
    try:
        with temporary.open("ab") as file:
            file.write(bytes(1 << 16))
    except OSError as error:
        return error if is_of_writing(error) else None
    return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
