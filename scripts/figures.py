"""Draw the figures of a run that its results have something for."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

import polars as pl

from rankadjust.base.io import read_product
from rankadjust.database.constants import Constants
from rankadjust.literature.case_study import audit
from rankadjust.page.charts import AUDIT, RESULTS, figures_of
from rankadjust.page.figures import write_figures


def figures(rescored: Sequence[str], audited: str | None, database: str, folder: Path) -> None:
    frames = {}
    if rescored:
        frames[RESULTS] = pl.concat([read_product(path, "rescored") for path in rescored], how="diagonal")
    # Audited anew: results/case-study.csv is for people, who may open and save it.
    if audited is not None:
        frames[AUDIT] = audit(read_product(audited, "rescored"), Constants.from_files(database).table)
    write_figures(list(figures_of(frames)), folder)


if __name__ == "__main__":
    with logged(snakemake):
        given, folder = snakemake.input, Path(snakemake.output[0])
        audited = next(iter(given.audited), None)
        figures(given.rescored, audited, given.database[0], folder)
