"""The identity of processes: their numbers are reused, and repeat on other machines."""

import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

# The environment says which process a job belongs to.
RUN = "RANKADJUST_RUN"
_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process, on whatever machine.

    host: the name of its machine; machine: an id of the machine, '' if there is none.
    boot: an id of the current start of the machine, '' if the system has none. space: the namespace of its number; a
    container has its own. started: when it began, in a unit of the system, which distinguishes it from
    later processes of the same number.
    """

    host: str
    machine: str
    boot: str
    space: str
    pid: int
    started: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Process:
    """Return the process that asks."""
    return Process(
        host=platform.node(),
        machine=_text(Path("/etc/machine-id")),
        boot=_text(_PROC / "sys" / "kernel" / "random" / "boot_id"),
        space=_space(),
        pid=os.getpid(),
        started=_started(os.getpid()) or "",
    )


def is_running(process: Process) -> bool | None:
    """Say whether a process is at work; None where that cannot be known from here."""
    here = this_process()
    if process.boot != here.boot:
        # This machine was started again since. Of another machine nothing is known.
        return False if (process.host, process.machine) == (here.host, here.machine) else None
    if process.space != here.space:
        return None
    return _started(process.pid) == process.started


def as_text(process: Process) -> str:
    """Return what `from_text` reads."""
    return json.dumps(asdict(process))


def from_text(text: str) -> Process | None:
    """Return the process that a text describes; None where it describes none."""
    try:
        return Process(**json.loads(text))
    except (ValueError, TypeError):
        return None


def end_without_run() -> None:
    """End this job where its run was killed before the job had begun."""
    run = from_text(os.environ.get(RUN, ""))
    if run is not None and is_running(run) is False:
        sys.exit(f"the run of this job is gone ({run})")


def _started(pid: int) -> str | None:
    """Return when a process began; None where there is none, or only a dead one that nobody has asked after."""
    if not (_PROC / "self" / "stat").exists():
        return _started_elsewhere(pid)
    # '123 (name) S 1 …': the name may hold anything. After it, the state is field 3 and the start field 22.
    fields = _text(_PROC / str(pid) / "stat").rpartition(")")[2].split()
    return fields[19] if fields and fields[0] not in "ZX" else None


def _started_elsewhere(pid: int) -> str | None:
    import psutil  # noqa: PLC0415 - comes with Snakemake; Linux does without

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.2f}"
    except psutil.NoSuchProcess:
        return None


def _space() -> str:
    try:
        return str((_PROC / "self" / "ns" / "pid").readlink())
    except OSError:
        return ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
