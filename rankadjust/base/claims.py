"""One run at a time in a folder, and nothing left to do by hand after a run that was killed.

Snakemake locks the files of a run, and a run that is killed leaves its locks. So a run writes down which process it is,
and a later one looks whether that process is gone before it takes the locks away.
"""

import atexit
import errno
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from rankadjust.base import failures
from rankadjust.base.clock import date_now
from rankadjust.base.contents import read_json
from rankadjust.base.errors import RankadjustError, exit_with_message, in_words, unwritable
from rankadjust.base.faults import LEAST, few_inodes
from rankadjust.base.io import write_text
from rankadjust.base.processes import RUN, Process, as_text, from_text, is_running, this_process

# Seconds that a process which was killed may take to vanish, and one which is asked to end.
_DYING = 2.0
_ENDING = 5.0
# The folders that jobs write to, from the working directory, and the names that `atomic_path` gives to unfinished
# files.
_WRITTEN = ("results", "resources/datasets", "resources/without-training", "resources/downloads")
_UNFINISHED = re.compile(r"\..*\.[a-z0-9_]{8}\.tmp")


class Persistence(Protocol):
    """What Snakemake knows of the runs in a folder, as far as it is used here."""

    @property
    def path(self) -> Path:
        """The folder .snakemake."""

    @property
    def locked(self) -> bool:
        """Whether files of this run are locked."""

    def cleanup_locks(self) -> None:
        """Do what --unlock does."""


_Lock = Callable[[Persistence], AbstractContextManager[None]]


def exclusively(lock: _Lock) -> _Lock:
    """Return Snakemake's `lock`, which first claims the folder for this run; unchanged if it does already.

    Snakemake calls it where a run is to make files: for no dry run, in no job, and not with --nolock.
    """
    if getattr(lock, "exclusive", False):
        return lock

    @wraps(lock)
    @contextmanager
    def claiming(persistence: Persistence) -> Iterator[None]:
        with ExitStack() as stack:
            with exit_with_message():
                stack.enter_context(claimed(persistence))
            stack.enter_context(_as_last_line(persistence))
            stack.enter_context(lock(persistence))
            yield

    claiming.exclusive = True  # type: ignore[attr-defined]
    return claiming


def require_writable(folder: Path) -> None:
    """Raise RankadjustError where nothing can be written in a folder: for want of permission, or of space."""
    probe = folder / "rankadjust" / "probe"
    try:
        probe.parent.mkdir(parents=True, exist_ok=True)
        try:
            probe.write_bytes(bytes(LEAST))
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise RankadjustError(unwritable(folder.absolute(), error)) from None
    if few_inodes(folder):
        raise RankadjustError(unwritable(folder.absolute(), OSError(errno.ENOSPC, "")))
    for name in ("locks", "metadata", "incomplete", "log", "scripts"):
        if (folder / name).is_dir() and not os.access(folder / name, os.W_OK):
            raise RankadjustError(unwritable(folder / name, PermissionError(errno.EACCES, "")))


def require_folders(outputs: Iterable[str | Path]) -> None:
    """Raise RankadjustError where a file is in the place of a folder that an output needs."""
    parents = {parent for path in outputs for parent in Path(path).parents if "{" not in str(parent)}
    for parent in sorted(parents):
        if parent.exists() and not parent.is_dir():
            raise RankadjustError(
                f"{parent}: results belong in a folder of this name, and it is a file; move it away"
            )


@contextmanager
def _as_last_line(persistence: Persistence) -> Iterator[None]:
    """Where a full disk or a missing permission stops a run, say so in one last line, below Snakemake's messages."""
    try:
        yield
    except Exception as error:
        reason = next(
            filter(None, (in_words(cause, persistence.path.parent) for cause in _chain(error))), None
        )
        if reason:
            atexit.register(_say, f"error: {reason}")
        raise


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@contextmanager
def claimed(persistence: Persistence) -> Iterator[None]:
    """Hold the folder of a run for this process, and tidy up after a run that was killed there.

    Raises RankadjustError, which names the other run, where one is at work there or cannot be known to be gone.
    """
    state = persistence.path / "rankadjust"
    record = state / "run.json"
    state.mkdir(parents=True, exist_ok=True)
    with _held(state / "run.lock", record):
        _make_way(persistence, record)
        _date_now(_folder(record))
        os.environ[RUN] = as_text(this_process())
        since = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        write_text(json.dumps({"process": os.environ[RUN], "since": since}), record)
        try:
            yield
        finally:
            record.unlink(missing_ok=True)


def is_claimed(folder: Path) -> bool:
    """Say whether a run is at work whose folder .snakemake this is, as far as it is known on this machine."""
    lock = folder / "rankadjust" / "run.lock"
    try:
        with FileLock(lock).acquire(timeout=0):
            return False
    except Timeout:
        return True


@contextmanager
def _held(lock: Path, record: Path) -> Iterator[None]:
    """Hold a lock that the system takes from a process which ends, however it ends."""
    try:
        held = FileLock(lock).acquire(timeout=_DYING)
    except Timeout:
        raise RankadjustError(
            f"{_folder(record)}: another run is at work here{_described(record)}; wait for its end, or end it"
        ) from None
    with held:
        yield


def _make_way(persistence: Persistence, record: Path) -> None:
    """Take away what a run left that is gone; raise where there are locks of a run that may be at work."""
    holder = read_json(record)
    owner = from_text(holder.get("process", ""))
    if owner is None:
        if persistence.locked:
            raise RankadjustError(
                f"{_folder(record)}: locked by an unknown run; if no run is at work here, give the same command once "
                "with --unlock"
            )
        return
    running = is_running(owner)
    if running is None and owner.boot == this_process().boot:
        # It ran in a container on this machine: one system has one set of locks, and this process holds its lock.
        running = False
    # A process that is killed lets go of its lock some moments before it is gone.
    if running and _gone(owner, _DYING):
        running = False
    if running:
        raise RankadjustError(
            f"{_folder(record)}: another run is at work here{_described(record)}; wait for its end, or end it"
        )
    if running is None:
        if persistence.locked:
            raise RankadjustError(
                f"{_folder(record)}: locked by a run on another machine{_described(record)}, which cannot be looked up "
                f"from {this_process().host}; when it is gone, give the same command once with --unlock"
            )
        return
    _say(f"note: the previous run was killed{_described(record)}; this run goes on where it stopped")
    _end(failures.running())
    persistence.cleanup_locks()
    # Snakemake removes the folder of its locks with them, and expects it.
    (persistence.path / "locks").mkdir(exist_ok=True)
    _remove_unfinished(_folder(record), _killed())


def _date_now(folder: Path) -> None:
    """Give files that a run wrote under another clock a time at which a job that reads them can end."""
    dated = date_now(folder / written for written in _WRITTEN)
    if dated:
        others = f" and {len(dated) - 1} others" if dated[1:] else ""
        _say(f"note: {dated[0]}{others}: dated in the future, when the clock was ahead; dated now instead")


def _end(jobs: Iterable[tuple[str, Process]]) -> None:
    """End jobs that outlived their run: they would write what this run writes."""
    for job, process in jobs:
        running = is_running(process)
        if running is None:
            _say(
                f"note: {job} was begun on {process.host} as process {process.pid}, and may be at work there"
            )
        if not running:
            continue
        for request in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(process.pid, request)
            if _gone(process, _ENDING):
                break
        else:
            raise RankadjustError(
                f"{job}, of a run that was killed, is at work as {process} and does not end"
            )
        _say(f"note: ended {job}, which was left of it as {process}")


def _killed() -> list[Process]:
    """Return the jobs on this machine that were killed."""
    boot = this_process().boot
    return [
        process for _, process in failures.running() if process.boot == boot and is_running(process) is False
    ]


def _gone(process: Process, seconds: float) -> bool:
    """Wait for the end of a process; say whether it came."""
    deadline = time.monotonic() + seconds
    while is_running(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _remove_unfinished(folder: Path, processes: Iterable[Process]) -> None:
    """Remove what jobs that were killed had not finished: nobody else ever will."""
    for written in _WRITTEN:
        for path in (folder / written).rglob(".*.tmp"):
            if _UNFINISHED.fullmatch(path.name):
                _remove(path)
    for process in processes:
        for path in Path(tempfile.gettempdir()).glob(f"rankadjust-{process.pid}-*"):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _folder(record: Path) -> Path:
    return record.parents[2]


def _described(record: Path) -> str:
    """Return ' (process 7 on here, since …)', '' where nothing is known."""
    holder = read_json(record)
    process = from_text(holder.get("process", ""))
    return f" ({process}, since {holder.get('since', 'a time unknown')})" if process else ""


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
