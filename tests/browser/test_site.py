"""The site in a real browser: every kind of page, on a phone and a desk, light and dark, under its policy."""

import pytest

from harness.chromium import Pages, runs_foreign_script, scrolls_sideways, violations

site_main = pytest.importorskip("harness.site.__main__", reason="what the site needs is not installed")
ADDRESS = pytest.importorskip("harness.site.pages").ADDRESS
literature = pytest.importorskip("harness.site.literature").literature

KINDS = ("", "d/", "d/WN18RR/", "d/Nations/", "p/", "p/hake/", "docs/tables/")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the site of a few sources: most of WN18RR, and models among sampled negatives."""
    folder = tmp_path_factory.mktemp("site") / "site"
    site_main.main(literature("hake", "kgemb", "rotate", "nodepiece"), folder)
    return folder


@pytest.fixture(scope="module")
def open_page(browser, site):
    pages = Pages(browser, (ADDRESS, site))
    yield pages
    pages.close()
    assert pages.problems == []


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1440, "dark")])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_page_fits_and_is_accessible(open_page, kind, width, scheme):
    page = open_page(kind, width, scheme)
    assert page.locator("h1").count() == 1
    for details in page.locator("main details:not([open]) > summary").all():
        if details.is_visible():
            details.click()
    assert not scrolls_sideways(page)
    assert violations(page) == []
    page.close()


def test_the_search_finds_a_data_set_under_the_policy(open_page):
    page = open_page("")
    page.locator("#question[data-ready]").wait_for()
    loaded = "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('search_index.json'))"
    assert not page.evaluate(loaded)
    page.locator(".md-search__input").fill("WN18RR")
    page.locator(".md-search-result__link[href*='d/WN18RR/']").first.wait_for()


def test_the_policy_lets_no_other_script_run_and_nothing_leave(browser, site):
    pages = Pages(browser, (ADDRESS, site), keep_policy=True)
    page = pages("d/WN18RR/")
    assert not runs_foreign_script(page)
    assert page.evaluate("fetch('https://example.org').then(() => 'left', () => 'kept')") == "kept"
    pages.close()
    assert pages.problems
    assert all("Content Security Policy" in problem for problem in pages.problems)


def test_the_board_of_a_data_set_is_on_the_first_screen_and_others_are_folded(open_page):
    page = open_page("d/WN18RR/", 1280)
    page.locator("#question[data-ready]").wait_for()
    rows = page.locator("table.board").first.locator("tbody tr:not([hidden])")
    assert rows.nth(2).bounding_box()["y"] < 800
    folded = page.locator("details.apart:not([open]) table.board")
    assert folded.count() >= 1
    assert not folded.first.is_visible()


def test_the_first_page_answers_with_the_numbers_of_the_data_set(open_page):
    page = open_page("", 1280)
    page.locator("#question[data-ready]").wait_for()
    page.locator("[name=dataset]").fill("wn18rr")
    page.locator("[name=value]").fill("0.48")
    page.get_by_text("Counting training triples alone reaches 0.3719").wait_for()
    assert page.locator("#sentence").bounding_box()["y"] < 800
    assert page.locator(".tiles a").first.is_visible()
    page.locator("#names-filter").fill("nations")
    assert page.locator(".names a:not([hidden])").all_inner_texts() == ["Nations"]
