"""Re-score tables of published results with the run's database, and the released one where that has no row."""

import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged, tell

import polars as pl

from rankadjust.base.errors import visible
from rankadjust.base.io import write_csv, write_product, write_text
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.literature.full_ranking import add_full_bounds
from rankadjust.literature.rescore import rescore, summary
from rankadjust.literature.result_files import read_results
from rankadjust.literature.statuses import problems
from rankadjust.output.markup import readable, to_markdown
from rankadjust.tables.account import describe


def rescore_tables(
    tables: Sequence[str], database: str, released: str, registry: Sequence[str], folder: Path
) -> None:
    constants = Constants.from_files(database).over_file(released)
    datasets = load_registry(*registry)
    results = {Path(table).stem: read_results(Path(table), datasets) for table in tables}
    rows = [result.rows.with_columns(_table=pl.lit(name)) for name, result in results.items()]
    # All tables at once take less than half as long as one after the other.
    rescored = rescore(pl.concat(rows, how="diagonal_relaxed"), constants, registry=datasets)
    rescored = add_full_bounds(rescored, constants)
    of_tables = {name for result in results.values() for name in result.rows.columns} | {"_table"}
    for name, result in results.items():
        own = [
            column for column in rescored.columns if column in result.rows.columns or column not in of_tables
        ]
        part = rescored.filter(pl.col("_table") == name).select(own)
        understood = [] if result.reading is None else describe(result.reading).splitlines()
        for line in [*understood, *problems(part)]:
            print(visible(line), file=sys.stderr)  # noqa: T201 - standard error is the job's log
        write_product(part, folder / f"{name}.parquet", "rescored")
        write_csv(part, folder / f"{name}.csv")
        shown = folder / f"{name}.md"
        write_text(to_markdown(readable(part)), shown)
        tell(f"{summary(part)}; {shown}")


if __name__ == "__main__":
    with logged(snakemake):
        given, folder = snakemake.input, Path(snakemake.output[0]).parent
        rescore_tables(given.tables, given.database[0], given.released[0], given.registry, folder)
