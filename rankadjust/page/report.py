"""The report: one self-contained HTML page, put together from its sections."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path

from markupsafe import Markup

from rankadjust.base.version import HOMEPAGE, REGISTRY_DATE, VERSION
from rankadjust.page.boards import board_section, boards, results_section, strip_section
from rankadjust.page.calculator import calculator_section
from rankadjust.page.dataset_section import dataset_section
from rankadjust.page.figures import figure_section
from rankadjust.page.literature_sections import (
    counting_headline,
    finding_section,
    headline,
    own_section,
    problem_section,
)
from rankadjust.page.material import Material, all_values
from rankadjust.page.templating import Section, packed_element, render, shipped_text


def report_page(material: Material) -> str:
    """Return the report as one HTML page that loads no script, style, font or picture from elsewhere."""
    values = all_values(material)
    all_boards = boards(values, material.comparison)
    # The sections in the order of the page; a section is None if the run has no data for it.
    made = (
        own_section(material),
        calculator_section(material),
        strip_section(all_boards),
        finding_section(material),
        board_section(all_boards, values),
        results_section(values),
        dataset_section(material),
        problem_section(material),
        figure_section(material.figures),
    )
    sentences = [
        headline(material.comparison.get("chance-share")),
        counting_headline(values, material.comparison.get("below-baselines")),
    ]
    return _page(
        made,
        title="Link-prediction results, adjusted for chance",
        headline=sentences,
        bundle=datatables_bundle(),
    )


def check_page(material: Material, site: Mapping[str, str]) -> str:
    """Return the calculator, which checks a reader's own numbers, as a page of the site.

    site: address and description of the page, the address of its preview, and its BibTeX entry.
    """
    return _page(
        [calculator_section(material)],
        title="Check your numbers",
        headline=[],
        bundle="",
        drawing="",
        site=site,
    )


def _page(made: Iterable[Section | None], **values: object) -> str:
    sections = [section for section in made if section is not None]
    script = shipped_text("page.js")
    return render(
        "page.html.jinja",
        sections=sections,
        style=shipped_text("page.css") + shipped_text("board.css"),
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode(),
        version=VERSION,
        date=REGISTRY_DATE,
        homepage=HOMEPAGE,
        # A plain str, so that the template escapes it.
        notices=str(shipped_text("third-party.txt")),
        **{"site": None} | values,
    )


def datatables_bundle() -> Markup:
    """Return the elements with the script and the style of DataTables, unchanged from itables."""
    # Use the shipped path, not the itables settings of a user, so that everyone gets the same page. To import itables
    # would import pandas as well.
    folder = Path(str(distribution("itables").locate_file("itables/html")))
    return Markup("").join(
        packed_element(f"tables-{name}", (folder / f"dt_bundle.{end}").read_bytes())
        for name, end in (("library", "js"), ("style", "css"))
    )
