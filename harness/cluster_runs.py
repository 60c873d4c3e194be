"""Data sets in a mirror of the test's own, and runs of the workflow on them: here, and on a Slurm."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from harness.slurm import Cluster, patience, processes
from rankadjust.base.frames import filled
from rankadjust.data.registry import load_registry
from rankadjust.data.sources import Http

PROJECT = Path(__file__).parents[1]
TINY = PROJECT / "tests" / "data" / "tiny"
HOST = "graphs.example"
SPLITS = {"training": "train.txt", "validation": "valid.txt", "testing": "test.txt"}
# Just large enough for `batch: auto` to compute it alone.
LARGE = 1_010_000
SMALL = {"Tiny": 11, "Drawn-1": 400, "Drawn-2": 3_000}
GRAPHS = {**SMALL, "Large": LARGE}
ENTRY = """\
{name}:
  sources:
    - kind: http
      files:
        training: {{url: "https://{host}/{name}/train.txt"}}
        validation: {{url: "https://{host}/{name}/valid.txt"}}
        testing: {{url: "https://{host}/{name}/test.txt"}}
  expected: {{triples: {{training: {training}, validation: {validation}, testing: {testing}}}}}
"""
CONFIG = """\
datasets: [{datasets}]
protocols: [filtered, pykeen]
metrics: [mr, mrr, hits_at_k]
ks: [1, 10]
tables: [results.csv]
registry: [registry.yaml]
mirror: mirror
offline: true
"""
TABLE = "dataset,model,metric,value\nTiny,A,mrr,0.61\nTiny,A,hits@1,33 %\nLarge,B,mr,2.5\n"
# Of the development data, where that is present.
SHARED = ("Nations", "Kinships", "UMLS", "CoDEx-S")


def write_inputs(folder: Path, shared: Path | None, graphs: Mapping[str, int] = GRAPHS) -> None:
    """Write a mirror, a registry, a table and a configuration; with the development data, some of its data sets too.

    graphs: how many triples each has; Tiny is the one of the other tests.
    """
    entries = []
    for name, triples in graphs.items():
        place = folder / "mirror" / HOST / name
        place.mkdir(parents=True)
        counts = tiny(place) if name == "Tiny" else drawn(place, triples)
        entries.append(ENTRY.format(name=name, host=HOST, **counts))
    bad = folder / "mirror" / HOST / "Bad"
    shutil.copytree(TINY, bad)
    (bad / "test.txt").write_text("a\tr\tb\na\tr\n")
    entries.append(ENTRY.format(name="Bad", host=HOST, training=6, validation=2, testing=2))
    names = list(graphs)
    if shared:
        copy_mirrored(SHARED, shared / "data" / "mirror", folder / "mirror")
        names = [*names, *SHARED]
    (folder / "registry.yaml").write_text("".join(entries))
    (folder / "results.csv").write_text(TABLE)
    (folder / "config.yaml").write_text(CONFIG.format(datasets=", ".join(names)))


def copy_mirrored(names: Sequence[str], mirror: Path, copy: Path) -> None:
    """Copy what a mirror has of data sets of the registry: nothing outside a mirror is ever read through it."""
    registry = load_registry()
    files = [file for name in names for source in registry[name].sources for file in source]
    for address in {file.source.url for file in files if isinstance(file.source, Http)}:
        url = urlsplit(address)
        path = Path(url.netloc, url.path.lstrip("/"))
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(mirror / path, copy / path)


def tiny(place: Path) -> dict[str, int]:
    for name in SPLITS.values():
        shutil.copy(TINY / name, place / name)
    return {split: len((place / name).read_text().splitlines()) for split, name in SPLITS.items()}


def drawn(place: Path, triples: int) -> dict[str, int]:
    """Write a graph drawn at random, the same every time; few entities have many triples."""
    random = np.random.default_rng(triples)
    entities = max(20, triples // 10)
    ends = [(random.random(2 * triples) ** 2 * entities).astype(np.int64) for _ in range(2)]
    drawn = pl.DataFrame(
        {"head": ends[0], "relation": random.integers(0, 12, 2 * triples), "tail": ends[1]}
    ).unique(maintain_order=True)
    counts = {"validation": triples // 50, "testing": triples // 50}
    counts["training"] = min(triples, drawn.height) - sum(counts.values())
    start = 0
    for split, name in SPLITS.items():
        part = drawn.slice(start, counts[split]).with_columns(
            filled("e{}", "head").alias("head"), filled("r{}", "relation").alias("relation"),
            filled("e{}", "tail").alias("tail"),
        )  # fmt: skip
        part.write_csv(place / name, include_header=False, separator="\t")
        start += counts[split]
    return counts


def results(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every result; times and logs of jobs do not count."""
    files = (path for path in (folder / "results").rglob("*") if path.is_file())
    named = {path.relative_to(folder / "results").as_posix(): path for path in files}
    return {
        name: path.read_bytes()
        for name, path in named.items()
        if not name.startswith(("benchmarks/", "logs/"))
    }


def command(inputs: Path, folder: Path, *arguments: str) -> list[str]:
    project = ["--snakefile", str(PROJECT / "Snakefile"), "--configfile", str(inputs / "config.yaml")]
    return [sys.executable, "-m", "snakemake", *project, "--directory", str(folder), *arguments]


def environment() -> dict[str, str]:
    """Return the environment without the settings of whoever runs the tests."""
    return {
        key: value for key, value in os.environ.items() if not key.startswith(("RANKADJUST", "PYTHONPATH"))
    }


@dataclass
class Run:
    """A run of the workflow on a Slurm, in a folder of its own; what it says is in `said`."""

    cluster: Cluster
    folder: Path
    process: subprocess.Popen[bytes]
    seconds: float = 0.0

    @property
    def said(self) -> str:
        return (self.folder / "said.txt").read_text()

    def jobs(self, *states: str) -> list[dict[str, str]]:
        """Return the jobs that this run has submitted, in order: id, state, rule with wildcards, memory."""
        out = self.cluster.run("squeue", "-h", "-t", ",".join(states) or "all", "-o", "%i|%T|%k|%m|%Z")
        rows = [line.split("|") for line in out.splitlines()]
        keys = ("id", "state", "rule", "memory")
        jobs = [dict(zip(keys, row[:4], strict=True)) for row in rows if row[4] == str(self.folder)]
        return sorted(jobs, key=lambda job: int(job["id"]))

    def states(self, rule: str) -> list[str]:
        return [job["state"] for job in self.jobs() if job["rule"] == rule]


@contextmanager
def running(cluster: Cluster, inputs: Path, folder: Path, *arguments: str) -> Iterator[Run]:
    """Start a run on a Slurm with the profile, as a user does; it does not outlive this."""
    folder.mkdir(exist_ok=True)
    arguments = ("--workflow-profile", str(PROJECT / "profiles" / "slurm"), *arguments)
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
        if process.poll() is None:
            process.kill()
            process.wait()


@dataclass
class Fault:
    """Something that befalls the first running job of a rule; `befall` returns False while it is too early."""

    run: Run
    rule: str
    befall: Callable[[Cluster, str], bool]
    job: str | None = field(default=None)


def watch(runs: Sequence[Run], faults: Sequence[Fault], seconds: float) -> None:
    """Let the faults happen until all runs have ended; seconds: what that may take on an idle machine."""
    start = time.monotonic()
    while any(run.process.poll() is None for run in runs):
        if time.monotonic() - start > patience(seconds):
            raise TimeoutError("\n".join(run.said for run in runs))
        for fault in faults:
            if fault.job is None:
                ids = [job["id"] for job in fault.run.jobs("running") if job["rule"] == fault.rule]
                fault.job = next((job for job in ids if fault.befall(fault.run.cluster, job)), None)
        for run in runs:
            if run.process.poll() is None:
                run.seconds = time.monotonic() - start
        time.sleep(0.2)


def processes_of(job: str) -> list[int]:
    """Return the processes that a job of Slurm has started on this machine."""
    mark = f"SLURM_JOB_ID={job}".encode()
    pids = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (path / "environ").read_bytes().split(b"\0"):
                pids.append(int(path.name))
        except OSError:
            continue
    return pids


def cancel(cluster: Cluster, job: str) -> bool:
    cluster.run("scancel", job)
    return True


def sent(number: int) -> Callable[[Cluster, str], bool]:
    """Return a fault that sends a signal to every process of a job, of this Slurm and of no other."""

    def befall(cluster: Cluster, job: str) -> bool:
        ours = set(processes(cluster.folder))
        killed = [pid for pid in processes_of(job) if pid in ours]
        for pid in killed:
            os.kill(pid, number)
        return bool(killed)

    return befall
