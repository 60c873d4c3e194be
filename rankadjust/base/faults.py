"""Faults that no program can mend, in words and with what to do: a full disk, no permission, too little memory.

And those that its libraries make themselves: panics.
"""

import errno
import os
import re
import shutil
import sys
import traceback
from pathlib import Path

if sys.platform != "win32":
    import resource

# Bytes that must be free, for the notes of Snakemake and of the jobs.
LEAST = 1 << 16
# Files, folders among them, that there has to be room for likewise.
LEAST_FILES = 32
_REMEDIES = {
    errno.ENOSPC: "free some of its disk, and give the same command again",
    errno.EDQUOT: "free some of your quota, and give the same command again",
    errno.EFBIG: "allow larger files (ulimit -f), and give the same command again",
    errno.EROFS: "nothing can be written to its disk; choose another path",
    errno.EACCES: "allow it, or choose another path",
    errno.EPERM: "allow it, or choose another path",
}
# What can be of nothing but writing; a file to be read may not be permitted either.
_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def unwritable(path: str | Path, error: BaseException) -> str:
    """Return one line that says that a path cannot be written, why, and what to do."""
    number = errno_of(error)
    if number is None:
        return f"{path}: cannot be written ({str(error).splitlines()[0]}); choose another path"
    remedy = _REMEDIES.get(number, "choose another path")
    if number == errno.ENOSPC and few_inodes(Path(path)):
        remedy = "remove some of the files on its disk, which has hardly any inodes left; then try again"
    return f"{path}: cannot be written ({os.strerror(number)}); {remedy}"


def few_inodes(path: Path) -> bool:
    """Say whether the disk of a path has room for fewer files than a run needs for its notes.

    What could not be written is taken away again, so that after a failure some inodes are left. File systems that set
    no limit say 0 of 0.
    """
    if sys.platform == "win32":
        return False
    there = next(filter(Path.exists, (path, *path.absolute().parents)))
    filesystem = os.statvfs(there)
    return filesystem.f_favail < LEAST_FILES and filesystem.f_files > 0


def is_of_writing(error: BaseException) -> bool:
    """Say whether an error can only have come of writing: a full disk, a quota, a limit, a disk that is read-only."""
    return errno_of(error) in _OF_WRITING


def errno_of(error: BaseException) -> int | None:
    """Return the system's number of an error, also where a library gives it in words; None where it has none."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    text = str(error)
    # Polars has it in its text; numpy writes what there is room for.
    code = re.search(r"\(os error (\d+)\)", text)
    if code:
        return int(code[1])
    return errno.ENOSPC if re.fullmatch(r"\d+ requested and \d+ written", text) else None


def full_disk(folder: Path) -> str:
    """Return one line where a folder has less room than a run needs for its notes, '' where it has more."""
    full = shutil.disk_usage(folder).free < LEAST or few_inodes(folder)
    return unwritable(folder, OSError(errno.ENOSPC, "")) if full else ""


def low_limit() -> str:
    """Return one line where the system limits the memory of a process, '' where it does not.

    For a job that ended without a word: libraries abort where they get no memory.
    """
    if sys.platform == "win32":
        return ""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return ""
    return (
        f"killed, interrupted, or out of memory: a process may have {most / 1e9:.1f} GB (ulimit -v); allow "
        "more, and give the same command again"
    )


def is_panic(error: BaseException) -> bool:
    """Say whether an error is a panic: an internal error of a library in Rust, which is not a subclass of Exception."""
    return type(error).__name__ == "PanicException"


def in_words(error: BaseException, where: str | Path) -> str | None:
    """Return one line about a fault of the system or of a library, and what to do; None for any other error.

    where: what was written, as far as the error does not say.
    """
    if isinstance(error, MemoryError):
        reason = f" ({error})" if str(error) else ""
        return f"not enough memory{reason}; close other programs, or use a machine with more of it"
    if is_panic(error):
        reason = (str(error).splitlines() or ["no reason given"])[0]
        remedy = "please report it with the log, or with all that was printed"
        return f"an internal error of {_library(error)}: {reason}; {remedy}"
    path = getattr(error, "filename", None) or where
    if is_of_writing(error):
        return unwritable(path, error)
    number = errno_of(error)
    # The number does not say whether the file was read or written.
    return f"{path}: {os.strerror(number)}; {_REMEDIES[number]}" if number in _REMEDIES else None


def _library(error: BaseException) -> str:
    """Return the name of the package that called what failed."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__", "a library")).partition(".")[0]
