"""What failed in a run of the workflow: noted by the jobs, printed at the end as the last thing on the screen.

Jobs leave their notes in the working directory of the run, which all of them share, on whatever machine they run.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankadjust.base.errors import one_line
from rankadjust.base.faults import full_disk, low_limit
from rankadjust.base.processes import Process, as_text, from_text, this_process

_FOLDER = Path(".snakemake") / "rankadjust"
_NOTES = _FOLDER / "errors"
_RUNNING = _FOLDER / "running"


@dataclass(frozen=True)
class Failure:
    """A job that failed, and why.

    job: 'rule count, data set Nations'. reason: '' where nobody knows. logs: its own first, then the logs of the
    program that ran it.
    """

    job: str
    reason: str
    logs: tuple[str, ...]


def begun(job: str, log: str | Path) -> None:
    """Note that a job runs, so that a killed job is reported. job: 'rule count, data set Nations'."""
    note = {"job": job, "line": _line(Failure(job, "", (str(log),))), "process": as_text(this_process())}
    # A job that cannot note it still does its work.
    with suppress(OSError):
        _RUNNING.mkdir(parents=True, exist_ok=True)
        (_RUNNING / _key(log)).write_text(json.dumps(note) + "\n", encoding="utf-8")


def ended(log: str | Path) -> None:
    """Note that the job with this log came to its end, well or not."""
    (_RUNNING / _key(log)).unlink(missing_ok=True)


def running() -> list[tuple[str, Process]]:
    """Return the jobs that have begun and not ended, whether they are at work or were killed, with their processes."""
    notes = [note for path in _files(_RUNNING) for note in _read(path)]
    processes = [(note["job"], from_text(note["process"])) for note in notes]
    return [(job, process) for job, process in processes if process is not None]


def failed(job: str, reason: str, log: str | Path, *, mistake: bool = False) -> None:
    """Note which job failed, why, and where its log is; a mistake of the user's fails the same way every time."""
    line = _line(Failure(job, reason, (str(log),)))
    # Where no note can be left, the log may still say what failed.
    with suppress(OSError):
        _NOTES.mkdir(parents=True, exist_ok=True)
        with (_NOTES / _key(log)).open("a", encoding="utf-8") as notes:
            notes.write(json.dumps({"line": line, "mistake": mistake}) + "\n")


def is_mistake(log: str | Path) -> bool:
    """Say whether the job with this log failed only because of mistakes that the user has to mend."""
    notes = _notes(log)
    return bool(notes) and all(note["mistake"] for note in notes)


def begins(log: str | Path) -> None:
    """Forget what an earlier attempt of the job with this log left."""
    (_NOTES / _key(log)).unlink(missing_ok=True)
    ended(log)


def lines_of(failure: Failure) -> str:
    """Return the lines that the job left when it failed; without such lines, the reason that this failure gives."""
    return "".join(note["line"] for note in _notes(failure.logs[0])) or _line(failure)


def summary(others: Iterable[Failure] = ()) -> str:
    """Return a line for every job that failed or did not come to its end, '' if all did.

    others: the failures that Snakemake or Slurm reported; used for jobs that left no note of their own.
    """
    running = {path.name: "".join(note["line"] for note in _read(path)) for path in _files(_RUNNING)}
    known = {_key(failure.logs[0]): _line(failure) for failure in others}
    # On a full disk a note may be there and say nothing.
    noted = {
        path.name: lines for path in _files(_NOTES) if (lines := "".join(n["line"] for n in _read(path)))
    }
    return "".join(sorted((running | known | noted).values()))


def forget() -> None:
    """Forget what was noted: a new run begins."""
    for folder in (_NOTES, _RUNNING):
        shutil.rmtree(folder, ignore_errors=True)


def _line(failure: Failure) -> str:
    reason = one_line(failure.reason) or full_disk(Path.cwd()) or low_limit()
    reason = reason or "killed, interrupted, or out of memory"
    return f"error: {failure.job}: {reason} ({'logs' if failure.logs[1:] else 'log'}: {', '.join(failure.logs)})\n"


def _key(log: str | Path) -> str:
    return hashlib.sha256(str(log).encode()).hexdigest()[:16]


def _notes(log: str | Path) -> list[dict[str, Any]]:
    path = _NOTES / _key(log)
    return _read(path) if path.exists() else []


def _read(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    # If a job was killed while it wrote, the last line is incomplete.
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*")) if folder.is_dir() else []
