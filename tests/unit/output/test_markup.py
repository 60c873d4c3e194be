"""Tables of text in Markdown, and text in LaTeX."""

import polars as pl
from markdown_it import MarkdownIt

from rankadjust.output.markup import escape_latex, readable, to_markdown


def test_markdown_looks_as_people_write_it():
    frame = pl.DataFrame({"Model": ["A_1", "B|2"], "MRR": ["0.5 ± 0.1", "-"]})
    assert to_markdown(frame) == (
        "| Model | MRR       |\n"
        "| ----- | --------: |\n"
        "| A\\_1  | 0.5 ± 0.1 |\n"
        "| B\\|2  | -         |\n"
    )  # fmt: skip


def test_latex_keeps_hyphens_and_signs():
    assert escape_latex("x---y ± A_1") == r"x-{}-{}-y $\pm$ A\_1"


HOSTILE = (
    "a|b",
    "a\\|b",
    "[click](http://example.org)",
    "![img](http://example.org/x.png)",
    "<script>alert(1)</script>",
    "&lt;b&gt;",
    "`code`",
    "*bold* _it_",
    "\x1b[31mred",
)


def test_names_are_text_in_markdown_and_nothing_else():
    """Read by CommonMark with tables and HTML."""
    frame = pl.DataFrame({"model": HOSTILE, "index": ["0.5"] * len(HOSTILE)})
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(to_markdown(frame))
    inline = [token for token in tokens if token.type == "inline"]
    assert {child.type for token in inline for child in token.children} == {"text"}
    shown = ["".join(child.content for child in token.children) for token in inline][2::2]
    assert shown[:-1] == list(HOSTILE[:-1])
    # What a terminal would obey is written out.
    assert "\x1b" not in shown[-1]
    assert shown[-1].endswith("[31mred")


def test_a_rescored_table_has_the_columns_and_names_that_people_read():
    rows = {
        "metric": ["hits_at_10"],
        "index": [0.123456],
        "grades": ["side printed; unit guessed"],
        "tasks": [7],
    }
    assert readable(pl.DataFrame(rows)).to_dicts() == [
        {"metric": "Hits@10", "index": "0.1235", "grades": "unit guessed"}
    ]
