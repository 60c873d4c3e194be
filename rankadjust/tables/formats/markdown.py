"""Markdown into grids, with markdown-it-py."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rankadjust.tables.formats.grid import Grid, context_of, make_grid, shifted, tidy
from rankadjust.tables.formats.html import html_grids
from rankadjust.tables.formats.parsers import load_parser
from rankadjust.tables.formats.plaintext import split_pipes

_DELIMITER_ROW = re.compile(r"^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_HTML_TABLE = re.compile(r"<table\b.*?(</table\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_FOOTNOTE_REFERENCE = re.compile(r"(?<!\\)\[\^([^\]\s]+)\](?!:)")


def markdown_grids(text: str) -> list[Grid]:
    """Return the tables of a Markdown text: pipe tables, also inside comments, and HTML tables."""
    parser = load_parser("markdown_it", "Markdown").MarkdownIt("commonmark").enable("table")
    html = [(text.count("\n", 0, match.start()), match.group()) for match in _HTML_TABLE.finditer(text)]
    text = _HTML_TABLE.sub(lambda match: "\n" * match.group().count("\n"), text)
    # A footnote mark is a link where the footnote is defined and text where not: make it the same in both.
    text = _FOOTNOTE_REFERENCE.sub(r"^{\1}", text)
    given = text.split("\n")
    lines, repairs = _widen_pipe_tables(given)
    tokens = parser.parse("\n".join(lines))
    found: list[tuple[int, Grid]] = []
    texts: list[tuple[int, int, str]] = []
    for index, token in enumerate(tokens):
        if token.type in ("heading_open", "paragraph_open"):
            level = int(token.tag[1:]) if token.type == "heading_open" else 0
            texts.append((token.map[0], level, _inline_text(tokens[index + 1].children or [])))
        elif token.type == "html_block" and token.content.lstrip().startswith("<!--"):
            found += _inside_comment(given, *token.map)
        elif token.type == "table_open":
            found.append((token.map[0], _pipe_table(tokens[index:], repairs)))
    for line, table in html:
        found += [(line, shifted(grid, line)) for grid in html_grids(table)]
    tables = []
    for line, grid in sorted(found, key=lambda pair: pair[0]):
        above = context_of([(level, tidy(text)) for start, level, text in texts if start < line])
        tables.append(replace(grid, context=(*grid.context, *above)))
    return tables


def _inside_comment(lines: Sequence[str], first: int, last: int) -> list[tuple[int, Grid]]:
    """Return the tables within the comment that stands in these lines."""
    inside = re.sub(r"<!--|-->", "", "\n".join(lines[first:last]))
    # Blank lines in place of those above keep the numbers of the lines.
    grids = markdown_grids("\n" * first + inside)
    return [(first, shifted(grid, 0, "the table stands inside a comment")) for grid in grids]


def _widen_pipe_tables(lines: list[str]) -> tuple[list[str], dict[int, str]]:
    """Give header and delimiter row as many cells as the widest row, so that the parser drops nothing.

    A Markdown parser takes a table whose delimiter row has another number of cells than its header for a
    paragraph, and forgets the cells of a row beyond those of the header.
    Returns the lines and, by line index, what was wrong with it.
    """
    lines = list(lines)
    repairs: dict[int, str] = {}
    for index in range(1, len(lines)):
        header, delimiter = lines[index - 1], lines[index]
        if "|" not in delimiter + header or not _DELIMITER_ROW.match(delimiter):
            continue
        body = []
        for line in lines[index + 1 :]:
            if "|" not in line:
                break
            body.append(len(split_pipes(line)))
        names, dashes = split_pipes(header), split_pipes(delimiter)
        width = max([len(names), len(dashes), *body])
        if len(dashes) != len(names):
            repairs[index] = f"the header has {len(names)} cells, the line below it {len(dashes)}"
        repairs |= {
            index + 1 + row: f"{count} cells where the header has {len(names)}"
            for row, count in enumerate(body)
            if count > len(names)
        }
        if width != len(names) or width != len(dashes):
            lines[index - 1] = _pipe_row(names, width, "")
            lines[index] = _pipe_row(dashes, width, "---")
    return lines, repairs


def _pipe_row(cells: list[str], width: int, fill: str) -> str:
    return "| " + " | ".join([*cells, *[fill] * (width - len(cells))]) + " |"


def _pipe_table(tokens: Sequence[Any], repairs: dict[int, str]) -> Grid:
    """Return the grid of the tokens from table_open on."""
    rows: list[list[str]] = []
    lines: list[int | None] = []
    header_rows = 0
    for index, token in enumerate(tokens):
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
            lines.append(token.map[0] + 1 if token.map else None)
        elif token.type == "thead_close":
            header_rows = len(rows)
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(_inline_text(tokens[index + 1].children or []))
    first, last = tokens[0].map
    remarks = [f"line {line + 1}: {what}" for line, what in sorted(repairs.items()) if first <= line < last]
    return make_grid(rows, header_rows=header_rows, lines=lines, remarks=remarks)


def _inline_text(tokens: Iterable[Any]) -> str:
    """Return the text of inline tokens: links and emphasis without their marks, superscripts as ^{…}."""
    parts = []
    for token in tokens:
        if token.type in ("text", "code_inline", "image"):
            parts.append(token.content)
        elif token.type == "softbreak":
            parts.append(" ")
        elif token.type == "hardbreak":
            parts.append("\n")
        elif token.type == "html_inline":
            tag = re.sub(r"[\s/<>]", "", token.content).casefold()
            closing = token.content.startswith("</")
            parts.append({"br": "\n", "sup": "}" if closing else "^{"}.get(tag, ""))
    return "".join(parts)
