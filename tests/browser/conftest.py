"""Fixtures of the tests in a real browser: page_of, and pages to look at."""

from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from harness.chromium import INSTALL, Pages, chromium, installed
from tests.browser.reports import hostile_table, write_report
from tests.release import make_release

MINE = """dataset,model,metric,value
Nations,Our model,MRR,0.812
Nations,Our model,Hits@10,0.991
Kinships,Our model,MRR,0.691
FB15k-237,Our model,MRR,0.358
FB15k-237,Our model,Hits@10,0.544
"""


def pytest_collection_modifyitems(items):
    """Every test in this folder needs a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser():
    """Return a headless Chromium; where there is none, the tests are skipped and say how to install it."""
    if installed() is None:
        pytest.skip(f"there is no Chromium; {INSTALL}")
    with chromium() as running:
        yield running


def opening(browser):
    pages = Pages(browser)
    yield pages
    pages.close()
    assert pages.problems == []


@pytest.fixture
def page_of(browser):
    """Return a function that opens a file: page_of(path, width=1600, scheme="light", address="view=leaderboard").

    The test fails where a page had an error or asked for anything that is not a local file.
    """
    yield from opening(browser)


@pytest.fixture(scope="module")
def shared_page_of(browser):
    """Return the same function for a page that all tests of a module share; its errors show after the last of them."""
    yield from opening(browser)


@pytest.fixture(scope="session")
def once(tmp_path_factory, request):
    """Return a function that makes a report in a folder of this name, once for all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if hasattr(request.config, "workerinput") else base

    def made(name, write):
        folder = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            flock(lock, LOCK_EX)
            if not (folder / "report.html").exists():
                write(folder)
        return folder / "report.html"

    return made


@pytest.fixture(scope="session")
def literature_page(once, project):
    """Return the report of a run with all released data sets and all shipped tables."""
    released = project / "resources" / "database" / "adjustments.parquet"
    tables = sorted((project / "resources" / "published").glob("*.csv"))
    return once("literature", lambda folder: write_report(folder, released, released, tables))


@pytest.fixture(scope="session")
def small_database(tmp_path_factory):
    """Return the database of a small run, with candidates.parquet and datasets.tsv beside it."""
    return make_release(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def page_without_tables(once, small_database, project):
    """Return the report of a small run that re-scores nothing."""
    released = project / "resources" / "database" / "adjustments.parquet"
    return once("no-tables", lambda folder: write_report(folder, small_database, released, []))


@pytest.fixture(scope="session")
def small_page(once, small_database, tmp_path_factory, project):
    """Return the report of a small run with one table of its own."""
    table = tmp_path_factory.mktemp("small-report") / "mine.csv"
    table.write_text(MINE, encoding="utf-8")
    released = project / "resources" / "database" / "adjustments.parquet"
    return once("small", lambda folder: write_report(folder, small_database, released, [table], own=["mine"]))


@pytest.fixture(scope="session")
def hostile_page(once, small_database, tmp_path_factory, project):
    """Return the report of a small run whose table of its own holds hostile names."""
    table = hostile_table(tmp_path_factory.mktemp("hostile") / "hostile.csv")
    released = project / "resources" / "database" / "adjustments.parquet"
    return once(
        "hostile", lambda folder: write_report(folder, small_database, released, [table], own=["hostile"])
    )
