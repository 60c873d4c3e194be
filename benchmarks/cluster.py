"""Measure how much time and memory Slurm adds: run the same graphs on Slurm, with three faults, and without Slurm.

    PYTHONPATH=. python benchmarks/cluster.py

This needs root and Debian's packages slurm-wlm, munge, slurmdbd and mariadb-server, for a Slurm of one machine with
accounting. It prints the figures that sacct has for each job, and seconds by the clock.
"""

import csv
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from harness.cluster_runs import (
    Fault,
    Run,
    cancel,
    command,
    environment,
    results,
    running,
    sent,
    watch,
    write_inputs,
)
from harness.slurm import Cluster, slurm

# The measurement is about Slurm, so Large is just large enough to be computed alone, in partitions.
GRAPHS = {"Tiny": 11, "Drawn-1": 400, "Large": 4_000}
SETTINGS = ("--config", "batch=1000", "partitions=3")
FIELDS = ("JobID", "Comment", "State", "ReqMem", "ElapsedRaw")


def accounts(run: Run) -> list[dict[str, str]]:
    """Return the figures that sacct has for each job of a run; the memory comes from the job's steps."""
    time.sleep(6)  # slurmdbd takes in a job some seconds after its end
    out = run.cluster.run("sacct", "-n", "-P", "--format", ",".join([*FIELDS, "MaxRSS", "WorkDir"]))
    rows = [line.split("|") for line in out.splitlines()]
    jobs = {}
    for identity, comment, state, memory, elapsed, used, folder in rows:
        number, _, step = identity.partition(".")
        if not step and folder == str(run.folder):
            jobs[number] = dict(
                zip(FIELDS, (number, comment, state, memory, elapsed), strict=True), MaxRSS="0K"
            )
        elif number in jobs and used:
            jobs[number]["MaxRSS"] = max(
                jobs[number]["MaxRSS"], used, key=lambda text: float(text.rstrip("KMG"))
            )
    return list(jobs.values())


def overhead(run: Run, jobs: list[dict[str, str]]) -> str:
    """Return how many seconds a Slurm job takes in addition to its script."""
    jobs = [job for job in jobs if job["State"] == "COMPLETED"]
    elapsed = sum(float(job["ElapsedRaw"]) for job in jobs)
    local = ("fetch", "run_config")
    tables = (run.folder / "results" / "benchmarks").rglob("*.tsv")
    scripts = 0.0
    for path in tables:
        if path.parent.name not in local and path.stem not in local:
            with path.open(encoding="utf-8") as table:
                scripts += sum(float(row["s"]) for row in csv.DictReader(table, delimiter="\t"))
    return (
        f"{len(jobs)} jobs, {elapsed:.0f} s in Slurm, {scripts:.0f} s in scripts: "
        f"{(elapsed - scripts) / len(jobs):.1f} s besides, a job"
    )


def here(inputs: Path, folder: Path, *arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run(
        command(inputs, folder, "--cores", "2", *arguments),
        cwd=folder,
        env=environment(),
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - start


def there(cluster: Cluster, inputs: Path, folder: Path, *arguments: str) -> Run:
    with running(cluster, inputs, folder, *arguments) as run:
        befall = [
            Fault(run, "rule_batch_1", sent(signal.SIGKILL)),
            Fault(run, "rule_count_partition_wildcards_Large_1", cancel),
        ]
        watch([run], befall, 600)
        assert run.process.returncode == 0, run.said
    return run


def main() -> None:
    folders = [tempfile.TemporaryDirectory(prefix="rankadjust-slurm-") for _ in range(2)]
    with folders[0] as own, folders[1] as place:
        base = Path(place)
        inputs, local = base / "inputs", base / "local"
        inputs.mkdir()
        local.mkdir()
        write_inputs(inputs, None, GRAPHS)
        with slurm(Path(own), accounting=True) as cluster:
            run = there(
                *(cluster, inputs, base / "slurm", *SETTINGS),
                *("--set-resources", "encode:mem_mb=90*attempt**3"),
            )
            seconds = here(inputs, local, *SETTINGS)
            jobs = accounts(run)
            for job in jobs:
                print(
                    "{JobID:>4}  {Comment:38} {State:16} {ReqMem:>7} {ElapsedRaw:>6} s {MaxRSS:>10}".format(
                        **job
                    )
                )
            print(f"{len(jobs)} jobs were submitted: {dict(Counter(job['State'] for job in jobs))}")
            print(f"{run.seconds:.0f} s on Slurm, {seconds:.0f} s here; {overhead(run, jobs)}")
            print(f"the results are the same bytes: {results(run.folder) == results(local)}")


if __name__ == "__main__":
    main()
