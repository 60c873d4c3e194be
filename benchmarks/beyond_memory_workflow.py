"""Count a graph that is larger than memory with the workflow: killed once, resumed, and counted again without it.

    python benchmarks/large_graph.py /tmp/graph --triples 600000000 --entities 91000000 --relations 1387 --write npy
    python benchmarks/beyond_memory_workflow.py /tmp/graph /tmp/run --gigabytes 8

The workflow divides the data set by itself (`partitions: auto`). The limit holds for the data of every process
(RLIMIT_DATA). When one partition is counted and the next has run for half a minute, all processes are killed; the
same command goes on. Printed are seconds by the clock, the most memory of a process, and each job's CPU seconds.

At last numpy counts the test split again, from the npy files alone: sorted codes of query and answer, without any code
of the library, against the histograms under `filtered`. That takes some 16 bytes for each triple that shares a query
with the test split.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import yaml

from rankadjust.base.arrays import IntArray

NAME = "large-graph"
PROJECT = Path(__file__).resolve().parents[1]
BLOCK = 1 << 24
_KILLED_AFTER = (1, 30.0)  # partitions that are there, and seconds


def run(command: list[str], gigabytes: float, partitions: Path | None) -> tuple[float, float]:
    """Run the workflow, to its end or until it is to be killed; return seconds and the most GB of a process."""
    limit = int(gigabytes * 1e9)
    child = subprocess.Popen(command, cwd=PROJECT, start_new_session=True)
    resource.prlimit(child.pid, resource.RLIMIT_DATA, (limit, limit))
    started, due, most = time.perf_counter(), float("inf"), 0
    while child.poll() is None:
        time.sleep(0.5)
        most = max(most, *(peak_memory(process, child.pid) for process in Path("/proc").glob("[0-9]*")))
        counted = partitions and len(set(partitions.glob("?.parquet")))
        if counted and counted >= _KILLED_AFTER[0] and due == float("inf"):
            due = time.perf_counter() + _KILLED_AFTER[1]
        if time.perf_counter() > due:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            break
    if child.returncode not in (0, -signal.SIGKILL):
        sys.exit(child.returncode)
    return time.perf_counter() - started, most * 1024 / 1e9


def peak_memory(process: Path, session: int) -> int:
    """Return the peak memory in KiB of a process of this session, 0 of any other."""
    try:
        # After the name, which may hold anything but ends with the last bracket: state, parent, group, session.
        if int((process / "stat").read_text().rpartition(")")[2].split()[3]) != session:
            return 0
        return next(
            (
                int(line.split()[1])
                for line in (process / "status").read_text().splitlines()
                if line.startswith("VmHWM")
            ),
            0,
        )
    except OSError:
        return 0


def blocks(folder: Path) -> Iterator[IntArray]:
    """Yield the triples of a folder in pieces (n, 3)."""
    for path in sorted(folder.glob("*.npy")):
        triples = np.load(path, mmap_mode="r")
        for start in range(0, len(triples), BLOCK):
            yield triples[start : start + BLOCK].astype(np.int64)


def test_histogram(folder: Path, side: str, entities: int, relations: int) -> Counter[int]:
    """Return how many test tasks of a side have each number of candidates, under `filtered`."""
    answer, given = (2, 0) if side == "tail" else (0, 2)

    def queries(triples: np.ndarray) -> np.ndarray:
        return triples[:, given] * relations + triples[:, 1]

    testing = np.load(folder / "testing.npy").astype(np.int64)
    asked, tasks = np.unique(queries(testing), return_counts=True)
    facts = []
    for triples in blocks(folder):
        of_triples = queries(triples)
        place = np.searchsorted(asked, of_triples).clip(max=asked.size - 1)
        shared = asked[place] == of_triples
        facts.append(np.unique(place[shared] * entities + triples[shared, answer]))
    joined = np.concatenate(facts)
    del facts
    joined.sort()
    distinct = np.append(True, joined[1:] != joined[:-1])
    answers = np.bincount(joined[distinct] // entities, minlength=asked.size)
    # The other known answers are filtered out; the true one stays.
    counts, position = np.unique(entities - answers + 1, return_inverse=True)
    return Counter(
        dict(zip(counts.tolist(), np.bincount(position, weights=tasks).astype(int).tolist(), strict=True))
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a graph of large_graph.py, as npy")
    parser.add_argument("run", type=Path, help="the folder of the run")
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    memory = int(given.gigabytes * 1000)
    output = given.run / "results" / "candidates" / f"{NAME}.parquet"
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        str(given.cores),
        "--resources",
        f"mem_mb={memory}",
    ]
    command += ["--directory", str(given.run.resolve()), str(output.relative_to(given.run)), "--config"]
    command += [
        f"registry={given.folder.resolve() / f'{NAME}.yaml'}",
        f"datasets={NAME}",
        "protocols=filtered",
    ]
    command += ["partitions=auto", f"memory_mb={memory}"]
    given.run.mkdir(parents=True, exist_ok=True)
    for name, partitions in (
        ("until killed", given.run / "results" / "partitions" / NAME),
        ("resumed", None),
    ):
        seconds, most = run(command, given.gigabytes, partitions)
        print(f"{name}: {seconds:.0f} s, most memory of a process {most:.2f} GB", flush=True)
    for path in sorted(given.run.glob(f"results/benchmarks/*/{NAME}*.tsv")):
        job = pl.read_csv(path, separator="\t", null_values="-").row(0, named=True)
        print(f"{path.parent.name} {path.stem}: {job['cpu_time']} CPU s, {job['s']} s", flush=True)

    form = yaml.safe_load((given.folder / f"{NAME}.yaml").read_text())[NAME]["format"]
    histograms = pl.read_parquet(output).filter(split="testing", protocol="filtered")
    for side in ("head", "tail"):
        expected = test_histogram(given.folder, side, form["num_entities"], form["num_relations"])
        counted = Counter(dict(histograms.filter(side=side).select("num_candidates", "tasks").iter_rows()))
        if counted != expected:
            sys.exit(f"error: testing, {side}: other counts than numpy's")
        print(f"testing, {side}: {expected.total():,} tasks, {len(expected):,} counts, the same as numpy's")


if __name__ == "__main__":
    main()
