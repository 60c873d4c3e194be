"""Turn reStructuredText into HTML, with docutils."""

import re
from importlib import import_module

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.formats.html import page_grids

# docutils takes up to a quarter of a minute for this length; a page of results has a fiftieth of it.
_MOST_CHARACTERS = 500_000
_SETTINGS = {"report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
_DIRECTIVE = re.compile(r"^[ \t]*\.\. ([\w:-]+)::.*(?:\n[ \t]+:[\w-]+:.*)*", re.MULTILINE)


def rst_grids(text: str) -> list[Grid]:
    """Return the tables of a reStructuredText: simple, grid, list-table and csv-table.

    Directives of Sphinx, which docutils does not know, are read as their content. Raises RankadjustError for a table
    that docutils refuses, and for a long text.
    """
    if len(text) > _MOST_CHARACTERS:
        raise RankadjustError(f"at most {_MOST_CHARACTERS:,} characters are read; save the table as CSV")
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
        if said.startswith("Malformed table"):
            raise RankadjustError(f"near line {message['line']}: {said}")
        message.parent.remove(message)
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
    return page_grids(re.sub(r'<tr id="line-(\d+)"', r'<tr data-line="\1"', "".join(translator.body)))
