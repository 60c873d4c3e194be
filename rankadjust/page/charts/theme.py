"""The look of all charts: colours that colour-blind people can distinguish, and readable sizes, on light and dark.

Charts name no colours. A mark gets its colour from the palette through its scale, or through a named style
(`reference`, `label`), so that the same chart can be drawn on a white and on a dark page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankadjust.output.pictures import FONT

_SIZE = 12

# Shapes distinguish the classes of a scale in addition to the colours.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True)
class Scheme:
    """Colours on one background; `category` holds the colours of Okabe and Ito that contrast with it."""

    background: str
    ink: str
    faint: str
    grid: str
    category: tuple[str, ...]


SCHEMES: Mapping[str, Scheme] = {
    "light": Scheme(
        background="#ffffff",
        ink="#1b1f24",
        faint="#57606a",
        grid="#e4e7eb",
        category=("#0072b2", "#d55e00", "#009e73", "#b65f90", "#57606a", "#8a6d00"),
    ),
    "dark": Scheme(
        background="#14181d",
        ink="#e8ebef",
        faint="#a8b0ba",
        grid="#2c333b",
        category=("#56b4e9", "#e69f00", "#00b386", "#cc79a7", "#a8b0ba", "#f0e442"),
    ),
}


def configuration(scheme: Scheme) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a scheme, without a background."""
    text = {
        "labelColor": scheme.ink,
        "titleColor": scheme.ink,
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
            "gridColor": scheme.grid,
            "domainColor": scheme.faint,
            "tickColor": scheme.faint,
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
            "color": scheme.ink,
            "subtitleColor": scheme.faint,
            "fontSize": 13,
            "fontWeight": "bold",
            "anchor": "start",
            "frame": "bounds",
            "offset": 10,
        },
        "view": {"stroke": None},
        "concat": {"spacing": 28},
        "range": {"category": list(scheme.category)},
        # Set no colour per kind of mark: it would override the colour of a named style.
        "mark": {"color": scheme.category[0]},
        "point": {"filled": True},
        "style": {
            "reference": {"color": scheme.faint, "strokeDash": [5, 4], "strokeWidth": 1.5},
            "link": {"color": scheme.faint, "strokeWidth": 1.5},
            "label": {"color": scheme.ink, "fontSize": 11},
        },
    }
