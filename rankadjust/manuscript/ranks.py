"""Models known by their ranks, as the rows of a table: values and significance come from `rankadjust.compare`."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
from rankadjust.evaluation.tasks import POPULATIONS
from rankadjust.literature.rescore import rescore
from rankadjust.models.compare import Comparison, compare

METRICS = ("inverse_harmonic_mean_rank", "arithmetic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")
"""The metrics that a table prints for each model."""

BEST, AS_GOOD = "best", "as good"


def looks_like_ranks(sources: Sequence[Path]) -> bool:
    """Return whether files look like ranks of models: several files, a folder, or a Parquet or NumPy file."""
    return len(sources) > 1 or sources[0].is_dir() or sources[0].suffix in (".parquet", ".npz")


def rows_of_ranks(
    sources: Sequence[Path], dataset: str, *, protocol: str, split: str, constants: Constants
) -> tuple[pl.DataFrame, Comparison]:
    """Return rows of `rankadjust.rescore`, one for each model and metric, with the column mark; and the comparison.

    The rows are about both sides together, or about the first side if the ranks have only one side. mark: BEST for the
    best value, AS_GOOD for a value that the test cannot distinguish from it. Raises RankadjustError for fewer than two
    models.
    """
    if len(sources) < 2:
        raise RankadjustError(
            f"{sources[0]}: one file of ranks makes no table; give a file for each model, or use 'rankadjust evaluate'"
        )
    comparison = compare(
        list(sources), dataset=dataset, protocol=protocol, split=split, metrics=METRICS, database=constants
    )
    sides = comparison.values["side"].unique(maintain_order=True).to_list()
    side = "both" if "both" in sides else sides[0]
    values = comparison.values.filter(side=side).select("model", "metric", "value", "best")
    about = {"dataset": dataset, "protocol": protocol, "split": split, "side": side}
    falling = [name for name in METRICS if not resolve(name).increasing]
    is_falling = pl.col("metric").is_in(falling)
    best = pl.when(is_falling).then(pl.col("value").min()).otherwise(pl.col("value").max()).over("metric")
    marked = values.with_columns(
        mark=pl.when(pl.col("value") == best)
        .then(pl.lit(BEST))
        .otherwise(pl.when("best").then(pl.lit(AS_GOOD)).otherwise(pl.lit("")))
    )
    rows = rescore(
        values.select("model", "metric", "value").with_columns(**{k: pl.lit(v) for k, v in about.items()}),
        constants,
    )
    printed = [
        f"{value:.{1 if name in falling else 3}f}" for name, value in values.select("metric", "value").rows()
    ]
    return rows.with_columns(value_as_printed=pl.Series(printed), mark=marked["mark"]), comparison


def test_sentence(comparison: Comparison) -> str:
    """Return the sentence about the test for the methods section, as LaTeX."""
    return (
        f"Models are compared on {comparison.tasks:,} tasks by Student's $t$ over {comparison.clusters:,} "
        f"{comparison.population}, so the result holds for {POPULATIONS[comparison.population]}; $p$ below 0.05 after "
        "Holm's correction for all pairs and metrics counts as a difference."
    )
