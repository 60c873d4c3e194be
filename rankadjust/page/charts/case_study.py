"""The case study of Hoyt et al. (2022): printed and correct index and z."""

import altair as alt
import polars as pl

from rankadjust.base.frames import filled
from rankadjust.page.charts.drawing import (
    PANEL_WIDTH,
    Z_SCALE,
    Z_TICKS,
    Panel,
    at_x,
    by_class,
    inline,
    side_by_side,
)

METRIC = "inverse_harmonic_mean_rank"
_NAMES = {"printed": "as printed", "corrected": "correct"}
_PANELS = {"index": "adjusted index of MRR", "z": "z of MRR"}


def rows(audit: pl.DataFrame) -> pl.DataFrame:
    """Return index and z of MRR of the runs whose index was printed, the data set with the largest difference first.

    audit: rows of `rankadjust.literature.case_study.audit`.
    """
    shown = audit.filter(pl.col("adjustment").is_in(list(_PANELS)), metric=METRIC).with_columns(
        run=filled("{} · {}", "dataset", "model")
    )
    shown = shown.filter((pl.col("adjustment") == "index").any().over("run"))
    gap = pl.when(pl.col("adjustment") == "index").then((pl.col("printed") - pl.col("corrected")).abs())
    return shown.sort(gap.max().over("dataset"), "dataset", "model", descending=[True, False, False])


def draw(audited: pl.DataFrame) -> alt.ConcatChart:
    """Return a panel each for index and z, with a dot for the printed and a dot for the correct value of every run."""
    return side_by_side(
        [_panel(audited.filter(adjustment=name), name, title) for name, title in _PANELS.items()], columns=2
    )


def _panel(runs: pl.DataFrame, adjustment: str, title: str) -> Panel:
    scale = Z_SCALE if adjustment == "z" else alt.Scale(zero=True, padding=6)
    axis = alt.Axis(values=Z_TICKS) if adjustment == "z" else alt.Axis(tickCount=5)
    y = alt.Y("run:N", title=None, sort=runs["run"].to_list(), axis=alt.Axis(ticks=False, grid=True))
    dots = runs.unpivot(list(_NAMES), index="run", variable_name="which", value_name="number").with_columns(
        pl.col("which").replace(_NAMES)
    )
    unit = "z (standard deviations from chance)" if adjustment == "z" else "index (0: chance, 1: perfect)"
    marks = alt.Chart(inline(dots)).encode(x=alt.X("number:Q", title=unit, scale=scale, axis=axis), y=y)
    return alt.layer(
        at_x(0),
        marks.mark_line(style="link").encode(detail="run:N"),
        marks.mark_point(size=65, opacity=0.9).encode(
            tooltip=["run:N", "which:N", "number:Q"], **by_class("which", list(_NAMES.values()))
        ),
    ).properties(width=PANEL_WIDTH, height=alt.Step(19), title=title)
