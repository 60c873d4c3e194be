"""Turn Markdown into HTML: tables line by line, since their rows seldom fit their headers; markdown-it-py the rest."""

import html
import re
from importlib import import_module
from typing import Any

from rankadjust.tables.formats.grid import Grid, require_size
from rankadjust.tables.formats.html import page_grids, with_lines
from rankadjust.tables.formats.logs import log_grids
from rankadjust.tables.formats.records import yaml_grids
from rankadjust.tables.formats.text import split_pipes

_HTML_TABLE = re.compile(r"<table\b.*?(</table\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_FENCE = re.compile(r"\s*(?:>\s?)*(`{3,}|~{3,})")
# The marks of quotes and comments around a line.
_AROUND = re.compile(r"\A(?:\s{0,3}>\s?)+|(?<!\\)<!--|-->")
# A block that ends a table: a heading, a fence, an item of a list.
_BLOCK = re.compile(r"\s{0,3}#{1,6}\s|\s*(?:```|~~~|<!|(?:[-*+]|\d{1,9}[.)])\s)")
_REFERENCE = re.compile(r"^ {0,3}\[([^\]^][^\]]{0,99})\]:\s*(\S+)", re.MULTILINE)
# A footnote mark becomes a link only if its footnote is defined; all marks are written the same way.
_FOOTNOTE_REFERENCE = re.compile(r"(?<!\\)\[\^([^\]\s]{1,99})\](?!:)")
_DASHES = re.compile(r":?-+:?")
# Around the number of a table in the text, from private use, until the text is HTML.
_HELD = re.compile("\ue000([0-9]+)\ue001")
# A longer cell or line keeps its marks: the parser takes seconds for 200 kB of brackets.
_LONGEST = 10_000


def markdown_grids(text: str) -> list[Grid]:
    """Return the tables of a Markdown text: pipe tables, also inside comments and quotes, HTML tables, LaTeX, or logs.

    In a text without any, the lines of names and numbers are read.
    """
    front = _FRONT_MATTER.match(text)
    if front and "model-index" in front[1]:
        return yaml_grids(front[1])
    parser = import_module("markdown_it").MarkdownIt("commonmark")
    parser.renderer.rules["html_inline"] = _inline_html
    links = {name.upper(): {"href": url, "title": ""} for name, url in _REFERENCE.findall(text)}
    tables: list[str] = []

    def held(table: str, lines: int) -> str:
        tables.append(table)
        return f"\ue000{len(tables) - 1}\ue001" + "\n" * lines

    source = _HTML_TABLE.sub(
        lambda match: held(
            with_lines(match[0], text.count("\n", 0, match.start()) + 1), match[0].count("\n")
        ),
        _FOOTNOTE_REFERENCE.sub(r"<sup>\1</sup>", re.sub("[\ue000\ue001]", "", text)),
    )
    lines = source.split("\n")
    at, fence, comment = 0, "", ""
    while at < len(lines):
        opened = lines[at].rfind("<!--") - lines[at].rfind("-->")
        comment = ("<!--" if opened > 0 else "") if opened else comment
        mark = _FENCE.match(lines[at])
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        rows = [] if fence else _table_rows(lines, at)
        if rows:
            table = _html_table(rows, at + 1, parser, {"references": links}, comment)
            lines[at : at + len(rows)] = held(table, len(rows) - 1).split("\n")
        elif len(lines[at]) > _LONGEST:
            lines[at] = html.escape(lines[at][:_LONGEST])
        at += max(1, len(rows))
    tokens = parser.parse(re.sub(r"(?<!\\)<!--|-->", "", "\n".join(lines)))
    for token in tokens:
        # An item of a list is a paragraph of its own.
        token.hidden = False
        if token.type == "fence":
            token.attrSet("data-line", str(token.map[0] + 1))
    page = parser.renderer.render(tokens, parser.options, {})
    return page_grids(_HELD.sub(lambda match: f"</p>{tables[int(match[1])]}<p>", page)) or log_grids(text)


def _inline_html(tokens: Any, at: int, *_: object) -> str:  # noqa: ANN401 - tokens of markdown-it
    """Return a tag within a text if it raises the text or breaks the line, or nothing."""
    return tokens[at].content if re.match(r"</?(?:sup|br|summary)\b", tokens[at].content, re.I) else ""


def _html_table(rows: list[list[str]], line: int, parser: Any, links: Any, comment: str) -> str:  # noqa: ANN401
    """Return the HTML of a table of a header, a delimiter row and other rows; a header that is left out is empty."""
    is_headed = not all(map(_DASHES.fullmatch, rows[0]))
    rows = rows if is_headed else [[""] * len(rows[0]), *rows]
    require_size(max(map(len, rows)), len(rows))
    parts = []
    for number, row in enumerate(rows):
        if number != 1:
            tag = "td" if number else "th"
            texts = (cell.replace("\\|", "|") for cell in row)
            cells = (
                parser.renderInline(text, dict(links)) if len(text) <= _LONGEST else html.escape(text)
                for text in texts
            )
            own = "".join(f"<{tag}>{cell}</{tag}>" for cell in cells)
            parts.append(f"<tr data-line={line + max(0, number - (not is_headed))}>{own}</tr>")
    return f"<table {'data-commented' * bool(comment)}>{''.join(parts)}</table>"


def _table_rows(lines: list[str], first: int) -> list[list[str]]:
    """Return the rows of a table that begins on a line, with its delimiter row; empty if none begins there.

    The delimiter row may have another number of cells than the header, or no header above it.
    """
    here, below, *_ = (*(_AROUND.sub("", line) for line in lines[first : first + 2]), "", "")
    if _is_delimiter(below) and "|" in here + below and here.strip() and not _is_delimiter(here):
        top = first + 2
    elif _is_delimiter(here) and "|" in here and (first == 0 or not lines[first - 1].strip()):
        top = first + 1
    else:
        return []
    end = top
    while end < len(lines) and "|" in lines[end] and not _BLOCK.match(_AROUND.sub("", lines[end])):
        end += 1
    return [split_pipes(_AROUND.sub("", line)) for line in lines[first:end]]


def _is_delimiter(line: str) -> bool:
    """Return whether a line is the delimiter row of a table; a dash and a blank begin an item of a list instead."""
    text = line.strip()
    is_possible = text[:1] in ("|", "-", ":") and text[:2].strip() != "-" and len(text) > 1
    return is_possible and all(map(_DASHES.fullmatch, split_pipes(text)))
