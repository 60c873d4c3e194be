"""What is known of the full ranking, as text for the terminal and as data for machines."""

from typing import Any

import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.literature.full_ranking import COLUMNS, FULL_METRICS
from rankadjust.output.terminal import cell, table
from rankadjust.sampling.full_bounds import FullBounds


def full_bounds_text(limits: FullBounds) -> str:
    """Return a table of the bounds, what was assumed, and a sentence."""
    rows = [
        (resolve(name).label, cell(bounds.low), cell(bounds.high), *_limit(limits, name))
        for name, bounds in limits.full.items()
    ]
    shown = table(["", "at least", "at most", "without noise", ""], rows, left=1)
    assumed = (f"assumed: {text}" for text in limits.assumed)
    return "\n".join([_about(limits), shown, *assumed, sentence(limits)])


def _limit(limits: FullBounds, name: str) -> tuple[str, str]:
    if limits.without_noise is None:
        return "none", ""
    bounds = limits.without_noise[name]
    return cell(bounds.low), cell(bounds.high)


def _about(limits: FullBounds) -> str:
    counts = f"{limits.most_candidates:,}"
    if limits.least_candidates != limits.most_candidates:
        counts = f"{limits.least_candidates:,} to {counts}"
    how = limits.negatives.replace("-", " ")
    return f"{counts} candidates, {limits.sampled:,} negatives {how}, {limits.tasks:,} tasks"


def sentence(limits: FullBounds) -> str:
    """Return in one sentence what the printed values say about the same metrics of the full ranking."""
    printed = " and ".join(f"{resolve(name).label} {value}" for name, value in limits.values.items())
    name = next((name for name in limits.values if name in limits.full), next(iter(limits.full)))
    bounds = limits.full[name]
    label = resolve(name).label
    return (
        f"Among {limits.sampled:,} sampled negatives the model has {printed}. In the full ranking its {label} is from "
        f"{cell(bounds.low)} to {cell(bounds.high)}, whatever its ranks are. "
        f"The bounds hold with a probability of at least {limits.level:.4g}."
    )


def to_sampled_text(expected: pl.DataFrame, sampled: int) -> str:
    """Return a table of the values that a model with these full ranks would reach among sampled negatives."""
    rows = [
        (row["metric"], row["rank_type"], *(cell(row[name]) for name in _EXPECTED))
        for row in expected.iter_rows(named=True)
    ]
    header = ("metric", "ranks", "full", f"among {sampled:,} negatives", "standard deviation")
    return table(header, rows, left=2)


_EXPECTED = ("full", "expectation", "standard_deviation")


def full_table_text(bounded: pl.DataFrame) -> str:
    """Return the rows of a table among sampled negatives with the bounds of the full ranking, or why there are none."""
    shown = bounded.filter(pl.col(COLUMNS[0]).is_not_null() | pl.col("full_reason").is_not_null())
    if shown.is_empty():
        return (
            "no value is known to be printed among sampled negatives, so that there is nothing to bound; --sampled 50 "
            "says that all are that say no protocol"
        )
    bounds, none = shown.filter(pl.col("full_reason").is_null()), shown.drop_nulls("full_reason")
    rows = [
        (row["dataset"], row["model"] or "", resolve(row["metric"]).label, cell(row["value"]), *_ends(row))
        for row in bounds.iter_rows(named=True)
    ]
    lines = (
        []
        if not rows
        else [table(("data set", "model", "", "printed", "full MRR", "full Hits@10"), rows, left=3)]
    )
    reasons = (
        none["full_reason"].value_counts(sort=True).sort("count", "full_reason", descending=[True, False])
    )
    lines += [
        f"no bounds for {count:,} value{'s' * (count > 1)}: {why}" for why, count in reasons.iter_rows()
    ]
    return "\n".join(lines)


def _ends(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{cell(row[f'full_{name}_low'])} to {cell(row[f'full_{name}_high'])}" for name in FULL_METRICS
    )
