"""Re-score tables of published results with the run's database, and the released one where that has no row."""

import sys
from pathlib import Path

from scripts.job import run

from rankadjust.base.errors import visible
from rankadjust.base.io import SUM, write_csv, write_sums, write_text
from rankadjust.base.stages import RESCORED, check_sums, write_product
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.database.store import BASELINES, CANDIDATES, beside_database
from rankadjust.literature.full_ranking import add_full_bounds
from rankadjust.literature.rescore import rescore, summary
from rankadjust.literature.result_files import read_results
from rankadjust.literature.statuses import problems
from rankadjust.output.markup import readable, to_markdown


def rescore_tables(
    tables: list[str], database: str, released: str, registry: list[str], folder: Path
) -> None:
    check_sums(database, *(beside_database(database, name) for name in (BASELINES, CANDIDATES)))
    constants = Constants.from_files(database).over_file(released)
    datasets = load_registry(*registry)
    for table in map(Path, tables):
        results = read_results(table, datasets)
        rescored = add_full_bounds(rescore(results.rows, constants, registry=datasets), constants)
        for line in [*results.understood.splitlines(), *problems(rescored)]:
            print(visible(line), file=sys.stderr)  # noqa: T201 - standard error is the job's log
        product, delimited, shown = (folder / f"{table.stem}.{form}" for form in ("parquet", "csv", "md"))
        write_product(rescored, product, RESCORED, table.stem)
        write_csv(rescored, delimited)
        write_text(to_markdown(readable(rescored)), shown)
        write_sums([product, delimited, shown], folder / f"{table.stem}{SUM}")
        for stream in (sys.stderr, sys.stdout):
            print(f"{summary(rescored)}; {shown}", file=stream)


if __name__ == "__main__":
    run(snakemake, rescore_tables, folder=Path(snakemake.output[0]).parent)
