"""Time and memory of the exact moments, each measurement a process of its own on one core.

    python benchmarks/moments_speed.py results/candidates/FB15k-237.parquet

Measures all metrics of all splits and sides of the histogram given (limit 3 s after import), and of a histogram of
the size of Wikidata5M: 20 million tasks, 50,000 distinct candidate counts up to 4.6 million (limit 60 s and 2 GB).
Ends with exit code 1 where a limit is exceeded.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

KS = (1, 3, 5, 10, 100)
LIMITS = {"given": (3.0, 2.0), "synthetic": (60.0, 2.0)}


def measure(name: str, path: Path) -> None:
    """Print seconds and gigabytes of one case; runs in the child process."""
    started = time.perf_counter()
    import numpy as np  # noqa: PLC0415 - the import is part of the measurement
    import polars as pl  # noqa: PLC0415

    from rankadjust.chance.metrics import FAMILIES, expand  # noqa: PLC0415
    from rankadjust.chance.moments import moments_table  # noqa: PLC0415

    imported = time.perf_counter()
    if name == "given":
        histogram = pl.read_parquet(path).filter(protocol="filtered")
    else:
        generator = np.random.default_rng(5)
        # Like real counts: dense just below the number of entities, thin further down.
        counts = np.unique(4_600_000 - np.floor(4_599_999 * generator.random(60_000) ** 4).astype(np.int64))
        counts = generator.permutation(counts)[:50_000]
        tasks = (
            generator.multinomial(20_000_000 - counts.size, generator.dirichlet(np.full(counts.size, 0.1)))
            + 1
        )
        side = np.where(np.arange(counts.size) % 2 == 0, "head", "tail")
        histogram = pl.DataFrame(
            {
                "split": "testing",
                "side": side,
                "entities": 4_600_000,
                "num_candidates": counts,
                "tasks": tasks,
            }
        )
    metrics = [metric for metric in expand(list(FAMILIES), KS) if metric.has_moments]
    begun = time.perf_counter()
    rows = moments_table(histogram, metrics).height
    seconds = time.perf_counter() - begun
    # Kilobytes on Linux, bytes on macOS.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    distinct = histogram["num_candidates"].n_unique()
    print(
        f"{name:10} {histogram['tasks'].sum():>12,} tasks, {distinct:>6,} distinct counts, {rows} rows of moments"
    )
    print(f"{'':10} import {imported - started:.2f} s, moments {seconds:.2f} s, peak {peak / 1e9:.2f} GB")
    limit, memory = LIMITS[name]
    if seconds > limit or peak > memory * 1e9:
        sys.exit(f"error: {name}: more than {limit:g} s or {memory:g} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("histogram", type=Path, help="results/candidates/<dataset>.parquet")
    parser.add_argument("--case", choices=LIMITS, help="measure one case in this process")
    arguments = parser.parse_args()
    if arguments.case:
        measure(arguments.case, arguments.histogram)
        return
    one_core = os.environ | dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
    )
    failures = [
        subprocess.run(
            [sys.executable, __file__, str(arguments.histogram), "--case", case], env=one_core, check=False
        ).returncode
        for case in LIMITS
    ]
    sys.exit(any(failures))


if __name__ == "__main__":
    main()
