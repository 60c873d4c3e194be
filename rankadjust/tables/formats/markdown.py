"""Read Markdown into grids: markdown-it-py finds blocks and reads marked words, this module reads the tables."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import pairwise
from math import inf
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import Grid, add_text, context_of, is_caption, make_grid, shifted, tidy
from rankadjust.tables.formats.html import html_grids
from rankadjust.tables.formats.latex import latex_grids
from rankadjust.tables.formats.logs import log_grids
from rankadjust.tables.formats.plaintext import split_pipes

_HTML_TABLE = re.compile(r"<table\b.*?(</table\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_LATEX_TABLE = re.compile(r"\\begin\{(?:tabular|longtable|array)")
# The title of a part that a reader unfolds, of a lower rank than every heading.
_SUMMARY = re.compile(r"<summary>([^<>]{1,200})</summary>", re.IGNORECASE)
_FOLDED = 7
_FOOTNOTE_REFERENCE = re.compile(r"(?<!\\)\[\^([^\]\s]{1,99})\](?!:)")
_DASHES = re.compile(r":?-+:?")
# A line that begins with any other sign starts no block that could end a table.
_BLOCK_STARTS = frozenset("`~>*-_+#<0123456789")
# A text without any of these signs has no marks to remove.
_MARK = re.compile(r"[\\`*_\[&<\n]")
# A longer cell or title keeps its marks: the parser takes seconds for 200 kB of brackets.
_LONGEST_TEXT = 10_000
# The most tokens of the parser for the text around tables; a paragraph makes three, an item of a list five. Two million
# tokens take a quarter of a minute and a gigabyte, and a file may have thirty million.
_MOST_TOKENS = 2_000_000

# The line on which tables begin, and these tables.
_Placed = tuple[float, list[Grid]]


def markdown_grids(text: str, *, lists: bool = True) -> list[Grid]:
    """Return the tables of a Markdown text: pipe tables, also inside comments, and HTML tables.

    lists: False for pasted text, which may have lost its empty lines: lists are then ordinary text, and a line without
    pipes ends a table.
    """
    parser = import_module("markdown_it").MarkdownIt("commonmark").enable("table")
    parser = parser if lists else parser.disable("list")
    parser.block.ruler.at("table", _pipe_table_rule, {"alt": ["paragraph", "reference"]})
    html: list[_Placed] = []
    line = at = 0
    for match in _HTML_TABLE.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        html.append((line, [shifted(grid, line) for grid in html_grids(match.group())]))
    text = _HTML_TABLE.sub(lambda match: "\n" * match.group().count("\n"), text)
    # A footnote mark becomes a link only if its footnote is defined; write all marks the same way.
    text = _FOOTNOTE_REFERENCE.sub(r"^{\1}", text)
    return _grids(parser, text, 0, html) or log_grids(text)


def _grids(parser: Any, text: str, above: int, html: Iterable[_Placed]) -> list[Grid]:  # noqa: ANN401
    """Return the tables of a text below `above` other lines; html: the HTML tables found in it, with their lines."""
    tokens: list[Any] = []
    links: dict[str, Any] = {}
    parser.block.parse(text, parser, links, tokens)

    @cache
    def unmarked(text: str) -> str:
        return _inline_text(parser.parseInline(text, links)[0].children)

    def plain(text: str) -> str:
        return unmarked(text) if len(text) <= _LONGEST_TEXT and _MARK.search(text) else text

    tables = list(html)
    logs: list[_Placed] = []
    texts: deque[tuple[int, int, str]] = deque()
    for token, after in pairwise([*tokens, None]):
        first, content = token.map[0] if token.map else 0, token.content
        if token.type in ("heading_open", "paragraph_open"):
            level = int(token.tag[1:]) if token.type == "heading_open" else 0
            texts.append((first, level, after.content))
        elif token.type == "html_block" and content.lstrip().startswith("<!--"):
            inside = re.sub(r"<!--|-->", "", "\n".join(text.split("\n")[slice(*token.map)]))
            grids = _grids(parser, inside, above + first, [])
            tables.append((first, [shifted(grid, 0, "the table is inside a comment") for grid in grids]))
        elif token.type == "html_block":
            texts += [(first, _FOLDED, words) for words in _SUMMARY.findall(content)]
        elif token.type == "fence":
            kind, read = (tables, latex_grids) if _LATEX_TABLE.search(content) else (logs, log_grids)
            kind.append((first, [shifted(grid, first + 1) for grid in read(content)]))
        elif token.type == "pipe_table":
            tables.append((first, [_pipe_table(token.meta["rows"], above + first + 1, plain)]))
    # Output of programs is read only if the text has no table: beside tables, such output is a configuration.
    placed = sorted(tables or logs, key=lambda pair: pair[0])
    return list(_with_context(placed, texts, lambda words: tidy(plain(words))))


def _with_context(
    placed: Sequence[_Placed], texts: deque[tuple[int, int, str]], plain: Callable[[str], str]
) -> Iterator[Grid]:
    """Yield the tables with the texts around them; texts: line, level (0 for a paragraph) and words of each."""
    # If the first caption follows the first table, each caption follows its own table.
    captions = [(at, plain(words)) for at, level, words in texts if not level and is_caption(words)]
    is_below = bool(captions and placed) and placed[0][0] < captions[0][0]
    before: list[tuple[int, str]] = []
    for (line, grids), (end, _) in pairwise([*placed, (inf, [])]):
        while texts and texts[0][0] < line:
            _, level, words = texts.popleft()
            if not (is_below and is_caption(words)):
                add_text(before, level, words)
        own = [words for at, words in captions if is_below and line < at < end][:1]
        context = [*own, *context_of([(level, plain(words)) for level, words in before])]
        yield from (replace(grid, context=(*grid.context, *context)) for grid in grids)


def _pipe_table_rule(state: Any, first: int, end: int, silent: bool) -> bool:  # noqa: ANN401
    """Take a pipe table off a text as a single token with its rows: a rule that replaces markdown-it's own.

    The original rule makes six tokens of each cell and drops the cells of a row beyond the header. It also reads a
    table as a paragraph if the delimiter row has no header above it, or a header with another number of cells. The
    parser calls this rule wherever a block begins, so the rule also stops the parser in a text with too many blocks.
    """
    if len(state.tokens) > _MOST_TOKENS:
        raise RankadjustError(
            f"line {first + 1}: more paragraphs, headings and items of lists than are read (some "
            f"{_MOST_TOKENS // 4:,}); keep only the tables with their captions"
        )
    if first + 1 < end and _is_delimiter(state, first + 1):
        top = first
    elif not silent and first and state.isEmpty(first - 1) and _is_delimiter(state, first):
        top = first - 1
    else:
        return False
    if "|" not in _line(state, top) + _line(state, top + 1):
        return False
    if not silent:
        outside, state.parentType = state.parentType, "table"
        last = top + 2
        while last < end and _goes_on(state, last, end):
            last += 1
        state.parentType = outside
        token = state.push("pipe_table", "table", 0)
        token.map = [top, last]
        token.meta = {"rows": [split_pipes(_line(state, line)) for line in range(top, last)]}
        state.line = last
    return True


def _line(state: Any, line: int) -> str:  # noqa: ANN401
    """Return a line without its indentation."""
    return str(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])


def _is_within(state: Any, line: int) -> bool:  # noqa: ANN401
    """Return whether a line is indented like its block, and not as far as code."""
    return bool(0 <= state.sCount[line] - state.blkIndent < 4)


def _is_delimiter(state: Any, line: int) -> bool:  # noqa: ANN401
    """Return whether a line is the delimiter row of a table; a dash and a blank begin an item of a list instead."""
    text = _line(state, line)
    if text[:1] not in ("|", "-", ":") or text[:2].strip() == "-" or not _is_within(state, line):
        return False
    return all(map(_DASHES.fullmatch, split_pipes(text)))


def _goes_on(state: Any, line: int, end: int) -> bool:  # noqa: ANN401
    """Return whether a table continues in a line: it is not empty, and no other block begins there."""
    if state.isEmpty(line) or not _is_within(state, line):
        return False
    if "|" not in _line(state, line) and "list" not in state.md.get_active_rules()["block"]:
        return False
    return _line(state, line)[0] not in _BLOCK_STARTS or not any(
        rule(state, line, end, True) for rule in state.md.block.ruler.getRules("blockquote")
    )


def _pipe_table(rows: Sequence[list[str]], first: int, plain: Callable[[str], str]) -> Grid:
    """Return the grid of the rows (header, delimiter row, other rows); first: the line of the header."""
    header, delimiter, *body = rows
    width, remarks = len(header), []
    if len(delimiter) != width:
        remarks = [f"line {first + 1}: the header has {width} cells, the line below it {len(delimiter)}"]
    remarks += [
        f"line {line}: {len(row)} cells where the header has {width}"
        for line, row in enumerate(body, start=first + 2)
        if len(row) > width
    ]
    names = [*header, *[""] * (len(delimiter) - width)]
    cells = [[plain(cell.replace("\\|", "|")) for cell in row] for row in (names, *body)]
    lines = [first, *range(first + 2, first + len(rows))]
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
