"""The figures of the report, in their order, with their titles and captions.

A figure is drawn only if its frame exists and has rows to draw. For example, a run without tables has no figure of
printed values, and no placeholder.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.literature.comparison import VISIBLE
from rankadjust.page.charts import (
    adjustment,
    case_study,
    chance_by_protocol,
    chance_share,
    expectation,
    mean_rank_index,
    null_ratio,
    printed_index,
    size,
)
from rankadjust.page.charts.drawing import PANEL_WIDTH, Chart, largest, smallest
from rankadjust.page.charts.figure import Figure

# The frames that figures are drawn from: the re-scored rows of all tables; `rankadjust.literature.case_study.audit` of
# the rows of the case study; rows of the database with their origin (`rankadjust.database.store.with_released`).
RESULTS, AUDIT, CONSTANTS = "results", "audit", "constants"
FRAMES = (RESULTS, AUDIT, CONSTANTS)


Facts = Mapping[str, object]


@dataclass(frozen=True)
class Entry:
    """A figure that a run may have.

    frame: a name of FRAMES. rows: function that selects the rows to draw. draw: function that makes the chart of these
    rows. facts: function that returns the numbers in title, caption and description, which are format strings. least:
    the least width of a readable panel, in pixels.
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
        "gap": abs(first["printed"] - first["corrected"]),
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
        "median": _median(rows["index"]),
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
    both = rows.filter(side="both")
    return {
        "datasets": rows["dataset"].n_unique(),
        "ratios": rows.height,
        "median": _median(both["ratio"] if both.height else rows["ratio"]),
        "largest": most["ratio"],
        "of": f"{resolve(most['metric']).label} on {most['dataset']}, side {most['side']}",
    }


def _protocols(rows: pl.DataFrame) -> Facts:
    least, most = chance_by_protocol.widest(rows)
    return {
        "datasets": rows["dataset"].n_unique(),
        "protocols": rows["protocol"].n_unique(),
        "where": least["dataset"],
        "least": least["expectation"],
        "least_label": least["label"],
        "most": most["expectation"],
        "most_label": most["label"],
    }


def _runs(rows: pl.DataFrame) -> Facts:
    sets = rows["dataset"].unique(maintain_order=True)
    return {
        "results": rows.height,
        "models": rows["model"].n_unique(),
        "datasets": len(sets),
        "which": ", ".join(sets),
        "moved": _moved(rows),
    }


def _sizes(rows: pl.DataFrame) -> Facts:
    return {
        "results": rows.filter(kind=size.KINDS[0]).height,
        "datasets": rows["dataset"].n_unique(),
        "low": rows["entities"].min(),
        "high": rows["entities"].max(),
        "moved": _moved(rows.filter(kind=size.KINDS[0])),
    }


def _moved(rows: pl.DataFrame) -> str:
    """Return the largest change by adjustment on the data sets with the fewest and the most entities."""
    by_size = rows.sort("entities", "dataset", maintain_order=True)
    gap = (pl.col("value") - pl.col("index")).abs().max()
    names = dict.fromkeys([by_size["dataset"][0], by_size["dataset"][-1]])
    gaps = {name: rows.filter(dataset=name).select(gap).item() for name in names}
    return " and ".join(
        f"{f'{most:.2g}' if most >= 0.001 else 'less than 0.001'} on {name}" for name, most in gaps.items()
    )


def _median(values: pl.Series) -> float:
    return float(np.median(values.to_numpy()))


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
        "The median of {results:,} mean ranks has gone {median:.1%} of the way from chance to perfect",
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
        "Adjustment moves MRR and Hits@10 by at most {moved}",
        RESULTS,
        size.rows,
        size.draw,
        _sizes,
        "MRR and Hits@10 (without unit) of filtered rankings among all entities, as printed and as adjusted index, "
        "against the number of entities. n = {results:,} results on {datasets} data sets; a square is the median of "
        "the models of a data set.",
        "Scatter plots of {results:,} results over {low:,} to {high:,} entities, printed values beside indices.",
    ),
    Entry(
        "adjustment",
        "Adjustment moves the MRR of the same models by at most {moved}",
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
        "The case study printed indices that are off by up to {gap:.2g}",
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
        "Chance gives an MRR of {first}, and of {last}",
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
        "chance-by-protocol",
        "The protocol decides what chance gives: on {where} an MRR of {least:.2g} ({least_label}) or {most:.2g} "
        "({most_label})",
        CONSTANTS,
        chance_by_protocol.rows,
        chance_by_protocol.draw,
        _protocols,
        "Expectation of MRR under chance (without unit, logarithmic axis) by protocol, on the test tasks of both "
        "sides; a mark is one of n = {datasets} data sets, the tick their median.",
        "A row of marks for each of {protocols} protocols, from the smallest median to the largest.",
        least=300,
    ),
    Entry(
        "null-ratio",
        "Two meanings of chance: under a random scorer z is smaller by a factor of {median:.2f} (median, both sides)",
        CONSTANTS,
        null_ratio.rows,
        null_ratio.draw,
        _ratios,
        "Standard deviation of a metric under a random scorer, divided by that under independent ranks (without "
        "unit), by side, on the test splits of n = {datasets} data sets. By this factor z is smaller under a random "
        "scorer. Dashed: 1, and what the ratio of both sides tends to as the number of candidates grows.",
        "Scatter plots of {ratios} ratios over the number of entities. The median of both sides is {median:.2f}, the "
        "largest ratio {largest:.2f} ({of}).",
    ),
)


def figures_of(frames: Mapping[str, pl.DataFrame]) -> Iterator[Figure]:
    """Yield the figures that the frames suffice to draw; the names are of FRAMES, and any frame may be absent."""
    for entry in CATALOGUE:
        if entry.frame in frames:
            rows = entry.rows(frames[entry.frame])
            if not rows.is_empty():
                yield _figure(entry, rows)


def _figure(entry: Entry, rows: pl.DataFrame) -> Figure:
    facts = entry.facts(rows)
    specification = entry.draw(rows).to_dict()
    # Each background has its own theme, which the configuration of altair would override.
    specification.pop("config", None)
    # For altair the rows are a tuple (drawing.inline), in JSON a list.
    specification["datasets"] = {name: list(data) for name, data in specification["datasets"].items()}
    return Figure(
        entry.name,
        entry.title.format(**facts),
        entry.caption.format(**facts),
        entry.description.format(**facts),
        entry.least,
        specification,
    )
