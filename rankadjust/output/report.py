"""Charts and the report page, from rescored frames and the database."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
import jinja2
import polars as pl
import vl_convert

from rankadjust.base.files import atomic_path
from rankadjust.chance.metrics import resolve
from rankadjust.output.formatting import number, readable

_PANELS = {"value": "as published", "index": "adjusted index", "z": "z against chance"}
_WIDTH, _HEIGHT = 210, 190
# z runs from below 0 to thousands: linear near 0, logarithmic beyond.
_Z_SCALE = alt.Scale(type="symlog", constant=3)
_Z_AXIS = alt.Axis(values=[-10, -3, 0, 3, 10, 30, 100, 300, 1000, 3000, 10000])


def adjustment_chart(rescored: pl.DataFrame, metric: str) -> alt.HConcatChart:
    """Return Figure 1 of Hoyt et al. (2022) for one metric: as published, adjusted index and z, a panel each.

    rescored: rows of `rankadjust.rescore`. Those of both sides that were adjusted are drawn, the data sets in
    the order of their number of entities.
    """
    label = resolve(metric).label
    rows = rescored.filter(pl.col("side") == "both", metric=metric, status="ok").sort("entities", "dataset")
    base = alt.Chart(_data(rows.select("dataset", "model", *_PANELS))).encode(
        x=alt.X(
            "dataset:N",
            sort=rows["dataset"].unique(maintain_order=True).to_list(),
            title="data set, by number of entities",
            axis=alt.Axis(labelAngle=0),
        ),
        color=alt.Color("model:N", title="model"),
    )
    return alt.hconcat(*(_panel(base, column, f"{label} {title}") for column, title in _PANELS.items()))


def _panel(base: alt.Chart, column: str, title: str) -> alt.LayerChart | alt.FacetChart:
    y = alt.Y(f"{column}:Q", title=None)
    if column == "z":
        y = alt.Y("z:Q", title=None, scale=_Z_SCALE, axis=_Z_AXIS)
    dots = base.mark_line(point=True).encode(y=y)
    panel = dots.properties(width=_WIDTH, height=_HEIGHT, title=title)
    if column == "value":
        return alt.layer(panel)
    chance = alt.Chart(alt.InlineData(values=[{"chance": 0}])).mark_rule(strokeDash=[4, 3], color="#666666")
    return alt.layer(chance.encode(y="chance:Q"), panel)


def _data(frame: pl.DataFrame) -> alt.InlineData:
    return alt.InlineData(values=frame.to_dicts())


def save_chart(chart: alt.TopLevelMixin, svg: str | Path, png: str | Path) -> None:
    """Write a chart as SVG and as PNG (at twice the size)."""
    specification = chart.to_json()
    with atomic_path(svg) as temporary:
        temporary.write_text(vl_convert.vegalite_to_svg(specification), encoding="utf-8")
    with atomic_path(png) as temporary:
        temporary.write_bytes(vl_convert.vegalite_to_png(specification, scale=2))


def report_page(
    datasets: pl.DataFrame,
    database: pl.DataFrame,
    tables: Mapping[str, pl.DataFrame],
    figures: Sequence[Path],
) -> str:
    """Return the report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.

    datasets: rows of datasets.tsv; tables: rescored frames by name; figures: SVG files, put into the page.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankadjust.output"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = number
    chance = database.filter(
        pl.col("side") == "both", pl.col("split").is_in(["testing", "inference_testing"])
    )
    return environment.get_template("report.html.jinja").render(
        datasets=datasets,
        chance=chance.select("dataset", "protocol", "metric", "entities", "tasks", "expectation", "variance"),
        tables={name: readable(table) for name, table in tables.items()},
        figures=[path.read_text(encoding="utf-8") for path in figures],
    )
