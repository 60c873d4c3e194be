"""The release as a folder to be published: made by the workflow, the same bytes again, adopted by the project."""

import os
import subprocess
import sys

import pytest

from rankadjust.base.io import SUMS, read_sums, sha256_of
from rankadjust.database.store import load_database
from rankadjust.database.verification import verify
from rankadjust.output.deposit import TABLES, TEXTS
from tests.copies import PROJECT, copy_project
from tests.tiny import write_tiny

pytestmark = pytest.mark.slow

CONFIG = "{datasets: [Tiny], protocols: [filtered, pykeen], metrics: [mr, gmr, median_rank], tables: []}\n"


def release(project, folder, cores, **environment):
    """Run the target `release` in a folder; return what it wrote."""
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("RANKADJUST", "PYTHONPATH"))
    }
    command = [sys.executable, "-m", "snakemake", "--snakefile", project / "Snakefile", "--cores", str(cores)]
    folder.mkdir(exist_ok=True)
    (folder / "run.yaml").write_text(CONFIG)
    done = subprocess.run(
        [*map(str, command), "release", "--configfile", "run.yaml"],
        cwd=folder,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return folder / "results" / "release"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the project that registers one data set, which nobody has verified: it may be released."""
    folder = copy_project(tmp_path_factory.mktemp("release") / "project")
    write_tiny(folder / "config", "datasets.yaml")
    return folder


@pytest.fixture(scope="module")
def made(project):
    return release(project, project, cores=2)


def test_the_folder_holds_what_is_to_be_published(made):
    assert {path.name for path in made.iterdir()} == {*TABLES, *TEXTS, SUMS}
    assert [one.verdict for one in verify(made, made.parent / "database")] == ["identical"] * 3
    assert "Tiny" in load_database(made / "adjustments.parquet")["dataset"].unique()


def test_one_core_and_another_processor_give_the_same_bytes(made, project, tmp_path):
    settings = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "2"}
    again = release(project, tmp_path / "elsewhere", cores=1, **settings)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in made.iterdir()
    }


def test_adopt_takes_the_tables_that_the_library_reads(made, project):
    # The copy has no environment of its own; make takes the library that stands in the copy.
    command = ["make", "adopt", f"VENV={sys.prefix}"]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    adopted = project / "resources" / "database"
    assert {path.name for path in adopted.iterdir()} == {
        "README.md",
        "SHA256SUMS",
        "adjustments.csv.gz",
        "adjustments.parquet",
        "baselines.parquet",
        "candidates.parquet",
        "datasets.tsv",
        "metric_adjustments.tsv.gz",
    }
    tables = [path for path in adopted.iterdir() if path.name not in ("README.md", SUMS)]
    assert read_sums(adopted / SUMS) == {path.name: sha256_of(path) for path in tables}
    assert [one.verdict for one in verify(made, adopted)] == ["identical"] * 3
    assert (adopted / "README.md").read_bytes() == (
        PROJECT / "resources" / "database" / "README.md"
    ).read_bytes()
