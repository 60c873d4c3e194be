"""The same model on the same data set under two protocols: printed values and index."""

import altair as alt
import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.literature.comparison import protocol_effect
from rankadjust.page.charts.drawing import PANEL_HEIGHT, PANEL_WIDTH, Panel, by_class, inline, side_by_side

METRICS = ("inverse_harmonic_mean_rank", "hits_at_10")
_COLUMNS = {"value": "as printed", "index": "adjusted index"}
_OTHERS = "other data sets"
_NAMED = 5


def rows(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `comparison.protocol_effect` for MRR and Hits@10, with `of`.

    That is the data set, or 'other data sets' for those with few pairs where there are many sets.
    """
    effect = protocol_effect(results).filter(pl.col("metric").is_in(METRICS))
    by_size = effect.group_by("dataset").len().sort("len", "dataset", descending=[True, False])["dataset"]
    named = by_size.to_list() if len(by_size) <= _NAMED + 1 else by_size.head(_NAMED).to_list()
    return effect.with_columns(
        of=pl.when(pl.col("dataset").is_in(named)).then("dataset").otherwise(pl.lit(_OTHERS))
    )


def draw(effect: pl.DataFrame) -> alt.ConcatChart:
    """Return for each metric a panel of printed values and one of indices, with a line for each pair of results."""
    sets = [name for name in effect["of"].unique().sort() if name != _OTHERS]
    names = [*sets, *([_OTHERS] if _OTHERS in effect["of"].to_list() else [])]
    present = [metric for metric in METRICS if metric in effect["metric"].to_list()]
    return side_by_side(
        [_panel(effect.filter(metric=metric), column, names) for metric in present for column in _COLUMNS],
        columns=2,
    )


def _panel(effect: pl.DataFrame, column: str, names: list[str]) -> Panel:
    protocols = pl.concat([effect["protocol"], effect["other_protocol"]]).unique().to_list()
    pairs = effect.with_row_index("pair")
    ends = pl.concat(
        pairs.select("pair", "of", "dataset", "model", protocol=f"{end}protocol", y=f"{end}{column}")
        for end in ("", "other_")
    )
    title = f"{resolve(effect['metric'][0]).label}, {_COLUMNS[column]}"
    scale = alt.Scale(
        domain=[min(0.0, effect.select(pl.min_horizontal("index", "other_index").min()).item()), 1]
    )
    base = alt.Chart(inline(ends)).encode(
        x=alt.X(
            "protocol:N",
            # From the most lenient filter to none.
            sort=sorted(protocols, key=lambda name: (name == "raw", name != "filtered-cumulative", name)),
            title="protocol",
            axis=alt.Axis(labelAngle=0, labelLimit=130),
            scale=alt.Scale(padding=0.25),
        ),
        y=alt.Y("y:Q", title=None, scale=scale, axis=alt.Axis(tickCount=6)),
    )
    tooltip = ["dataset:N", "model:N", "protocol:N", "y:Q"]
    marks = by_class("of", names, "data set")
    return alt.layer(
        base.mark_line(opacity=0.45, strokeWidth=1.2).encode(detail="pair:N", color=marks["color"]),
        base.mark_point(size=26, opacity=0.7).encode(tooltip=tooltip, **marks),
    ).properties(width=PANEL_WIDTH, height=1.15 * PANEL_HEIGHT, title=title)
