"""Files that are dated in the future, and their treatment by a run.

Snakemake compares every output with the inputs of its job when the job ends, and deletes an output that is older. What
is made of a file from the future is always older.
"""

import os
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from rankadjust.base.errors import RankadjustError

# Seconds: file systems round times, and the clock of a file server may be a little ahead.
_SLACK = 2.0


def dated_in_future(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files of these, and of the folders among these, that are dated in the future."""
    now = time.time()
    return [path for path in _with_contents(map(Path, paths)) if path.lstat().st_mtime > now + _SLACK]


def require_dated(paths: Iterable[str | Path]) -> None:
    """Raise RankadjustError where files of the user's, which a run is to read, are dated in the future."""
    misdated = dated_in_future(paths)
    if misdated:
        others = f" and {len(misdated) - 1} more" if misdated[1:] else ""
        raise RankadjustError(
            f"{misdated[0]}{others}: dated in the future ({_in_words(misdated[0].stat().st_mtime)}; the clock says "
            f"{_in_words(time.time())}), so that Snakemake would delete whatever is made from it; give it the present "
            f"time: {touching(misdated)}"
        )


def touching(paths: Sequence[Path]) -> str:
    """Return the command that gives files the time of now."""
    if not paths[1:]:
        return f"touch {shlex.quote(str(paths[0]))}"
    folders = dict.fromkeys(shlex.quote(str(path.parent)) for path in paths)
    return f"find {' '.join(folders)} -newermt now -exec touch {{}} +"


def date_now(folders: Iterable[str | Path]) -> list[Path]:
    """Give the files in folders of a run that are dated in the future the time of now, all the same; return them.

    None of them is newer than the others afterwards, so that no job runs again for it.
    """
    misdated = dated_in_future(folders)
    now = time.time()
    for path in misdated:
        # Of a file of somebody else's, the job that reads it will say so.
        with suppress(OSError):
            os.utime(path, (now, now), follow_symlinks=False)
    return misdated


def _with_contents(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.exists():
            yield path
            yield from sorted(path.rglob("*"))


def _in_words(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
