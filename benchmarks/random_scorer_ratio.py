"""Draw how much larger the standard deviation of a random scorer is than the independent null says.

    python benchmarks/random_scorer_ratio.py results/database/adjustments.parquet docs/figures/random-scorer-ratio.svg

The report has the same chart (`rankadjust.page.charts.null_ratio`). The script prints the values themselves for both
sides, and the smallest, the median and the largest of all test splits, inference graphs included.
"""

import argparse
from pathlib import Path

import polars as pl

from rankadjust.base.files import write_text
from rankadjust.output.pictures import svg_picture
from rankadjust.page.charts.null_ratio import draw, ratios
from rankadjust.page.charts.theme import SCHEMES, configuration


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database", type=Path, help="resources/database/adjustments.parquet")
    parser.add_argument("svg", type=Path)
    parser.add_argument("--protocol", default="filtered")
    arguments = parser.parse_args()
    database = pl.read_parquet(arguments.database)
    rows = ratios(database, arguments.protocol)
    tests = pl.concat([rows, ratios(database, arguments.protocol, "inference_testing")])
    look = {"config": configuration(SCHEMES["light"]), "background": "white", "padding": 12}
    write_text(svg_picture(draw(rows).to_dict() | look), arguments.svg)
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
        print(rows.filter(side="both").pivot("metric", index=["dataset", "entities"], values="ratio"))
        print(extremes(tests.filter(side="both")))


if __name__ == "__main__":
    main()
