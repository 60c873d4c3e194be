"""The Slurm of these tests leaves nothing behind, however it ends."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import slurm
from harness.cluster_runs import PROJECT
from harness.slurm import MARK, SYSTEM, obstacle, processes


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
    end = time.monotonic() + 20
    while processes(folder) and time.monotonic() < end:
        time.sleep(0.1)
    assert processes(folder) == []
    # Killed, it leaves its link and its folder: the next one takes its place.
    assert obstacle() is None
    assert SYSTEM.is_symlink() == folder.exists() == (number == signal.SIGKILL)
    if folder.exists():
        SYSTEM.unlink()
        shutil.rmtree(folder)
