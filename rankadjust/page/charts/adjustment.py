"""Figure 1 of Hoyt et al. (2022): MRR as published, its adjusted index and z."""

import altair as alt
import polars as pl

from rankadjust.page.charts.drawing import (
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Z_SCALE,
    Z_TICKS,
    Panel,
    at_y,
    by_class,
    inline,
    side_by_side,
)  # fmt: skip

METRIC = "inverse_harmonic_mean_rank"
_PANELS = {"value": "MRR as published", "index": "adjusted index of MRR", "z": "z of MRR against chance"}
# The table of the case study, which Figure 1 of the paper shows.
CASE_STUDY = "hoyt2022-case-study"
# More models would make the lines hard to follow.
_MODELS = 6


def rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return dataset, model, entities, value, index and z of MRR for the models of one table.

    results: re-scored rows. The table is the case study. If the case study is not re-scored, it is the table with most
    results of models on several data sets. Only results for both sides with constants of their own evaluation count.
    The models that were run on most data sets are returned, at most six.
    """
    shown = results.filter(
        pl.col("side") == "both",
        pl.col("metric") == METRIC,
        pl.col("status") == "ok",
        pl.col("z").is_not_null(),
        pl.col("model").is_not_null(),
    ).unique(["file", "dataset", "model"], keep="first", maintain_order=True)
    shown = shown.filter(pl.len().over("file", "model") > 1)
    is_study = pl.col("file").str.contains(CASE_STUDY, literal=True)
    tables = (
        shown.group_by("file")
        .agg(results=pl.len())
        .sort(is_study, "results", "file", descending=[True, True, False])
    )
    table = shown.join(tables.select("file").head(1), on="file", maintain_order="left")
    models = (
        table.group_by("model")
        .agg(sets=pl.len())
        .sort("sets", "model", descending=[True, False])
        .head(_MODELS)
    )
    return (
        table.join(models.select("model"), on="model", maintain_order="left")
        .select("dataset", "model", "entities", *_PANELS)
        .sort("entities", "dataset", "model")
    )


def draw(results: pl.DataFrame) -> alt.ConcatChart:
    """Return a panel each for value, index and z, with the data sets in the order of their numbers of entities."""
    models = results["model"].unique().sort().to_list()
    return side_by_side(
        [_panel(results, column, title, models) for column, title in _PANELS.items()], columns=3
    )


def _panel(results: pl.DataFrame, column: str, title: str, models: list[str]) -> Panel:
    y = alt.Y(f"{column}:Q", title=None, axis=alt.Axis(tickCount=6))
    if column == "z":
        y = alt.Y("z:Q", title=None, scale=Z_SCALE, axis=alt.Axis(values=Z_TICKS))
    base = alt.Chart(inline(results)).encode(
        x=alt.X(
            "dataset:N",
            sort=results["dataset"].unique(maintain_order=True).to_list(),
            title="data set, by number of entities",
            axis=alt.Axis(labelAngle=-30, labelLimit=110),
            scale=alt.Scale(padding=0.3),
        ),
        y=y,
    )
    marks = by_class("model", models, "model")
    layers = [
        base.mark_line(strokeWidth=1.8).encode(color=marks["color"], detail="model:N"),
        base.mark_point(size=60).encode(tooltip=["dataset:N", "model:N", f"{column}:Q"], **marks),
    ]
    # Chance is 0 in the panels of index and z; in the first panel it differs between data sets.
    chance = [] if column == "value" else [at_y(0)]
    return alt.layer(*chance, *layers).properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=title)
