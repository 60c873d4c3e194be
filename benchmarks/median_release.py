"""Moments of the median of every released histogram: processor time, and how far the released values are away.

    OMP_NUM_THREADS=1 python benchmarks/median_release.py [folder with adjustments.parquet and candidates.parquet]

Each distinct histogram is computed once, as it is in the workflow within a data set.
"""

import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust.base.vocabulary import SIDES
from rankadjust.chance.median import MedianMoments, median_moments

EVALUATION = ["dataset", "protocol", "split", "side"]


def released_medians(histograms: pl.DataFrame) -> tuple[pl.DataFrame, int, float]:
    """Return the moments of all evaluation sets, the number of distinct histograms, and seconds of the processor."""
    found: dict[tuple[bytes, bytes], MedianMoments] = {}
    rows = []
    seconds = 0.0
    for key, of_split in histograms.group_by(EVALUATION[:3], maintain_order=True):
        for side in SIDES:
            part = of_split if side == "both" else of_split.filter(side=side)
            pooled = part.group_by("num_candidates").agg(pl.col("tasks").sum()).sort("num_candidates")
            counts, tasks = (pooled[name].cast(pl.Float64).to_numpy() for name in pooled.columns)
            if not counts.size or counts[0] < 1:
                continue
            content = counts.tobytes(), tasks.tobytes()
            if content not in found:
                start = time.process_time()
                found[content] = median_moments(counts, tasks)
                seconds += time.process_time() - start
            median = found[content]
            rows += [
                (*key, side, "median_rank", median.expectation, median.variance),
                (*key, side, "inverse_median_rank", median.inverse_expectation, median.inverse_variance),
            ]
    schema = [*EVALUATION, "metric", "new_expectation", "new_variance"]
    return pl.DataFrame(rows, schema=schema, orient="row"), len(found), seconds


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "resources/database")
    medians, distinct, seconds = released_medians(pl.read_parquet(folder / "candidates.parquet"))
    print(f"{medians.height // 2:,} evaluation sets, {distinct:,} distinct histograms: {seconds:.1f} s")
    released = pl.read_parquet(folder / "adjustments.parquet")
    both = medians.join(released, on=[*EVALUATION, "metric"], maintain_order="left")
    for metric in ("median_rank", "inverse_median_rank"):
        rows = both.filter(metric=metric)
        for name in ("expectation", "variance"):
            old, new = rows[name].to_numpy(), rows[f"new_{name}"].to_numpy()
            off = np.abs(new - old) / np.where(old == 0, 1.0, old)
            print(f"{metric}: {rows.height:,} rows, {name} off by at most {off.max():.1e}")


if __name__ == "__main__":
    main()
