"""Write the moments of every benchmark with a constant number of candidates; no data is needed."""

from scripts.job import logged

import polars as pl

from rankadjust.base.io import write_product
from rankadjust.chance.benchmark_moments import benchmark_moments
from rankadjust.chance.metrics import resolve
from rankadjust.counting.protocols import load_benchmarks


def benchmarks(metrics: list[str], output: str) -> None:
    resolved = [resolve(metric) for metric in metrics]
    every = [benchmark_moments(benchmark, resolved) for benchmark in load_benchmarks()]
    # Some benchmarks have bounds, in columns that the others lack.
    write_product(pl.concat(every, how="diagonal"), output, "benchmarks")


if __name__ == "__main__":
    with logged(snakemake):
        benchmarks(snakemake.params.metrics, snakemake.output[0])
