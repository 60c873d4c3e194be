"""A small release for tests: database, histograms and counts of Nations, and constants of FB15k-237."""

from pathlib import Path

import polars as pl

from rankadjust.candidates import count_candidates
from rankadjust.database import assemble
from rankadjust.files import write_parquet, write_tsv
from rankadjust.metrics import FAMILIES, expand
from rankadjust.moments import moments_table
from rankadjust.nulls import nulls_table
from rankadjust.registry import Format, load_registry
from rankadjust.triples import encode, read_triples, summarise, summary_row

DATA = Path(__file__).parent / "data"
PROTOCOLS = ("filtered", "raw")
SPLITS = ("training", "validation", "testing")


def make_release(folder: Path) -> Path:
    """Write adjustments.parquet, candidates.parquet and datasets.tsv into a folder; return the first."""
    splits = {split: read_triples(DATA / "nations" / f"{split}.txt", Format()) for split in SPLITS}
    metrics = [metric for metric in expand(list(FAMILIES), [1, 3, 5, 10]) if metric.has_moments]
    moments, histograms = [_fb15k237()], []
    for protocol in PROTOCOLS:
        counted = count_candidates(splits, protocol)
        histogram, pairs = (
            frame.filter(pl.col("split") == "testing") for frame in (counted.histogram, counted.pairs)
        )
        key = (pl.lit("Nations").alias("dataset"), pl.lit(protocol).alias("protocol"))
        table = moments_table(histogram, metrics).join(
            nulls_table(histogram, pairs, protocol, metrics), on=["split", "side", "metric"], how="left"
        )
        moments.append(table.select(*key, pl.all()))
        histograms.append(histogram.select(*key, pl.all()))
    database = assemble(table.select(moments[0].columns) for table in moments)
    write_parquet(database, folder / "adjustments.parquet")
    write_parquet(pl.concat(histograms), folder / "candidates.parquet")
    summary = summarise(encode(splits), load_registry()["Nations"])
    write_tsv(summary_row(summary), folder / "datasets.tsv")
    return folder / "adjustments.parquet"


def _fb15k237() -> pl.DataFrame:
    frame = pl.read_csv(DATA / "evaluation" / "fb15k-237.tsv", separator="\t")
    return frame.with_columns(reason=pl.lit(None, dtype=pl.String))
