"""The widths of the bounds of full-ranking metrics, by the numbers of sampled negatives and tasks."""

import altair as alt
import polars as pl

from rankadjust.page.charts.drawing import PANEL_HEIGHT, PANEL_WIDTH, by_class, inline, side_by_side

_PANELS = {"mrr": "full MRR", "hits@10": "full Hits@10", "auc": "full AUC"}


def draw(widths: pl.DataFrame) -> alt.ConcatChart:
    """Return a panel per metric, with a bar from lower to upper bound for each number of negatives and of tasks.

    widths: rows of benchmarks/sampled.csv.
    """
    cases = [f"{tasks:,} tasks" for tasks in widths["tasks"].unique().sort()]
    rows = widths.with_columns(
        case=pl.col("tasks").map_elements(lambda tasks: f"{tasks:,} tasks", return_dtype=pl.String)
    )
    panels = []
    for name, title in _PANELS.items():
        ends = rows.select("negatives", "case", low=f"{name}_low", high=f"{name}_high")
        colours = by_class("case", cases)
        bars = (
            alt.Chart(inline(ends))
            .mark_bar(height={"band": 0.9})
            .encode(
                x=alt.X("low:Q", title=title, scale=alt.Scale(domain=[0, 1], nice=False)),
                x2="high:Q",
                y=alt.Y("negatives:O", title="sampled negatives"),
                yOffset=alt.YOffset("case:N", sort=cases),
                color=colours["color"],
            )
        )
        panels.append(bars.properties(width=PANEL_WIDTH / 2, height=PANEL_HEIGHT / 1.4))
    return side_by_side(panels, columns=3)
