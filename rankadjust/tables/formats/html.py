"""Read HTML into grids; selectolax builds the same tree as a browser. Markdown and reStructuredText come here too."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from typing import Any

from rankadjust.tables.formats.grid import CONTEXT_LENGTH, Grid, Span, make_grid, spread_spans, tidy
from rankadjust.tables.formats.latex import latex_grids
from rankadjust.tables.formats.logs import log_grids

# A heading ends the headings of its own or a lower rank; the title of a part that a reader unfolds is the lowest.
_LEVELS = {**{f"h{level}": level for level in range(1, 7)}, "summary": 7, "p": 0}
# Other elements may have names that begin with tr: <tr-x>, <tr:x>.
_ROW = re.compile(r"<tr(?=[\s/>]|$)", re.IGNORECASE)
_LATEX_TABLE = re.compile(r"\\begin\{(?:tabular|longtable|array)")
_CAPTION = re.compile(r"(?:<[^<>]{0,99}>|\W)*+(?:table|tab\.|tabelle|表)\s*(?:\d+|[IVX]+)\b", re.IGNORECASE)
# A text of few words is a title, even if the format does not mark it.
_TITLE_WORDS = 6


def html_grids(text: str) -> list[Grid]:
    """Return the tables of an HTML page, except a table around other tables, which is layout."""
    return page_grids(with_lines(text))


def with_lines(text: str, first: int = 1) -> str:
    """Return HTML whose rows of tables have their lines as an attribute, for the parser does not keep them."""
    lines = enumerate(text.split("\n"), start=first)
    return "\n".join(_ROW.sub(f"<tr data-line={number} ", line) for number, line in lines)


def page_grids(text: str) -> list[Grid]:
    """Return the tables of a page whose rows have lines, with the texts around each.

    A preformatted text holds LaTeX, or a log. Logs are read only if the page has no table: beside tables, such output
    is a configuration.
    """
    page = import_module("selectolax.lexbor").LexborHTMLParser(text)
    tables: list[tuple[int, list[Grid]]] = []
    logs: list[tuple[int, list[Grid]]] = []
    texts: list[tuple[int, int, str]] = []
    for place, element in enumerate(page.css(", ".join(["table", "pre", *_LEVELS]))):
        if element.tag == "pre":
            content = element.text()
            is_latex = _LATEX_TABLE.search(content)
            line = _number((element.css_first("[data-line]") or element).attributes, "data-line", 0)
            # Empty lines above it, so that its lines have the numbers of the page.
            read = (latex_grids if is_latex else log_grids)("\n" * line + content)
            (tables if is_latex else logs).append((place, read))
        elif element.tag != "table":
            texts.append((place, _LEVELS[element.tag], tidy(_text(element)).replace("\n", " ")))
        elif len(element.css("table")) == 1:
            tables.append((place, [_table(element)]))
    return list(_with_context(tables or logs, texts))


def _with_context(placed: list[tuple[int, list[Grid]]], texts: list[tuple[int, int, str]]) -> Iterator[Grid]:
    """Yield tables with the texts around them; placed, texts: the place of each in the page; texts: level and words.

    A heading ends each heading of its own or a lower rank and all paragraphs above it, a caption the caption before it.
    Nearest is a paragraph of few words above the table, then the innermost heading, the other paragraphs from the
    table upwards, and the outer headings. If the first caption follows the first table, each follows its own table.
    """
    captions = [(at, words) for at, level, words in texts if not level and _CAPTION.match(words)]
    is_below = bool(captions and placed) and placed[0][0] < captions[0][0]
    headings: list[tuple[int, str]] = []
    paragraphs: list[str] = []
    left = [text for text in reversed(texts) if text[2] and not (is_below and _CAPTION.match(text[2]))]
    for (place, grids), (end, _) in pairwise([*placed, (10**9, [])]):
        while left and left[-1][0] < place:
            _, level, words = left.pop()
            if level:
                headings = [*(entry for entry in headings if entry[0] < level), (level, words)]
                paragraphs = []
            else:
                kept = (text for text in paragraphs if not (_CAPTION.match(words) and _CAPTION.match(text)))
                paragraphs = [words, *kept][: CONTEXT_LENGTH + 1]
        titles = [words for _, words in reversed(headings)]
        near = [words for words in paragraphs[:1] if len(words.split()) <= _TITLE_WORDS]
        own = [words for at, words in captions if is_below and place < at < end][:1]
        above = [*near, *titles[:1], *paragraphs[len(near) :], *titles[1:]][:CONTEXT_LENGTH]
        yield from (replace(grid, context=(*grid.context, *own, *above)) for grid in grids)


def _table(table: Any) -> Grid:  # noqa: ANN401 - a node
    rows, lines, marked = [], [], []
    # Walk from parent to child: inside a picture, cells may hold cells, and the text of each repeats all cells below.
    sections = [part for part in table.iter() if part.tag in ("thead", "tbody", "tfoot")]
    for row in (row for section in sections for row in section.iter() if row.tag == "tr"):
        cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
        # rowspan="0" means: to the end of the table.
        rows.append(
            [
                Span(_text(cell), _number(said, "rowspan") or 10**6, _number(said, "colspan") or 1)
                for cell in cells
                for said in [cell.attributes]
            ]
        )
        lines.append(_number(row.attributes, "data-line", 0) or None)
        marked.append(row.parent.tag == "thead" or (bool(cells) and all(cell.tag == "th" for cell in cells)))
    header_rows = marked.index(False) if False in marked else len(rows)
    captions = [_text(caption) for caption in table.css("caption")]
    width = sum(cell.columns for cell in rows[0]) if rows else 0
    remarks = [
        f"line {line}: {len(row)} cells where the header has {width}"
        for line, row in zip(lines, rows, strict=True)
        if len(row) > width
    ]
    texts = spread_spans(rows)
    return make_grid(texts, header_rows=header_rows, lines=lines, context=captions, remarks=remarks)


def _number(attributes: Mapping[str, str | None], name: str, usual: int = 1) -> int:
    match = re.fullmatch(r"\s*(\d{1,8})\s*", attributes.get(name) or "")
    return int(match[1]) if match else usual


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
