"""Write the release: database, candidate histograms, data set counts, and the layout that PyKEEN's users have."""

import shutil
from pathlib import Path

from scripts.job import job

from rankadjust.base.files import atomic_path, write_tsv
from rankadjust.counting.protocols import load_benchmarks, load_protocols
from rankadjust.data.registry import load_registry
from rankadjust.database.release import pykeen_layout, require_complete, require_sound
from rankadjust.database.store import load_database


def release(database: str, tsv: str, datasets: str, candidates: str, folder: Path) -> None:
    rows = load_database(database)
    registry = load_registry()
    require_complete(rows, registry, load_protocols(), load_benchmarks())
    require_sound(rows)
    for path in (database, tsv, datasets, candidates):
        with atomic_path(folder / Path(path).name) as copy:
            shutil.copyfile(path, copy)
    write_tsv(pykeen_layout(rows, registry), folder / "metric_adjustments.tsv.gz")


if __name__ == "__main__":
    with job(snakemake):
        release(
            snakemake.input.database,
            snakemake.input.tsv,
            snakemake.input.datasets,
            snakemake.input.candidates,
            Path(snakemake.output[0]).parent,
        )
