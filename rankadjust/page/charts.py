"""The figures of the case study of Hoyt et al. (2022): what each draws, with its title and caption.

A figure is drawn only if its frame exists and has rows to draw: a run without the case study has none.
"""

from collections.abc import Iterator, Mapping

import altair as alt
import polars as pl

from rankadjust.base.frames import filled
from rankadjust.page.figures import Figure
from rankadjust.page.look import (
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Z_SCALE,
    Z_TICKS,
    Chart,
    Panel,
    by_class,
    inline,
    reference,
    side_by_side,
)

# The frames that figures are drawn from: the re-scored rows of all tables, and `rankadjust.literature.case_study.audit`
# of the rows of the case study.
RESULTS, AUDIT = "results", "audit"
MRR = "inverse_harmonic_mean_rank"


def figures_of(frames: Mapping[str, pl.DataFrame]) -> Iterator[Figure]:
    """Yield the figures that the frames suffice to draw, in the order of the report.

    frames: by RESULTS and AUDIT; either may be absent.
    """
    for frame, figure_from in _FIGURES:
        if frame in frames:
            figure = figure_from(frames[frame])
            if figure is not None:
                yield figure


def _figure(name: str, chart: Chart, texts: tuple[str, str, str]) -> Figure:
    """Return a figure; texts: its title, caption and description."""
    specification = chart.to_dict()
    # The configuration of altair would override that of look.py.
    specification.pop("config", None)
    # For altair the rows are a tuple (look.inline), in JSON a list.
    specification["datasets"] = {key: list(data) for key, data in specification["datasets"].items()}
    return Figure(name, *texts, specification)


# --- Figure 1 of Hoyt et al. (2022): MRR as published, its adjusted index and z ----------------------------

_ADJUSTED = {"value": "MRR as published", "index": "adjusted index of MRR", "z": "z of MRR against chance"}
# The table of the case study, which Figure 1 of the paper shows.
_CASE_STUDY = "hoyt2022-case-study"


def models_on_data_sets(results: pl.DataFrame) -> pl.DataFrame:
    """Return dataset, model, entities, value, index and z of MRR for the models of the case study.

    results: re-scored rows. Only results for both sides with constants of their own evaluation count.
    """
    return (
        results.filter(
            pl.col("file").str.contains(_CASE_STUDY, literal=True),
            pl.col("z").is_not_null(),
            pl.col("model").is_not_null(),
            side="both",
            metric=MRR,
            status="ok",
        )
        .unique(["dataset", "model"], keep="first", maintain_order=True)
        .select("dataset", "model", "entities", *_ADJUSTED)
        .sort("entities", "dataset", "model")
    )


def adjustment_figure(results: pl.DataFrame) -> Figure | None:
    """Return value, index and z of MRR of the same models, over data sets in the order of their entities."""
    rows = models_on_data_sets(results)
    if rows.is_empty():
        return None
    sets, models = (
        rows["dataset"].unique(maintain_order=True).to_list(),
        rows["model"].unique().sort().to_list(),
    )
    panels = [_adjusted_panel(rows, column, sets, models) for column in _ADJUSTED]
    return _figure(
        "adjustment",
        side_by_side(panels, columns=3),
        (
            f"Adjustment moves the MRR of the same models by at most {_moved(rows)}",
            f"MRR of {len(models)} models on {len(sets)} data sets (n = {rows.height} results for both sides), the "
            "data set with the fewest entities first: as published, its adjusted index (0: chance, 1: perfect), and z "
            "in standard deviations from chance, on an axis that is linear near 0 and logarithmic beyond.",
            f"Three panels with a line per model over the data sets {', '.join(sets)}.",
        ),
    )


def _moved(rows: pl.DataFrame) -> str:
    """Return the largest change by adjustment on the data sets with the fewest and the most entities."""
    gap = (pl.col("value") - pl.col("index")).abs().max()
    names = dict.fromkeys([rows["dataset"][0], rows["dataset"][-1]])
    gaps = {name: rows.filter(dataset=name).select(gap).item() for name in names}
    return " and ".join(
        f"{f'{most:.2g}' if most >= 0.001 else 'less than 0.001'} on {name}" for name, most in gaps.items()
    )


def _adjusted_panel(rows: pl.DataFrame, column: str, sets: list[str], models: list[str]) -> Panel:
    y = alt.Y(f"{column}:Q", title=None, axis=alt.Axis(tickCount=6))
    if column == "z":
        y = alt.Y("z:Q", title=None, scale=Z_SCALE, axis=alt.Axis(values=Z_TICKS))
    x = alt.X(
        "dataset:N",
        sort=sets,
        title="data set, by number of entities",
        axis=alt.Axis(labelAngle=-30, labelLimit=110),
        scale=alt.Scale(padding=0.3),
    )
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    marks = by_class("model", models, "model")
    layers = [
        base.mark_line(strokeWidth=1.8).encode(color=marks["color"], detail="model:N"),
        base.mark_point(size=60).encode(**marks),
    ]
    # Chance is 0 in the panels of index and z; in the first panel it differs between data sets.
    chance = [] if column == "value" else [reference(y=alt.YDatum(0))]
    panel = alt.layer(*chance, *layers)
    return panel.properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=_ADJUSTED[column])


# --- the case study: printed and correct index and z -------------------------------------------------------

_WHICH = {"printed": "as printed", "corrected": "correct"}
_AUDITED = {"index": "adjusted index of MRR", "z": "z of MRR"}


def audited_runs(audit: pl.DataFrame) -> pl.DataFrame:
    """Return index and z of MRR of the runs whose index was printed, the data set with the largest difference first.

    audit: rows of `rankadjust.literature.case_study.audit`.
    """
    shown = audit.filter(pl.col("adjustment").is_in(list(_AUDITED)), metric=MRR).with_columns(
        run=filled("{} · {}", "dataset", "model")
    )
    shown = shown.filter((pl.col("adjustment") == "index").any().over("run"))
    gap = pl.when(pl.col("adjustment") == "index").then((pl.col("printed") - pl.col("corrected")).abs())
    return shown.sort(gap.max().over("dataset"), "dataset", "model", descending=[True, False, False])


def case_study_figure(audit: pl.DataFrame) -> Figure | None:
    """Return printed and correct index and z of every run of the case study."""
    runs = audited_runs(audit)
    if runs.is_empty():
        return None
    index, z = runs.filter(adjustment="index"), runs.filter(adjustment="z")
    widest = (pl.col("printed") - pl.col("corrected")).abs()
    first = index.sort(widest, "run", descending=[True, False]).row(0, named=True)
    below = z.filter(pl.col("printed") < 0, pl.col("corrected") > 0).height
    return _figure(
        "case-study",
        side_by_side([_audited_panel(runs.filter(adjustment=name), name) for name in _AUDITED], columns=2),
        (
            f"The case study printed indices that are off by up to {abs(first['printed'] - first['corrected']):.2g}",
            f"Adjusted index of MRR (without unit) and z (in standard deviations) of n = {index.height} runs of Hoyt "
            f"et al. (2022) on {index['dataset'].n_unique()} data sets, as printed and as the candidates of their "
            "evaluation make them. The axis of z is linear near 0 and logarithmic beyond; the dashed line is chance.",
            f"A pair of marks for each of {index.height} runs. They are farthest apart for {first['run']}, whose index "
            f"was printed as {first['printed']:.3f} and is {first['corrected']:.3f}; {below} runs have a printed z "
            "below 0 and a correct one above it.",
        ),
    )


def _audited_panel(runs: pl.DataFrame, adjustment: str) -> Panel:
    scale = Z_SCALE if adjustment == "z" else alt.Scale(zero=True, padding=6)
    axis = alt.Axis(values=Z_TICKS) if adjustment == "z" else alt.Axis(tickCount=5)
    y = alt.Y("run:N", title=None, sort=runs["run"].to_list(), axis=alt.Axis(ticks=False, grid=True))
    dots = runs.unpivot(list(_WHICH), index="run", variable_name="which", value_name="number").with_columns(
        pl.col("which").replace(_WHICH)
    )
    unit = "z (standard deviations from chance)" if adjustment == "z" else "index (0: chance, 1: perfect)"
    marks = alt.Chart(inline(dots)).encode(x=alt.X("number:Q", title=unit, scale=scale, axis=axis), y=y)
    points = marks.mark_point(size=65, opacity=0.9).encode(**by_class("which", list(_WHICH.values())))
    panel = alt.layer(
        reference(x=alt.XDatum(0)), marks.mark_line(style="link").encode(detail="run:N"), points
    )
    return panel.properties(width=PANEL_WIDTH, height=alt.Step(19), title=_AUDITED[adjustment])


_FIGURES = (
    (RESULTS, adjustment_figure),
    (AUDIT, case_study_figure),
)
