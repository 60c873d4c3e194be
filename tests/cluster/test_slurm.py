"""The Slurm of these tests leaves nothing behind, however it ends."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness import slurm
from harness.cluster_runs import PROJECT
from harness.slurm import MARK, SYSTEM, obstacle, processes, until


def test_without_slurm_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(slurm, "PACKAGES", {"no-such-daemon": "slurm-wlm", "nor-this": "munge", "sh": "dash"})
    assert obstacle() == (
        "Slurm is not installed here; as root on Debian or Ubuntu: apt-get install munge slurm-wlm"
    )


def test_a_slurm_of_the_machines_own_is_left_alone(monkeypatch, tmp_path):
    own = tmp_path / "slurm.conf"
    own.write_text("ClusterName=production\n")
    monkeypatch.setattr(slurm, "PACKAGES", {})
    monkeypatch.setattr(slurm, "SYSTEM", own)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert obstacle() == f"{own} is there: this machine has a Slurm of its own, which is left alone"
    with pytest.raises(RuntimeError, match="left alone"), slurm.slurm(tmp_path / "mine"):
        pass
    assert own.read_text() == "ClusterName=production\n"
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "only root" in obstacle()


def test_patience_grows_with_the_load(monkeypatch):
    """Nine of these tests failed by fixed limits at a load of 12 on two processors."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (0.5, 0.0, 0.0))
    assert slurm.patience(30) == 30
    monkeypatch.setattr("os.getloadavg", lambda: (12.0, 0.0, 0.0))
    assert slurm.patience(30) == 360


def test_what_comes_late_on_a_busy_machine_is_waited_for(monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    loads = iter([1.0, 1.0, *[12.0] * 100])
    monkeypatch.setattr("os.getloadavg", lambda: (next(loads), 0.0, 0.0))
    answers = iter([False] * 10 + [True])
    assert slurm.until(lambda: next(answers), 30)
    assert not slurm.until(lambda: False, 5)


@pytest.mark.cluster
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_slurm_goes_down_with_whoever_brought_it_up(number):
    if obstacle():
        pytest.skip(obstacle())
    command = [sys.executable, "-m", "harness.slurm"]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        folder = Path(process.stdout.readline().rpartition(f"{MARK}=")[2].strip())
        assert len(processes(folder)) >= 3
        process.send_signal(number)
    assert until(lambda: not processes(folder), 20), processes(folder)
    # Killed, it leaves its link and its folder: the next one takes its place.
    assert obstacle() is None
    assert SYSTEM.is_symlink() == folder.exists() == (number == signal.SIGKILL)
    if folder.exists():
        SYSTEM.unlink()
        shutil.rmtree(folder)
