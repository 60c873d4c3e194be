"""One run at a time in a folder: real processes, killed or not, and the locks of Snakemake as it writes them."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from snakemake.persistence.file import FilePersistence

from rankadjust.base import claims, failures
from rankadjust.base.claims import claimed, exclusively
from rankadjust.base.errors import RankadjustError
from rankadjust.base.processes import _started, as_text, is_running, this_process

PROJECT = Path(__file__).parents[3]


class Records(FilePersistence):
    """Snakemake's own records, of a run that makes one file of another."""

    def all_inputfiles(self):
        return ["a"]

    def all_outputfiles(self):
        return ["b"]


# What a run does: it holds the folder, locks its files, says so, and works.
RUN = """\
import sys
from tests.unit.base.test_claims import Records, exclusively
Records.lock = exclusively(Records.lock)
with Records().lock():
    print("at work", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextlib.contextmanager
def another_run(folder):
    command = [sys.executable, "-c", RUN]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    path = {"PYTHONPATH": str(PROJECT)}
    with subprocess.Popen(command, cwd=folder, env=os.environ | path, **pipes) as run:
        yield run
        run.kill()


@contextlib.contextmanager
def killed_run(folder):
    """Leave what a run leaves that is killed at work."""
    with another_run(folder) as run:
        assert run.stdout.readline() == "at work\n"
        run.kill()
        yield run


def process_of(run):
    return replace(this_process(), pid=run.pid, started=_started(run.pid))


def locks(folder):
    return sorted(path.name for path in (folder / ".snakemake" / "locks").glob("*"))


def recorded(folder, process):
    """Write down that a process is at work in the folder, and lock its files, as if this had happened elsewhere."""
    record = folder / ".snakemake" / "rankadjust" / "run.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"process": as_text(process), "since": "2026-01-01 00:00:00 UTC"}))
    Records()._write_locks("output", ["b"])


def test_a_run_leaves_nothing_behind(folder):
    with claimed(Records()):
        assert (folder / ".snakemake" / "rankadjust" / "run.json").exists()
    assert not (folder / ".snakemake" / "rankadjust" / "run.json").exists()


def test_while_a_run_is_at_work_another_one_says_which(folder):
    with another_run(folder) as run:
        assert run.stdout.readline() == "at work\n"
        before = locks(folder)
        assert before == ["0.input.lock", "0.output.lock"]
        said = rf"{folder}: another run is at work here \(process {run.pid} on .*, since 20.* UTC\); wait"
        with pytest.raises(RankadjustError, match=said), claimed(Records()):
            pass
        assert locks(folder) == before
        run.stdin.close()
        assert run.wait() == 0
    with claimed(Records()):
        pass


def test_the_locks_of_a_run_that_was_killed_are_taken_away(folder, capsys):
    with killed_run(folder) as run:
        assert locks(folder)
        lock = exclusively(Records.lock)
        # It locks the files again: for itself.
        with lock(Records()):
            assert locks(folder) == ["0.input.lock", "0.output.lock"]
        assert not locks(folder)
    assert re.fullmatch(
        rf"note: the previous run was killed \(process {run.pid} on .*\); this run goes on where it stopped\n",
        capsys.readouterr().err,
    )


def test_a_run_that_is_dying_is_waited_for(folder, capsys):
    # Its lock is free before the process is gone.
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as run:
        recorded(folder, process_of(run))
        threading.Timer(0.3, run.kill).start()
        with claimed(Records()):
            assert run.poll() is not None
        assert not locks(folder)
    assert f"was killed (process {run.pid} on" in capsys.readouterr().err


@pytest.mark.slow
def test_of_runs_that_begin_at_once_one_works(folder):
    with killed_run(folder), contextlib.ExitStack() as stack:
        runs = [stack.enter_context(another_run(folder)) for _ in range(4)]
        said = [run.stdout.readline() for run in runs]
        assert sorted(said) == ["", "", "", "at work\n"]
        at_work = runs[said.index("at work\n")]
        others = [run for run in runs if run is not at_work]
        for run in others:
            assert run.wait() == 1
            assert re.search(
                rf"^error: .*another run is at work here \(process {at_work.pid} ", run.stderr.read()
            )


def test_the_lock_of_another_machine_is_left_alone(folder):
    recorded(folder, replace(this_process(), host="node7", boot="b"))
    with pytest.raises(
        RankadjustError,
        match=r"locked by a run on another machine \(process \d+ on node7, since 2026.*--unlock",
    ):
        claimed(Records()).__enter__()
    assert locks(folder) == ["0.output.lock"]
    # Which the user has done.
    Records().cleanup_locks()
    with claimed(Records()):
        pass


def test_a_lock_of_which_nothing_is_known_is_left_alone(folder):
    Records()._write_locks("output", ["b"])
    with pytest.raises(RankadjustError, match=r"locked by an unknown run; .* --unlock"):
        claimed(Records()).__enter__()
    assert locks(folder) == ["0.output.lock"]


@pytest.mark.parametrize(
    "gone",
    [{"started": "1"}, {"boot": "before the machine was started again"}, {"host": "c", "space": "pid:[1]"}],
    ids=["number given again", "power loss", "container"],
)
def test_a_lock_whose_owner_is_gone_is_taken_away(folder, gone):
    recorded(folder, replace(this_process(), **gone))
    with claimed(Records()):
        assert not locks(folder)


def test_a_process_that_is_alive_keeps_its_lock_where_the_system_knows_of_none(folder):
    # The file system of the other run did not take part in locking.
    recorded(folder, this_process())
    with pytest.raises(RankadjustError, match=rf"at work here \(process {os.getpid()} "):
        claimed(Records()).__enter__()


@pytest.mark.parametrize("deaf", [False, True])
def test_jobs_that_outlive_their_run_are_ended(folder, capsys, monkeypatch, deaf):
    job = (
        "import signal, sys; from rankadjust.base import failures; failures.begun('rule count', 'count.log');"
    )
    job += "signal.signal(signal.SIGTERM, signal.SIG_IGN);" if deaf else ""
    command = [sys.executable, "-c", job + "print(flush=True); sys.stdin.read()"]
    monkeypatch.setattr(claims, "_ENDING", 0.2)
    pipes = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "env": os.environ | {"PYTHONPATH": str(PROJECT)},
    }
    with killed_run(folder), subprocess.Popen(command, cwd=folder, **pipes) as left:
        left.stdout.readline()
        with claimed(Records()):
            assert left.wait() == -(signal.SIGKILL if deaf else signal.SIGTERM)
    assert f"note: ended rule count, which was left of it as process {left.pid}" in capsys.readouterr().err


def test_what_a_killed_job_had_not_finished_is_removed(folder, monkeypatch):
    scratch = folder / "scratch"
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with killed_run(folder) as run:
        failures.begun("rule count", "count.log")
        [note] = (folder / ".snakemake" / "rankadjust" / "running").iterdir()
        gone = replace(this_process(), pid=run.pid, started="1")
        note.write_text(json.dumps({"job": "rule count", "line": "", "process": as_text(gone)}) + "\n")
        assert not is_running(gone)
        left = [
            folder / "results" / "triples" / ".A.parquet.abcd_123.tmp",
            folder / "resources" / "datasets" / ".A.abcd1234.tmp" / "new" / "training.txt",
            scratch / f"rankadjust-{run.pid}-x" / "0-1",
        ]
        kept = [
            folder / "results" / "triples" / "A.parquet",
            folder / "results" / ".mine.tmp",
            folder / "resources" / "downloads" / "host" / "a.zip.part",
            folder / "resources" / ".mine.abcd1234.tmp",
            scratch / f"rankadjust-{run.pid + 1}-x" / "0-1",
        ]
        for path in (*left, *kept):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        with claimed(Records()):
            assert [path for path in left if path.exists()] == []
            assert [path for path in kept if not path.exists()] == []
        assert not (folder / "resources" / "datasets" / ".A.abcd1234.tmp").exists()


def test_a_lock_is_made_exclusive_once():
    lock = exclusively(FilePersistence.lock)
    assert exclusively(lock) is lock


def test_waiting_for_the_end_of_a_process_has_an_end():
    before = time.monotonic()
    assert not claims._gone(this_process(), 0.1)
    assert time.monotonic() - before < 5
