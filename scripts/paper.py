"""Make of a table what a paper needs; of one without adjusted values check.md says why there is nothing else."""

from pathlib import Path

from scripts.job import run

from rankadjust.base.io import SUMS, write_sums, write_text
from rankadjust.base.stages import check_sums
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.database.store import BASELINES, CANDIDATES, beside_database
from rankadjust.literature.result_files import read_results
from rankadjust.manuscript.paper import NothingAdjustedError, paper_of_results, with_figures


def paper(table: str, database: str, released: str, registry: list[str], folder: Path) -> None:
    check_sums(database, *(beside_database(database, name) for name in (BASELINES, CANDIDATES)))
    constants = Constants.from_files(database).over_file(released)
    datasets = load_registry(*registry)
    try:
        made = paper_of_results(Path(table), read_results(table, datasets), constants, datasets)
        with_figures(made).write(folder)
    except NothingAdjustedError as reason:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(f"# Check\n\n{reason}\n", folder / "check.md")
    write_sums(sorted(folder.iterdir()), folder / SUMS)


if __name__ == "__main__":
    run(snakemake, paper, folder=Path(snakemake.output[0]))
