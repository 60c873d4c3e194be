"""The workflow on a real Slurm: the results of a local run, whatever befalls its jobs."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import slurm as harness
from harness.slurm import Cluster, obstacle, slurm, until
from tests.copies import copy_project
from tests.tiny import FILES, REGISTRY

PROJECT = Path(__file__).parents[2]
CONFIG = """\
datasets: [Tiny, Other]
protocols: [filtered, pykeen]
metrics: [mr, mrr, hits_at_k]
ks: [1, 10]
tables: [results.csv]
registry: [registry.yaml]
"""
TABLE = "dataset,model,metric,value\nTiny,A,mrr,0.61\nTiny,A,hits@1,33 %\nOther,B,mr,2.5\n"
GROUPED = ("encode", "count", "moments", "baselines")


@dataclass
class Run:
    """A run of the workflow on a Slurm, in a folder of its own."""

    cluster: Cluster
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def said(self):
        return (self.folder / "said.txt").read_text()

    def jobs(self, rule, *states):
        """Return id, state and memory of the jobs of Slurm in which a rule ran, in order."""
        out = self.cluster.run("squeue", "-h", "-t", ",".join(states) or "all", "-o", "%i|%T|%m|%k|%Z")
        rows = [line.split("|") for line in out.splitlines()]
        found = [row[:3] for row in rows if row[4] == str(self.folder) and rule in row[3]]
        return sorted(found, key=lambda row: int(row[0]))


@pytest.fixture(scope="module")
def cluster():
    reason = obstacle()
    if reason:
        pytest.skip(reason)
    # Names of sockets have to be short.
    with tempfile.TemporaryDirectory(prefix="rankadjust-slurm-") as folder, slurm(Path(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    entries = []
    for name in ("Tiny", "Other", "Bad"):
        (folder / name).mkdir()
        for file in FILES.iterdir():
            (folder / name / file.name).write_bytes(file.read_bytes())
        entries.append(REGISTRY.replace("Tiny", name).replace("data/", f"{name}/"))
    (folder / "Bad" / "test.txt").write_text("a\tr\tb\na\tr\n")
    (folder / "registry.yaml").write_text("".join(entries))
    (folder / "results.csv").write_text(TABLE)
    (folder / "config.yaml").write_text(CONFIG)
    return folder


def command(inputs, folder, *arguments):
    project = ["--snakefile", PROJECT / "Snakefile", "--configfile", inputs / "config.yaml"]
    return [sys.executable, "-m", "snakemake", *project, "--directory", folder, *arguments]


@contextmanager
def running(cluster, inputs, folder, *arguments):
    """Start a run on a Slurm with the profile, as a user does; it does not outlive this."""
    folder.mkdir(exist_ok=True)
    arguments = ("--workflow-profile", PROJECT / "profiles" / "slurm", *arguments)
    with (folder / "said.txt").open("wb") as said:
        process = subprocess.Popen(
            command(inputs, folder, *arguments),
            cwd=folder,
            env=cluster.environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    try:
        yield Run(cluster, folder, process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def runs(cluster, inputs, tmp_path_factory):
    """Return two runs that went on at the same time: one that ends well after two faults, and one that cannot."""
    folder = tmp_path_factory.mktemp("runs")
    well = running(
        *(cluster, inputs, folder / "well"), "--set-resources", "benchmarks:mem_mb=60*20**(attempt-1)"
    )
    badly = running(
        *(cluster, inputs, folder / "badly", "--retries", "0", "--config", "datasets=Bad", "--"),
        "results/triples/Bad.parquet",
    )
    with well as one, badly as other:
        until(lambda: one.jobs("dataset", "running"), "a job that can be cancelled")
        cluster.run("scancel", one.jobs("dataset", "running")[0][0])
        for run in (one, other):
            run.process.wait(harness.LONGEST)
        yield one, other


@pytest.mark.cluster
def test_the_results_are_those_of_a_local_run_byte_for_byte(runs, inputs, tmp_path):
    def results(folder):
        files = (path for path in (folder / "results").rglob("*") if path.is_file())
        named = {path.relative_to(folder / "results").as_posix(): path for path in files}
        return {
            name: path.read_bytes() for name, path in named.items() if not re.match("benchmarks/|logs/", name)
        }

    well, _ = runs
    assert well.process.returncode == 0, well.said
    local = command(inputs, tmp_path, "--cores", "2")
    done = subprocess.run(local, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected, found = results(tmp_path), results(well.folder)
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == ["run_config.yaml"]


@pytest.mark.cluster
def test_a_job_that_is_cancelled_or_over_its_memory_is_tried_again(runs):
    well, _ = runs
    tries = well.jobs("benchmarks")
    assert [memory for _, _, memory in tries][:2] == ["60M", "1200M"]
    assert {state for _, state, _ in tries[:-1]} <= {"FAILED", "OUT_OF_MEMORY"}
    assert tries[-1][1] == "COMPLETED"
    # What is computed of a data set is one job.
    assert sorted(state for _, state, _ in well.jobs("dataset")) == ["CANCELLED", "COMPLETED", "COMPLETED"]
    assert [well.jobs(f"rule_{rule}") for rule in GROUPED] == [[]] * len(GROUPED)


@pytest.mark.cluster
def test_a_mistake_of_the_users_is_shown_with_the_log_of_its_job(runs):
    _, badly = runs
    assert badly.process.returncode != 0
    assert re.search(r"error: .*/Bad/test\.txt:2: 2 fields ", badly.said), badly.said
    assert "results/logs/encode/Bad.log" in badly.said


@pytest.mark.cluster
def test_every_job_had_a_home_without_write_access_and_a_temporary_folder_of_its_own(runs, cluster):
    done = {job[0] for run in runs for job in run.jobs("", "completed")}
    assert "HOME=/proc/no-home" in (cluster.folder / "prolog").read_text()
    assert done <= {path.name for path in (cluster.folder / "tmp").iterdir()}
    assert len(done) > 5


@pytest.mark.cluster
def test_ctrl_c_cancels_the_jobs_and_the_same_command_goes_on(cluster, inputs, tmp_path):
    # The job waits until it is cancelled, however fast the machine is.
    project = copy_project(tmp_path / "project")
    script = project / "scripts" / "benchmarks.py"
    whole = script.read_text()
    script.write_text(whole.replace("    resolved =", "    __import__('signal').pause()\n    resolved =", 1))
    target = "results/benchmark-moments.parquet"
    arguments = ("--snakefile", project / "Snakefile", "--", target)
    with running(cluster, inputs, tmp_path / "run", *arguments) as run:
        until(lambda: run.jobs("benchmarks", "running"), "a running job")
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(harness.LONGEST) != 0
        assert "Traceback" not in run.said
    until(lambda: [job[1] for job in run.jobs("benchmarks")] == ["CANCELLED"], "the end of the job")
    assert not (run.folder / target).exists()
    script.write_text(whole)
    with running(cluster, inputs, run.folder, *arguments) as again:
        assert again.process.wait(harness.LONGEST) == 0, again.said
    assert (run.folder / target).exists()


def test_without_slurm_it_says_what_to_install_and_one_of_the_machines_own_is_left_alone(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(
        harness, "PACKAGES", {"no-such-daemon": "slurm-wlm", "nor-this": "munge", "sh": "dash"}
    )
    assert obstacle() == (
        "Slurm is not installed here; as root on Debian or Ubuntu: apt-get install munge slurm-wlm"
    )
    own = tmp_path / "slurm.conf"
    own.write_text("ClusterName=production\n")
    monkeypatch.setattr(harness, "PACKAGES", {})
    monkeypatch.setattr(harness, "SYSTEM", own)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(RuntimeError, match="left alone"), slurm(tmp_path / "mine"):
        pass
    assert own.read_text() == "ClusterName=production\n"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "only root" in obstacle()
