"""Draw the paper's Figure 1 for rescored results: as published, adjusted index and z."""

from scripts.job import job

import polars as pl

from rankadjust.output.report import adjustment_chart, save_chart


def figures(rescored: list[str], metric: str, svg: str, png: str) -> None:
    results = pl.concat([pl.read_parquet(path) for path in rescored], how="diagonal")
    save_chart(adjustment_chart(results, metric), svg, png)


if __name__ == "__main__":
    with job(snakemake):
        figures(
            snakemake.input.rescored,
            snakemake.params.metric,
            snakemake.output.svg,
            snakemake.output.png,
        )
