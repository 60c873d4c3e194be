"""Re-score tables of published results with the run's database, and the released one where that has no row."""

import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged, tell

from rankadjust.base.errors import visible
from rankadjust.base.frames import mapped_together
from rankadjust.base.io import write_csv, write_product, write_text
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.literature.full_ranking import add_full_bounds
from rankadjust.literature.rescore import rescore, summary
from rankadjust.literature.result_files import read_results
from rankadjust.literature.statuses import problems
from rankadjust.output.markup import readable, to_markdown
from rankadjust.output.reading_text import describe


def rescore_tables(
    tables: Sequence[str], database: str, released: str, registry: Sequence[str], folder: Path
) -> None:
    constants = Constants.from_files(database).over_file(released)
    datasets = load_registry(*registry)
    results = [read_results(table, datasets) for table in tables]
    rescored = mapped_together(
        lambda rows: add_full_bounds(rescore(rows, constants, registry=datasets), constants),
        [result.rows for result in results],
    )
    for table, result, rows in zip(map(Path, tables), results, rescored, strict=True):
        understood = [] if result.reading is None else describe(result.reading).splitlines()
        for line in [*understood, *problems(rows)]:
            sys.stderr.write(f"{visible(line)}\n")
        write_product(rows, folder / f"{table.stem}.parquet", "rescored")
        write_csv(rows, folder / f"{table.stem}.csv")
        shown = folder / f"{table.stem}.md"
        write_text(to_markdown(readable(rows)), shown)
        tell(f"{summary(rows)}; {shown}")


if __name__ == "__main__":
    with logged(snakemake):
        given, folder = snakemake.input, Path(snakemake.output[0]).parent
        rescore_tables(given.tables, given.database[0], given.released[0], given.registry, folder)
