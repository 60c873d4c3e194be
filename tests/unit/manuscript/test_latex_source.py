"""Rows added to an author's LaTeX: everything else stays as it was."""

from pathlib import Path

import pytest

from rankadjust.manuscript.latex_source import edited, with_rows
from rankadjust.tables.formats.latex import expand_macros, tabulars

HERE = Path(__file__).parents[2] / "data"
SOURCES = sorted([*(HERE / "tables").glob("*.tex"), *(HERE / "manuscript").glob("*.tex")])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_cells_of_a_source_are_those_that_the_reader_sees(path):
    source = path.read_text(encoding="utf-8")
    assert [table.shape for table in tabulars(source)] == [
        table.shape for table in tabulars(expand_macros(source))
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_source_with_rows_below_each_row_has_all_its_characters_in_order(path):
    source = path.read_text(encoding="utf-8")
    for number, table in enumerate(tabulars(source)):
        rows = {row: [{0: "NEW", 1: "1"}, {0: "NEWER"}] for row in range(len(table.rows))}
        made = edited(source, with_rows(table, source, rows))
        wider = tabulars(made)[number]
        assert [made[row[0].start : row[0].end] for row in wider.rows[1::3]] == ["NEW"] * len(table.rows)
        assert set(wider.shape[1::3]) == {max(table.shape)}
        assert wider.shape[::3] == table.shape
        kept = iter(made)
        assert all(character in kept for character in source)
        assert made.startswith(source[: table.rows[0][0].end])
        assert made.endswith(source[table.end :])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A row may have no end, a rule on its line, a comment behind it, or blanks before it.
        ("A & 1\n\\end", "A & 1 \\\\\nNEW & 2 \\\\\n\\end"),
        ("A & 1 \\\\ \\hline\n\\end", "A & 1 \\\\\n\\hline\nNEW & 2 \\\\ \\hline\n\\end"),
        ("A & 1 \\\\ % one\n\\midrule \\end", "A & 1 \\\\ % one\n\\midrule\nNEW & 2 \\\\\n\\midrule \\end"),
        ("  A & 1 \\\\[2pt]\n\\end", "  A & 1 \\\\[2pt]\n  NEW & 2 \\\\\n\\end"),
    ],
)
def test_a_row_is_added_as_the_table_sets_its_own(before, after):
    start, end = "\\begin{tabular}{lc}\n", "{tabular}"
    source = start + before + end
    (table,) = tabulars(source)
    assert edited(source, with_rows(table, source, {0: [{0: "NEW", 1: "2"}]})) == start + after + end


def test_a_rule_leaves_out_the_name_of_the_data_set():
    source = "\\begin{tabular}{llc}\n\\hline\n\\multirow{1}{*}{X} & A & 1 \\\\\n\\hline\n\\end{tabular}"
    (table,) = tabulars(source)
    made = edited(source, with_rows(table, source, {0: [{1: "NEW", 2: "2"}]}))
    assert made == source.replace("A & 1 \\\\\n", "A & 1 \\\\\n\\cline{2-3}\n & NEW & 2 \\\\\n")
