"""A small release for tests: counts and constants of Nations, stored ones of Kinships, FB15k-237 and ICEWS18."""

import shutil
from pathlib import Path

import polars as pl

from rankadjust.base.io import shipped
from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import FAMILIES, expand
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.database.store import (
    assemble,
    load_baselines,
    load_candidates,
    load_database,
    write_baselines,
    write_candidates,
    write_database,
)

DATA = Path(__file__).parent / "data"
PROTOCOLS = ("filtered", "raw")


def write_part(folder: Path, dataset: str) -> Path:
    """Write what the released database has of one data set, which takes less memory; return the file."""
    folder.mkdir()
    write_candidates(load_candidates().filter(dataset=dataset), folder / "candidates.parquet")
    write_database(load_database().filter(dataset=dataset), folder / "adjustments.parquet")
    return folder / "adjustments.parquet"


def make_release(folder: Path) -> Path:
    """Write the four tables of a database into a folder; return the path of the first, adjustments.parquet.

    Histogram, pairs and summary of Nations (testing split) are stored counts: the triples are not in the project.
    """
    metrics = [metric for metric in expand(list(FAMILIES), [1, 3, 5, 10]) if metric.has_moments]
    histograms = _counts("nations.histogram.tsv")
    pairs = _counts("nations.pairs.tsv")
    moments = [_without_triples("fb15k-237.tsv"), _without_triples("icews18.tsv")]
    for protocol in PROTOCOLS:
        key = ["dataset", "protocol"]
        histogram, linked = (frame.filter(protocol=protocol).drop(key) for frame in (histograms, pairs))
        table = moments_table(histogram, metrics).join(
            nulls_table(histogram, linked, protocol, metrics), on=["split", "side", "metric"], how="left"
        )
        names = (pl.lit("Nations").alias("dataset"), pl.lit(protocol).alias("protocol"))
        moments.append(table.select(*names, pl.all()))
    of_release = pl.read_parquet(shipped("resources/database/adjustments.parquet"))
    kinships = of_release.filter(dataset="Kinships", protocol="filtered", split="testing")
    moments.append(kinships.filter(pl.col("metric").is_in([metric.key for metric in metrics])))
    database = assemble(table.select(moments[0].columns) for table in moments)
    bounded = load_database().filter(dataset="FB15k", split="testing", side="both")
    write_database(pl.concat([database, bounded]).sort(KEY), folder / "adjustments.parquet")
    released = pl.read_parquet(shipped("resources/database/candidates.parquet"))
    others = released.filter(
        pl.col("dataset").is_in(["FB15k-237", "Kinships"]), protocol="filtered", split="testing"
    )
    write_candidates(pl.concat([histograms, others], how="diagonal_relaxed"), folder / "candidates.parquet")
    known = pl.col("dataset").is_in(["FB15k-237", "ICEWS18", "Kinships", "Nations"])
    write_baselines(
        [load_baselines().filter(known, pl.col("protocol").is_in(["filtered", "time-static"]))],
        folder / "baselines.parquet",
    )
    shutil.copy(DATA / "evaluation" / "nations.summary.tsv", folder / "datasets.tsv")
    return folder / "adjustments.parquet"


def _counts(name: str) -> pl.DataFrame:
    return pl.read_csv(DATA / "evaluation" / name, separator="\t")


def _without_triples(name: str) -> pl.DataFrame:
    frame = pl.read_csv(DATA / "evaluation" / name, separator="\t")
    if "variance_static_scorer" not in frame.columns:
        frame = frame.with_columns(variance_static_scorer="variance_random_scorer")
    no_reason = dict.fromkeys(
        ("reason", "reason_random_scorer", "reason_static_scorer"), pl.lit(None, pl.String)
    )
    return frame.with_columns(**no_reason)
