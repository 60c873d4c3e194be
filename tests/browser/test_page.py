"""The report as a whole: no error and no request, at every width, on paper, whatever the names hold."""

import itertools
import re

import pytest

from harness.chromium import Pages, runs_foreign_script, scrolls_sideways, violations
from rankadjust.base.version import REGISTRY_DATE, VERSION
from tests.browser.reports import HOSTILE

pytestmark = pytest.mark.browser

MOST_BYTES = 1_500_000
MOST_SHEETS = 10


def settled(page):
    page.locator("#question[data-ready]").wait_for()
    return page


def test_the_report_fits_every_width(page_of, literature_page):
    page = settled(page_of(literature_page, 360))
    assert page.locator("h1").count() == 1
    for width in (360, 390, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert not scrolls_sideways(page), width
    levels = page.locator("h1, h2, h3, h4").evaluate_all("found => found.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_the_report_is_small_and_prints_on_few_sheets(page_of, literature_page):
    assert literature_page.stat().st_size < MOST_BYTES
    page = settled(page_of(literature_page, 800, "dark"))
    page.emulate_media(media="print", color_scheme="light")
    printed = page.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= MOST_SHEETS


def test_a_run_without_tables_has_a_page(page_of, page_without_tables):
    page = settled(page_of(page_without_tables, 390))
    assert page.locator("section").count() == 0
    assert page.locator("#question").is_visible()
    assert not scrolls_sideways(page)
    assert violations(page) == []


def test_hostile_names_do_nothing(page_of, hostile_page):
    """Each name stands in every part of an address."""
    page = settled(page_of(hostile_page, address=hostile_address(HOSTILE[0])))
    for name in HOSTILE:
        page.evaluate("address => { location.hash = address }", hostile_address(name))
        # The page has heard of the new address when a later task runs.
        page.evaluate("new Promise(done => setTimeout(done))")
    assert page.evaluate("typeof pwned + typeof attacked") == "undefinedundefined"
    assert page.locator("img, [onmouseover], [onerror]").count() == 0
    # No script that runs came from a name; the names are in scripts of data, which do not.
    running = page.evaluate(
        "[...document.scripts].filter(one => ['', 'module'].includes(one.type)).map(one => one.textContent)"
    )
    assert running
    assert not [text for text in running if "pwned" in text or "attacked" in text]
    text = hostile_page.read_text(encoding="utf-8")
    assert HOSTILE[0] not in text
    assert HOSTILE[2] not in text


def hostile_address(name):
    """Return an address with a name in each of its parts, encoded byte by byte."""
    encoded = "".join(f"%{byte:02x}" for byte in name.encode())
    return "&".join(f"{part}={encoded}" for part in ("dataset", "metric", "value", "evaluation"))


def test_nothing_leaves_the_browser_and_no_other_script_runs(browser, page_without_tables):
    """The page's own Content-Security-Policy forbids both, whatever else were in it; what is its own works under it."""
    pages = Pages(browser, keep_policy=True)
    page = pages(page_without_tables, address="dataset=Nations&value=0.43")
    page.locator("#strip .you").first.wait_for()
    assert not runs_foreign_script(page)
    assert page.evaluate("fetch('data:,x').then(() => 'left', () => 'kept')") == "kept"
    pages.close()
    assert all("Content Security Policy" in problem for problem in pages.problems)


def test_the_foot_says_version_date_licence_and_paper(page_of, small_page):
    text = settled(page_of(small_page)).locator("footer").inner_text()
    assert [
        said for said in (VERSION, REGISTRY_DATE, "MIT", "CC0", "arXiv:2203.07544") if said not in text
    ] == []


def test_an_error_and_a_request_are_noticed(browser, tmp_path):
    """Without this test the fixture that fails on those could be deaf."""
    file = tmp_path / "bad.html"
    file.write_text(
        "<!doctype html><title>bad</title><img src='http://127.0.0.1:9/a.png'>"
        "<script>console.error('said'); setTimeout(() => { throw new Error('thrown') })</script>",
        encoding="utf-8",
    )
    pages = Pages(browser)
    page, noticed = pages(file), set()
    for _ in range(6000):
        # Playwright passes events on while it waits; after a minute nothing more is to be expected.
        noticed = {problem.split(":")[0] for problem in pages.problems}
        if len(noticed) == 3:
            break
        page.wait_for_timeout(10)
    pages.close()
    assert noticed == {"console", "error", "request"}
