"""Read HTML into grids; selectolax builds the same tree as a browser."""

import re
from collections import deque
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rankadjust.tables.formats.grid import Grid, Span, context_of, make_grid, spread_spans

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# How many headings and paragraphs above a table are considered.
_TEXTS = 30
# Other elements may have names that begin with tr: <tr-x>, <tr:x>.
_ROW = re.compile(r"<tr(?=[\s/>]|$)", re.IGNORECASE)


def html_grids(text: str) -> list[Grid]:
    """Return the tables of an HTML page, except a table around other tables, which is layout."""
    # The parser does not keep the lines of the rows, so each row gets its line as an attribute.
    lines = enumerate(text.split("\n"), start=1)
    numbered = "\n".join(_ROW.sub(f"<tr data-line={number} ", line) for number, line in lines)
    page = import_module("selectolax.lexbor").LexborHTMLParser(numbered)
    above: deque[Any] = deque(maxlen=_TEXTS)
    grids = []
    for element in page.css(", ".join(["table", "p", *_HEADINGS])):
        if element.tag != "table":
            above.append(element)
        elif len(element.css("table")) == 1:
            texts = [(_HEADINGS.get(heading.tag, 0), _words(heading)) for heading in above]
            grids.append(_html_table(element, context_of(texts)))
    return grids


def _html_table(table: Any, above: list[str]) -> Grid:  # noqa: ANN401 - a node
    rows, lines, marked = [], [], []
    # Walk from parent to child: inside a picture, cells may hold cells, and the text of each repeats all cells below.
    sections = [part for part in table.iter() if part.tag in ("thead", "tbody", "tfoot")]
    for row in (row for section in sections for row in section.iter() if row.tag == "tr"):
        cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
        rows.append([_span(cell) for cell in cells])
        line = row.attributes.get("data-line")
        lines.append(int(line) if line else None)
        marked.append(row.parent.tag == "thead" or (bool(cells) and all(cell.tag == "th" for cell in cells)))
    header_rows = marked.index(False) if False in marked else len(rows)
    context = [*map(_words, table.css("caption")), *above]
    return make_grid(spread_spans(rows), header_rows=header_rows, lines=lines, context=context)


def _span(cell: Any) -> Span:  # noqa: ANN401 - a node
    # rowspan="0" means: to the end of the table.
    attributes = cell.attributes
    return Span(_text(cell), _number(attributes, "rowspan") or 10**6, _number(attributes, "colspan") or 1)


def _number(attributes: Mapping[str, str | None], name: str) -> int:
    match = re.fullmatch(r"\s*(\d{1,6})\s*", attributes.get(name) or "1")
    return int(match.group(1)) if match else 1


def _words(element: Any) -> str:  # noqa: ANN401 - a node
    return str(element.text(separator=" "))


def _text(element: Any) -> str:  # noqa: ANN401 - a node
    parts = []
    for child in element.iter(include_text=True):
        match child.tag:
            case "-text":
                # Line breaks of the source count as blanks; only <br> and blocks begin a new line.
                parts.append(re.sub(r"\s+", " ", child.text(deep=False)))
            case "br":
                parts.append("\n")
            case "img":
                parts.append(child.attributes.get("alt") or "")
            case "sup":
                parts.append(f"^{{{_text(child)}}}")
            case "p" | "div" | "li" | "tr":
                parts.append(f"\n{_text(child)}\n")
            case "-comment" | "script" | "style" | "template":
                pass
            case _:
                parts.append(_text(child))
    return "".join(parts)
