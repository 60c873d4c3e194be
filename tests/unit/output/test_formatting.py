"""Tables as Markdown: what somebody else's table says is text and nothing else."""

import polars as pl
from markdown_it import MarkdownIt

from rankadjust.output.formatting import markdown_table
from rankadjust.output.rendering import to_markdown

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a|b",
    "a\\|b",
    "a\\",
    "![](http://127.0.0.1/seen.png)",
    "[click](javascript:alert(1))",
    "`code|code`",
    "&lt;b&gt;",
    "two\nlines",
)


def cells(markdown):
    """Return the texts of the cells of a table, as a reader of Markdown with tables and HTML understands them."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    inline = [token for token in tokens if token.type == "inline"]
    kinds = {child.type for token in inline for child in token.children}
    return ["".join(child.content for child in token.children) for token in inline], kinds


def test_a_rescored_table_holds_hostile_names_as_text():
    frame = pl.DataFrame({"model": HOSTILE, "index": [0.5] * len(HOSTILE)})
    found, kinds = cells(markdown_table(frame))
    assert found[2::2] == [text.replace("\n", " ") for text in HOSTILE]
    assert kinds == {"text"}


def test_an_adjusted_table_holds_hostile_names_as_text():
    frame = pl.DataFrame({"Model": HOSTILE[:-1], "MRR": ["0.5"] * (len(HOSTILE) - 1)})
    found, kinds = cells(to_markdown(frame))
    assert found[2::2] == list(HOSTILE[:-1])
    assert kinds == {"text"}


def test_escape_sequences_do_not_reach_a_file_that_is_looked_at_on_a_terminal():
    frame = pl.DataFrame({"model": ["\x1b[31mred\x1b[0m"]})
    assert "\x1b" not in markdown_table(frame) + to_markdown(frame)
