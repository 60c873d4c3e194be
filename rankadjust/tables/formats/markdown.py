"""Turn Markdown into HTML with markdown-it-py, by an own rule for tables, since rows seldom fit their headers."""

import re
from dataclasses import replace
from importlib import import_module
from typing import Any

from rankadjust.tables.formats.grid import Grid, require_size
from rankadjust.tables.formats.html import page_grids, with_lines
from rankadjust.tables.formats.logs import log_grids
from rankadjust.tables.formats.records import yaml_grids
from rankadjust.tables.formats.text import split_pipes

_HTML_TABLE = re.compile(r"[ \t]*+<table\b.*?(?:</table\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"(?<!\\)<!--.*?-->|-->", re.DOTALL)
_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
# A footnote mark becomes a link only if its footnote is defined; all marks are written the same way.
_FOOTNOTE_REFERENCE = re.compile(r"(?<!\\)\[\^([^\]\s]{1,99})\](?!:)")
# A dash and a blank begin an item of a list instead.
_DELIMITER = re.compile(r"(?!-\s|-?$)\|?(?:\s*+:?-++:?\s*+(?:\||$))++")
# The parser takes seconds for 200 kB of brackets, so in a long line they are text.
_LONG_LINE = re.compile(r"^(?!\s*<).{10000,}", re.MULTILINE)


def markdown_grids(text: str) -> list[Grid]:
    """Return the tables of a Markdown text: pipe tables, also in quotes, HTML tables, LaTeX, or logs.

    In a text without any, the lines of names and numbers are read. What is in a comment is not.
    """
    front = _FRONT_MATTER.match(text)
    if front and "model-index" in front[1]:
        return yaml_grids(front[1])
    parser = import_module("markdown_it").MarkdownIt("commonmark").enable("table")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    # Behind the last end of a comment, its beginning is left out, but not the text behind it.
    commented, end, tail = text.rpartition("-->")
    comments = _COMMENT.findall(commented + end)
    source = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), commented + end)
    source += re.sub(r"(?<!\\)<!--", "", tail)
    source = _LONG_LINE.sub(lambda match: match[0].replace("[", "\\["), source)
    source = _FOOTNOTE_REFERENCE.sub(r"<sup>\1</sup>", source)
    tokens = parser.parse(_HTML_TABLE.sub(_on_one_line, source))
    for token in tokens:
        # An item of a list is a paragraph of its own.
        token.hidden = False
        if token.type in ("fence", "tr_open"):
            token.attrSet("data-line", str(token.map[0] + 1))
    grids = page_grids(parser.renderer.render(tokens, parser.options, {})) or log_grids(text)
    said = ["what is in a comment is not read"] * any("|" in part for part in comments)
    return [replace(grid, remarks=(*grid.remarks, *said)) for grid in grids]


def _on_one_line(match: re.Match[str]) -> str:
    """Return an HTML table on a line of its own, and below it the empty lines that it leaves: at least one."""
    table = with_lines(match[0].lstrip(), match.string.count("\n", 0, match.start()) + 1)
    is_within = match.start() and match.string[match.start() - 1] != "\n"
    return "\n\n" * bool(is_within) + table.replace("\n", " ") + "\n" * max(1, table.count("\n"))


def _table(state: Any, first: int, end: int, silent: bool) -> bool:  # noqa: ANN401 - markdown-it's
    """Read the table that begins on a line, if one does; this is a rule of markdown-it.

    The delimiter row may have another number of cells than the header, or no header above it.
    """

    def line(at: int) -> str:
        return state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]].strip() if at < end else ""

    here, below = line(first), line(first + 1)
    is_delimiter = _DELIMITER.fullmatch(here) is not None
    is_headed = _DELIMITER.fullmatch(below) is not None and not is_delimiter
    # Within a text, only a header begins a table.
    if "|" not in here + below * is_headed or not (is_headed or (is_delimiter and not silent)):
        return False
    if silent:
        return True
    rows = [(first, split_pipes(here) if is_headed else [""] * len(split_pipes(here)))]
    at = first + 1 + is_headed
    ends = state.md.block.ruler.getRules("blockquote")
    while "|" in line(at) and not any(rule(state, at, end, True) for rule in ends):
        rows.append((at, split_pipes(line(at))))
        at += 1
    require_size(max(len(cells) for _, cells in rows), len(rows))
    state.push("table_open", "table", 1)
    for number, cells in rows:
        state.push("tr_open", "tr", 1).map = [number, number + 1]
        tag = "th" if number == first else "td"
        for cell in cells:
            state.push("cell_open", tag, 1)
            token = state.push("inline", "", 0)
            token.content, token.children = cell, []
            state.push("cell_close", tag, -1)
        state.push("tr_close", "tr", -1)
    state.push("table_close", "table", -1)
    state.line = at
    return True
