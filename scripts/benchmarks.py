"""Write the moments of every benchmark with a constant number of candidates; no data is needed."""

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_parquet
from rankadjust.chance.benchmarks import benchmark_moments
from rankadjust.chance.metrics import resolve
from rankadjust.counting.protocols import load_benchmarks


def benchmarks(metrics: list[str], output: str) -> None:
    resolved = [resolve(metric) for metric in metrics]
    write_parquet(pl.concat([benchmark_moments(one, resolved) for one in load_benchmarks()]), output)


if __name__ == "__main__":
    with job(snakemake):
        benchmarks(snakemake.params.metrics, snakemake.output[0])
