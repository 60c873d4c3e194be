"""Write the report: one HTML page that opens without network."""

from pathlib import Path

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_text
from rankadjust.output.report import report_page


def render(rescored: list[str], figures: list[str], database: str, datasets: str, output: str) -> None:
    page = report_page(
        datasets=pl.read_csv(datasets, separator="\t"),
        database=pl.read_parquet(database),
        tables={Path(path).stem: pl.read_parquet(path) for path in rescored},
        figures=[Path(path) for path in figures],
    )
    write_text(page, output)


if __name__ == "__main__":
    with job(snakemake):
        render(
            snakemake.input.rescored,
            snakemake.input.figures,
            snakemake.input.database,
            snakemake.input.datasets,
            snakemake.output[0],
        )
