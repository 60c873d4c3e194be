"""Vega-Lite drawn as SVG, measured by a font of this package, so that text is as wide on every machine."""

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
    configuration = {**specification.get("config", {}), "font": FONT}
    svg: str = vl_convert.vegalite_to_svg({**specification, "config": configuration})
    return svg


@cache
def _bring_fonts() -> None:
    vl_convert.register_font_directory(str(_FONTS))
