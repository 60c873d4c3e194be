"""The release: what goes into it, whether it is whole, and the layout that PyKEEN's users have."""

from collections.abc import Iterable, Mapping

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.counting.protocols import Benchmark, Protocol, applies
from rankadjust.data.registry import Dataset

PYKEEN_SPLITS = ("training", "validation", "testing")


def require_complete(
    database: pl.DataFrame,
    registry: Mapping[str, Dataset],
    protocols: Mapping[str, Protocol],
    benchmarks: Iterable[Benchmark],
) -> None:
    """Raise RankadjustError where the database lacks a verified data set, a protocol that applies, or a benchmark."""
    constant = {(benchmark.dataset, benchmark.protocol.name) for benchmark in benchmarks}
    counted = {
        (dataset.name, name)
        for dataset in registry.values()
        if dataset.verified
        for name, protocol in protocols.items()
        if applies(protocol, dataset.format.columns, dataset.splits) is None
    }
    missing = sorted((constant | counted) - set(database.select("dataset", "protocol").unique().iter_rows()))
    if missing:
        named = ", ".join(f"{dataset} ({protocol})" for dataset, protocol in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise RankadjustError(
            f"the release would lack {named}{more}; make it with --configfile config/full.yaml"
        )


def candidates_table(histograms: Mapping[tuple[str, str], pl.DataFrame]) -> pl.DataFrame:
    """Return the candidate histograms of all (data set, protocol) pairs as one table, sorted by them."""
    return pl.concat(
        histogram.select(pl.lit(dataset).alias("dataset"), pl.lit(protocol).alias("protocol"), pl.all())
        for (dataset, protocol), histogram in sorted(histograms.items())
    )


def pykeen_layout(database: pl.DataFrame, registry: Mapping[str, Dataset]) -> pl.DataFrame:
    """Return the expectations under PyKEEN's own protocol in the columns of the file that PyKEEN published.

    Columns dataset (the name under which PyKEEN resolves it), metric, side, split, value; metrics without expectation
    are left out.
    """
    names = {dataset.name: dataset.pykeen for dataset in registry.values() if dataset.pykeen}
    return (
        database.filter(
            pl.col("protocol") == "pykeen",
            pl.col("dataset").is_in(list(names)),
            pl.col("split").is_in(PYKEEN_SPLITS),
            pl.col("expectation").is_not_null(),
        )
        .select(
            pl.col("dataset").replace_strict(names, return_dtype=pl.String),
            "metric",
            "side",
            "split",
            value="expectation",
        )
        .sort("dataset", "metric", "side", "split")
    )
