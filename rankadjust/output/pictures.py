"""Vega-Lite drawn as SVG and PNG, measured by a font of this package, so that text is as wide on every machine."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import vl_convert

# vl-convert asks the fonts of the system first, so the first name is one that no system has: that of fonts/, whose
# glyphs are as wide as Liberation Sans and Arial. These follow for whoever shows the SVG.
FONT = "Rankadjust Sans, Liberation Sans, Arial, Helvetica, sans-serif"
_FONTS = Path(__file__).parent / "fonts"


def svg_picture(specification: Mapping[str, Any]) -> str:
    """Return a Vega-Lite specification drawn as SVG."""
    _bring_fonts()
    svg: str = vl_convert.vegalite_to_svg(_in_our_font(specification))
    return svg


def png_of_svg(svg: str, scale: float) -> bytes:
    """Return an SVG as PNG, at so many times its size."""
    _bring_fonts()
    png: bytes = vl_convert.svg_to_png(svg, scale=scale)
    return png


@cache
def _bring_fonts() -> None:
    vl_convert.register_font_directory(str(_FONTS))


def _in_our_font(specification: Mapping[str, Any]) -> dict[str, Any]:
    return {**specification, "config": {**specification.get("config", {}), "font": FONT}}
