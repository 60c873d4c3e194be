"""Vega-Lite drawn as SVG, measured by a font of this package, so that text is as wide on every machine."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert

# vl-convert asks the fonts of the system first, so the first name is one that no system has: that of fonts/, whose
# glyphs are as wide as Liberation Sans and Arial. These follow for whoever shows the SVG.
FONT = "Rankadjust Sans, Liberation Sans, Arial, Helvetica, sans-serif"
_FONTS = Path(__file__).parent / "fonts"


def svg_picture(specification: Mapping[str, Any]) -> str:
    """Return a Vega-Lite specification drawn as SVG."""
    _bring_fonts()
    configuration = {**specification.get("config", {}), "font": FONT}
    svg: str = vl_convert.vegalite_to_svg({**specification, "config": configuration})
    return svg


@cache
def _bring_fonts() -> None:
    vl_convert.register_font_directory(str(_FONTS))


def record_picture(compared: pl.DataFrame) -> str:
    """Return by how much constants differ, by data set and reason; of `rankadjust.database.record.compare_record`."""
    size = 100 * pl.col("difference").abs()
    rows = compared.select("pykeen", "metric", "split", "side", "reason", size=size).filter(
        pl.col("size") > 0
    )
    order = rows.group_by("pykeen").agg(pl.col("size").max()).sort("size", "pykeen", descending=True)
    x = {"title": "difference of an expectation, in % of ours", "scale": {"type": "log"}}
    return svg_picture(
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.4.1.json",
            "data": {"values": rows.to_dicts()},
            "mark": {"type": "tick", "thickness": 1.5, "opacity": 0.7},
            "encoding": {
                "x": {"field": "size", "type": "quantitative", **x},
                "y": {"field": "pykeen", "type": "nominal", "sort": order["pykeen"].to_list(), "title": None},
                "color": {"field": "reason", "type": "nominal", "legend": {"labelLimit": 400}},
            },
            "width": 420,
        }
    )
