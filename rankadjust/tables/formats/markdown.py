"""Read Markdown into grids: line by line for blocks and tables, markdown-it-py for the marks within a text."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from itertools import pairwise
from math import inf
from typing import Any

from rankadjust.tables.formats.grid import Grid, add_text, context_of, is_caption, make_grid, shifted, tidy
from rankadjust.tables.formats.html import html_grids
from rankadjust.tables.formats.latex import latex_grids
from rankadjust.tables.formats.logs import log_grids
from rankadjust.tables.formats.records import yaml_grids
from rankadjust.tables.formats.text import split_pipes

_HTML_TABLE = re.compile(r"<table\b.*?(</table\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_LATEX_TABLE = re.compile(r"\\begin\{(?:tabular|longtable|array)")
_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)[\s#]*")
_UNDERLINE = re.compile(r"\s{0,3}(=+|-+)\s*")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")
_QUOTE = re.compile(r"\A(?:\s{0,3}>\s?)+")
# The title of a part that a reader unfolds, of a lower rank than every heading.
_SUMMARY = re.compile(r"<summary>([^<>]{1,200})</summary>", re.IGNORECASE)
_FOLDED = 7
_TAGS = re.compile(r"<[^<>]*>")
_REFERENCE = re.compile(r"^ {0,3}\[([^\]^][^\]]{0,99})\]:\s*(\S+)", re.MULTILINE)
# A footnote mark becomes a link only if its footnote is defined; all marks are written the same way.
_FOOTNOTE_REFERENCE = re.compile(r"(?<!\\)\[\^([^\]\s]{1,99})\](?!:)")
_DASHES = re.compile(r":?-+:?")
# A text without any of these signs has no marks to remove.
_MARK = re.compile(r"[\\`*_\[&<\n]")
# A longer cell or title keeps its marks: the parser takes seconds for 200 kB of brackets.
_LONGEST_TEXT = 10_000

# The line on which tables begin, and these tables.
_Placed = tuple[float, list[Grid]]


@dataclass
class _Blocks:
    """The tables and logs of a text with their lines, and its headings and paragraphs (level 0)."""

    tables: list[_Placed] = field(default_factory=list)
    logs: list[_Placed] = field(default_factory=list)
    texts: list[tuple[int, int, str]] = field(default_factory=list)


def markdown_grids(text: str) -> list[Grid]:
    """Return the tables of a Markdown text: pipe tables, also inside comments and quotes, and HTML tables.

    A fenced block holds LaTeX, or a log. Logs are read only if the text has no table: beside tables, such output is a
    configuration. In a text without either, the lines of names and numbers are read.
    """
    front = _FRONT_MATTER.match(text)
    if front and "model-index" in front[1]:
        return yaml_grids(front[1])
    html: list[_Placed] = []
    for match in _HTML_TABLE.finditer(text):
        line = text.count("\n", 0, match.start())
        html.append((line, [shifted(grid, line) for grid in html_grids(match.group())]))
    text = _HTML_TABLE.sub(lambda match: "\n" * match.group().count("\n"), text)
    text = _FOOTNOTE_REFERENCE.sub(r"^{\1}", text)
    plain = _unmarking({name.upper(): {"href": url, "title": ""} for name, url in _REFERENCE.findall(text)})
    blocks = _blocks(text.split("\n"), plain)
    placed = sorted([*html, *blocks.tables] or blocks.logs, key=lambda pair: pair[0])
    return list(_with_context(placed, blocks.texts, lambda words: tidy(plain(words)))) or log_grids(text)


def _unmarking(links: dict[str, Any]) -> Callable[[str], str]:
    """Return a function that removes the marks from a text; links: the targets of links by their labels."""
    parser = import_module("markdown_it").MarkdownIt("commonmark")

    @cache
    def unmarked(text: str) -> str:
        return _inline_text(parser.parseInline(text, {"references": links})[0].children)

    return lambda text: unmarked(text) if len(text) <= _LONGEST_TEXT and _MARK.search(text) else text


def _blocks(lines: Sequence[str], plain: Callable[[str], str]) -> _Blocks:
    found = _Blocks()
    paragraph: list[str] = []
    in_comment = False
    at = 0
    while at < len(lines):
        line, first = lines[at], at
        at += 1
        if fence := _FENCE.match(line):
            at = next((n for n in range(at, len(lines)) if lines[n].strip().startswith(fence[1])), len(lines))
            content = "\n".join(lines[first + 1 : at])
            at += 1
            kind, read = (
                (found.tables, latex_grids) if _LATEX_TABLE.search(content) else (found.logs, log_grids)
            )
            kind.append((first, [shifted(grid, first + 1) for grid in read(content)]))
            paragraph = []
            continue
        in_comment = "-->" not in line.rpartition("<!--")[2] if "<!--" in line else in_comment
        if rows := _table_rows(lines, first):
            remarks = ["the table is inside a comment"] * in_comment
            found.tables.append((first, [shifted(_pipe_table(rows, first + 1, plain), 0, *remarks)]))
            at, paragraph = first + len(rows), []
            continue
        in_comment = in_comment and "-->" not in line
        line = _QUOTE.sub("", line)
        found.texts += [(first, _FOLDED, words) for words in _SUMMARY.findall(line)]
        if heading := _HEADING.fullmatch(line):
            found.texts.append((first, len(heading[1]), heading[2]))
            paragraph = []
        elif _UNDERLINE.fullmatch(line) and paragraph:
            number, _, words = found.texts.pop()
            found.texts.append((number, 1 if "=" in line else 2, words))
            paragraph = []
        elif in_comment or not _TAGS.sub("", line).strip():
            paragraph = []
        else:
            if paragraph and not _ITEM.match(line):
                number, level, words = found.texts.pop()
                found.texts.append((number, level, f"{words} {line.strip()}"))
            else:
                found.texts.append((first, 0, _ITEM.sub("", line, count=1).strip()))
            paragraph.append(line)
    return found


def _table_rows(lines: Sequence[str], first: int) -> list[list[str]]:
    """Return the rows of a table that begins on a line, with its delimiter row; empty if none begins there.

    The delimiter row may have another number of cells than the header, or no header above it: then the header is empty.
    """
    here, below, *_ = (*map(_bare, lines[first : first + 2]), "", "")
    if _is_delimiter(below) and "|" in here + below and here.strip() and not _is_delimiter(here):
        top = first + 2
        rows = [split_pipes(here), split_pipes(below)]
    elif _is_delimiter(here) and "|" in here and (first == 0 or not lines[first - 1].strip()):
        top = first + 1
        rows = [split_pipes(here)]
    else:
        return []
    for line in lines[top:]:
        row = _bare(line)
        is_block = (
            _HEADING.fullmatch(row) or _FENCE.match(row) or _ITEM.match(row) or row.lstrip().startswith("<!")
        )
        if "|" not in row or is_block:
            break
        rows.append(split_pipes(row))
    return rows


def _bare(line: str) -> str:
    """Return a line without the marks of quotes and comments around it."""
    return _QUOTE.sub("", re.sub(r"(?<!\\)<!--|-->", "", line))


def _is_delimiter(line: str) -> bool:
    """Return whether a line is the delimiter row of a table; a dash and a blank begin an item of a list instead."""
    text = line.strip()
    is_possible = text[:1] in ("|", "-", ":") and text[:2].strip() != "-" and len(text) > 1
    return is_possible and all(map(_DASHES.fullmatch, split_pipes(text)))


def _with_context(
    placed: Sequence[_Placed], texts: list[tuple[int, int, str]], plain: Callable[[str], str]
) -> Iterator[Grid]:
    """Yield the tables with the texts around them; texts: line, level (0 for a paragraph) and words of each."""
    # If the first caption follows the first table, each caption follows its own table.
    captions = [(at, plain(words)) for at, level, words in texts if not level and is_caption(words)]
    is_below = bool(captions and placed) and placed[0][0] < captions[0][0]
    before: list[tuple[int, str]] = []
    left = iter([*texts, (inf, 0, "")])
    here = next(left)
    for (line, grids), (end, _) in pairwise([*placed, (inf, [])]):
        while here[0] < line:
            if not (is_below and is_caption(here[2])):
                add_text(before, here[1], here[2])
            here = next(left)
        own = [words for at, words in captions if is_below and line < at < end][:1]
        context = [*own, *context_of([(level, plain(words)) for level, words in before])]
        yield from (replace(grid, context=(*grid.context, *context)) for grid in grids)


def _pipe_table(rows: Sequence[list[str]], first: int, plain: Callable[[str], str]) -> Grid:
    """Return the grid of the rows (header, delimiter row, other rows); first: the line of the first."""
    is_headed = not all(map(_DASHES.fullmatch, rows[0]))
    header, delimiter, *body = rows if is_headed else [[""], *rows]
    second = first + 1 if is_headed else first
    width, remarks = len(header), []
    if len(delimiter) != width:
        remarks = [f"line {second}: the header has {width} cells, the line below it {len(delimiter)}"]
    remarks += [
        f"line {line}: {len(row)} cells where the header has {width}"
        for line, row in enumerate(body, start=second + 1)
        if len(row) > width
    ]
    names = [*header, *[""] * (len(delimiter) - width)]
    cells = [[plain(cell.replace("\\|", "|")) for cell in row] for row in (names, *body)]
    lines = [first, *range(second + 1, second + 1 + len(body))]
    return make_grid(cells, header_rows=1, lines=lines, remarks=remarks)


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
