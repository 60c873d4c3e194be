"""The expectation of MRR among N candidates, with the data sets of the database."""

import altair as alt
import numpy as np
import polars as pl

from rankadjust.chance.moments import metric_moments
from rankadjust.page.charts.drawing import (
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Panel,
    by_class,
    decades,
    inline,
    largest,
    smallest,
)

MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"
PLACES = ("released database", "this run")
# The least distance between the names of two data sets on the axis of N, as a share of a decade.
_APART = 0.42


def rows(constants: pl.DataFrame) -> pl.DataFrame:
    """Return dataset, entities, candidates, expectation and place of each data set with the protocol filtered.

    constants: rows of the database, with the `origin` of `rankadjust.database.store.with_released`; the test split and
    both sides are used. candidates is the mean number of candidates of the tasks, 2 E[MR] - 1. expectation is the
    expectation of MRR over the tasks; if their numbers of candidates differ, it lies above the curve.
    """
    tests = constants.filter(
        pl.col("split") == "testing", pl.col("side") == "both", pl.col("protocol") == "filtered"
    ).filter(pl.col("expectation").is_not_null())
    mean_ranks = tests.filter(pl.col("metric") == MR).select(
        "dataset", candidates=2 * pl.col("expectation") - 1
    )
    return (
        tests.filter(pl.col("metric") == MRR)
        .join(mean_ranks, on="dataset")
        .with_columns(
            place=pl.when(pl.col("origin") == "computed").then(pl.lit(PLACES[1])).otherwise(pl.lit(PLACES[0]))
        )
        .select("dataset", "entities", "candidates", "expectation", "place")
        .sort("candidates", "dataset")
    )


def curve(low: float, high: float) -> pl.DataFrame:
    """Return candidates N and the exact expectation of MRR among them, H_N / N, for whole N from `low` to `high`."""
    sizes = np.unique(np.geomspace(max(1.0, low), high, 60).round().astype(np.int64))
    expected = [metric_moments(MRR, [int(size)]).expectation for size in sizes]
    return pl.DataFrame({"candidates": sizes, "expectation": expected})


def draw(sets: pl.DataFrame) -> Panel:
    """Return the curve on logarithmic axes, with a mark per data set; some marks have names."""
    low, high = smallest(sets["candidates"]) / 1.6, largest(sets["candidates"]) * 1.6
    x = alt.X(
        "candidates:Q",
        title="mean number of candidates N",
        scale=alt.Scale(type="log", domain=[max(1, low), high], nice=False),
        axis=alt.Axis(format="~s", values=decades(1, 1e9), grid=False),
    )
    y = alt.Y(
        "expectation:Q",
        title="expectation of MRR under chance",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~g", values=decades(1e-9, 1, (1, 3))),
    )
    places = [place for place in PLACES if place in sets["place"].to_list()]
    line = alt.Chart(inline(curve(low, high))).mark_line(style="link").encode(x=x, y=y)
    base = alt.Chart(inline(sets)).encode(x=x, y=y)
    dots = base.mark_point(size=55, opacity=0.75).encode(
        tooltip=["dataset:N", "entities:Q", "candidates:Q", "expectation:Q"], **by_class("place", places)
    )
    above, below = _named(sets)
    to_the_right = alt.Chart(inline(above)).mark_text(style="label", align="left", dx=7, dy=-8)
    to_the_left = alt.Chart(inline(below)).mark_text(style="label", align="right", dx=-7, dy=9)
    names = [texts.encode(x=x, y=y, text="dataset:N") for texts in (to_the_right, to_the_left)]
    return alt.layer(line, dots, *names).properties(width=2 * PANEL_WIDTH, height=1.5 * PANEL_HEIGHT)


def _named(sets: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the data sets whose names fit above and below the curve: sets of this run first, then short names."""
    order = (pl.col("place") != PLACES[1], pl.col("dataset").str.len_chars(), "dataset")
    taken: list[list[float]] = [[], []]
    kept: list[list[str]] = [[], []]
    for row in sets.sort(*order).to_dicts():
        at = np.log10(row["candidates"])
        for side, places in enumerate(taken):
            if all(abs(at - other) >= _APART for other in places):
                places.append(at)
                kept[side].append(row["dataset"])
                break
    return [sets.filter(pl.col("dataset").is_in(names)) for names in kept]
