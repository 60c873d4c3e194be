"""reStructuredText into grids, with docutils."""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import count, repeat
from typing import Any

from rankadjust.tables.formats.grid import Grid, Span, context_of, make_grid, shifted, spread_spans
from rankadjust.tables.formats.parsers import load_parser
from rankadjust.tables.formats.plaintext import bordered_grid, split_pipes


def rst_grids(text: str) -> list[Grid]:
    """Return the tables of a reStructuredText: simple, grid, list-table and csv-table.

    A simple table whose text crosses its column borders is an error for docutils; such a table is cut at
    its borders instead, with a remark.
    """
    nodes = load_parser("docutils.nodes", "reStructuredText")
    parser = load_parser("docutils.parsers.rst", "reStructuredText").Parser()
    settings = load_parser("docutils.frontend", "reStructuredText").get_default_settings(parser)
    settings.report_level = settings.halt_level = 5
    settings.warning_stream = io.StringIO()
    settings.file_insertion_enabled = settings.raw_enabled = False
    document = load_parser("docutils.utils", "reStructuredText").new_document("table", settings)
    parser.parse(text, document)
    source = text.splitlines()
    refused = 0
    grids = []
    texts: list[tuple[int, str]] = []
    for node in document.findall():
        if isinstance(node, nodes.table):
            grids.append(_rst_table(node, nodes, context_of(texts)))
        elif isinstance(node, nodes.system_message) and not _within_table(node.parent, nodes):
            first, last = _quoted(node, nodes, source)
            # One broken table may be the subject of several complaints.
            if first is not None and first >= refused:
                grids.append(_rst_malformed(node, nodes, context_of(texts), source[first:last], first))
                refused = last
        elif isinstance(node, (nodes.title, nodes.paragraph)) and not _within_table(node, nodes):
            texts.append((_level(node, nodes), _rst_text(node, nodes)))
    return grids


def _level(node: Any, nodes: Any) -> int:  # noqa: ANN401 - docutils
    """Return how many sections a title stands in; 0 for other texts."""
    if not isinstance(node, nodes.title):
        return 0
    level = 0
    while node is not None:
        level += isinstance(node, nodes.section)
        node = node.parent
    return max(1, level)


def _within_table(node: Any, nodes: Any) -> bool:  # noqa: ANN401 - docutils
    while node is not None:
        if isinstance(node, (nodes.table, nodes.system_message)):
            return True
        node = node.parent
    return False


def _rst_table(table: Any, nodes: Any, context: list[str]) -> Grid:  # noqa: ANN401 - docutils
    rows, lines = [], []
    header_rows = 0
    for row in table.findall(nodes.row):
        if isinstance(row.parent, nodes.thead):
            header_rows += 1
        entries = [entry for entry in row.children if isinstance(entry, nodes.entry)]
        rows.append(
            [
                Span(_rst_text(entry, nodes), entry.get("morerows", 0) + 1, entry.get("morecols", 0) + 1)
                for entry in entries
            ]
        )
        lines.append(next((node.line for node in row.findall(nodes.paragraph) if node.line), None))
    titles = [_rst_text(title, nodes) for title in table.findall(nodes.title)]
    return make_grid(spread_spans(rows), header_rows=header_rows, lines=lines, context=[*titles, *context])


def _quoted(message: Any, nodes: Any, source: list[str]) -> tuple[int | None, int]:  # noqa: ANN401 - docutils
    """Return the lines of the source that a message of docutils quotes, down to the next blank line."""
    for block in message.findall(nodes.literal_block):
        quoted = [line.strip() for line in block.astext().splitlines()]
        for first in range(len(source) - len(quoted) + 1):
            if [line.strip() for line in source[first : first + len(quoted)]] == quoted:
                last = first + len(quoted)
                while last < len(source) and source[last].strip():
                    last += 1
                return first, last
    return None, 0


def _rst_malformed(message: Any, nodes: Any, context: list[str], lines: list[str], above: int) -> Grid:  # noqa: ANN401
    """Return a table that docutils refuses, `above` lines down the file: cut at its borders or pipes, else uncut."""
    text = _without_markup("\n".join(lines))
    grid = bordered_grid(text, context)
    if grid is None:
        numbered = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if "|" in line]
        numbered = numbered or list(enumerate(text.splitlines(), start=1))
        rows = [split_pipes(line) for _, line in numbered]
        grid = make_grid(rows, lines=[number for number, _ in numbered], context=context)
    reason = " ".join(next(message.findall(nodes.paragraph)).astext().split())
    return shifted(grid, above, reason)


def _without_markup(text: str) -> str:
    """Leave out the marks of links, emphasis and escapes that docutils did not get to interpret."""
    text = re.sub(r"`([^`<]+?)(?:\s*<[^`>]*>)?`__?|(?<!\S)\*{1,2}(\S[^*]*)\*{1,2}", r"\1\2", text)
    return re.sub(r"\\(.)", r"\1", text)


def _rst_text(node: Any, nodes: Any) -> str:  # noqa: ANN401 - docutils
    if isinstance(node, nodes.Text):
        return re.sub(r"\s+", " ", str(node.astext()))
    if isinstance(node, (nodes.superscript, nodes.footnote_reference, nodes.citation_reference)):
        return f"^{{{node.astext()}}}"
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    if isinstance(node, nodes.system_message):
        # A complaint quotes the text that docutils could not place, such as a line of dashes.
        return "\n".join(block.astext() for block in node.findall(nodes.literal_block))
    if isinstance(node, (nodes.bullet_list, nodes.enumerated_list)):
        marks = _list_marks(node, nodes)
        return "\n".join(
            f"{mark} {_rst_text(item, nodes)}" for mark, item in zip(marks, node.children, strict=False)
        )
    blocks = isinstance(node, nodes.Element) and any(isinstance(child, nodes.Body) for child in node.children)
    return ("\n" if blocks else "").join(_rst_text(child, nodes) for child in node.children)


def _list_marks(node: Any, nodes: Any) -> Iterator[str]:  # noqa: ANN401 - docutils
    """Return the marks of the items of a list: what is a list to docutils may be a name or a number ('1.', '- 3')."""
    if isinstance(node, nodes.bullet_list):
        yield from repeat(str(node["bullet"]))
    for number in count(node.get("start", 1)):
        yield f"{node['prefix']}{_ENUMERATORS[node['enumtype']](number)}{node['suffix']}"


def _roman(number: int) -> str:
    numeral = ""
    for value, letters in zip(
        (100, 90, 50, 40, 10, 9, 5, 4, 1), ["C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"], strict=True
    ):
        numeral += letters * (number // value)
        number %= value
    return numeral


_ENUMERATORS: Mapping[str, Callable[[int], str]] = {
    "arabic": str,
    "loweralpha": lambda number: chr(ord("a") + number - 1),
    "upperalpha": lambda number: chr(ord("A") + number - 1),
    "lowerroman": lambda number: _roman(number).lower(),
    "upperroman": _roman,
}
