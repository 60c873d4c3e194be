"""Halve and double each tuning constant of `rankadjust.chance.tilting`, and measure how p and time change.

    python benchmarks/tail_constants.py > benchmarks/tail_constants.csv

log10 p is computed for values from chance to near the best, for metrics of every kind, and for few and many tasks. It
is compared with a reference that sets the constants of the first list to their most careful values: never the formula,
the finest grids, the longest integrals. The columns are about p above 1e-10: `error` is the largest difference from the
reference, `below` is the most by which p is too small, and `change` is the largest difference from p with the constants
as they are. Seconds are CPU seconds.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray
from rankadjust.chance import tilting
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.chance.tails import ChanceTails
from rankadjust.database.beside import load_candidates

METRICS = ("mr", "mrr", "mrr@3", "ndcg", "ndcg@3", "gmr", "auc")
SETS = (("Countries-S1", "tail"), ("Nations", "both"), ("UMLS", "tail"))
# Numbers of candidates, and how many tasks have each: few tasks, a coarse lattice, many tasks.
MADE = (
    ((5, 40, 700), (2, 3, 2)),
    ((3, 9), (20, 20)),
    ((3,), (60,)),
    ((4, 8), (30, 40)),
    ((50, 900), (100, 500)),
)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.55, 0.8)
CAREFUL = {
    "_NEAR_NORMAL": 0.0,
    "_NEAR_NORMAL_ON_LATTICE": 0.0,
    "_FORMULA_ONLY": -np.inf,
    "_NEGLIGIBLE": 1e-13,
    "_SMALL": 1e-7,
    "_POINTS": 2**17,
    "_WORK": 2**25,
    "_FEWEST_TASKS": 0,
    "_RAISED": 1e-5,
    "_SHARE_RAISED": 1e-6,
    "_WINDOW": 1e-6,
    "_FINEST": 2**18,
    "_COARSEST": 2**18,
}
OTHERS = (
    "_FEW_TASKS", "_FEW_CHANGES", "_LIKE", "_LIKE_TILT", "_ALIASING", "_LEAST_TILT", "_FAR", "_BLOCK", "_PHASE",
    "_ON_LATTICE", "_ON_GRID", "_LARGEST_RECIPROCAL", "_CERTAIN",
)  # fmt: skip


@contextmanager
def changed(numbers: Mapping[str, float]) -> Iterator[None]:
    """Let tilting have other numbers for a while."""
    before = {name: getattr(tilting, name) for name in numbers}
    try:
        for name, number in numbers.items():
            setattr(tilting, name, number)
        yield
    finally:
        for name, number in before.items():
            setattr(tilting, name, number)


def histograms() -> list[tuple[FloatArray, FloatArray]]:
    """Return numbers of candidates, and of tasks that have them."""
    found = [(np.array(counts, dtype=float), np.array(tasks, dtype=float)) for counts, tasks in MADE]
    candidates = load_candidates().filter(protocol="filtered", split="testing")
    for dataset, side in SETS:
        rows = candidates.filter(pl.col("dataset") == dataset, (pl.col("side") == side) | (side == "both"))
        rows = rows.group_by("num_candidates").agg(pl.col("tasks").sum()).sort("num_candidates")
        found.append(
            (rows["num_candidates"].to_numpy().astype(float), rows["tasks"].to_numpy().astype(float))
        )
    return found


def all_p() -> tuple[FloatArray, float]:
    """Return log10 p of every case, and the CPU seconds that they took."""
    begin = time.process_time()
    found = []
    for counts, tasks in histograms():
        tails = ChanceTails(counts, tasks)
        for name in METRICS:
            metric = resolve(name)
            chance = metric_moments(metric, counts.astype(np.int64), tasks.astype(np.int64)).expectation
            found.append(tails.log10_p(name, chance + np.array(SHARES) * (metric.optimum - chance)))
    return np.concatenate(found), time.process_time() - begin


def main() -> None:
    with changed(CAREFUL):
        truth, _ = all_p()
    usual, seconds = all_p()
    near = truth > -10
    print("number,value,error,below,change,seconds")

    def show(name: str, value: float, found: FloatArray, seconds: float) -> None:
        error, change = (found - truth)[near], (found - usual)[near]
        ends = np.abs(error).max(), max(-error.min(), 0.0), np.abs(change).max()
        print(
            name.strip("_").lower(),
            f"{value:.4g}",
            *(f"{end:.4f}" for end in ends),
            f"{seconds:.1f}",
            sep=",",
        )

    show("as it is", 1.0, usual, seconds)
    for name in (*CAREFUL, *OTHERS):
        number = getattr(tilting, name)
        for factor in (0.5, 2.0):
            # Two bounds that share a grid are alike from a factor of 1 on.
            value = type(number)(max(number * factor, 1.0) if name == "_LIKE" else number * factor)
            with changed({name: value}):
                show(name, value, *all_p())


if __name__ == "__main__":
    main()
