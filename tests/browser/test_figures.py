"""The figures of the page in a real browser: at both widths, in both schemes, and on paper."""

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_figure_is_shown_in_the_scheme_with_words_for_who_does_not_see_it(
    page_of, literature_page, width, scheme
):
    page = page_of(literature_page, width, scheme)
    # The case study is audited by a rule of its own, which this page is made without.
    figures = page.locator("figure.chart").all()
    assert [figure.get_attribute("id") for figure in figures] == ["figure-chance-share", "figure-adjustment"]
    shown = set()
    for figure in figures:
        image = figure.locator("img")
        assert len(image.get_attribute("alt")) > 40
        assert "n = " in figure.locator("figcaption").inner_text()
        assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
        light = image.get_attribute("src")
        shown.add(image.evaluate("image => image.currentSrc") == light)
    assert shown == {scheme == "light"}
