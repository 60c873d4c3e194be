"""The ratio of the standard deviations under a random scorer and under independent ranks."""

import altair as alt
import polars as pl

from rankadjust.base.vocabulary import SIDES
from rankadjust.chance.metrics import resolve
from rankadjust.page.charts.drawing import (
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Panel,
    at_y,
    by_class,
    decades,
    inline,
    largest,
    side_by_side,
)

METRICS = ("arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_1", "hits_at_10")
# The limits for both sides as the number of candidates grows: sqrt(1 + C / v) with the covariance C and the variance v
# (docs/methods-random-scorer.md).
LIMITS = {
    "arithmetic_mean_rank": 1.4142,
    "inverse_harmonic_mean_rank": 1.3575,
    "hits_at_1": 1.2247,
    "hits_at_10": 1.3505,
}
# A data set farther than this from the limit of both sides has its name beside a mark.
_APART = 0.08


def ratios(constants: pl.DataFrame, protocol: str = "filtered", split: str = "testing") -> pl.DataFrame:
    """Return dataset, side, metric, entities and the ratio of the two standard deviations.

    constants: rows of the database; rows without a positive variance are left out.
    """
    return (
        constants.filter(
            pl.col("protocol") == protocol,
            pl.col("split") == split,
            pl.col("metric").is_in(METRICS),
            pl.col("variance") > 0,
            pl.col("variance_random_scorer").is_not_null(),
            pl.col("entities").is_not_null(),
        )
        .with_columns(ratio=(pl.col("variance_random_scorer") / pl.col("variance")).sqrt())
        .select("dataset", "side", "metric", "entities", "ratio")
        .sort("entities", "dataset", "side", "metric")
    )


def rows(constants: pl.DataFrame) -> pl.DataFrame:
    """Return the ratios of the test splits under the protocol filtered."""
    return ratios(constants)


def draw(sets: pl.DataFrame) -> alt.ConcatChart:
    """Return a panel per metric: the ratio of each data set and side against the number of entities."""
    present = [metric for metric in METRICS if metric in sets["metric"].to_list()]
    top = max(1.45, largest(sets["ratio"]) + 0.05)
    sides = [side for side in ("both", *SIDES) if side in sets["side"].to_list()]
    return side_by_side(
        [_panel(sets.filter(metric=metric), metric, top, sides) for metric in present], columns=2
    )


def _panel(sets: pl.DataFrame, metric: str, top: float, sides: list[str]) -> Panel:
    x = alt.X(
        "entities:Q",
        title="entities",
        scale=alt.Scale(type="log", nice=False, padding=14),
        axis=alt.Axis(format="~s", values=decades(1, 1e9), labelOverlap="greedy", grid=False),
    )
    scale = alt.Scale(domain=[0.95, top], nice=False, zero=False)
    y = alt.Y("ratio:Q", title="ratio of standard deviations", scale=scale, axis=alt.Axis(tickCount=5))
    is_apart = (pl.col("ratio") - LIMITS[metric]).abs().min().over("dataset") > _APART
    # Write the name of a data set once, at the highest mark of its sides.
    named = (
        sets.filter(is_apart)
        .sort("ratio", descending=True)
        .unique("dataset", keep="first", maintain_order=True)
    )
    names = alt.Chart(inline(named)).mark_text(style="label", align="left", dx=8)
    dots = alt.Chart(inline(sets)).mark_point(size=35, opacity=0.7)
    return alt.layer(
        at_y(1, scale),
        at_y(LIMITS[metric], scale),
        dots.encode(
            x=x,
            y=y,
            tooltip=["dataset:N", "side:N", "entities:Q", "ratio:Q"],
            **by_class("side", sides, "side"),
        ),
        names.encode(x=x, y=y, text="dataset:N"),
    ).properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=resolve(metric).label)
