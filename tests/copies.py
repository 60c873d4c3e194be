"""A copy of the project, to be run or edited, with few of the shipped tables: runs re-score those that are there."""

import shutil
from collections.abc import Collection
from pathlib import Path

from rankadjust.base.io import SUMS, write_sums

PROJECT = Path(__file__).parents[1]
PARTS = (
    "Snakefile",
    "Makefile",
    "workflow",
    "scripts",
    "rankadjust",
    "config",
    "resources",
    "profiles",
    "benchmarks",
)
# Full, sampled, inductive and temporal evaluations; letters beyond ASCII; FB15k-237 and Nations. All tables together
# are re-scored in tests/unit/literature, and in tests/browser by the scripts of a run.
FEW = ("conve", "hake", "nbfnet", "nodepiece", "rotate", "tkbi")
# What a run in this checkout has fetched is no part of the project; neither does a run read what tables came from.
_LEFT_OUT = shutil.ignore_patterns("datasets", "downloads", "raw")


def copy_project(folder: Path, tables: Collection[str] = FEW) -> Path:
    """Copy the project into a folder; return it."""
    folder.mkdir(exist_ok=True)
    for part in PARTS:
        if (PROJECT / part).is_dir():
            shutil.copytree(PROJECT / part, folder / part, ignore=_LEFT_OUT)
        else:
            shutil.copy(PROJECT / part, folder / part)
    published = folder / "resources" / "published"
    kept = [published / f"{name}.csv" for name in sorted(tables)]
    for path in published.glob("*.csv"):
        if path not in kept:
            path.unlink()
    write_sums(kept, published / SUMS)
    return folder
