"""The pictures of pages: lines on one scale from 0 to 1, in the page and as the preview of a shared link."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

from markupsafe import Markup

from harness.site.rendering import rendered
from rankadjust.output.pictures import FONT
from rankadjust.page.look import SCHEMES

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

    guide: a position to compare all lines with. middle, end: the labels of 0.5 and 1 on the scale.
    """

    title: str
    sentence: str
    lines: Sequence[Line] = ()
    guide: float | None = None
    middle: str = "0.5"
    end: str = "1"

    @property
    def words(self) -> str:
        """The picture in words."""
        return "; ".join(f"{line.label}: {line.text}" for line in self.lines)

    def svg(self) -> Markup:
        """Return the lines for a page, as wide as the page and in its colours."""
        return rendered("picture.svg.jinja", picture=self)

    def preview(self) -> str:
        """Return the picture with title and sentence for a preview, light and of a fixed size."""
        scheme = SCHEMES["light"]
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
            scheme=scheme,
            accent=scheme.category[0],
        )
