"""Re-score the shipped literature for the evaluations of the user's own tables, to show the two beside each other."""

from collections.abc import Sequence

from scripts.job import logged

import polars as pl

from rankadjust.base.frames import mapped_together
from rankadjust.base.io import read_product, write_product
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.literature.full_ranking import add_full_bounds
from rankadjust.literature.rescore import rescore
from rankadjust.literature.result_files import read_results, rows_about


def literature(
    own: Sequence[str],
    tables: Sequence[str],
    database: str,
    released: str,
    registry: Sequence[str],
    output: str,
) -> None:
    constants = Constants.from_files(database).over_file(released)
    datasets = load_registry(*registry)
    results = [read_product(path, "rescored") for path in own]
    evaluations = pl.concat([frame.select(EVALUATION) for frame in results]).unique()
    wanted = set(evaluations["dataset"].drop_nulls())
    printed = [rows_about(wanted, read_results(path, datasets).rows, datasets) for path in tables]
    rescored = mapped_together(lambda rows: rescore(rows, constants, registry=datasets), printed)
    rows = pl.concat(rescored, how="diagonal_relaxed")
    same = rows.join(evaluations, on=EVALUATION, how="semi", maintain_order="left")
    write_product(add_full_bounds(same, constants), output, "rescored")


if __name__ == "__main__":
    with logged(snakemake):
        given, output = snakemake.input, snakemake.output[0]
        literature(given.own, given.tables, given.database[0], given.released[0], given.registry, output)
