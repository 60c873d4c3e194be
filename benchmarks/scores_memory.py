"""Measure the peak memory of ranking a folder of scores larger than it: 20,000 tasks x 40,000 candidates, float32.

    python benchmarks/scores_memory.py [FOLDER]

The scores are a sparse file (3.2 GB that take no space), made in FOLDER, by default a temporary folder. Each
measurement runs in its own process, so that the peak is the peak of the whole process.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TASKS, CANDIDATES = 20_000, 40_000
MEASURE = """
import resource, sys, time
from rankadjust.evaluation.scores import read_scores
start = time.perf_counter()
ranks = read_scores(sys.argv[1])
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{ranks.height:,} tasks in {seconds:.1f} s, peak {peak:,.0f} MB")
"""


def main(parent: str | None) -> None:
    with tempfile.TemporaryDirectory(dir=parent) as name:
        folder = Path(name)
        shape = (TASKS, CANDIDATES)
        np.lib.format.open_memmap(folder / "scores.npy", mode="w+", dtype=np.float32, shape=shape)
        np.save(folder / "target.npy", np.arange(TASKS))
        for _ in range(3):
            subprocess.run([sys.executable, "-c", MEASURE, str(folder)], check=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
