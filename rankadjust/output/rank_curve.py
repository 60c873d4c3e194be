"""The figure of `rankadjust compare`: rank curves of the models, and of chance."""

from pathlib import Path

import altair as alt
import polars as pl

from rankadjust.base.io import write_text
from rankadjust.models.rank_curves import CHANCE
from rankadjust.output.pictures import svg_picture

_WIDTH, _HEIGHT = 420, 280


def rank_curve_chart(curves: pl.DataFrame) -> alt.LayerChart | alt.FacetChart:
    """Return a chart of rank curves as `rankadjust.models.rank_curves.rank_curves` makes them; chance is dashed."""
    x = alt.X("k:Q", scale=alt.Scale(type="log", nice=False), title="k")
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), title="share of tasks with a rank of at most k")
    models = curves.filter(pl.col("model") != CHANCE)
    order = models["model"].unique(maintain_order=True).to_list()
    lines = alt.Chart(alt.InlineData(values=models.to_dicts())).mark_line()
    layers = [lines.encode(x=x, y=y, color=alt.Color("model:N", sort=order, title="model"))]
    chance = curves.filter(pl.col("model") == CHANCE)
    if chance.height:
        dashed = alt.Chart(alt.InlineData(values=chance.to_dicts()))
        layers.append(dashed.mark_line(strokeDash=[4, 3], color="#666666").encode(x=x, y=y))
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def write_rank_curves(curves: pl.DataFrame, path: str | Path) -> None:
    """Write the chart of rank curves as SVG."""
    write_text(svg_picture(rank_curve_chart(curves).to_dict()), path)
