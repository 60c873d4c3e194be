"""Time and memory of the random_scorer null on one data set, all splits and sides, every additive metric.

    python benchmarks/random_scorer_speed.py results/triples/FB15k-237.parquet

Counting the candidates is timed apart. Ends with exit code 1 where null and counting together need more than the
limits.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

import polars as pl

from rankadjust.chance.metrics import FAMILIES, expand
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.counting.candidates import count_candidates

KS = (1, 3, 5, 10, 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("triples", type=Path, help="results/triples/<dataset>.parquet")
    parser.add_argument("--protocol", default="filtered")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    arguments = parser.parse_args()

    started = time.perf_counter()
    candidates = count_candidates(pl.read_parquet(arguments.triples), arguments.protocol)
    counted = time.perf_counter()
    metrics = [metric for metric in expand(list(FAMILIES), KS) if metric.additive]
    table = nulls_table(candidates.histogram, candidates.pairs, arguments.protocol, metrics)
    finished = time.perf_counter()

    # Kilobytes on Linux, bytes on macOS.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(f"data set            {arguments.triples.stem}, {arguments.protocol}")
    print(f"tasks               {candidates.histogram['tasks'].sum():,}")
    print(f"distinct counts     {candidates.histogram.height:,} rows")
    print(f"distinct pairs      {candidates.pairs.height:,} rows")
    print(f"variances           {table.height:,} ({len(metrics)} metrics)")
    print(f"counting            {counted - started:.2f} s")
    print(f"random_scorer null  {finished - counted:.2f} s")
    print(f"peak memory         {peak / 1e9:.2f} GB")
    if finished - started > arguments.seconds or peak > arguments.gigabytes * 1e9:
        sys.exit(f"error: more than {arguments.seconds:g} s or {arguments.gigabytes:g} GB")


if __name__ == "__main__":
    main()
