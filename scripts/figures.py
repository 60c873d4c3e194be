"""Draw the figures of a run that its results have something for."""

from pathlib import Path

from scripts.job import run

import polars as pl

from rankadjust.base.stages import RESCORED, check_sums, read_product
from rankadjust.database.constants import Constants
from rankadjust.literature.case_study import audit
from rankadjust.page.charts import AUDIT, CONSTANTS, RESULTS, figures_of
from rankadjust.page.figures import write_figures


def figures(rescored: list[str], audited: str | None, database: str, released: str, folder: Path) -> None:
    check_sums(database)
    own = Constants.from_files(database)
    frames = {CONSTANTS: own.over_file(released).table}
    if rescored:
        frames[RESULTS] = pl.concat(
            [read_product(path, RESCORED, Path(path).stem) for path in rescored], how="diagonal"
        )
    # Audited anew: results/case-study.csv is for people, who may open and save it.
    if audited is not None:
        frames[AUDIT] = audit(read_product(audited, RESCORED, Path(audited).stem), own.table)
    write_figures(list(figures_of(frames)), folder)


if __name__ == "__main__":
    audited = next(iter(snakemake.input.audited), None)
    run(snakemake, figures, audited=audited, folder=Path(snakemake.output[0]))
