"""Whether a process is at work: of real processes, alive, dead, and dead without anybody having asked after them."""

import subprocess
import sys
from dataclasses import replace

import pytest

from rankadjust.base import processes
from rankadjust.base.processes import as_text, end_without_run, from_text, is_running, this_process


@pytest.fixture
def child():
    """Return a process that does nothing until it is killed."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.fixture(params=["proc", "elsewhere"])
def system(request, monkeypatch, tmp_path):
    """Run a test twice: with what Linux says of its processes, and as on a system without /proc."""
    if request.param == "elsewhere":
        monkeypatch.setattr(processes, "_PROC", tmp_path)


@pytest.mark.usefixtures("system")
def test_a_process_runs_until_it_is_killed(child):
    process = replace(this_process(), pid=child.pid, started=processes._started(child.pid))
    assert is_running(process)
    child.kill()
    # Nobody has waited for it: its number is still taken.
    while child.returncode is None and is_running(process):
        pass
    assert is_running(process) is False
    child.wait()
    assert is_running(process) is False


@pytest.mark.usefixtures("system")
def test_a_number_that_another_process_was_given_is_not_the_same_process():
    here = this_process()
    assert is_running(here)
    assert is_running(replace(here, started="1")) is False


@pytest.mark.parametrize(
    ("elsewhere", "running"),
    [
        ({"host": "node7", "boot": "b"}, None),
        ({"machine": "another", "boot": "b"}, None),
        ({"space": "pid:[1]"}, None),
        # The machine was started again: no process of its earlier life is at work.
        ({"boot": "b"}, False),
    ],
)
def test_of_another_machine_nothing_is_known(elsewhere, running):
    assert is_running(replace(this_process(), **elsewhere)) is running


def test_a_process_is_written_down_and_read():
    here = this_process()
    assert from_text(as_text(here)) == here
    for damaged in ("", as_text(here)[:-1], "{}", "7", '{"pid": 7}'):
        assert from_text(damaged) is None


def test_a_job_does_not_begin_when_its_run_is_gone(monkeypatch):
    end_without_run()
    monkeypatch.setenv(processes.RUN, as_text(this_process()))
    end_without_run()
    monkeypatch.setenv(processes.RUN, as_text(replace(this_process(), host="node7", boot="b")))
    end_without_run()
    monkeypatch.setenv(processes.RUN, as_text(replace(this_process(), started="1")))
    with pytest.raises(SystemExit, match=r"the run of this job is gone \(process \d+ on .*\)"):
        end_without_run()
