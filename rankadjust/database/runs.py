"""The database of a run of the workflow, found by the folder of its results."""

from pathlib import Path

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import SUMS
from rankadjust.base.stages import check_sums
from rankadjust.database.beside import CANDIDATES, DATASETS
from rankadjust.database.counted_baselines import BASELINES

DATABASE = "adjustments.parquet"
_FOLDER = "database"
# Any job that was started has left a log, also one that failed.
_LOGS = "logs"


def database_of_run(results: str | Path) -> Path:
    """Return the database file of a run; candidates.parquet and datasets.tsv are beside it.

    results: the folder `results` that the workflow writes. Raises RankadjustError if it is another kind of folder,
    the run has not finished, or a file of its database was changed since.
    """
    results = Path(results)
    missing = _missing(results)
    if not missing:
        folder = results / _FOLDER
        # Runs of earlier versions have left no digests.
        if (folder / SUMS).is_file():
            files = [folder / name for name in (DATABASE, CANDIDATES, DATASETS, BASELINES)]
            # Runs of earlier versions have no baselines.
            check_sums(*(file for file in files if file.name != BASELINES or file.exists()))
        return folder / DATABASE
    for meant in (results / "results", results.parent):
        if not _missing(meant):
            raise RankadjustError(f"{results}: this is not the folder of results itself; give {meant}")
    if not results.is_dir():
        raise RankadjustError(
            f"{results}: there is no such folder; give the folder results that a run has written"
        )
    if len(missing) == 3 and not (results / _LOGS).is_dir():
        raise RankadjustError(
            f"{results}: no run has written its results here; 'snakemake --cores all' with the option "
            "--config datasets=NAME makes a run"
        )
    raise RankadjustError(
        f"{results}: the run is not finished, {_FOLDER}/{missing[0]} is missing; the same snakemake line "
        "again goes on with it"
    )


def _missing(results: Path) -> list[str]:
    return [name for name in (DATABASE, CANDIDATES, DATASETS) if not (results / _FOLDER / name).is_file()]
