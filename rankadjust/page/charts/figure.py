"""A figure of a run: its specification, its texts, and its files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from rankadjust.base.io import SUMS, write_bytes, write_sums
from rankadjust.base.stages import (
    FIGURE,
    check_folder,
    read_product_json,
    read_product_text,
    write_product_json,
    write_product_text,
)
from rankadjust.output.pictures import png_of_svg, svg_picture
from rankadjust.page.charts.theme import SCHEMES, configuration

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
        write_product_text(svg, folder / f"{figure.name}.svg", FIGURE, figure.name)
        write_bytes(png, folder / f"{figure.name}.png")
        said = {"number": number, "caption": figure.caption, "least": figure.least}
        whole = {
            **figure.specification,
            "title": figure.title,
            "description": figure.description,
            _META: said,
        }
        write_product_json(whole, folder / f"{figure.name}.json", FIGURE, figure.name)
    names = [f"{figure.name}.{form}" for figure in figures for form in ("svg", "png", "json")]
    write_sums([folder / name for name in names], folder / SUMS)


def read_figures(folder: Path) -> list[Figure]:
    """Return all figures that `write_figures` wrote into a folder, complete and in their order."""
    check_folder(folder)
    figures = [(path.stem, read_product_json(path, FIGURE, path.stem)) for path in folder.glob("*.json")]
    return [
        _figure(name, whole) for name, whole in sorted(figures, key=lambda item: item[1][_META]["number"])
    ]


def read_pictures(folder: Path) -> dict[str, str]:
    """Return the SVG text of each figure in a folder by its name."""
    return {path.stem: read_product_text(path, FIGURE, path.stem) for path in sorted(folder.glob("*.svg"))}


def _figure(name: str, whole: dict[str, Any]) -> Figure:
    title, description, said = (whole.pop(key) for key in ("title", "description", _META))
    return Figure(name, title, said["caption"], description, said["least"], whole)
