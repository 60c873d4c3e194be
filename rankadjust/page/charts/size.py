"""Printed values and their index against the number of entities of the data set."""

import altair as alt
import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.literature.comparison import comparable
from rankadjust.literature.size import observations
from rankadjust.page.charts.drawing import (
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Panel,
    by_class,
    decades,
    inline,
    largest,
    side_by_side,
    smallest,
)

# Mean ranks grow with the data set even under chance; their index has its own figure.
METRICS = ("inverse_harmonic_mean_rank", "hits_at_10")
KINDS = ("a result", "median of the models")
_PANELS = {"value": "as printed", "index": "adjusted index"}


def rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return metric, dataset, model, entities, value, index and kind: results of filtered rankings, and their medians.

    results: re-scored rows. The medians come from `rankadjust.literature.size.observations`, one per data set.
    """
    columns = ["metric", "dataset", "model", "entities", "value", "index", "kind"]
    is_drawn = (
        pl.col("ranking") == "filtered",
        pl.col("metric").is_in(METRICS),
        pl.col("entities").is_not_null(),
    )
    single = comparable(results).filter(*is_drawn).with_columns(kind=pl.lit(KINDS[0]))
    medians = (
        observations(results)
        .filter(*is_drawn)
        .with_columns(kind=pl.lit(KINDS[1]), model=pl.lit(None, dtype=pl.String), value=pl.col("merit").abs())
    )
    return pl.concat([single.select(columns), medians.select(columns)]).sort(
        "metric", "kind", "entities", "dataset", maintain_order=True
    )


def draw(results: pl.DataFrame) -> alt.ConcatChart:
    """Return a row of two panels per metric: dots are results, squares the median of a data set's models."""
    present = [metric for metric in METRICS if metric in results["metric"].to_list()]
    return side_by_side(
        [_panel(results.filter(metric=metric), column, metric) for metric in present for column in _PANELS],
        columns=2,
    )


def _panel(results: pl.DataFrame, column: str, metric: str) -> Panel:
    sets = results.filter(kind=KINDS[1]).height
    ends = smallest(results["entities"]) / 2, largest(results["entities"]) * 2
    x = alt.X(
        "entities:Q",
        title="entities",
        scale=alt.Scale(type="log", nice=False, domain=ends),
        axis=alt.Axis(grid=False, format="~s", values=decades(*ends), labelOverlap="greedy"),
    )
    scale = alt.Scale(domain=[-0.1, 1.0], clamp=True)
    y = alt.Y(f"{column}:Q", title=None, scale=scale, axis=alt.Axis(tickCount=6, format="~g"))
    marks = by_class("kind", list(KINDS))
    dots = alt.Chart(inline(results.select("dataset", "model", "entities", "kind", column)))
    size = alt.when(alt.datum.kind == KINDS[1]).then(alt.value(70)).otherwise(alt.value(16))
    panel: alt.Chart = (
        dots.mark_point(opacity=0.6)
        .encode(x=x, y=y, size=size, tooltip=["dataset:N", "model:N", "entities:Q", f"{column}:Q"], **marks)
        .properties(
            width=PANEL_WIDTH,
            height=PANEL_HEIGHT,
            title=f"{resolve(metric).label}, {_PANELS[column]} ({sets} data sets)",
        )
    )
    return panel
