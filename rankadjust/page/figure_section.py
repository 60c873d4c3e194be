"""The figures of a run, which Vega-Lite draws when they come into view, in the width and colours of the page."""

import base64
from collections.abc import Sequence
from functools import cache

import vl_convert
from markupsafe import Markup

from rankadjust.page.charts.figure import Figure
from rankadjust.page.charts.theme import SCHEMES, configuration
from rankadjust.page.material import Material
from rankadjust.page.templating import Section, data_element, packed_element, render

# The chart at the head of the page.
HEADLINE = "chance-share"
# The page also contains pictures of up to so many bytes, for readers without scripts.
_LARGEST_PICTURE = 45_000
_EXPORTS = "window.vegaEmbed = vegaEmbed;"


def figure_section(material: Material) -> Section | None:
    """Return the figures of a run except the figure at the head of the page; None if there are none."""
    numbered = [pair for pair in enumerate(material.charts, 1) if pair[1].name != HEADLINE]
    if not numbered:
        return None
    elements = [
        figure_element(figure, material.figures.get(figure.name), number) for number, figure in numbered
    ]
    return Section("figures", "Figures", render("figures.html.jinja", figures=elements))


def headline_figure(material: Material) -> Markup | None:
    """Return the chart at the head of the page, None if the run has no data for it."""
    for number, figure in enumerate(material.charts, 1):
        if figure.name == HEADLINE:
            return figure_element(figure, material.figures.get(figure.name), number)
    return None


def figure_element(figure: Figure, picture: str | None, number: int) -> Markup:
    """Return the elements of a figure: the place to draw it, its data, its description, and its caption.

    picture: the figure as SVG, for a page whose scripts do not run.
    """
    shown = None
    if picture is not None and len(picture) <= _LARGEST_PICTURE:
        shown = base64.b64encode(picture.encode()).decode()
    data = {"least": figure.least, "specification": figure.specification}
    return render(
        "figure.html.jinja",
        figure=figure,
        number=number,
        picture=shown,
        data=packed_element(f"figure-{figure.name}-data", data),
    )


def drawing_scripts(figures: Sequence[Figure]) -> Markup:
    """Return the scripts that draw all figures of a page, nothing for a page without figures."""
    if not figures:
        return Markup("")
    themes = {name: configuration(scheme) for name, scheme in SCHEMES.items()}
    return render(
        "drawing.html.jinja",
        themes=data_element("figure-themes", themes),
        library=packed_element("figure-library", _library().encode()),
    )


@cache
def _library() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script that defines a single global name."""
    bundle: str = vl_convert.javascript_bundle(_EXPORTS)
    return f"(() => {{{bundle}}})();"
