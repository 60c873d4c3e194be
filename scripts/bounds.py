"""Write bounds of expectation and variance of every metric for one data set without training triples."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import run

import polars as pl

from rankadjust.base.stages import BOUNDS, write_product
from rankadjust.chance.bounded_moments import Totals, bounded_moments
from rankadjust.chance.metrics import resolve
from rankadjust.counting.intervals import candidate_intervals
from rankadjust.data.read import OPENKE, read_ranges, read_triples
from rankadjust.data.registry import RANGES


def bounds(
    folder: str, dataset: str, entities: int, totals: Totals, metrics: Sequence[str], output: str
) -> None:
    paths = {split: Path(folder) / f"{split}.txt" for split in ("validation", "testing")}
    evaluated = {split: read_triples(path, OPENKE) for split, path in paths.items()}
    intervals = candidate_intervals(evaluated, read_ranges(Path(folder) / f"{RANGES}.txt"), entities)
    moments = bounded_moments(intervals, [resolve(metric) for metric in metrics], totals)
    key = (pl.lit(dataset).alias("dataset"), pl.lit("filtered").alias("protocol"))
    write_product(moments.select(*key, pl.all()), output, BOUNDS, dataset)


if __name__ == "__main__":
    run(snakemake, bounds, folder=snakemake.input[0])
