"""The adjusted index of every MRR and Hits@k against the printed value."""

import math

import altair as alt
import polars as pl

from rankadjust.literature.comparison import VISIBLE, candidate_class, usable
from rankadjust.page.charts.drawing import (
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Panel,
    by_class,
    inline,
    side_by_side,
    smallest,
)

# Classes of candidates; the class that adjustment changes most comes first.
CLASSES = ("up to 100 negatives", "500 negatives or more", "fewer than 200 entities", "200 entities or more")
_PANELS = {"MRR": "^inverse_harmonic_mean_rank(_at_[0-9]+)?$", "Hits@k, k up to 10": "^hits_at_([1-9]|10)$"}
# Decimals that are drawn: smaller differences are invisible.
_RESOLUTION = 3


def rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return metric, kind (a class of CLASSES), value, index, results, dataset and model of all usable MRR and Hits@k.

    results: re-scored rows. Rows that would be drawn at the same place are merged: `results` is their number, and data
    set and model are taken from the first. `visible` is the number of merged rows whose index differs visibly from the
    printed value, and `gap` the largest such difference, both before the rounding of the drawing.
    """
    shown = usable(results).with_columns(
        metric=pl.coalesce(
            pl.when(pl.col("metric").str.contains(pattern)).then(pl.lit(name))
            for name, pattern in _PANELS.items()
        ),
        kind=_kind(),
        gap=(pl.col("value") - pl.col("index")).abs(),
    )
    return (
        shown.filter(pl.col("metric").is_not_null())
        .with_columns(pl.col("value", "index").round(_RESOLUTION))
        .group_by("metric", "kind", "value", "index", maintain_order=True)
        .agg(
            pl.first("dataset", "model"),
            results=pl.len().cast(pl.Int64),
            visible=(pl.col("gap") > VISIBLE).sum().cast(pl.Int64),
            gap=pl.max("gap"),
        )
        .sort("metric", "kind", "value", "index", descending=[True, True, False, False])
    )


def _kind() -> pl.Expr:
    few = pl.col("protocol").str.extract(r"^sampled-(\d+)").cast(pl.Int64) <= 100
    is_tiny = candidate_class() == "fewer than 200 entities"
    sampled = pl.when(few).then(pl.lit(CLASSES[0])).otherwise(pl.lit(CLASSES[1]))
    full = pl.when(is_tiny).then(pl.lit(CLASSES[2])).otherwise(pl.lit(CLASSES[3]))
    return pl.when(pl.col("ranking") == "sampled").then(sampled).otherwise(full)


def draw(results: pl.DataFrame) -> alt.ConcatChart:
    """Return a panel for MRR and one for Hits@k; on the dashed diagonal the index is the printed value."""
    kinds = [kind for kind in CLASSES if kind in results["kind"].to_list()]
    # Round to a tenth, so that no mark lies on the edge.
    low = min(0.0, math.floor(10 * smallest(results["index"]) - 0.1) / 10)
    panels = [results.filter(metric=name) for name in _PANELS]
    return side_by_side([_panel(panel, kinds, low) for panel in panels if panel.height], columns=2)


def _panel(results: pl.DataFrame, kinds: list[str], low: float) -> Panel:
    x = alt.X("value:Q", title="as printed", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    y = alt.Y("index:Q", title="adjusted index", scale=alt.Scale(domain=[low, 1]), axis=alt.Axis(tickCount=6))
    diagonal = alt.Chart(alt.InlineData(values=[{"value": 0, "index": 0}, {"value": 1, "index": 1}]))
    dots = alt.Chart(inline(results.select("dataset", "model", "value", "index", "results", "kind")))
    return alt.layer(
        dots.mark_point(size=22, opacity=0.55).encode(
            x=x,
            y=y,
            tooltip=["dataset:N", "model:N", "value:Q", "index:Q", "results:Q"],
            **by_class("kind", kinds),
        ),
        diagonal.mark_line(style="reference").encode(x=x, y=y),
    ).properties(width=PANEL_WIDTH, height=1.3 * PANEL_HEIGHT, title=results["metric"][0])
