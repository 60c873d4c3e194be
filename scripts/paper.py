"""Make of a table what a paper needs; of one without adjusted values check.md says why there is nothing else."""

from collections.abc import Sequence
from pathlib import Path

from scripts.job import logged

from rankadjust.base.io import write_text
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.literature.result_files import read_results
from rankadjust.manuscript.paper import NothingAdjustedError, paper_of_results


def paper(table: str, database: str, released: str, registry: Sequence[str], folder: Path) -> None:
    constants = Constants.from_files(database).over_file(released)
    datasets = load_registry(*registry)
    try:
        made = paper_of_results(Path(table), read_results(table, datasets), constants, datasets)
        made.write(folder)
    except NothingAdjustedError as reason:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(f"# Check\n\n{reason}\n", folder / "check.md")


if __name__ == "__main__":
    with logged(snakemake):
        given, folder = snakemake.input, Path(snakemake.output[0])
        paper(given.table, given.database[0], given.released[0], given.registry, folder)
