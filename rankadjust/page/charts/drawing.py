"""Pieces that several charts share."""

import math
from collections.abc import Sequence

import altair as alt
import polars as pl
import polars.selectors as cs

from rankadjust.page.charts.theme import SHAPES

# A chart with one system of axes, by its altair types; a figure has one panel or several side by side.
Panel = alt.LayerChart | alt.FacetChart | alt.Chart
Chart = Panel | alt.ConcatChart

# The width in the static files; on the page a script fits the panels to the width of the window.
PANEL_WIDTH = 300
PANEL_HEIGHT = 220

# z runs from below 0 to thousands, so the scale is linear near 0 and logarithmic beyond.
Z_SCALE = alt.Scale(type="symlog", constant=3, nice=False, padding=10)
Z_TICKS = [-10, -3, 0, 3, 10, 30, 100, 300, 1000, 3000, 10000]


def inline(frame: pl.DataFrame) -> dict[str, tuple[dict[str, object], ...]]:
    """Return the rows of a frame as chart data: numbers have seven significant digits, or are null if not finite.

    Altair would validate an InlineData row by row, and copy a list with every chart that is made of another.
    """
    numbers = pl.when(cs.float().is_finite()).then(cs.float().round_sig_figs(7))
    return {"values": tuple(frame.with_columns(numbers).to_dicts())}


def smallest(values: pl.Series) -> float:
    """Return the smallest number of a column."""
    return float(values.to_numpy().min())


def largest(values: pl.Series) -> float:
    """Return the largest number of a column."""
    return float(values.to_numpy().max())


def decades(low: float, high: float, digits: Sequence[int] = (1,)) -> list[float]:
    """Return the ticks of a logarithmic axis between two numbers: the digits times powers of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
    return [tick for tick in ticks if low <= tick <= high]


def at_x(value: float) -> alt.Chart:
    """Return a dashed line across the panel at a value of x."""
    line: alt.Chart = _reference().encode(x=alt.XDatum(value))
    return line


def at_y(value: float, scale: alt.Scale | None = None) -> alt.Chart:
    """Return a dashed line across the panel at a value of y; scale: a scale that need not begin at 0."""
    channel = alt.YDatum(value) if scale is None else alt.YDatum(value, scale=scale)
    line: alt.Chart = _reference().encode(y=channel)
    return line


def _reference() -> alt.Chart:
    line: alt.Chart = alt.Chart(alt.InlineData(values=[{}])).mark_rule(style="reference")
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
