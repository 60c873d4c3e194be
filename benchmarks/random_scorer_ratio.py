"""Draw how much larger the standard deviation of a random scorer is than the independent null says.

    python benchmarks/random_scorer_ratio.py results/database/adjustments.parquet docs/figures/random-scorer-ratio.svg

One dot per data set (testing split) and side, one panel per metric. Printed are the values themselves for both sides,
and the smallest, the median and the largest of all test splits, inference graphs included.
"""

import argparse
from pathlib import Path

import altair as alt
import polars as pl
import vl_convert

from rankadjust.base.files import write_text
from rankadjust.base.vocabulary import SIDES
from rankadjust.chance.metrics import resolve
from rankadjust.page.charts.null_ratio import LIMITS, METRICS, ratios


def extremes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return for each metric the smallest, the median and the largest ratio, with the data sets of the two ends."""
    return (
        rows.sort("ratio", "dataset")
        .group_by("metric", maintain_order=True)
        .agg(
            pl.len().alias("splits"),
            pl.first("ratio").alias("smallest"),
            pl.first("dataset").alias("of"),
            pl.median("ratio").alias("median"),
            pl.last("ratio").alias("largest"),
            pl.last("dataset").alias("of_largest"),
        )
    )


def ratio_chart(rows: pl.DataFrame) -> alt.HConcatChart:
    """Return one panel per metric: data sets by number of entities, the ratio of each side."""
    order = rows["dataset"].unique(maintain_order=True).to_list()
    ratio = alt.Y(
        "ratio:Q", scale=alt.Scale(domain=[0.95, max(1.45, rows["ratio"].max() + 0.05)]), title=None
    )
    sides = {"legend": alt.Legend(title="side"), "sort": SIDES}
    panels = []
    for key in METRICS:
        values = rows.filter(metric=key).select("dataset", "side", "ratio").to_dicts()
        dots = (
            alt.Chart(alt.Data(values=values))
            .mark_point(filled=True, size=50)
            .encode(
                x=alt.X("dataset:N", sort=order, title=None),
                y=ratio,
                color=alt.Color("side:N", scale=alt.Scale(domain=SIDES, scheme="dark2"), **sides),
                shape=alt.Shape("side:N", scale=alt.Scale(domain=SIDES), **sides),
            )
        )
        limit = (
            alt.Chart(alt.Data(values=[{"ratio": LIMITS[key]}]))
            .mark_rule(strokeDash=[4, 3], color="#666666")
            .encode(y=ratio)
        )
        panels.append(
            (limit + dots).properties(width=max(60, 18 * len(order)), height=190, title=resolve(key).label)
        )
    return alt.hconcat(*panels)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("database", type=Path, help="results/database/adjustments.parquet")
    parser.add_argument("svg", type=Path)
    parser.add_argument("--protocol", default="filtered")
    arguments = parser.parse_args()
    database = pl.read_parquet(arguments.database)
    rows = ratios(database, arguments.protocol)
    tests = pl.concat([rows, ratios(database, arguments.protocol, "inference_testing")])
    write_text(vl_convert.vegalite_to_svg(ratio_chart(rows).to_json()), arguments.svg)
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
        print(rows.filter(side="both").pivot("metric", index=["dataset", "entities"], values="ratio"))
        print(extremes(tests.filter(side="both")))


if __name__ == "__main__":
    main()
