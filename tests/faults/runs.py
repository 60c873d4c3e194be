"""A run of the whole workflow that can be killed, and what it may never show: an unfinished file under a final name."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.copies import copy_project
from tests.servers.http_faults import Handler, Served

SPLITS = {"training": 4000, "validation": 300, "testing": 300}

CONFIG = """\
datasets: [Slow]
protocols: [filtered, pykeen]
metrics: [mr, mrr, hits_at_k]
ks: [1, 10]
tables: [published.csv]
"""
TABLE = """\
dataset,model,metric,value
Slow,A,mrr,0.61
Slow,A,hits@10,93 %
Slow,B,mr,2.5
FB15k-237,B,mrr,0.338
"""
# What a stage makes, in the order in which they come: without it and what follows from it, the stage runs again.
STAGES = {
    "fetch": ("resources/datasets/Slow", "resources/downloads"),
    "encode": ("results/triples",),
    "count": ("results/candidates",),
    "moments": ("results/moments",),
    "baselines": ("results/baselines",),
    "benchmarks": ("results/benchmark-moments.parquet",),
    "gather": ("results/database",),
    "rescore_tables": ("results/rescored",),
    "compare": ("results/comparison",),
    "figures": ("results/figures",),
    "render": ("results/report.html",),
    "assemble_release": ("results/release",),
}
# In parts, two rules take the place of count.
COUNTED_IN_PARTS = {"count_partition": ("results/partitions",), "add_partitions": ("results/candidates",)}
IN_PARTS = {
    made: files
    for stage in STAGES
    for made, files in (COUNTED_IN_PARTS if stage == "count" else {stage: STAGES[stage]}).items()
}
# Removed by Snakemake once they were used.
PASSING = "results/partitions/"
# What says how a run went, and not what came out.
_NOT_RESULTS = ("results/logs/", "results/benchmarks/", "resources/downloads/.locks/")


def triples():
    """Return the text of each split of a graph that takes every stage some tenths of a second."""
    chance = random.Random(21)
    return {
        split: "".join(
            f"e{chance.randrange(400)}\tr{chance.randrange(8)}\te{chance.randrange(400)}\n"
            for _ in range(lines)
        ).encode()
        for split, lines in SPLITS.items()
    }


def slowly(handler: Handler, served: Served) -> None:
    """Answer as a server should, from where it is asked, and take half a second over it."""
    start = 0
    asked = handler.headers.get("Range")
    headers = {"ETag": served.etag, "Accept-Ranges": "bytes"}
    if asked and handler.headers.get("If-Range") == served.etag:
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        headers["Content-Range"] = f"bytes {start}-{len(served.body) - 1}/{len(served.body)}"
    rest = served.body[start:]
    handler.begin(206 if start else 200, len(rest), headers)
    step = len(served.body) // 20 + 1
    for begin in range(0, len(rest), step):
        handler.wfile.write(rest[begin : begin + step])
        time.sleep(0.025)


def make_project(folder, address):
    """Copy the project into a folder, with a registry of one data set at an address, and what a run of it is given."""
    copy_project(folder)
    files = {
        split: {
            "url": f"{address}/{split}.txt",
            "sha256": hashlib.sha256(text).hexdigest(),
            "bytes": len(text),
        }
        for split, text in triples().items()
    }
    registry = {"Slow": {"sources": [{"kind": "http", "files": files}]}}
    (folder / "config" / "datasets.yaml").write_text(json.dumps(registry))
    (folder / "run.yaml").write_text(CONFIG)
    (folder / "published.csv").write_text(TABLE)


def environment(**more):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("RANKADJUST")}
    inherited.pop("PYTHONPATH", None)
    return inherited | {key: str(value) for key, value in more.items()}


def command(*arguments):
    """Return the documented command, for two cores, and everything that a run can make."""
    return [
        *(sys.executable, "-m", "snakemake", "--cores", "2", "all", "release", "--configfile", "run.yaml"),
        *arguments,
    ]


def results(folder):
    """Return digest by name of every file under a final name; what is unfinished has a name that says so."""
    return {name: digest for name, path in finals(folder) if (digest := digest_of(path))}


def finals(folder):
    for top in ("results", "resources/datasets", "resources/downloads"):
        # Unlike Path.rglob, os.walk passes over a folder that is removed meanwhile.
        for path in (Path(place, name) for place, _, names in os.walk(folder / top) for name in names):
            name = path.relative_to(folder).as_posix()
            hidden = any(part.startswith(".") for part in Path(name).parts)
            under_way = name.endswith((".part", ".part.version"))
            if not hidden and not under_way and not name.startswith(_NOT_RESULTS) and path.is_file():
                yield name, path


def digest_of(path):
    """Return the digest of a file's bytes; None where it has gone meanwhile."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


class Watch:
    """Looks at every file of a folder again and again; notes those that are not what they are to become."""

    def __init__(self, folder, expected):
        self._folder, self._expected = folder, expected
        self._seen = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.looks = 0
        self.incomplete = []

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._stop.set()
        self._thread.join()

    def look(self):
        self.looks += 1
        for name, path in finals(self._folder):
            try:
                status = path.stat()
            except OSError:
                continue
            identity = (status.st_ino, status.st_size, status.st_mtime_ns)
            if self._seen.get(name) != identity:
                self._seen[name] = identity
                digest = digest_of(path)
                if digest is not None and digest != self._expected.get(name):
                    self.incomplete.append((name, status.st_size))

    def _look(self):
        while not self._stop.wait(0.03):
            self.look()


@dataclass
class Tally:
    """What came of the kills. by_hand: restarts that did not go on by themselves, with what they said."""

    kills: Counter = field(default_factory=Counter)
    victims: Counter = field(default_factory=Counter)
    restarts: int = 0
    by_hand: list = field(default_factory=list)

    def __str__(self):
        stages = ", ".join(f"{stage} {number}" for stage, number in sorted(self.kills.items()))
        victims = ", ".join(f"{victim} {number}" for victim, number in sorted(self.victims.items()))
        return (
            f"{sum(self.victims.values())} kills (of {victims}; at work: {stages}), {self.restarts} restarts, "
            f"{len(self.by_hand)} of them needed a hand"
        )


class Run:
    """One start of the command, in a session of its own."""

    def __init__(self, folder, *arguments, **variables):
        self._folder = folder
        self._log = folder.parent / "said.txt"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command(*arguments),
                cwd=folder,
                env=environment(**variables),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self):
        return self._log.read_text(errors="replace")

    def jobs(self):
        """Return rule and process number of each job that is at work."""
        at_work = {}
        running = self._folder / ".snakemake" / "rankadjust" / "running"
        try:
            notes = list(running.glob("*"))
        except FileNotFoundError:
            # A run that begins has not made the folder yet, or makes it anew.
            return at_work
        for note in notes:
            try:
                told = json.loads(note.read_text())
                at_work[told["job"].split(",")[0].removeprefix("rule ")] = json.loads(told["process"])["pid"]
            except (OSError, ValueError):
                continue
        return at_work

    def wait_for(self, stage, seconds=120.0):
        """Wait until a stage is at work; say whether it came before the run ended."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            if stage in self.jobs():
                return True
            time.sleep(0.01)
        return False

    def wait(self, seconds=300.0):
        """Wait for the end of the run; return its exit code."""
        return self.process.wait(timeout=seconds)

    def lives(self, seconds):
        """Let the run be for so long, or until it ends."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=seconds)

    def kill(self, victim):
        """Kill the run, its jobs, or both with all that they have started; return the stages that were at work."""
        jobs = self.jobs()
        if victim == "job":
            for pid in jobs.values():
                kill(pid)
            self.wait()
        elif victim == "run":
            self.process.kill()
            self.process.wait()
        else:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        return list(jobs) or ["between jobs"]


def kill(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def processes_in(folder):
    """Return the processes that have a folder for their working directory."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()) == folder and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


@contextmanager
def nothing_left(folder):
    """End what is at work in a folder at last, whatever becomes of a test."""
    try:
        yield
    finally:
        for process in processes_in(folder):
            process.kill()


def remove(folder, names):
    for name in names:
        path = folder / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
