"""The figures of the page, drawn in a real browser: at both widths, in both schemes, on paper, and without scripts."""

import re

import pytest

from harness.chromium import scrolls_sideways, violations
from rankadjust.page.look import SCHEMES

pytestmark = pytest.mark.browser

# The case study is audited by a rule of its own, which these pages are made without.
OF_LITERATURE = ["chance-share", "adjustment", "null-ratio"]
WIDTH_MISSED = 16


def shown(page, name, scheme):
    """Scroll to a figure, wait until it is drawn in a scheme, and return its drawing."""
    page.locator(f"#figure-{name}").scroll_into_view_if_needed()
    return page.wait_for_selector(f'#figure-{name} .drawing[data-drawn="{scheme}"] svg')


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_every_figure_is_drawn_and_fits(page_of, literature_page, width, scheme):
    page = page_of(literature_page, width, scheme)
    assert [figure.get_attribute("id") for figure in page.locator("figure.chart").all()] == [
        f"figure-{name}" for name in OF_LITERATURE
    ]
    for name in OF_LITERATURE:
        drawing = shown(page, name, scheme)
        wide, room = drawing.evaluate(
            "svg => [svg.getBoundingClientRect().width, svg.closest('.drawing').clientWidth]"
        )
        assert room - WIDTH_MISSED < wide <= room + 1, name
        marks = drawing.query_selector_all(".mark-symbol path, .mark-rect path")
        assert len(marks) > 3, name
    assert not scrolls_sideways(page)


def test_colours_are_those_of_the_scheme_and_follow_it(page_of, small_page):
    page = page_of(small_page, 1600, "light")
    assert SCHEMES["light"].category[0] in shown(page, "null-ratio", "light").inner_html()
    page.emulate_media(color_scheme="dark")
    drawing = shown(page, "null-ratio", "dark").inner_html()
    assert SCHEMES["dark"].category[0] in drawing
    assert SCHEMES["light"].category[0] not in drawing


def test_a_figure_follows_the_width_of_the_window(page_of, small_page):
    page = page_of(small_page, 1600)
    before = shown(page, "null-ratio", "light").bounding_box()["width"]
    page.set_viewport_size({"width": 500, "height": 900})
    # The text above is longer in a narrow window, and only figures near the window are drawn again.
    page.locator("#figure-null-ratio").scroll_into_view_if_needed()
    page.wait_for_function(
        "document.querySelector('#figure-null-ratio svg').width.baseVal.value <= 500", timeout=10_000
    )
    assert before > 1000


def test_a_figure_can_be_kept_as_svg_png_and_data(page_of, small_page):
    page = page_of(small_page)
    shown(page, "null-ratio", "light")
    begins = {"svg": b"<svg", "png": b"\x89PNG", "json": b'{"'}
    for kind, start in begins.items():
        with page.expect_download() as waiting:
            page.locator(f"#figure-null-ratio [data-keep={kind}]").click()
        assert waiting.value.suggested_filename == f"null-ratio.{kind}"
        assert waiting.value.path().read_bytes().startswith(start)


def test_figures_are_drawn_when_they_come_near_and_not_before(page_of, small_page):
    page = page_of(small_page, 400)
    shown(page, page.locator("figure.chart").first.get_attribute("id").removeprefix("figure-"), "light")
    assert page.locator(".drawing[data-drawn]").count() < page.locator(".drawing").count()


def test_on_paper_every_figure_is_there_dark_on_white(page_of, small_page):
    page = page_of(small_page, 1600, "dark")
    page.wait_for_function("performance.getEntriesByName('figures-ready').length > 0")
    # After the page's own listener, which was there first: what it has drawn by then comes on paper.
    page.evaluate(
        "addEventListener('beforeprint', () => {"
        " window.printed = [...document.querySelectorAll('.drawing')]"
        ".map((drawing) => [drawing.dataset.drawn, drawing.querySelector('svg') !== null]); })"
    )
    assert len(page.pdf()) > 20_000
    printed = page.evaluate("window.printed")
    assert len(printed) > 5
    assert printed == [["light", True]] * len(printed)
    shown(page, "chance-share", "dark")


def test_figures_that_come_near_while_it_prints_are_not_drawn_for_the_screen(page_of, small_page):
    page = page_of(small_page, 1600, "dark")
    shown(page, "chance-share", "dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for figure in page.locator("figure.chart").all():
        figure.scroll_into_view_if_needed()
        # Two frames: after them, the browser has told the page what came near.
        page.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
    drawn = page.locator(".drawing[data-drawn]")
    page.wait_for_function("document.querySelectorAll('.drawing:not([data-drawn])').length === 0")
    assert {figure.get_attribute("data-drawn") for figure in drawn.all()} == {"light"}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    shown(page, "chance-share", "dark")


def test_figures_have_words_for_those_who_do_not_see_them(page_of, small_page):
    page = page_of(small_page)
    for figure in page.locator("figure.chart").all():
        drawing = figure.locator(".drawing")
        assert drawing.get_attribute("role") == "img"
        assert len(drawing.get_attribute("aria-label")) > 40
        assert re.match(
            r"Figure \d+\. .+[ (]n = \d", figure.locator("figcaption").inner_text(), flags=re.DOTALL
        )
        figure.scroll_into_view_if_needed()
    shown(page, "null-ratio", "light")
    assert [line for line in violations(page, least="serious") if "figure" in line or "drawing" in line] == []


def test_without_scripts_a_picture_or_its_place_is_named(browser, small_page):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(small_page.resolve().as_uri())
    figures = page.locator("figure.chart")
    assert figures.count() > 3
    for figure in figures.all():
        assert figure.locator("noscript img, noscript p").is_visible()
    loaded = page.locator("figure noscript img").first
    assert loaded.bounding_box()["height"] > 100
    context.close()
