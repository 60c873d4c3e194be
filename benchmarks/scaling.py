"""Time and memory of every stage, from text to moments, for graphs of growing size.

    python benchmarks/scaling.py [--millions 1 2 5 10 22] [--repeats 3]

Graphs come from benchmarks/large_graph.py. Each stage is a process of its own: read (three text files), encode (their
labels), count (the protocol filtered, from integers) and moments (the metrics and nulls of the default configuration,
from histograms). Seconds are measured without the start of Python; peak memory is measured for the process, which
for encode holds the text too. Written are medians of --repeats runs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
from large_graph import RELATIONS, SPLITS, TRIPLES_PER_ENTITY, write_graph

from rankadjust.base.io import write_parquet, write_text
from rankadjust.chance.metrics import expand
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.counting.candidates import count_candidates
from rankadjust.data.encode import encode
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Format

STAGES = ("read", "encode", "count", "moments")
METRICS = ["arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_k", "geometric_mean_rank"]
METRICS += ["inverse_geometric_mean_rank"]
KS = (1, 3, 5, 10)
SERIES = ("seconds", "cpu_seconds", "peak_gigabytes")


def read(folder: Path) -> dict[str, pl.DataFrame]:
    return {split: read_triples(folder / f"{split}.txt", Format()) for split in SPLITS}


def stage(name: str, folder: Path) -> None:
    """Run one stage on the files that earlier stages left in the folder, and print its time and memory."""
    prepare, work, keep = work_of(name, folder)
    given = prepare()
    started, used = time.perf_counter(), time.process_time()
    made = work(given)
    measured = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - used}
    measured["peak_gigabytes"] = peak_memory() / 1e9
    keep(made)
    print(json.dumps(measured))


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, on Linux: ru_maxrss starts at the memory of the parent."""
    (line,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return int(line.split()[1]) * 1024


def work_of(name: str, folder: Path) -> tuple[Callable, Callable, Callable]:
    """Return three functions of a stage: read its input, compute, and keep the result for the next stage."""
    triples, histogram, pairs = (folder / f"{part}.parquet" for part in ("triples", "histogram", "pairs"))
    if name == "read":
        return lambda: folder, read, lambda _: None
    if name == "encode":
        return lambda: read(folder), encode, lambda encoded: write_parquet(encoded.triples, triples)
    if name == "count":

        def keep(candidates) -> None:  # noqa: ANN001
            write_parquet(candidates.histogram, histogram)
            write_parquet(candidates.pairs, pairs)

        return lambda: pl.read_parquet(triples), lambda frame: count_candidates(frame, "filtered"), keep
    metrics = expand(METRICS, KS)

    def moments(tables: tuple[pl.DataFrame, pl.DataFrame]) -> None:
        moments_table(tables[0], metrics)
        nulls_table(*tables, "filtered", metrics)

    return lambda: (pl.read_parquet(histogram), pl.read_parquet(pairs)), moments, lambda _: None


def measure(folder: Path, repeats: int) -> dict[str, dict[str, float]]:
    """Return the medians of each stage."""
    found = {}
    for name in STAGES:
        runs = []
        for _ in range(repeats):
            command = [sys.executable, __file__, "--stage", name, "--folder", str(folder)]
            answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            runs.append(json.loads(answer.stdout))
        found[name] = {key: statistics.median(run[key] for run in runs) for key in SERIES}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 2, 5, 10, 22])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/scaling.csv"))
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stage:
        stage(given.stage, given.folder)
        return
    print(f"{os.cpu_count()} cores, medians of {given.repeats}")
    rows = []
    for millions in given.millions:
        with tempfile.TemporaryDirectory() as name:
            triples = round(millions * 1e6)
            write_graph(Path(name), triples, round(triples / TRIPLES_PER_ENTITY), RELATIONS, 0)
            for part, measured in measure(Path(name), given.repeats).items():
                rows.append({"million_triples": millions, "stage": part, **measured})
                print(
                    f"{millions:5g} M {part:8}", *(f"{value:8.2f} {key}" for key, value in measured.items())
                )
    write_text(pl.DataFrame(rows).write_csv(float_precision=2), given.csv)


if __name__ == "__main__":
    main()
