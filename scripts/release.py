"""Write the release, once it is found sound, as a folder to be published."""

from pathlib import Path

from scripts.job import logged

from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.database.verification import require_sound
from rankadjust.output.deposit import write_deposit


def release(database: str, folder: Path) -> None:
    constants = Constants.from_files(database)
    require_sound(constants.table)
    write_deposit(constants, constants.datasets, load_registry(), folder)


if __name__ == "__main__":
    with logged(snakemake):
        release(snakemake.input.database[0], Path(snakemake.output[0]).parent)
