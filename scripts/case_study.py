"""Hold the printed adjustments of the case study against what reproduces them and against the correct ones."""

from scripts.job import job

import polars as pl

from rankadjust.base.files import write_text
from rankadjust.literature.case_study import audit, audit_chart
from rankadjust.output.report import save_chart


def case_study(rescored: str, database: str, metric: str, csv: str, svg: str, png: str) -> None:
    audited = audit(pl.read_parquet(rescored), pl.read_parquet(database))
    write_text(audited.write_csv(), csv)
    save_chart(audit_chart(audited, metric), svg, png)


if __name__ == "__main__":
    with job(snakemake):
        case_study(
            snakemake.input.rescored,
            snakemake.input.database,
            snakemake.params.metric,
            snakemake.output.csv,
            snakemake.output.svg,
            snakemake.output.png,
        )
