"""The report: one HTML page, put together from its sections, that needs nothing else."""

from collections.abc import Callable

from rankadjust.page.boards import board_section, results_section
from rankadjust.page.calculator import calculator_section
from rankadjust.page.dataset_section import dataset_section
from rankadjust.page.datatable import datatables_bundle
from rankadjust.page.figure_section import drawing_scripts, figure_section
from rankadjust.page.findings import finding_section
from rankadjust.page.material import Material
from rankadjust.page.own_results import own_section
from rankadjust.page.problems import problem_section
from rankadjust.page.templating import Section, render, shipped_text

# In the order of the page. A section is None where the run has nothing for it.
_SECTIONS: tuple[Callable[[Material], Section | None], ...] = (
    own_section,
    finding_section,
    board_section,
    calculator_section,
    results_section,
    dataset_section,
    problem_section,
    figure_section,
)


def report_page(material: Material) -> str:
    """Return the report as one HTML page: no script, no style, no font, no picture from elsewhere."""
    sections = [section for make in _SECTIONS if (section := make(material)) is not None]
    return render(
        "page.html.jinja",
        sections=sections,
        bundle=datatables_bundle(),
        style=shipped_text("page.css"),
        script=shipped_text("page.js"),
        drawing=drawing_scripts(material.charts),
        # Text, not markup: it is escaped.
        notices=str(shipped_text("third-party.txt")),
    )
