"""A figure of a run: its specification, its texts and its files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from rankadjust.base.io import SUMS, write_bytes, write_sums, write_text
from rankadjust.output.pictures import png_of_svg, svg_picture
from rankadjust.page.look import configuration

_SCALE = 2


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


def svg_of(figure: Figure) -> str:
    """Return a figure as SVG on white, with its title, and with caption and description for screen readers.

    The bytes do not depend on the fonts of the machine, since a font of this package measures the text.
    """
    title = {"text": figure.title, "fontSize": 15, "offset": 14}
    looks = {"title": title, "padding": 12, "config": configuration() | {"background": "#ffffff"}}
    svg = svg_picture({**figure.specification, **looks})
    texts = f"<title>{escape(figure.title)}</title><desc>{escape(figure.caption)} {escape(figure.description)}</desc>"
    head, end, rest = svg.partition(">")
    return f'{head} role="img"{end}{texts}{rest}'


def write_figures(figures: Sequence[Figure], folder: Path) -> None:
    """Write <name>.svg, <name>.png (twice its size) and <name>.json of each figure, and SHA256SUMS of all files.

    The JSON file is the Vega-Lite specification with its data, which any Vega-Lite editor can read.
    """
    for number, figure in enumerate(figures, 1):
        svg = svg_of(figure)
        write_text(svg, folder / f"{figure.name}.svg")
        write_bytes(png_of_svg(svg, _SCALE), folder / f"{figure.name}.png")
        about = {"number": number, "caption": figure.caption}
        texts = {"title": figure.title, "description": figure.description, "usermeta": about}
        text = json.dumps({**figure.specification, **texts}, indent=2)
        write_text(text + "\n", folder / f"{figure.name}.json")
    names = [f"{figure.name}.{form}" for figure in figures for form in ("svg", "png", "json")]
    write_sums([folder / name for name in names], folder / SUMS)
