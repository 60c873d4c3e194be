"""Turn Markdown into HTML: tables line by line, since their rows seldom fit their headers; markdown-it-py the rest."""

import html
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
# A mark without its other end is left out, but not the text behind it.
_COMMENT = re.compile(r"(?<!\\)<!--(?:.*?-->)?|-->", re.DOTALL)
_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_FENCE = re.compile(r"\s*(?:>\s?)*(`{3,}|~{3,})")
_QUOTE = re.compile(r"\A(?:\s{0,3}>\s?)+")
# A block that ends a table: a heading, a fence, an item of a list.
_BLOCK = re.compile(r"\s{0,3}#{1,6}\s|\s*(?:```|~~~|<!|(?:[-*+]|\d{1,9}[.)])\s)")
_REFERENCE = re.compile(r"^ {0,3}\[([^\]^][^\]]{0,99})\]:\s*(\S+)", re.MULTILINE)
# A footnote mark becomes a link only if its footnote is defined; all marks are written the same way.
_FOOTNOTE_REFERENCE = re.compile(r"(?<!\\)\[\^([^\]\s]{1,99})\](?!:)")
_DASHES = re.compile(r":?-+:?")
# A longer cell or line keeps its marks: the parser takes seconds for 200 kB of brackets.
_LONGEST = 10_000


def markdown_grids(text: str) -> list[Grid]:
    """Return the tables of a Markdown text: pipe tables, also in quotes, HTML tables, LaTeX, or logs.

    In a text without any, the lines of names and numbers are read. What is in a comment is not.
    """
    front = _FRONT_MATTER.match(text)
    if front and "model-index" in front[1]:
        return yaml_grids(front[1])
    parser = import_module("markdown_it").MarkdownIt("commonmark")
    parser.renderer.rules["html_inline"] = _inline_html
    links = {name.upper(): {"href": url, "title": ""} for name, url in _REFERENCE.findall(text)}
    source = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    source = _FOOTNOTE_REFERENCE.sub(r"<sup>\1</sup>", source)
    lines = _HTML_TABLE.sub(_on_one_line, source).split("\n")
    at, fence = 0, ""
    while at < len(lines):
        mark = _FENCE.match(lines[at])
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        rows = [] if fence else _table_rows(lines, at)
        if rows:
            table = _html_table(rows, at + 1, parser, {"references": links})
            lines[at : at + len(rows)] = [table, *[""] * (len(rows) - 1)]
        elif len(lines[at]) > _LONGEST and not lines[at].startswith("<table"):
            lines[at] = html.escape(lines[at][:_LONGEST])
        at += max(1, len(rows))
    tokens = parser.parse("\n".join(lines))
    for token in tokens:
        # An item of a list is a paragraph of its own.
        token.hidden = False
        if token.type == "fence":
            token.attrSet("data-line", str(token.map[0] + 1))
    grids = page_grids(parser.renderer.render(tokens, parser.options, {})) or log_grids(text)
    said = ["what is in a comment is not read"] * any("|" in part for part in _COMMENT.findall(text))
    return [replace(grid, remarks=(*grid.remarks, *said)) for grid in grids]


def _on_one_line(match: re.Match[str]) -> str:
    """Return an HTML table on a line of its own, and below it the empty lines that it leaves: at least one."""
    table = with_lines(match[0].lstrip(), match.string.count("\n", 0, match.start()) + 1)
    is_within = match.start() and match.string[match.start() - 1] != "\n"
    return "\n\n" * bool(is_within) + table.replace("\n", " ") + "\n" * max(1, table.count("\n"))


def _inline_html(tokens: Any, at: int, *_: object) -> str:  # noqa: ANN401 - tokens of markdown-it
    """Return a tag within a text if it raises the text or breaks the line, or nothing."""
    return tokens[at].content if re.match(r"</?(?:sup|br|summary)\b", tokens[at].content, re.I) else ""


def _html_table(rows: list[list[str]], line: int, parser: Any, links: Any) -> str:  # noqa: ANN401
    """Return the HTML of a table of a header, a delimiter row and other rows; a header that is left out is empty."""
    is_headed = not all(map(_DASHES.fullmatch, rows[0]))
    body = [rows[0], *rows[2:]] if is_headed else [[""] * len(rows[0]), *rows[1:]]
    require_size(max(map(len, rows)), len(rows))
    parts = []
    for number, row in enumerate(body):
        tag = "td" if number else "th"
        cells = (
            parser.renderInline(text, dict(links)) if len(text) <= _LONGEST else html.escape(text)
            for text in row
        )
        own = "".join(f"<{tag}>{' '.join(cell.splitlines())}</{tag}>" for cell in cells)
        parts.append(f"<tr data-line={line + number + (is_headed and number > 0)}>{own}</tr>")
    return f"<table>{''.join(parts)}</table>"


def _table_rows(lines: list[str], first: int) -> list[list[str]]:
    """Return the rows of a table that begins on a line, with its delimiter row; empty if none begins there.

    The delimiter row may have another number of cells than the header, or no header above it.
    """
    here, below, *_ = (*(_QUOTE.sub("", line) for line in lines[first : first + 2]), "", "")
    if _is_delimiter(below) and "|" in here + below and here.strip() and not _is_delimiter(here):
        top = first + 2
    elif _is_delimiter(here) and "|" in here and (first == 0 or not lines[first - 1].strip()):
        top = first + 1
    else:
        return []
    end = top
    while end < len(lines) and "|" in lines[end] and not _BLOCK.match(_QUOTE.sub("", lines[end])):
        end += 1
    return [split_pipes(_QUOTE.sub("", line)) for line in lines[first:end]]


def _is_delimiter(line: str) -> bool:
    """Return whether a line is the delimiter row of a table; a dash and a blank begin an item of a list instead."""
    text = line.strip()
    is_possible = text[:1] in ("|", "-", ":") and text[:2].strip() != "-" and len(text) > 1
    return is_possible and all(map(_DASHES.fullmatch, split_pipes(text)))
