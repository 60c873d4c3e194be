"""A figure of a run: its specification, its texts, its files, and its place on the page.

On the page Vega-Lite draws it when it comes into view, in the width and colours of the page.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import vl_convert
from markupsafe import Markup

from rankadjust.base.io import SUMS, write_bytes, write_sums, write_text
from rankadjust.output.pictures import png_of_svg, svg_picture
from rankadjust.page.look import SCHEMES, configuration
from rankadjust.page.templating import Section, data_element, packed_element, render

# The chart at the head of the page.
HEADLINE = "chance-share"
# The page also contains pictures of up to so many bytes, for readers without scripts.
_LARGEST_PICTURE = 45_000
_EXPORTS = "window.vegaEmbed = vegaEmbed;"

_SCALE = 2
_META = "usermeta"


@dataclass(frozen=True)
class Figure:
    """A figure with its texts.

    specification: Vega-Lite, without colours of its own. description: the content of the figure, for readers who cannot
    see it. least: the least width of a readable panel, in pixels.
    """

    name: str
    title: str
    caption: str
    description: str
    least: int
    specification: Mapping[str, Any]


def svg_of(figure: Figure) -> str:
    """Return a figure as SVG on white, with its title, and with caption and description for screen readers.

    The bytes do not depend on the fonts of the machine, since a font of this package measures the text.
    """
    return _with_texts(svg_picture(_standing_alone(figure)), figure)


def pictures_of(figure: Figure) -> tuple[str, bytes]:
    """Return a figure as SVG, and as PNG at twice its size; Vega draws it once for both."""
    svg = svg_picture(_standing_alone(figure))
    return _with_texts(svg, figure), png_of_svg(svg, _SCALE)


def _with_texts(svg: str, figure: Figure) -> str:
    said = f"<title>{escape(figure.title)}</title><desc>{escape(figure.caption)} {escape(figure.description)}</desc>"
    head, end, rest = svg.partition(">")
    return f'{head} role="img"{end}{said}{rest}'


def _standing_alone(figure: Figure) -> dict[str, Any]:
    scheme = SCHEMES["light"]
    return {
        **figure.specification,
        "title": {"text": figure.title, "fontSize": 15, "offset": 14},
        "padding": 12,
        "config": configuration(scheme) | {"background": scheme.background},
    }


def write_figures(figures: list[Figure], folder: Path) -> None:
    """Write <name>.svg, <name>.png and <name>.json of each figure, and SHA256SUMS of all files.

    The JSON file is the Vega-Lite specification with its data. `read_figures` and any Vega-Lite editor can read it.
    """
    for number, figure in enumerate(figures, 1):
        svg, png = pictures_of(figure)
        write_text(svg, folder / f"{figure.name}.svg")
        write_bytes(png, folder / f"{figure.name}.png")
        said = {"number": number, "caption": figure.caption, "least": figure.least}
        whole = {
            **figure.specification,
            "title": figure.title,
            "description": figure.description,
            _META: said,
        }
        write_text(json.dumps(whole, indent=2) + "\n", folder / f"{figure.name}.json")
    names = [f"{figure.name}.{form}" for figure in figures for form in ("svg", "png", "json")]
    write_sums([folder / name for name in names], folder / SUMS)


def read_figures(folder: Path) -> list[Figure]:
    """Return all figures that `write_figures` wrote into a folder, complete and in their order."""
    figures = [(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("*.json")]
    return [
        _figure(name, whole) for name, whole in sorted(figures, key=lambda item: item[1][_META]["number"])
    ]


def read_pictures(folder: Path) -> dict[str, str]:
    """Return the SVG text of each figure in a folder by its name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.svg"))}


def _figure(name: str, whole: dict[str, Any]) -> Figure:
    title, description, said = (whole.pop(key) for key in ("title", "description", _META))
    return Figure(name, title, said["caption"], description, said["least"], whole)


def figure_section(figures: Sequence[Figure], pictures: Mapping[str, str]) -> Section | None:
    """Return the section of the figures of a run except the figure at the head of the page; None if there are none.

    pictures: figures as SVG by name, for readers without scripts.
    """
    elements = [
        figure_element(figure, pictures.get(figure.name), number)
        for number, figure in enumerate(figures, 1)
        if figure.name != HEADLINE
    ]
    if not elements:
        return None
    return Section("figures", "Figures", render("figures.html.jinja", figures=elements))


def headline_figure(figures: Sequence[Figure], pictures: Mapping[str, str]) -> Markup | None:
    """Return the chart at the head of the page, None if the run has no data for it."""
    for number, figure in enumerate(figures, 1):
        if figure.name == HEADLINE:
            return figure_element(figure, pictures.get(figure.name), number)
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
