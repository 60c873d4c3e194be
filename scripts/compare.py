"""Check all rescored tables for contradictions, and count the values below counting."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

import polars as pl

from rankadjust.base.io import read_product, write_csv
from rankadjust.database.constants import Constants
from rankadjust.literature.contradictions import check, check_against
from rankadjust.literature.summaries import below_baselines


def compare(
    rescored: Sequence[str], literature: Sequence[str], database: str, released: str, folder: Path
) -> None:
    constants = Constants.from_files(database).over_file(released)
    results = pl.concat([read_product(path, "rescored") for path in rescored], how="diagonal")
    beside = [read_product(path, "rescored") for path in literature]
    findings = [check(results, constants), *(check_against(results, others) for others in beside)]
    write_csv(pl.concat(findings, how="diagonal"), folder / "contradictions.csv")
    write_csv(below_baselines(results), folder / "below-baselines.csv")


if __name__ == "__main__":
    with logged(snakemake):
        given, folder = snakemake.input, Path(snakemake.output[0]).parent
        compare(given.rescored, given.literature, given.database[0], given.released[0], folder)
