"""Fixtures of the tests in a real browser: page_of, and pages to look at."""

from pathlib import Path

import pytest

from harness.chromium import INSTALL, Pages, chromium, installed
from tests.browser.reports import write_report
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


@pytest.fixture
def page_of(browser):
    """Return a function that opens a file: page_of(path, width=1600, scheme="light", address="view=leaderboard").

    The test fails where a page had an error or asked for anything that is not a local file.
    """
    pages = Pages(browser)
    yield pages
    pages.close()
    assert pages.problems == []


@pytest.fixture(scope="session")
def literature_page(tmp_path_factory, project):
    """Return the report of a run with all released data sets and all shipped tables."""
    released = project / "resources" / "database" / "adjustments.parquet"
    tables = sorted((project / "resources" / "published").glob("*.csv"))
    return write_report(tmp_path_factory.mktemp("literature"), released, released, tables)


@pytest.fixture(scope="session")
def small_database(tmp_path_factory):
    """Return the database of a small run, with candidates.parquet and datasets.tsv beside it."""
    return make_release(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def page_without_tables(small_database, tmp_path_factory, project):
    """Return the report of a small run that re-scores nothing."""
    released = project / "resources" / "database" / "adjustments.parquet"
    return write_report(tmp_path_factory.mktemp("no-tables") / "made", small_database, released, [])


@pytest.fixture(scope="session")
def small_page(small_database, tmp_path_factory, project):
    """Return the report of a small run with one table of its own."""
    folder = tmp_path_factory.mktemp("small-report")
    table = folder / "mine.csv"
    table.write_text(MINE, encoding="utf-8")
    released = project / "resources" / "database" / "adjustments.parquet"
    return write_report(folder / "made", small_database, released, [table], own=["mine"])
