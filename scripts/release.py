"""Write the release, once it is found whole and sound, as a folder to be published."""

from pathlib import Path

from scripts.job import logged

from rankadjust.counting.protocols import load_benchmarks, load_protocols
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.database.verification import require_baselines, require_complete, require_sound
from rankadjust.output.deposit import write_deposit


def release(database: str, folder: Path) -> None:
    constants = Constants.from_files(database)
    registry = load_registry()
    held = constants.table.select("dataset", "protocol").unique().iter_rows()
    require_complete(held, registry, load_protocols(), load_benchmarks())
    require_baselines(constants.baselines, registry, load_protocols())
    require_sound(constants.table)
    write_deposit(constants, constants.datasets, registry, folder)


if __name__ == "__main__":
    with logged(snakemake):
        release(snakemake.input.database[0], Path(snakemake.output[0]).parent)
