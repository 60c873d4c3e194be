"""The report: the first screen and the boards of a run, as one self-contained HTML page."""

from base64 import b64encode
from hashlib import sha256

import polars as pl

from rankadjust.base.version import HOMEPAGE, REGISTRY_DATE, VERSION
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.data.registry import load_registry
from rankadjust.page.answers import answers, in_words, metrics_of
from rankadjust.page.boards import Board, boards
from rankadjust.page.material import Material, all_values
from rankadjust.page.own_results import own_section
from rankadjust.page.templating import Section, packed_element, render, shipped_text

# The data set whose board the page opens with, if the user has no own results.
_OPENED = "FB15k-237"


def report_page(material: Material) -> str:
    """Return the report as one HTML page that loads no script, style, font or picture from elsewhere."""
    values = all_values(material)
    made = boards(values, material.contradictions)
    known = answers(material.constants, made)
    sections = [own_section(values, material.contradictions), _board_section(made, values)]
    script = shipped_text("page.js")
    return render(
        "page.html.jinja",
        known=known,
        metrics=metrics_of(known),
        aliases={name: dataset.aliases for name, dataset in load_registry().items()},
        values=values.height,
        sections=[section for section in sections if section is not None],
        data=packed_element("answers-data", known),
        style=shipped_text("page.css"),
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode(),
        version=VERSION,
        date=REGISTRY_DATE,
        homepage=HOMEPAGE,
    )


def _board_section(made: list[Board], values: pl.DataFrame) -> Section | None:
    """Return the section of the boards, opened at one of the user's own results or at _OPENED."""
    if not made:
        return None
    own = set(values.filter("own").select(EVALUATION).rows())
    opened = max(
        made, key=lambda board: (board.evaluation in own, board.evaluation[0] == _OPENED, board.results)
    )
    # The board that is open comes first, and the browser shows the first.
    listed = [opened, *(board for board in made if board is not opened)]
    packed = [
        [*board.evaluation[:1], in_words(*board.evaluation[1:]), board.results, board.html()]
        for board in listed
    ]
    content = render(
        "boards.html.jinja",
        opened=opened,
        words=packed[0][1],
        boards=len(made),
        data=packed_element("boards-data", packed),
    )
    return Section("boards", "Boards", content)
