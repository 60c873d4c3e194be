"""The figure of a manuscript: each model between chance and a perfect ranking, in the width of one column."""

import altair as alt
import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.page.look import Chart, Panel, configuration, inline

# A column of a two-column page is 240 points wide in most templates; labels and axis have to fit, too.
_WIDTH, _STEP, _SIZE = 130, 11, 8
_PREFERRED = "inverse_harmonic_mean_rank"


def plotted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the figure: dataset, model and index of one metric, by data set in the order of the table.

    rows: from `rankadjust.rescore`. The metric is MRR if a value of MRR is adjusted, else the first adjusted metric. If
    a model has several values on a data set, the best is shown. The column baseline is the index of the best counting
    baseline, if the rows have it.
    """
    known = rows.filter(
        pl.col("index").is_not_null(), pl.col("model").is_not_null(), pl.col("dataset").is_not_null()
    )
    metrics = known["metric"].unique(maintain_order=True).to_list()
    metric = _PREFERRED if _PREFERRED in metrics else next(iter(metrics), _PREFERRED)
    reached = (pl.col("baseline_value") - pl.col("expectation")) / (
        resolve(metric).optimum - pl.col("expectation")
    )
    return (
        known.filter(metric=metric)
        .group_by("dataset", "model", "metric", maintain_order=True)
        .agg(pl.max("index"), baseline=reached.max())
    )


def chart(shown: pl.DataFrame) -> Chart:
    """Return a panel for each data set, with a line for each model. shown: rows of `plotted`."""
    metric = resolve(shown["metric"][0]).label
    title = f"{metric}: chance 0, perfect 1"
    if shown["baseline"].count():
        title += "; bar: counting"
    names = shown["dataset"].unique(maintain_order=True).to_list()
    panels = [
        _panel(shown.filter(dataset=name), str(name), title if name == names[-1] else None) for name in names
    ]
    config = configuration()
    for part in ("axis", "legend"):
        config[part] = config[part] | {"labelFontSize": _SIZE, "titleFontSize": _SIZE, "labelLimit": 90}
    # Use one font and no transparency: the order of several resources in a PDF differs from run to run.
    config["title"] = config["title"] | {"fontSize": _SIZE, "offset": 3, "fontWeight": "normal"}
    config["concat"] = {"spacing": 8}
    figure: Chart = alt.concat(*panels, columns=1).configure(**config)
    return figure


def _panel(shown: pl.DataFrame, name: str, title: str | None) -> Panel:
    low = min(0.0, float(shown["index"].min() or 0.0))  # type: ignore[arg-type]
    x = alt.X(
        "index:Q",
        scale=alt.Scale(domain=[low, 1], nice=False),
        title=title,
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labels=title is not None, format=".4~g"),
    )
    y = alt.Y("model:N", sort=None, title=None)
    base = alt.Chart(inline(shown.with_columns(chance=0.0))).encode(y=y)
    layers: list[alt.Chart] = [
        base.mark_rule(style="link", strokeWidth=0.75).encode(x="chance:Q", x2="index:Q"),
        base.mark_point(size=22, opacity=1).encode(x=x),
    ]
    if shown["baseline"].count():
        layers.append(
            base.mark_tick(style="reference", thickness=1.5, size=9, opacity=1).encode(x="baseline:Q")
        )
    return alt.layer(*layers).properties(width=_WIDTH, height=alt.Step(_STEP), title=name)
