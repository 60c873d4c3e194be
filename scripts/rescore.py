"""Re-score tables of published results with the run's database, and the released one where that has no row."""

import sys
from collections import defaultdict
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
    alike = defaultdict(dict)
    for table in map(Path, tables):
        results = read_results(table, datasets)
        alike[tuple(results.rows.schema.items())][table.stem] = results
    # Tables with the same columns are one to rescore, which takes less than half as long as each by itself.
    for tables_alike in alike.values():
        rows = [results.rows.with_columns(_table=pl.lit(name)) for name, results in tables_alike.items()]
        rescored = add_full_bounds(rescore(pl.concat(rows), constants, registry=datasets), constants)
        for name, results in tables_alike.items():
            part = rescored.filter(pl.col("_table") == name).drop("_table")
            understood = [] if results.reading is None else describe(results.reading).splitlines()
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
