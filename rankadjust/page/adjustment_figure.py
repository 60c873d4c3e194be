"""The figure of the case study of Hoyt et al. (2022): MRR as published, its adjusted index and z, as SVG."""

from typing import Any
from xml.sax.saxutils import escape

import polars as pl
import polars.selectors as cs

from rankadjust.output.pictures import svg_picture

# Colours on white that colour-blind people can distinguish (Okabe and Ito); each model has a shape of its own, too.
INK, FAINT, GRID, ACCENT = "#1b1f24", "#57606a", "#e4e7eb", "#0072b2"
CATEGORIES = (ACCENT, "#d55e00", "#009e73", "#b65f90", FAINT, "#8a6d00")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

_PANELS = {"value": "MRR as published", "index": "adjusted index of MRR", "z": "z of MRR against chance"}
_TEXT = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12}
_PLAIN = {"titleFontWeight": "normal", "labelFontWeight": "normal"}
_TITLE = {
    "color": INK,
    "fontSize": 13,
    "fontWeight": "bold",
    "anchor": "start",
    "frame": "bounds",
    "offset": 10,
}
_CONFIGURATION = {
    # The description says what is drawn; a label for each mark would bury it.
    "aria": False,
    "axis": _TEXT
    | _PLAIN
    | {"gridColor": GRID, "domainColor": FAINT, "tickColor": FAINT, "labelPadding": 5, "titlePadding": 8},
    "legend": _TEXT
    | _PLAIN
    | {"orient": "top", "direction": "horizontal", "symbolSize": 70, "symbolOpacity": 1, "columnPadding": 14},
    "title": _TITLE,
    "view": {"stroke": None},
    "concat": {"spacing": 28},
    "range": {"category": list(CATEGORIES)},
    "point": {"filled": True},
    "style": {"reference": {"color": FAINT, "strokeDash": [5, 4], "strokeWidth": 1.5}},
    "background": "#ffffff",
}


def adjustment_figure(results: pl.DataFrame) -> str:
    """Return value, index and z of MRR of each model over the data sets, in the order of their entities, as SVG.

    results: re-scored rows; those for both sides with constants of their own evaluation are drawn. The SVG has title
    and caption, and its bytes do not depend on the fonts of the machine.
    """
    rows = (
        results.filter(
            pl.col("z").is_not_null(), side="both", metric="inverse_harmonic_mean_rank", status="ok"
        )
        .unique(["dataset", "model"], keep="first", maintain_order=True)
        .select("dataset", "model", "entities", *_PANELS)
        .sort("entities", "dataset", "model")
    )
    sets, models = (rows[name].unique(maintain_order=True).to_list() for name in ("dataset", "model"))
    models.sort()
    caption = (
        f"MRR of {len(models)} models on {len(sets)} data sets (n = {rows.height} results for both sides), the data "
        "set with the fewest entities first: as published, its adjusted index (0: chance, 1: perfect), and z in "
        "standard deviations from chance, on an axis that is linear near 0 and logarithmic beyond. Three panels with "
        f"a line per model over the data sets {', '.join(sets)}."
    )
    title = f"Adjustment moves the MRR of the same models by at most {_moved(rows)}"
    svg = svg_picture(
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.4.1.json",
            "title": {"text": title, "fontSize": 15, "offset": 14},
            "padding": 12,
            "data": {"values": rows.with_columns(cs.float().round_sig_figs(7)).to_dicts()},
            "concat": [_panel(column, sets, models) for column in _PANELS],
            "columns": len(_PANELS),
            "resolve": {"scale": {"color": "shared", "shape": "shared"}},
            "config": _CONFIGURATION,
        }
    )
    head, end, rest = svg.partition(">")
    return f'{head} role="img"{end}<title>{escape(title)}</title><desc>{escape(caption)}</desc>{rest}'


def _moved(rows: pl.DataFrame) -> str:
    """Return the largest change by adjustment on the data sets with the fewest and the most entities."""
    gap = (pl.col("value") - pl.col("index")).abs().max()
    names = dict.fromkeys([rows["dataset"][0], rows["dataset"][-1]])
    gaps = {name: rows.filter(dataset=name).select(gap).item() for name in names}
    return " and ".join(
        f"{f'{most:.2g}' if most >= 0.001 else 'less than 0.001'} on {name}" for name, most in gaps.items()
    )


def _panel(column: str, sets: list[str], models: list[str]) -> dict[str, Any]:
    y: dict[str, Any] = {"field": column, "type": "quantitative", "title": None, "axis": {"tickCount": 6}}
    if column == "z":
        # z runs from below 0 to thousands.
        y["scale"] = {"type": "symlog", "constant": 3, "nice": False, "padding": 10}
        y["axis"] = {"values": [-10, -3, 0, 3, 10, 30, 100, 300, 1000, 3000, 10000]}
    model = {"field": "model", "type": "nominal"}
    of_model = model | {"scale": {"domain": models}, "legend": {"title": "model"}}
    shape = of_model | {"scale": {"domain": models, "range": list(SHAPES[: len(models)])}}
    x = {
        "field": "dataset",
        "type": "nominal",
        "sort": sets,
        "title": "data set, by number of entities",
        "axis": {"labelAngle": -30, "labelLimit": 110},
        "scale": {"padding": 0.3},
    }
    at = {"x": x, "y": y, "color": of_model}
    layers = [
        {"mark": {"type": "line", "strokeWidth": 1.8}, "encoding": at | {"detail": model}},
        {"mark": {"type": "point", "size": 60}, "encoding": at | {"shape": shape}},
    ]
    if column != "value":
        # Chance is 0 in the panels of index and z; in the first panel it differs between data sets.
        chance = {"mark": {"type": "rule", "style": "reference"}, "encoding": {"y": {"datum": 0}}}
        layers.insert(0, {"data": {"values": [{}]}, **chance})
    return {"layer": layers, "width": 300, "height": 220, "title": _PANELS[column]}
