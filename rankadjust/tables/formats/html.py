"""HTML into grids, with Beautiful Soup and html5lib."""

import re
from typing import Any

from rankadjust.tables.formats.grid import Grid, Span, context_of, make_grid, spread_spans
from rankadjust.tables.formats.parsers import load_parser

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# How far up a page headings and paragraphs are looked for.
_TEXTS = 30


def html_grids(text: str) -> list[Grid]:
    """Return the tables of an HTML page; a table that only holds other tables is layout and left out."""
    load_parser("html5lib", "HTML")
    soup = load_parser("bs4", "HTML").BeautifulSoup(text, "html5lib")
    return [_html_table(table) for table in soup.find_all("table") if not table.find("table")]


def _html_table(table: Any) -> Grid:  # noqa: ANN401 - a Tag
    rows, lines, marked = [], [], []
    for row in table.find_all("tr"):
        cells = row.find_all(["td", "th"])
        rows.append(
            [Span(_html_text(cell), _number(cell, "rowspan"), _number(cell, "colspan")) for cell in cells]
        )
        lines.append(row.sourceline)
        marked.append(
            row.parent.name == "thead" or (bool(cells) and all(cell.name == "th" for cell in cells))
        )
    header_rows = marked.index(False) if False in marked else len(rows)
    caption = [table.caption.get_text(" ")] if table.caption else []
    before = table.find_all_previous([*_HEADINGS, "p"], limit=_TEXTS)
    above = [(_HEADINGS.get(element.name, 0), element.get_text(" ")) for element in reversed(before)]
    context = [*caption, *context_of(above)]
    return make_grid(spread_spans(rows), header_rows=header_rows, lines=lines, context=context)


def _number(cell: Any, attribute: str) -> int:  # noqa: ANN401 - a Tag
    match = re.fullmatch(r"\s*(\d{1,6})\s*", str(cell.get(attribute, "1")))
    number = int(match.group(1)) if match else 1
    # rowspan="0" means: to the end of the table.
    return number or (10**6 if attribute == "rowspan" else 1)


def _html_text(element: Any) -> str:  # noqa: ANN401 - a Tag
    parts = []
    for child in element.children:
        if child.name is None:
            # Line breaks of the source are blanks; only <br> and blocks begin a new line.
            parts.append("" if type(child).__name__ == "Comment" else re.sub(r"\s+", " ", str(child)))
        elif child.name == "br":
            parts.append("\n")
        elif child.name == "img":
            parts.append(str(child.get("alt", "")))
        elif child.name == "sup":
            parts.append(f"^{{{_html_text(child)}}}")
        elif child.name in ("p", "div", "li", "tr"):
            parts.append(f"\n{_html_text(child)}\n")
        elif child.name not in ("script", "style", "template"):
            parts.append(_html_text(child))
    return "".join(parts)
