"""The look of all charts, and pieces that they share: colours that colour-blind people can distinguish, readable sizes.

Charts name no colours. A mark gets its colour from the palette through its scale, or through a named style
(`reference`, `label`).
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl
import polars.selectors as cs

from rankadjust.output.pictures import FONT

_SIZE = 12

# A chart with one system of axes, by its altair types; a figure has one panel or several side by side.
Panel = alt.LayerChart | alt.FacetChart | alt.Chart
Chart = Panel | alt.ConcatChart

PANEL_WIDTH = 300
PANEL_HEIGHT = 220

# z runs from below 0 to thousands, so the scale is linear near 0 and logarithmic beyond.
Z_SCALE = alt.Scale(type="symlog", constant=3, nice=False, padding=10)
Z_TICKS = [-10, -3, 0, 3, 10, 30, 100, 300, 1000, 3000, 10000]

# Shapes distinguish the classes of a scale in addition to the colours.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


# Colours on white; the categories are colours of Okabe and Ito that contrast with it.
INK, FAINT, GRID, ACCENT = "#1b1f24", "#57606a", "#e4e7eb", "#0072b2"
CATEGORIES = (ACCENT, "#d55e00", "#009e73", "#b65f90", FAINT, "#8a6d00")


def configuration() -> dict[str, Any]:
    """Return the Vega-Lite configuration of all charts, without a background."""
    text = {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": _SIZE,
        "titleFontSize": _SIZE,
    }
    plain = {"titleFontWeight": "normal", "labelFontWeight": "normal"}
    return {
        "font": FONT,
        # The page describes a figure in words; a label for each of a thousand dots would bury that description.
        "aria": False,
        "axis": text
        | plain
        | {
            "gridColor": GRID,
            "domainColor": FAINT,
            "tickColor": FAINT,
            "labelLimit": 190,
            "labelPadding": 5,
            "titlePadding": 8,
        },
        "legend": text
        | plain
        | {
            "orient": "top",
            "direction": "horizontal",
            "labelLimit": 240,
            "symbolSize": 70,
            "symbolOpacity": 1,
        }
        | {"columnPadding": 14},
        "title": {
            "color": INK,
            "subtitleColor": FAINT,
            "fontSize": 13,
            "fontWeight": "bold",
            "anchor": "start",
            "frame": "bounds",
            "offset": 10,
        },
        "view": {"stroke": None},
        "concat": {"spacing": 28},
        "range": {"category": list(CATEGORIES)},
        # Set no colour per kind of mark: it would override the colour of a named style.
        "mark": {"color": ACCENT},
        "point": {"filled": True},
        "style": {
            "reference": {"color": FAINT, "strokeDash": [5, 4], "strokeWidth": 1.5},
            "link": {"color": FAINT, "strokeWidth": 1.5},
            "label": {"color": INK, "fontSize": 11},
        },
    }


def inline(frame: pl.DataFrame) -> dict[str, tuple[dict[str, object], ...]]:
    """Return the rows of a frame as chart data: numbers have seven significant digits, or are null if not finite.

    Altair would validate an InlineData row by row, and copy a list with every chart that is made of another.
    """
    numbers = pl.when(cs.float().is_finite()).then(cs.float().round_sig_figs(7))
    return {"values": tuple(frame.with_columns(numbers).to_dicts())}


def reference(**at: alt.XDatum | alt.YDatum) -> alt.Chart:
    """Return a dashed line across the panel at a value of x or y."""
    line: alt.Chart = alt.Chart(alt.InlineData(values=[{}])).mark_rule(style="reference").encode(**at)
    return line


def by_class(column: str, classes: Sequence[str], title: str | None = None) -> dict[str, object]:
    """Return colour and shape that distinguish the classes of a column, with one legend for both."""
    domain = list(classes)
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(domain))]
    legend = alt.Legend(title=title)
    return {
        "color": alt.Color(f"{column}:N", scale=alt.Scale(domain=domain), legend=legend),
        "shape": alt.Shape(f"{column}:N", scale=alt.Scale(domain=domain, range=shapes), legend=legend),
    }


def side_by_side(panels: Sequence[Panel], columns: int) -> alt.ConcatChart:
    """Return panels side by side, at most `columns` in a row, with one legend for all."""
    whole: alt.ConcatChart = alt.concat(*panels, columns=columns).resolve_scale(
        color="shared", shape="shared"
    )
    return whole
