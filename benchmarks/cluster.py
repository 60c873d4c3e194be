"""What Slurm adds to a run: the same data sets here, on a Slurm in batches and one by one, and a run with faults.

    PYTHONPATH=. python benchmarks/cluster.py --mirror ../shared/data/mirror

As root, with the packages slurm-wlm, munge, slurmdbd and mariadb-server of Debian: a Slurm of one machine with as many
cores as that has, and its accounts. Prints seconds by the clock, and of each job what sacct says.
"""

import argparse
import csv
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.cluster.slurm import Cluster, slurm
from tests.cluster.workflow import (
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

DATASETS = [
    *("Nations", "Kinships", "UMLS", "CoDEx-S", "family", "DBpedia50", "GraIL-WN18RR-v1", "GraIL-NELL995-v1"),
]
FIELDS = ("JobID", "Comment", "State", "ReqMem", "ElapsedRaw")


def accounts(run: Run) -> list[dict[str, str]]:
    """Return what sacct says of each job of a run: the whole, and of its steps the memory."""
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


def show(run: Run) -> None:
    for job in accounts(run):
        print("{JobID:>4}  {Comment:48} {State:22} {ReqMem:>7} {ElapsedRaw:>4} s {MaxRSS:>9}".format(**job))


def overhead(run: Run) -> str:
    """Return how many seconds a job of Slurm takes besides its script, and besides Slurm itself."""
    jobs = [job for job in accounts(run) if job["State"] == "COMPLETED"]
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


def there(cluster: Cluster, inputs: Path, folder: Path, *arguments: str, faults: bool = False) -> Run:
    with running(cluster, inputs, folder, *arguments) as run:
        befall = [
            Fault(run, "rule_batch_1", sent(signal.SIGKILL)),
            Fault(run, "rule_count_partition_wildcards_Large_1", cancel),
        ]
        watch([run], befall * faults, 600)
        assert run.process.returncode == 0, run.said
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="the mirror of the development data")
    parser.add_argument("--faults", action="store_true", help="only the run with faults")
    options = parser.parse_args()
    folders = [tempfile.TemporaryDirectory(prefix="rankadjust-slurm-") for _ in range(2)]
    with folders[0] as own, folders[1] as place:
        base = Path(place)
        inputs = base / "inputs"
        inputs.mkdir()
        write_inputs(inputs, None)
        chosen = [
            "database",
            "--config",
            f"mirror={options.mirror.resolve()}",
            f"datasets={','.join(DATASETS)}",
        ]
        with slurm(Path(own), cpus=2, accounting=True) as cluster:
            faulty = there(
                *(cluster, inputs, base / "faulty", "--config", "partitions=3"),
                *("--set-resources", "encode:mem_mb=90*attempt**3"),
                faults=True,
            )
            print(
                f"with faults: {faulty.seconds:.0f} s, states {dict(Counter(job['State'] for job in accounts(faulty)))}"
            )
            show(faulty)
            if options.faults:
                return
            (base / "local").mkdir()
            print(f"{len(DATASETS)} data sets here: {here(inputs, base / 'local', *chosen):.0f} s")
            for batch in ("auto", "0"):
                run = there(cluster, inputs, base / f"batch-{batch}", *chosen, f"batch={batch}")
                same = {k: v for k, v in results(run.folder).items() if k != "run_config.yaml"}
                local = {k: v for k, v in results(base / "local").items() if k != "run_config.yaml"}
                print(f"batch={batch}: {run.seconds:.0f} s, {overhead(run)}; the same bytes: {same == local}")
                show(run)


if __name__ == "__main__":
    main()
