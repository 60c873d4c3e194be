"""Turn reStructuredText into HTML, with docutils."""

import re
from importlib import import_module
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.formats.html import page_grids
from rankadjust.tables.formats.text import bordered_grid

# docutils takes up to a quarter of a minute for this length; a page of results has a fiftieth of it.
_MOST_CHARACTERS = 500_000
_SETTINGS = {"report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
_DIRECTIVE = re.compile(r"^[ \t]*\.\. ([\w:-]+)::.*(?:\n[ \t]+:[\w-]+:.*)*", re.MULTILINE)
_IN_TABLE = re.compile(r"in table line (\d+)")


def rst_grids(text: str) -> list[Grid]:
    """Return the tables of a reStructuredText: simple, grid, list-table and csv-table.

    docutils refuses a simple table with text across its borders. Such a table is cut at its borders.
    Raises RankadjustError for any other table that docutils refuses, and for a long text.
    """
    if len(text) > _MOST_CHARACTERS:
        raise RankadjustError(f"at most {_MOST_CHARACTERS:,} characters are read; save the table as CSV")
    return page_grids(_html(text))


def _html(text: str) -> str:
    """Return a text as HTML, with the content of Sphinx's directives, which docutils does not know."""
    known = import_module("docutils.parsers.rst.languages.en").directives
    text = _DIRECTIVE.sub(lambda match: match[0] if match[1] in known else "\n" * match[0].count("\n"), text)
    nodes, writers = import_module("docutils.nodes"), import_module("docutils.writers.html5_polyglot")
    parser = import_module("docutils.parsers.rst").Parser()
    settings = import_module("docutils.frontend").get_default_settings(parser, writers.Writer())
    vars(settings).update(_SETTINGS)
    document = import_module("docutils.utils").new_document("table", settings)
    parser.parse(text, document)
    for message in list(document.findall(nodes.system_message)):
        said = " ".join(message.children[0].astext().split())
        table = _refused(message, said) if said.startswith("Malformed table") else ""
        message.replace_self(nodes.raw("", table, format="html"))
    references = (nodes.Referential, nodes.substitution_reference)
    for mark in list(document.findall(lambda node: isinstance(node, references))):
        is_note = isinstance(mark, (nodes.footnote_reference, nodes.citation_reference))
        mark.replace_self(nodes.superscript("", mark.astext()) if is_note else mark.children)
    for row in document.findall(nodes.row):
        row["ids"] = [f"line-{next((part.line for part in row.findall(nodes.paragraph) if part.line), 0)}"]
    # What HTML has no element for, such as a note, is the text within it.
    ignored = dict.fromkeys(("unknown_visit", "unknown_departure", "unimplemented_visit"), lambda *_: None)
    translator = type("Translator", (writers.HTMLTranslator,), ignored)(document)
    document.walkabout(translator)
    return re.sub(r'<tr id="line-(\d+)"', r'<tr data-line="\1"', "".join(translator.body))


def _refused(message: Any, said: str) -> str:  # noqa: ANN401 - a node
    """Return the HTML of the simple table that docutils complains about."""
    lines = message.children[-1].astext().splitlines()
    within = _IN_TABLE.search(said)
    if within is None or not lines[0].lstrip().startswith("="):
        raise RankadjustError(f"near line {message['line']}: {said}")
    grid = bordered_grid(lines, message["line"] - int(within[1]), [])
    rows = (
        f"<tr data-line={line}>{''.join(f'<{tag}>{_html(cell)}' for cell in row)}"
        for number, (line, row) in enumerate(zip(grid.lines, grid.rows, strict=True))
        for tag in ["th" if number < grid.header_rows else "td"]
    )
    return f"<table>{''.join(rows)}</table>"
