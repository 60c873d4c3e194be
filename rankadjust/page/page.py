"""The report: one self-contained HTML page, put together from its sections."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256

from rankadjust.base.version import HOMEPAGE, REGISTRY_DATE, VERSION
from rankadjust.page.boards import board_section, boards, own_table_section, results_section
from rankadjust.page.calculator import calculator_section
from rankadjust.page.dataset_section import dataset_section
from rankadjust.page.datatable import datatables_bundle
from rankadjust.page.figure_section import drawing_scripts, figure_section
from rankadjust.page.findings import counting, finding_section, headline
from rankadjust.page.hidden import hidden_section
from rankadjust.page.material import Material
from rankadjust.page.own_results import own_section
from rankadjust.page.problems import problem_section
from rankadjust.page.results import all_values
from rankadjust.page.strip import strip_section
from rankadjust.page.templating import Section, render, shipped_text


def report_page(material: Material) -> str:
    """Return the report as one HTML page that loads no script, style, font or picture from elsewhere."""
    values = all_values(material)
    all_boards = boards(values, material.comparison)
    # The sections in the order of the page; a section is None if the run has no data for it.
    calculator = calculator_section(material)
    made = (
        own_section(material),
        calculator,
        own_table_section(all_boards) if calculator else None,
        strip_section(all_boards),
        finding_section(material),
        board_section(all_boards, values),
        hidden_section(material),
        results_section(values),
        dataset_section(material),
        problem_section(material),
        figure_section(material),
    )
    sentences = [
        headline(material.comparison.get("chance-share")),
        counting(values, material.comparison.get("below-baselines")),
    ]
    return _page(
        made,
        title="Link-prediction results, adjusted for chance",
        headline=sentences,
        bundle=datatables_bundle(),
        drawing=drawing_scripts(material.charts),
    )


def check_page(material: Material, site: Mapping[str, str]) -> str:
    """Return the parts of the report that check a reader's own numbers, as a page of the site.

    site: address and description of the page, the address of its preview, and its BibTeX entry.
    """
    all_boards = boards(all_values(material), material.comparison)
    made = (calculator_section(material), own_table_section(all_boards))
    return _page(made, title="Check your numbers", headline=[], bundle="", drawing="", site=site)


def _page(made: Iterable[Section | None], **values: object) -> str:
    sections = [section for section in made if section is not None]
    script = shipped_text("page.js") + shipped_text("own-table.js")
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
