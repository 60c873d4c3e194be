"""What failed in a run of the workflow: noted by the jobs, told at the end as the last thing on the screen."""

import hashlib
import shutil
from pathlib import Path

# In the working directory of the run, which all its jobs share.
_FOLDER = Path(".snakemake") / "rankadjust"
_NOTES = _FOLDER / "errors.txt"
_RUNNING = _FOLDER / "running"


def begun(job: str, log: str | Path) -> None:
    """Note that a job runs, so that one which is killed is not silent. job: 'rule count, data set Nations'."""
    _RUNNING.mkdir(parents=True, exist_ok=True)
    _marker(log).write_text(_line(job, "killed, interrupted, or out of memory", log), encoding="utf-8")


def ended(log: str | Path) -> None:
    """Note that the job with this log came to its end, well or not."""
    _marker(log).unlink(missing_ok=True)


def failed(job: str, reason: str, log: str | Path) -> None:
    """Note in one line which job failed, why, and where its log is."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with _NOTES.open("a", encoding="utf-8") as notes:
        notes.write(_line(job, reason, log))


def told() -> str:
    """Return a line for every job that failed or did not come to its end, '' if all did."""
    notes = [_NOTES, *sorted(_RUNNING.glob("*"))] if _FOLDER.is_dir() else []
    return "".join(note.read_text(encoding="utf-8") for note in notes if note.exists())


def forget() -> None:
    """Forget what was noted: a new run begins."""
    _NOTES.unlink(missing_ok=True)
    shutil.rmtree(_RUNNING, ignore_errors=True)


def _line(job: str, reason: str, log: str | Path) -> str:
    return f"error: {job}: {reason} (log: {log})\n"


def _marker(log: str | Path) -> Path:
    return _RUNNING / hashlib.sha256(str(log).encode()).hexdigest()[:16]
