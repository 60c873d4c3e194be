"""How wide the bounds of the full ranking are that a value among sampled negatives leaves.

    python benchmarks/sampled.py widths
    python benchmarks/sampled.py figure docs/figures/sampled-widths.svg

`widths` prints benchmarks/sampled.csv, which `figure` draws.
"""

import sys
from pathlib import Path

import altair as alt
import polars as pl

from rankadjust import full_bounds
from rankadjust.base.io import write_text
from rankadjust.page.figures import Figure, svg_of
from rankadjust.page.look import PANEL_HEIGHT, PANEL_WIDTH, by_class, inline, side_by_side

PANELS = {"mrr": "full MRR", "hits@10": "full Hits@10", "auc": "full AUC"}


def widths() -> pl.DataFrame:
    """Return bounds of MRR and Hits@10 for a printed MRR of 0.784, by the numbers of negatives and tasks."""
    rows = []
    for sampled in (20, 50, 100, 500, 1000):
        for tasks in (1000, 20_000):
            found = full_bounds(
                {"mrr": "0.784"},
                sampled=sampled,
                num_candidates=2757,
                tasks=tasks,
                metrics=["mrr", "hits@10", "auc"],
            )
            row: dict[str, object] = {"negatives": sampled, "tasks": tasks}
            for name, bounds in found.full.items():
                row |= {f"{name}_low": round(bounds.low, 4), f"{name}_high": round(bounds.high, 4)}
            rows.append(row)
    return pl.DataFrame(rows)


def draw_widths(widths: pl.DataFrame) -> alt.ConcatChart:
    """Return a panel per metric, with a bar from lower to upper bound for each number of negatives and of tasks.

    widths: rows of benchmarks/sampled.csv.
    """
    cases = [f"{tasks:,} tasks" for tasks in widths["tasks"].unique().sort()]
    rows = widths.with_columns(
        case=pl.col("tasks").map_elements(lambda tasks: f"{tasks:,} tasks", return_dtype=pl.String)
    )
    panels = []
    for name, title in PANELS.items():
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


def figure() -> str:
    """Return the bounds of benchmarks/sampled.csv as SVG."""
    rows = pl.read_csv(Path(__file__).with_suffix(".csv"))
    title = "Bounds of the full ranking for MRR 0.784 among sampled negatives, 2,757 candidates"
    said = "A bar runs from the least to the greatest full value that the printed MRR allows, at level 0.95."
    specification = draw_widths(rows).to_dict()
    specification.pop("config", None)
    return svg_of(
        Figure("sampled-widths", title, said, f"{rows.height} bars in three panels.", specification)
    )


def main() -> None:
    """Print the table, or write the figure."""
    what, *rest = sys.argv[1:] or ["widths"]
    if what == "figure":
        write_text(figure(), Path(rest[0]))
    else:
        print(widths().write_csv(), end="")


if __name__ == "__main__":
    main()
