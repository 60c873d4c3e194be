"""Re-score the shipped literature for the evaluations of the user's own tables, to show the two beside each other."""

from collections.abc import Mapping, Sequence

from scripts.job import logged

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.stages import read_product, write_product
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.data.registry import Dataset, load_registry, resolve_dataset
from rankadjust.database.constants import Constants
from rankadjust.literature.full_ranking import add_full_bounds
from rankadjust.literature.rescore import rescore
from rankadjust.literature.result_files import read_results


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
    printed = [_about(read_results(path, datasets).rows, wanted, datasets) for path in tables]
    rows = pl.concat(
        [rescore(table, constants, registry=datasets) for table in printed], how="diagonal_relaxed"
    )
    same = rows.join(evaluations, on=EVALUATION, how="semi", maintain_order="left")
    write_product(add_full_bounds(same, constants), output, "rescored")


def _about(rows: pl.DataFrame, wanted: set[str], registry: Mapping[str, Dataset]) -> pl.DataFrame:
    """Return the rows about these data sets, whatever a table calls them; all rows take ten times as long."""
    names = [name for name in rows["dataset"].unique() if name in wanted or _name(name, registry) in wanted]
    return rows.filter(pl.col("dataset").is_in(names))


def _name(name: str, registry: Mapping[str, Dataset]) -> str | None:
    try:
        return resolve_dataset(name, registry).name
    except RankadjustError:
        return None


if __name__ == "__main__":
    with logged(snakemake):
        literature(
            snakemake.input.own,
            snakemake.input.tables,
            snakemake.input.database[0],
            snakemake.input.released[0],
            snakemake.input.registry,
            snakemake.output[0],
        )
