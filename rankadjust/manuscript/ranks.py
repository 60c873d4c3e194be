"""Models known by their ranks, as the rows of a table: values and significance come from `rankadjust.compare`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.database.constants import Constants
from rankadjust.manuscript.printed_scores import AS_GOOD, BEST
from rankadjust.models.compare import Comparison, compare

METRICS = ("inverse_harmonic_mean_rank", "arithmetic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")
"""The metrics that a table prints for each model."""

_DECIMALS = {True: 3, False: 1}


def looks_like_ranks(sources: Sequence[Path]) -> bool:
    """Return whether files look like ranks of models: several files, a folder, or a Parquet or NumPy file."""
    return len(sources) > 1 or sources[0].is_dir() or sources[0].suffix in (".parquet", ".npz")


def rows_of_ranks(
    sources: Sequence[Path], dataset: str, *, protocol: str, split: str, constants: Constants
) -> tuple[pl.DataFrame, Comparison]:
    """Return rows like the rows of `rankadjust.rescore`, one for each model and metric, and the comparison.

    The rows are about both sides together, or about the first side if the ranks have only one side.

    Raises RankadjustError for fewer than two models.
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
    about = {"dataset": dataset, "protocol": protocol, "split": split, "side": side}
    rows = [about | _row(row) for row in comparison.values.filter(side=side).iter_rows(named=True)]
    return pl.DataFrame(rows, infer_schema_length=None), comparison


def marks_of_ranks(rows: pl.DataFrame) -> list[str]:
    """Return the mark of each row: the best value, and the values that the test cannot distinguish from the best."""
    marks = [""] * rows.height
    for _, group in rows.with_row_index("place").group_by("metric", maintain_order=True):
        increasing = resolve(group["metric"][0]).increasing
        best = group["value"].max() if increasing else group["value"].min()
        for place, value, is_best in group.select("place", "value", "best").iter_rows():
            marks[place] = BEST if value == best else AS_GOOD if is_best else ""
    return marks


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value with the ends of its rounding interval."""
    metric = resolve(row["metric"])
    decimals = _DECIMALS[metric.increasing]
    half = 0.5 * 10**-decimals
    value, index = row["value"], row["index"]
    slope = 0.0 if index is None or value == metric.optimum else (1 - index) / (metric.optimum - value)
    ends = (None, None) if index is None else sorted(index + sign * half * slope for sign in (-1, 1))
    return {
        "model": row["model"],
        "metric": metric.key,
        "unit": "fraction" if metric.increasing else "rank",
        "value_as_printed": f"{value:.{decimals}f}",
        "value": value,
        "value_low": value - half,
        "value_high": value + half,
        "index": index,
        "index_low": ends[0],
        "index_high": ends[1],
        "best": row["best"],
    }


def test_sentence(comparison: Comparison) -> str:
    """Return the sentence about the test for the methods section, as LaTeX."""
    swaps = f"all {comparison.flips:,}" if comparison.exact else f"{comparison.flips:,} random"
    return (
        f"Models are compared on {comparison.tasks:,} tasks by a sign-flip test with {swaps} swaps of whole clusters "
        f"({comparison.clusters:,}, by {comparison.cluster}); $p$ below 0.05 after Holm's correction for all pairs and "
        "metrics counts as a difference."
    )
