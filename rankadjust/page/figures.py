"""A figure of a run: its specification, its texts, its files, and its place on the page."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from markupsafe import Markup

from rankadjust.base.io import SUMS, write_bytes, write_sums, write_text
from rankadjust.output.pictures import png_of_svg, svg_picture
from rankadjust.page.look import SCHEMES, configuration
from rankadjust.page.templating import Section, render

# The chart at the head of the page.
HEADLINE = "chance-share"
_SCALE = 2
_TEXTS = "usermeta"


@dataclass(frozen=True)
class Figure:
    """A figure with its texts.

    specification: Vega-Lite, without colours of its own. description: the content of the figure, for readers who cannot
    see it.
    """

    name: str
    title: str
    caption: str
    description: str
    specification: Mapping[str, Any]


def svg_of(figure: Figure, scheme: str = "light") -> str:
    """Return a figure as SVG, with its title, and with caption and description for screen readers.

    scheme: light (on white) or dark. The bytes do not depend on the fonts of the machine, since a font of this package
    measures the text.
    """
    colours = SCHEMES[scheme]
    svg = svg_picture(
        {
            **figure.specification,
            "title": {"text": figure.title, "fontSize": 15, "offset": 14},
            "padding": 12,
            "config": configuration(colours) | {"background": colours.background},
        }
    )
    texts = f"<title>{escape(figure.title)}</title><desc>{escape(figure.caption)} {escape(figure.description)}</desc>"
    head, end, rest = svg.partition(">")
    return f'{head} role="img"{end}{texts}{rest}'


def write_figures(figures: Sequence[Figure], folder: Path) -> None:
    """Write <name>.svg, <name>.png (twice its size) and <name>.json of each figure, and SHA256SUMS of all files.

    The JSON file is the Vega-Lite specification with its data. `read_figures` and any Vega-Lite editor can read it.
    """
    for number, figure in enumerate(figures, 1):
        svg = svg_of(figure)
        write_text(svg, folder / f"{figure.name}.svg")
        write_bytes(png_of_svg(svg, _SCALE), folder / f"{figure.name}.png")
        texts = {
            "title": figure.title,
            "description": figure.description,
            _TEXTS: {"number": number, "caption": figure.caption},
        }
        write_text(
            json.dumps({**figure.specification, **texts}, indent=2) + "\n", folder / f"{figure.name}.json"
        )
    names = [f"{figure.name}.{form}" for figure in figures for form in ("svg", "png", "json")]
    write_sums([folder / name for name in names], folder / SUMS)


def read_figures(folder: Path) -> list[Figure]:
    """Return all figures that `write_figures` wrote into a folder, complete and in their order."""
    found = [(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("*.json")]
    figures = []
    for name, data in sorted(found, key=lambda item: item[1][_TEXTS]["number"]):
        title, description, texts = (data.pop(key) for key in ("title", "description", _TEXTS))
        figures.append(Figure(name, title, texts["caption"], description, data))
    return figures


def figure_section(figures: Sequence[Figure]) -> Section | None:
    """Return the section of the figures of a run except the figure at the head of the page; None if there are none."""
    elements = [
        _element(figure, number) for number, figure in enumerate(figures, 1) if figure.name != HEADLINE
    ]
    return Section("figures", "Figures", Markup("\n").join(elements)) if elements else None


def headline_figure(figures: Sequence[Figure]) -> Markup | None:
    """Return the chart at the head of the page, None if the run has no data for it."""
    numbered = enumerate(figures, 1)
    return next((_element(figure, number) for number, figure in numbered if figure.name == HEADLINE), None)


def _element(figure: Figure, number: int) -> Markup:
    """Return a figure for the page, drawn in the colours of both schemes, with its description and caption."""
    pictures = {scheme: b64encode(svg_of(figure, scheme).encode()).decode() for scheme in SCHEMES}
    return render("figure.html.jinja", figure=figure, number=number, pictures=pictures)
