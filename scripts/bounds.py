"""Write bounds of expectation and variance of every metric for one data set without training triples."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

import polars as pl

from rankadjust.base.io import write_product
from rankadjust.chance.bounded_moments import Totals, bounded_moments
from rankadjust.chance.metrics import resolve
from rankadjust.counting.intervals import candidate_intervals
from rankadjust.data.read import OPENKE, read_ranges, read_triples
from rankadjust.data.registry import RANGES


def bounds(
    folder: Path, dataset: str, entities: int, totals: Totals, metrics: Sequence[str], output: str
) -> None:
    evaluated = {split: read_triples(folder / f"{split}.txt", OPENKE) for split in ("validation", "testing")}
    ranges = read_ranges(folder / f"{RANGES}.txt")
    intervals = candidate_intervals(evaluated, ranges, entities)
    moments = bounded_moments(intervals, [resolve(metric) for metric in metrics], totals)
    key = (pl.lit(dataset).alias("dataset"), pl.lit("filtered").alias("protocol"))
    write_product(moments.select(*key, pl.all()), output, "bounds")


if __name__ == "__main__":
    with logged(snakemake):
        folder, dataset, params = Path(snakemake.input[0]), snakemake.wildcards.dataset, snakemake.params
        bounds(folder, dataset, params.entities, params.totals, params.metrics, snakemake.output[0])
