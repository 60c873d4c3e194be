"""The expectation of MRR on every data set under each protocol, with a line of marks per protocol."""

import altair as alt
import polars as pl

from rankadjust.base.vocabulary import TEST_SPLITS
from rankadjust.page.charts.drawing import PANEL_WIDTH, Panel, by_class, decades, inline, largest, smallest

METRIC = "inverse_harmonic_mean_rank"
KINDS = ("all entities", "entities of the right type", "sampled negatives")


def rows(constants: pl.DataFrame) -> pl.DataFrame:
    """Return dataset, protocol, kind (of KINDS), label, expectation and median on test splits for both sides.

    constants: rows of the database. median is the median expectation over the data sets of a protocol; protocols are
    sorted by it. The frame is empty if no data set has two protocols.
    """
    tests = (
        constants.filter(pl.col("side") == "both", pl.col("metric") == METRIC)
        .filter(pl.col("split").is_in(TEST_SPLITS), pl.col("expectation") > 0)
        .with_columns(
            kind=pl.when(pl.col("protocol").str.starts_with("sampled-"))
            .then(pl.lit(KINDS[2]))
            .when(pl.col("protocol").str.contains("typed"))
            .then(pl.lit(KINDS[1]))
            .otherwise(pl.lit(KINDS[0])),
            label=pl.col("protocol").map_elements(_label, return_dtype=pl.String),
            median=pl.col("expectation").median().over("protocol"),
        )
    )
    if not (tests["protocol"].n_unique() > 1 and tests.select("dataset", "split").is_duplicated().any()):
        return tests.clear()
    columns = ("dataset", "split", "protocol", "kind", "label", "expectation", "median")
    return tests.select(columns).sort("median", "protocol", "expectation", "dataset", "split")


def _label(protocol: str) -> str:
    kind, _, number = protocol.partition("-")
    return f"{int(number):,} negatives" if kind == "sampled" and number.isdecimal() else protocol


def widest(chances: pl.DataFrame) -> tuple[dict[str, object], dict[str, object]]:
    """Return the rows with the least and the greatest expectation on the data set where the protocol matters most."""
    ratio = pl.col("expectation").max() / pl.col("expectation").min()
    of = chances.with_columns(ratio=ratio.over("dataset", "split")).sort(
        "ratio", "dataset", "split", "expectation", descending=[True, False, False, False]
    )
    chosen = of.filter(
        pl.struct("dataset", "split") == of.select(pl.struct("dataset", "split").first()).item()
    )
    return chosen.row(0, named=True), chosen.row(-1, named=True)


def draw(chances: pl.DataFrame) -> Panel:
    """Return a line of marks per protocol, a mark per data set, and a tick at their median."""
    low, high = smallest(chances["expectation"]) / 1.5, min(1.0, 1.5 * largest(chances["expectation"]))
    base = alt.Chart(inline(chances)).encode(
        y=alt.Y(
            "label:N",
            sort=chances["label"].unique(maintain_order=True).to_list(),
            title=None,
            axis=alt.Axis(grid=True, ticks=False, labelLimit=150),
        )
    )
    axis = alt.Axis(format="~g", values=decades(low, high), labelOverlap="greedy", grid=False)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    x = alt.X("expectation:Q", title="expectation of MRR under chance", scale=scale, axis=axis)
    kinds = [kind for kind in KINDS if kind in chances["kind"].to_list()]
    marks = base.mark_point(size=40, opacity=0.5).encode(
        x=x, tooltip=["dataset:N", "label:N", "expectation:Q"], **by_class("kind", kinds)
    )
    medians = base.mark_tick(style="link", thickness=2.5, height=16).encode(x=alt.X("median:Q", scale=scale))
    return alt.layer(marks, medians).properties(width=2 * PANEL_WIDTH, height=alt.Step(22))
