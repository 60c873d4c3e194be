"""Vega-Lite drawn as SVG and PNG, measured by a font of this package, so that text is as wide on every machine."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import vl_convert

# vl-convert asks the fonts of the system first, so the first name is one that no system has: that of fonts/, whose
# glyphs are as wide as Liberation Sans and Arial. These follow for whoever shows the SVG.
FONT = "Rankadjust Sans, Liberation Sans, Arial, Helvetica, sans-serif"
_FONTS = Path(__file__).parent / "fonts"


def svg_picture(specification: Mapping[str, Any]) -> str:
    """Return a Vega-Lite specification drawn as SVG."""
    _bring_fonts()
    svg: str = vl_convert.vegalite_to_svg(_in_our_font(specification))
    return svg


def png_of_svg(svg: str, scale: float) -> bytes:
    """Return an SVG as PNG, at so many times its size."""
    _bring_fonts()
    png: bytes = vl_convert.svg_to_png(svg, scale=scale)
    return png


@cache
def _bring_fonts() -> None:
    vl_convert.register_font_directory(str(_FONTS))


def _in_our_font(specification: Mapping[str, Any]) -> dict[str, Any]:
    return {**specification, "config": {**specification.get("config", {}), "font": FONT}}


def record_chart(compared: pl.DataFrame) -> alt.Chart:
    """Return by how much constants differ, by data set and reason; of `rankadjust.database.record.compare_record`."""
    size = 100 * pl.col("difference").abs()
    rows = compared.select("pykeen", "metric", "split", "side", "reason", size=size).filter(
        pl.col("size") > 0
    )
    order = rows.group_by("pykeen").agg(pl.col("size").max()).sort("size", "pykeen", descending=True)
    ticks = alt.Chart(alt.InlineData(values=rows.to_dicts())).mark_tick(thickness=1.5, opacity=0.7)
    chart: alt.Chart = ticks.encode(
        x=alt.X("size:Q", scale=alt.Scale(type="log"), title="difference of an expectation, in % of ours"),
        y=alt.Y("pykeen:N", sort=order["pykeen"].to_list(), title=None),
        color=alt.Color("reason:N", title="reason", legend=alt.Legend(labelLimit=400)),
    ).properties(width=420)
    return chart
