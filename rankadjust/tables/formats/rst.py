"""Read reStructuredText into grids, with docutils."""

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import Grid, Span, add_text, context_of, make_grid, spread_spans
from rankadjust.tables.formats.text import bordered_grid

# docutils takes up to a quarter of a minute for this length; a page of results has a fiftieth of it.
_MOST_CHARACTERS = 500_000
_SETTINGS = {"report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
_DIRECTIVE = re.compile(r"^[ \t]*\.\. ([\w:-]+)::.*(?:\n[ \t]+:[\w-]+:.*)*", re.MULTILINE)
_IN_TABLE = re.compile(r"in table line (\d+)")


def rst_grids(text: str) -> list[Grid]:
    """Return the tables of a reStructuredText: simple, grid, list-table and csv-table.

    docutils refuses a simple table with text across its borders. Such a table is cut at its borders, with a remark.
    Raises RankadjustError for any other table that docutils refuses, and for a long text.
    """
    if len(text) > _MOST_CHARACTERS:
        raise RankadjustError(f"at most {_MOST_CHARACTERS:,} characters are read; save the table as CSV")
    nodes = import_module("docutils.nodes")
    texts: list[tuple[int, str]] = []
    grids = []
    for node in _document(text).findall(
        lambda node: isinstance(node, (nodes.table, nodes.system_message, nodes.title, nodes.paragraph))
    ):
        if isinstance(node, nodes.table):
            grids.append(_table(node, nodes, context_of(texts)))
        elif isinstance(node, nodes.system_message):
            grids += _refused(node, nodes, texts)
        elif not any(isinstance(above, (nodes.table, nodes.system_message)) for above in _above(node)):
            is_title = isinstance(node, nodes.title)
            level = sum(isinstance(above, nodes.section) for above in _above(node)) if is_title else 0
            add_text(texts, level, _text(node, nodes))
    return grids


def _document(text: str) -> Any:  # noqa: ANN401 - a document of docutils
    """Return the tree of a text, with the content of Sphinx's directives, which docutils does not know."""
    known = import_module("docutils.parsers.rst.languages.en").directives
    parser = import_module("docutils.parsers.rst").Parser()
    settings = import_module("docutils.frontend").get_default_settings(parser)
    vars(settings).update(_SETTINGS)
    document = import_module("docutils.utils").new_document("table", settings)
    parser.parse(
        _DIRECTIVE.sub(lambda match: match[0] if match[1] in known else "\n" * match[0].count("\n"), text),
        document,
    )
    return document


def _above(node: Any) -> Iterator[Any]:  # noqa: ANN401 - a node
    while node := node.parent:
        yield node


def _table(table: Any, nodes: Any, context: list[str]) -> Grid:  # noqa: ANN401 - a node and its module
    rows, lines = [], []
    for row in table.findall(nodes.row):
        rows.append(
            [
                Span(_text(entry, nodes), entry.get("morerows", 0) + 1, entry.get("morecols", 0) + 1)
                for entry in row.children
            ]
        )
        lines.append(next((part.line for part in row.findall(nodes.paragraph) if part.line), None))
    # docutils counts the lines of a csv-table from 1 in each cell.
    lines = lines if len(set(lines)) == len(lines) else []
    header_rows = sum(isinstance(row.parent, nodes.thead) for row in table.findall(nodes.row))
    titles = [_text(title, nodes) for title in table.findall(nodes.title)]
    return make_grid(spread_spans(rows), header_rows=header_rows, lines=lines, context=[*titles, *context])


def _refused(message: Any, nodes: Any, texts: list[tuple[int, str]]) -> list[Grid]:  # noqa: ANN401 - a node and its module
    """Return the simple table that docutils complains about; nothing if the complaint is about anything else."""
    said = " ".join(message.children[0].astext().split())
    if not said.startswith("Malformed table"):
        return []
    lines = message.children[-1].astext().splitlines()
    within = _IN_TABLE.search(said)
    if within is None or not lines[0].lstrip().startswith("="):
        raise RankadjustError(f"near line {message['line']}: {said}")
    grid = bordered_grid(lines, message["line"] - int(within[1]), context_of(texts))
    rows = tuple(tuple(_text(_document(cell), nodes) for cell in row) for row in grid.rows)
    return [replace(grid, rows=rows, remarks=(said,))]


def _text(node: Any, nodes: Any) -> str:  # noqa: ANN401 - a node and its module
    if isinstance(node, nodes.system_message):
        return ""
    if isinstance(node, (nodes.superscript, nodes.footnote_reference, nodes.citation_reference)):
        return f"^{{{node.astext()}}}"
    if not node.children:
        return " ".join(str(node.astext()).split("\n"))
    blocks = any(isinstance(child, nodes.Body) for child in node.children)
    return (" " if blocks else "").join(_text(child, nodes) for child in node.children)
