"""The previews of shared links: lines on one scale from 0 to 1."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

from harness.site.rendering import rendered
from rankadjust.output.pictures import FONT
from rankadjust.page.look import ACCENT, FAINT, GRID, INK

COLOURS = {"ink": INK, "faint": FAINT, "line": GRID, "accent": ACCENT}
# Pixels of a preview. Sites that show links cut other shapes.
_WIDTH, _HEIGHT = 600, 315
# The lines that a preview has room for.
LINES = 5
# The letters that a preview has room for, of its title and of the sentence below.
_TITLE, _SENTENCE = 40, 84


@dataclass(frozen=True)
class Line:
    """A line of a picture: a label, the values in words, and positions from 0 to 1.

    is_bar: draw a bar from 0 to the position instead of a point.
    """

    label: str
    text: str
    points: Sequence[float] = ()
    is_bar: bool = False


@dataclass(frozen=True)
class Picture:
    """A title, a sentence below it, and lines on one scale.

    middle, end: the labels of 0.5 and 1 on the scale.
    """

    title: str
    sentence: str
    lines: Sequence[Line] = ()
    middle: str = "0.5"
    end: str = "1"

    def preview(self) -> str:
        """Return the picture with title and sentence for a preview, light and of a fixed size."""
        # The first lines and the last line matter most: models, the best baselines, chance.
        shown = replace(
            self,
            title=shorten(self.title, _TITLE, placeholder=" …"),
            sentence=shorten(self.sentence, _SENTENCE, placeholder=" …"),
            lines=[*self.lines[: LINES - 1], *self.lines[LINES - 1 :][-1:]],
        )
        return rendered(
            "preview.svg.jinja",
            picture=shown,
            width=_WIDTH,
            height=_HEIGHT,
            font=FONT,
            colours=COLOURS,
        )
