"""How often the checks find an error that was planted into the printed results of a model."""

import altair as alt
import polars as pl

from rankadjust.base.frames import filled
from rankadjust.page.charts.drawing import PANEL_WIDTH, Panel, inline, side_by_side

NO_ERROR = "none"


def rows(power: pl.DataFrame) -> pl.DataFrame:
    """Return composition, error, models and found (the share of models with a finding), over all data sets.

    power: rows of benchmarks/power.csv, one per composition, data set and error. The compositions and the errors keep
    their order, with the error `none` first.
    """
    found = (pl.col("found") * pl.col("models")).sum() / pl.col("models").sum()
    return (
        power.group_by("composition", "error", maintain_order=True)
        .agg(pl.col("models").sum(), found=found)
        .sort(pl.col("error") != NO_ERROR, maintain_order=True)
    )


def draw(found: pl.DataFrame) -> alt.ConcatChart:
    """Return a panel for each set of printed metrics: a bar per error, as long as the share found."""
    cells = found.with_columns(
        error=pl.col("error").replace(NO_ERROR, "no error").str.replace(" x ", " × "),
        share=filled("{} %", (100 * pl.col("found")).round().cast(pl.Int64)),
    )
    parts = cells.partition_by("composition", maintain_order=True)
    return side_by_side([_panel(part) for part in parts], columns=3)


def _panel(cells: pl.DataFrame) -> Panel:
    base = alt.Chart(inline(cells)).encode(
        x=alt.X(
            "found:Q",
            title="models with a finding",
            # Room for the number behind a full bar.
            scale=alt.Scale(domain=[0, 1.3], nice=False),
            axis=alt.Axis(format=".0%", values=[0, 0.5, 1]),
        ),
        y=alt.Y(
            "error:N",
            sort=cells["error"].to_list(),
            title=None,
            # The same in every panel, so that bars of one length say the same.
            axis=alt.Axis(ticks=False, labelLimit=160, minExtent=150),
        ),
    )
    bars = base.mark_bar(height=11).encode(tooltip=["composition:N", "error:N", "share:N", "models:Q"])
    texts = base.mark_text(style="label", align="left", dx=5).encode(text="share:N")
    return alt.layer(bars, texts).properties(
        width=PANEL_WIDTH / 2, height=alt.Step(19), title=cells["composition"][0]
    )
