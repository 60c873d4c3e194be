"""Limits of the system: room on a disk, memory of a process."""

import errno
import os
import shutil
import sys
from pathlib import Path

from rankadjust.base.errors import unwritable

if sys.platform != "win32":
    import resource

# Bytes that must be free, for the notes of Snakemake and of the jobs.
LEAST = 1 << 16
# Files, folders among them, that there has to be room for likewise.
LEAST_FILES = 32


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
