"""The database of a run by the folder of its results, and what is said where there is none."""

import re

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.database.runs import database_of_run

FILES = ("adjustments.parquet", "candidates.parquet", "datasets.tsv")


@pytest.fixture
def results(tmp_path):
    """Return a folder with the names that a finished run leaves; what is in the files does not matter here."""
    folder = tmp_path / "results"
    (folder / "logs").mkdir(parents=True)
    (folder / "database").mkdir()
    for name in FILES:
        (folder / "database" / name).touch()
    return folder


def test_the_database_of_a_finished_run(results):
    assert database_of_run(results) == results / "database" / "adjustments.parquet"
    assert database_of_run(str(results)) == results / "database" / "adjustments.parquet"


def refused(folder, message):
    with pytest.raises(RankadjustError, match=f"^{re.escape(f'{folder}: {message}')}"):
        database_of_run(folder)


@pytest.mark.parametrize("name", FILES)
def test_an_unfinished_run_names_what_is_missing(results, name):
    (results / "database" / name).unlink()
    refused(results, f"the run is not finished, database/{name} is missing; the same snakemake line again")


def test_a_run_that_failed_before_its_database(results):
    for name in FILES:
        (results / "database" / name).unlink()
    refused(results, "the run is not finished, database/adjustments.parquet is missing")


def test_a_folder_near_by_is_told_from_the_folder_of_results(results):
    for folder in (results.parent, results / "database"):
        refused(folder, f"this is not the folder of results itself; give {results}")


def test_no_run_at_all(tmp_path):
    refused(tmp_path / "results", "there is no such folder; give the folder results")
    # A fresh checkout has the folder, with nothing but a README.
    (tmp_path / "results").mkdir()
    refused(tmp_path / "results", "no run has written its results here; 'snakemake --cores all'")
