"""Write the release, once it is found whole and sound, as a folder to be published."""

from pathlib import Path

from scripts.job import job

from rankadjust.base.stages import check_sums
from rankadjust.counting.protocols import load_benchmarks, load_protocols
from rankadjust.data.registry import load_registry
from rankadjust.database.beside import load_datasets
from rankadjust.database.constants import Constants
from rankadjust.database.release import require_baselines, require_complete, require_sound
from rankadjust.output.deposit import write_deposit


def release(database: str, baselines: str, datasets: str, candidates: str, folder: Path) -> None:
    check_sums(database, baselines, datasets, candidates)
    constants = Constants.from_files(database, candidates)
    registry = load_registry()
    held = constants.table.select("dataset", "protocol").unique().iter_rows()
    require_complete(held, registry, load_protocols(), load_benchmarks())
    require_baselines(constants.baselines, registry, load_protocols())
    require_sound(constants.table)
    write_deposit(constants, load_datasets(datasets), registry, folder)


if __name__ == "__main__":
    with job(snakemake):
        release(
            snakemake.input.database,
            snakemake.input.baselines,
            snakemake.input.datasets,
            snakemake.input.candidates,
            Path(snakemake.output[0]).parent,
        )
