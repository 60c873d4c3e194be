"""The adjusted mean rank index (AMRI) of each data set, on an axis stretched towards 1 to separate 0.97 and 0.99."""

import altair as alt
import polars as pl

from rankadjust.literature.comparison import comparable
from rankadjust.page.charts.drawing import PANEL_WIDTH, Panel, at_x, by_class, inline, largest, smallest

METRIC = "arithmetic_mean_rank"
RANKINGS = {"filtered": "filtered", "raw": "raw", "sampled": "sampled negatives"}
_TICKS = (-1, 0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999)


def rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return dataset, model, entities, value (MR), index (AMRI), ranking and stretched of mean ranks on test splits.

    stretched is -log(1 - AMRI). That is the logarithm of a ratio: the distance of a random mean rank from 1, divided by
    the distance of this mean rank from 1. A perfect mean rank has index 1 and no place on that axis: it is left out.
    """
    return (
        comparable(results)
        .filter(pl.col("metric") == METRIC, pl.col("index") < 1)
        .with_columns(
            stretched=-(1 - pl.col("index")).log(), ranking=pl.col("ranking").replace_strict(RANKINGS)
        )
        .select("dataset", "model", "entities", "value", "index", "ranking", "stretched")
        .sort("entities", "dataset", "ranking", "stretched", maintain_order=True)
    )


def draw(results: pl.DataFrame) -> Panel:
    """Return a line of dots per data set, from the smallest to the largest; the axis says AMRI."""
    sets = results["dataset"].unique(maintain_order=True).to_list()
    # The axis begins at chance, or below it.
    low, high = min(0.0, smallest(results["index"])), largest(results["index"])
    ticks = [tick for tick in _TICKS if low - 0.3 <= tick <= 1 - 0.7 * (1 - high)]
    places = pl.Series(ticks, dtype=pl.Float64)
    axis = alt.Axis(
        values=(-(1 - places).log()).to_list(),
        # Undo the logarithm, and round as the ticks are rounded.
        labelExpr="format(round(1e4 * (1 - exp(-datum.value))) / 1e4, '~g')",
        labelOverlap="greedy",
    )
    x = alt.X(
        "stretched:Q", title="AMRI, on an axis of −log(1 − AMRI)", axis=axis,
        scale=alt.Scale(zero=True, nice=False, padding=12),
    )  # fmt: skip
    rankings = [name for name in RANKINGS.values() if name in results["ranking"].to_list()]
    dots = alt.Chart(inline(results)).mark_point(size=45, opacity=0.6)
    y = alt.Y("dataset:N", sort=sets, title=None, axis=alt.Axis(grid=True, ticks=False, labelLimit=130))
    tooltip = [
        "dataset:N",
        "model:N",
        alt.Tooltip("value:Q", title="MR"),
        alt.Tooltip("index:Q", title="AMRI"),
    ]
    return alt.layer(
        at_x(0), dots.encode(x=x, y=y, tooltip=tooltip, **by_class("ranking", rankings))
    ).properties(width=2 * PANEL_WIDTH, height=alt.Step(24))
