"""The printed table with adjusted columns added.

Expectations come from tests/data/published/moments.csv (an implementation other than ours); the index is worked out
here from its definition, (M - E) / (1 - E).
"""

import csv
import io

import polars as pl
import pytest
from markdown_it import MarkdownIt

from rankadjust.base.errors import RankadjustError
from rankadjust.database.constants import Constants
from rankadjust.database.store import assemble
from rankadjust.literature.rescore import rescore
from rankadjust.output.markup import (
    adjusted_tables,
    as_precise,
    readable,
    to_latex,
    to_markdown,
    write_adjusted,
)
from rankadjust.tables.formats.latex import latex_grids
from rankadjust.tables.formats.markdown import markdown_grids
from rankadjust.tables.reading import read_tables

TABLE = """| Model | MR | MRR | Hits@10 (%) | Note |
|-------|----|-----|-------------|------|
| **A_1** | 177 | 0.338 | 53.3 | best |
| B     | - | .2941 | bad | |
"""


@pytest.fixture(scope="module")
def moments(project):
    return pl.read_csv(project / "tests/data/published/moments.csv")


@pytest.fixture(scope="module")
def database(moments):
    columns = {"variance_random_scorer": pl.Float64, "reason": pl.String}
    nothing = [pl.lit(None, dtype=kind).alias(name) for name, kind in columns.items()]
    return assemble([moments.with_columns(*nothing, method=pl.lit("reference"))])


@pytest.fixture
def adjusted(tmp_path, database):
    def adjust(name, text):
        (tmp_path / name).write_text(text)
        reading = read_tables(tmp_path / name)
        return adjusted_tables(reading, rescore(reading.values, Constants(database)))

    return adjust


def expectation(moments, dataset, metric):
    row = moments.filter(dataset=dataset, protocol="filtered", split="testing", side="both", metric=metric)
    return row["expectation"].item()


def test_each_column_of_values_gets_its_index_with_the_printed_precision(adjusted, moments):
    (frame,) = adjusted("fb15k237.md", TABLE)
    mr = expectation(moments, "FB15k-237", "arithmetic_mean_rank")
    mrr = expectation(moments, "FB15k-237", "inverse_harmonic_mean_rank")
    hits = expectation(moments, "FB15k-237", "hits_at_10")
    assert frame.to_dict(as_series=False) == {
        "Model": ["A_1", "B"],
        "MR": ["177", "-"],
        # One rank more or less is 1 / (E - 1), about 0.00014: four decimals.
        "MR index (assumed)": [f"{(177 - mr) / (1 - mr):.4f}", ""],
        "MRR": ["0.338", ".2941"],
        "MRR index (assumed)": [f"{(0.338 - mrr) / (1 - mrr):.3f}", f"{(0.2941 - mrr) / (1 - mrr):.4f}"],
        "Hits@10 (%)": ["53.3", "bad"],
        "Hits@10 (%) index (assumed)": [f"{(0.533 - hits) / (1 - hits):.3f}", ""],
        "Note": ["best", ""],
    }


def test_columns_are_called_assumed_where_facts_of_a_value_are(tmp_path, database):
    (tmp_path / "wn18rr.md").write_text(TABLE)
    given = {"dataset": "WN18RR", "split": "testing", "side": "both", "protocol": "filtered"}
    reading = read_tables(tmp_path / "wn18rr.md", given=given)
    (frame,) = adjusted_tables(reading, rescore(reading.values, Constants(database)))
    assert [name for name in frame.columns if "index" in name] == [
        "MR index",
        "MRR index",
        "Hits@10 (%) index",
    ]


def test_sections_repeated_headers_and_several_tables_stay(adjusted):
    text = "|Model|MRR|\n|-|-|\n|**WN18RR**||\n|A|0.476|\n\nx\n\n|Graph|Triples|\n|-|-|\n|Nations|1992|\n"
    (frame,) = adjusted("tables.md", text)
    assert frame["Model"].to_list() == ["WN18RR", "A"]
    assert frame["MRR index (assumed)"].to_list() == ["", "0.476"]


def test_columns_of_one_name_are_numbered(adjusted):
    header = "<tr><th>Model</th><th>Note</th><th>Note</th><th>MRR</th></tr>"
    text = f"<table>{header}<tr><td>A</td><td>a</td><td>b</td><td>0.5</td></tr></table>"
    (frame,) = adjusted("wn18rr.html", text)
    assert frame.columns == ["Model", "Note", "Note (2)", "MRR", "MRR index (assumed)"]


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0.33712, 0.001, "0.337"),
        (0.33712, 0.0010004, "0.337"),
        (0.9758, 0.000137, "0.9758"),
        (-0.00001, 0.001, "0.000"),
        (4973.06, 12.0, "4973"),
        (0.5, None, "0.500"),
        (None, 0.1, ""),
        (float("nan"), 0.1, ""),
    ],
)
def test_digits_follow_the_rounding_interval(value, width, text):
    assert as_precise(value, width) == text


def test_formats_hold_the_same_table(adjusted, tmp_path):
    (frame,) = adjusted("fb15k237.md", TABLE)
    rows = [frame.columns, *map(list, frame.rows())]
    for suffix in (".csv", ".parquet", ".md", ".tex"):
        write_adjusted(frame, tmp_path / f"out{suffix}")
    assert list(csv.reader(io.StringIO((tmp_path / "out.csv").read_text()))) == rows
    assert pl.read_parquet(tmp_path / "out.parquet").equals(frame)
    assert [list(row) for row in markdown_grids((tmp_path / "out.md").read_text())[0].rows] == rows
    assert [list(row) for row in latex_grids((tmp_path / "out.tex").read_text())[0].rows] == rows
    with pytest.raises(RankadjustError, match=r"unknown suffix '.xlsx'; write .csv, .parquet, .md or .tex"):
        write_adjusted(frame, tmp_path / "out.xlsx")


def test_markdown_and_latex_look_as_people_write_them():
    frame = pl.DataFrame({"Model": ["A_1", "B|2"], "MRR": ["0.5 ± 0.1", "-"]})
    assert to_markdown(frame) == (
        "| Model | MRR       |\n"
        "| ----- | --------: |\n"
        "| A\\_1  | 0.5 ± 0.1 |\n"
        "| B\\|2  | -         |\n"
    )  # fmt: skip
    assert to_latex(frame) == (
        "\\begin{tabular}{lr}\n"
        "  \\toprule\n"
        "  Model & MRR \\\\\n"
        "  \\midrule\n"
        "  A\\_1 & 0.5 $\\pm$ 0.1 \\\\\n"
        "  B|2 & - \\\\\n"
        "  \\bottomrule\n"
        "\\end{tabular}\n"
    )


def test_latex_keeps_hyphens():
    frame = pl.DataFrame({"a": ["--", "x---y"]})
    assert [row[0] for row in latex_grids(to_latex(frame))[0].rows] == ["a", "--", "x---y"]


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
