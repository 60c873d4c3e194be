"""The figures of the report, in their order: which there are, and what is written below them.

A figure is there where its frame is and holds something to be drawn: a run without tables has no figure of printed
values, and nothing is put in its place.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.literature.comparison import VISIBLE
from rankadjust.page.charts import (
    adjustment,
    case_study,
    chance_share,
    expectation,
    mean_rank_index,
    null_ratio,
    power,
    printed_index,
    size,
)
from rankadjust.page.charts.drawing import PANEL_WIDTH, Chart, largest, smallest
from rankadjust.page.charts.figure import Figure

# The frames that figures are drawn from: re-scored rows of all tables; `rankadjust.literature.case_study.audit` of
# those of the case study; rows of the database with their origin (`rankadjust.database.store.with_released`);
# benchmarks/power.csv.
RESULTS, AUDIT, CONSTANTS, POWER = "results", "audit", "constants", "power"
FRAMES = (RESULTS, AUDIT, CONSTANTS, POWER)


Facts = Mapping[str, object]


@dataclass(frozen=True)
class Entry:
    """A figure that a run may have.

    frame: of FRAMES. rows: what is drawn of it. draw: the chart of these rows. facts: the numbers in title, caption
    and description, which are format strings. least: how many pixels a panel needs to be read.
    """

    name: str
    title: str
    frame: str
    rows: Callable[[pl.DataFrame], pl.DataFrame]
    draw: Callable[[pl.DataFrame], Chart]
    facts: Callable[[pl.DataFrame], Facts]
    caption: str
    description: str
    least: int = PANEL_WIDTH - 20


def _shares(rows: pl.DataFrame) -> Facts:
    most, fewest = rows.row(0, named=True), rows.row(-1, named=True)
    return {
        "results": rows["results"].sum(),
        "classes": rows.height,
        "most": chance_share.percent(most["share"]),
        "most_ranked": most["ranked"],
        "least_share": chance_share.percent(fewest["share"]),
        "least_ranked": fewest["ranked"],
    }


def _audited(rows: pl.DataFrame) -> Facts:
    index, z = rows.filter(adjustment="index"), rows.filter(adjustment="z")
    widest = (pl.col("printed") - pl.col("corrected")).abs()
    first = index.sort(widest, "run", descending=[True, False]).row(0, named=True)
    return {
        "runs": index.height,
        "datasets": index["dataset"].n_unique(),
        **{name: first[name] for name in ("run", "printed", "corrected")},
        "below": z.filter(pl.col("printed") < 0, pl.col("corrected") > 0).height,
    }


def _compared(rows: pl.DataFrame) -> Facts:
    return {
        "results": rows["results"].sum(),
        "datasets": rows["dataset"].n_unique(),
        "margin": VISIBLE,
        "visible": rows["visible"].sum(),
        "largest": largest(rows["gap"]),
    }


def _mean_ranks(rows: pl.DataFrame) -> Facts:
    best = rows.sort("index").row(-1, named=True)
    return {
        "results": rows.height,
        "datasets": rows["dataset"].n_unique(),
        "low": smallest(rows["index"]),
        "high": best["index"],
        "best": f"{best['model']} on {best['dataset']}",
    }


def _expected(rows: pl.DataFrame) -> Facts:
    first, last = (
        f"{row['expectation']:.2g} on {row['dataset']} (N = {row['candidates']:,.0f})"
        for row in (rows.row(0, named=True), rows.row(-1, named=True))
    )
    own = rows.filter(place=expectation.PLACES[1]).height
    return {"datasets": rows.height, "own": own, "first": first, "last": last}


def _ratios(rows: pl.DataFrame) -> Facts:
    most = rows.sort("ratio", "dataset", "side").row(-1, named=True)
    return {
        "datasets": rows["dataset"].n_unique(),
        "ratios": rows.height,
        "median": rows["ratio"].median(),
        "largest": most["ratio"],
        "of": f"{resolve(most['metric']).label} on {most['dataset']}, side {most['side']}",
    }


def _planted(rows: pl.DataFrame) -> Facts:
    is_error = pl.col("error") != power.NO_ERROR
    errors, none = rows.filter(is_error), rows.filter(~is_error)
    return {
        "cells": rows.height,
        "models": rows["models"].max(),
        "alarms": chance_share.percent(largest(none["found"])),
        "always": errors.filter(found=1.0).height,
        "errors": errors.height,
    }


def _runs(rows: pl.DataFrame) -> Facts:
    sets = rows["dataset"].unique(maintain_order=True)
    return {
        "results": rows.height,
        "models": rows["model"].n_unique(),
        "datasets": len(sets),
        "which": ", ".join(sets),
    }


def _sizes(rows: pl.DataFrame) -> Facts:
    return {
        "results": rows.filter(kind=size.KINDS[0]).height,
        "datasets": rows["dataset"].n_unique(),
        "low": rows["entities"].min(),
        "high": rows["entities"].max(),
    }


CATALOGUE = (
    Entry(
        "chance-share",
        "Chance explains {most} of a printed value with {most_ranked}, {least_share} with {least_ranked}",
        RESULTS,
        chance_share.rows,
        chance_share.draw,
        _shares,
        "Expectation under chance as a share (%) of the printed value, for MRR and Hits@k with k up to 10, by what "
        "was ranked. Marks are medians, bars run from the first to the third quartile; n = {results:,} results.",
        "{classes} lines, one per class of candidates. The median share is largest for {most_ranked}, {most}, and "
        "smallest for {least_ranked}, {least_share}.",
        least=300,
    ),
    Entry(
        "printed-index",
        "Adjustment moves {visible:,} of {results:,} printed values by more than {margin}",
        RESULTS,
        printed_index.rows,
        printed_index.draw,
        _compared,
        "Adjusted index of MRR and Hits@k against the value as printed (both without unit), n = {results:,} results. "
        "On the dashed diagonal adjustment changes nothing; {visible:,} results lie more than {margin} away from it, "
        "the farthest {largest:.3g}. One mark stands for all results at the same place.",
        "Scatter plots of {results:,} results on {datasets} data sets, with the diagonal. Of {visible:,} results the "
        "index differs from the printed value by more than {margin}, at most by {largest:.3g}.",
    ),
    Entry(
        "mean-rank-index",
        "Mean ranks, adjusted (AMRI)",
        RESULTS,
        mean_rank_index.rows,
        mean_rank_index.draw,
        _mean_ranks,
        "Adjusted mean rank index (AMRI, without unit) of n = {results:,} mean ranks on the test splits of {datasets} "
        "data sets, the one with the fewest entities on top. The axis is that of −log(1 − AMRI), so that 0.97 and "
        "0.99 are apart; a perfect mean rank has no place on it. The dashed line is chance.",
        "A row of marks for each of {datasets} data sets. The index runs from {low:.2g} to {high:.4g}, that of {best}.",
        least=300,
    ),
    Entry(
        "size",
        "Printed values and index by the size of the data set",
        RESULTS,
        size.rows,
        size.draw,
        _sizes,
        "MRR, Hits@10 (without unit) and mean rank (in ranks) of filtered rankings among all entities, as printed and "
        "as adjusted index, against the number of entities. n = {results:,} results on {datasets} data sets; a square "
        "is the median of the models of a data set.",
        "Scatter plots of {results:,} results over {low:,} to {high:,} entities, printed values beside indices.",
    ),
    Entry(
        "adjustment",
        "The same models on several data sets",
        RESULTS,
        adjustment.rows,
        adjustment.draw,
        _runs,
        "MRR of {models} models on {datasets} data sets (n = {results} results for both sides), the data set with the "
        "fewest entities first: as published, its adjusted index (0: chance, 1: perfect), and z in standard "
        "deviations from chance, on an axis that is linear near 0 and logarithmic beyond.",
        "Three panels with a line per model over the data sets {which}.",
    ),
    Entry(
        "case-study",
        "The case study: printed and correct",
        AUDIT,
        case_study.rows,
        case_study.draw,
        _audited,
        "Adjusted index of MRR (without unit) and z (in standard deviations) of n = {runs} runs of Hoyt et al. (2022) "
        "on {datasets} data sets, as printed and as the candidates of their evaluation make them. The axis of z is "
        "linear near 0 and logarithmic beyond; the dashed line is chance.",
        "A pair of marks for each of {runs} runs. They are farthest apart for {run}, whose index was printed as "
        "{printed:.3f} and is {corrected:.3f}; {below} runs have a printed z below 0 and a correct one above it.",
    ),
    Entry(
        "expectation",
        "What chance gives: the expectation of MRR",
        CONSTANTS,
        expectation.rows,
        expectation.draw,
        _expected,
        "Expectation of MRR under chance (without unit) against the mean number of candidates N, both on logarithmic "
        "axes. The line is exact, H_N / N; marks are n = {datasets} data sets (test split, filtered, both sides; {own} "
        "counted by this run). Where tasks differ in their number of candidates a data set lies above the line.",
        "A falling curve and {datasets} data sets, from {first} to {last}.",
        least=300,
    ),
    Entry(
        "null-ratio",
        "Two meanings of chance: under a random scorer z is smaller by {median:.2f} in the median",
        CONSTANTS,
        null_ratio.rows,
        null_ratio.draw,
        _ratios,
        "Standard deviation of a metric under a random scorer, divided by that under independent ranks (without "
        "unit), by side, on the test splits of n = {datasets} data sets. By this factor z is smaller under a random "
        "scorer. Dashed: 1, and what the ratio of both sides tends to as the number of candidates grows.",
        "Scatter plots of {ratios} ratios over the number of entities. Their median is {median:.2f}, the largest "
        "{largest:.2f} ({of}).",
    ),
    Entry(
        "power",
        "How often the checks find an error",
        POWER,
        power.rows,
        power.draw,
        _planted,
        "Share (%) of models in whose printed results a planted error is found, by what is printed of a model; n = "
        "{models} models drawn for five data sets for each bar.",
        "{cells} bars; {always} of {errors} with an error are at 100 %. Without an error at most {alarms} "
        "of the models have a finding.",
        least=320,
    ),
)


def figures_of(frames: Mapping[str, pl.DataFrame]) -> Iterator[Figure]:
    """Yield the figures that can be drawn from the frames, which have names of FRAMES; any of them may be absent."""
    for entry in CATALOGUE:
        if entry.frame in frames:
            rows = entry.rows(frames[entry.frame])
            if not rows.is_empty():
                yield _figure(entry, rows)


def _figure(entry: Entry, rows: pl.DataFrame) -> Figure:
    facts = entry.facts(rows)
    specification = entry.draw(rows).to_dict()
    # The theme is another for each background; altair's own would win over it.
    specification.pop("config", None)
    return Figure(
        entry.name,
        entry.title.format(**facts),
        entry.caption.format(**facts),
        entry.description.format(**facts),
        entry.least,
        specification,
    )
