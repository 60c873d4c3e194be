"""Columns added to an author's LaTeX: everything else stays as it was."""

from pathlib import Path

import pytest

from rankadjust.manuscript.latex_source import (
    Addition,
    alignment_of,
    edited,
    shapes_as_read,
    tabulars,
    with_columns,
    with_texts,
)

HERE = Path(__file__).parents[2] / "data"
SOURCES = sorted([*(HERE / "tables").glob("*.tex"), *(HERE / "manuscript").glob("*.tex")])


def cells_of(source):
    return [
        [[source[cell.start : cell.end] for cell in row] for row in table.rows] for table in tabulars(source)
    ]


@pytest.mark.parametrize(
    ("spec", "columns"),
    [
        ("lcr", ["l", "c", "r"]),
        ("|l||c|c|", ["|l", "||c", "|c|"]),
        (r"@{}l@{\hskip 2em}S[table-format=2.2(2)]@{}", ["@{}l", r"@{\hskip 2em}S[table-format=2.2(2)]@{}"]),
        (r"p{3cm}>{\bfseries}m{1cm}<{x}X", ["p{3cm}", r">{\bfseries}m{1cm}<{x}", "X"]),
        ("l*{2}{|cr}", ["l", "|c", "r", "|c", "r"]),
        ("D{.}{.}{2}w{c}{1cm}", ["D{.}{.}{2}", "w{c}{1cm}"]),
        ("l?c", None),
    ],
)
def test_the_columns_of_an_alignment(spec, columns):
    assert alignment_of(spec) == columns


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_cells_of_a_source_are_those_that_the_reader_sees(path):
    source = path.read_text(encoding="utf-8")
    assert [table.shape for table in tabulars(source)] == shapes_as_read(source)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_cell_keeps_its_characters_beside_new_columns(path):
    source = path.read_text(encoding="utf-8")
    for number, table in enumerate(tabulars(source)):
        added = range(1, max(table.shape))
        texts = dict.fromkeys(range(len(table.rows)), "NEW")
        edits = with_columns(table, source, [Addition(column, texts) for column in added])
        made = edited(source, edits)
        assert len(alignment_of(made[slice(*tabulars(made)[number].alignment)])) == max(table.shape) + len(
            added
        )
        kept = [[text for text in row if text != "NEW"] for row in cells_of(made)[number]]
        # A span over a new column has another number, and nothing else.
        numbers = [
            [text if cell.number is None else None for text, cell in zip(row, cells, strict=True)]
            for row, cells in zip(cells_of(source)[number], table.rows, strict=True)
        ]
        assert [[old for old in row if old is not None] for row in numbers] == [
            [new for new, old in zip(row, was, strict=True) if old is not None]
            for row, was in zip(kept, numbers, strict=True)
        ]
        # Every row that reached the end of the table does so again.
        wider = tabulars(made)[number].shape
        full = max(table.shape)
        assert {now for was, now in zip(table.shape, wider, strict=True) if was == full} == {
            full + len(added)
        }
        assert made[: table.alignment[0]] == source[: table.alignment[0]]
        assert made.endswith(source[table.end :])


def test_rules_and_spans_grow_with_the_columns_below_them():
    source = (HERE / "manuscript" / "two-sets.tex").read_text(encoding="utf-8")
    (table,) = tabulars(source)
    made = edited(source, with_columns(table, source, [Addition(2, {4: "0.95"}), Addition(5, {4: "0.04"})]))
    assert r"\multicolumn{4}{c|}{FB15k-237} & \multicolumn{3}{c}{Nations}" in made
    assert r"\cmidrule(lr){2-5}\cmidrule(lr){6-8}" in made
    assert r"\multicolumn{8}{l}{\emph{Translational}}" in made
    assert (
        r"RotatE~\cite{r} & \textbf{33.8} & \underline{177} & 0.95 & \textbf{53.3} & 49 & 33.1 & 0.04 \\"
        in made
    )
    assert r"\begin{tabular}{@{}l|cccc|ccc@{}}" in made
    assert "% a comment with & and \\\\" in made


def test_texts_in_place_of_others():
    source = (HERE / "manuscript" / "two-sets.tex").read_text(encoding="utf-8")
    (table,) = tabulars(source)
    made = edited(source, with_texts(table, [Addition(5, {3: "4.1", 4: r"\textbf{19.7}"})]))
    assert made == source.replace("& 20.1 ", "& 4.1 ").replace("& 33.1\\", "& \\textbf{19.7}\\")


def test_an_alignment_that_is_not_understood_is_left_alone():
    source = r"\begin{tblr}{colspec={lc}} Model & MRR \\ A & 0.3 \\ \end{tblr}"
    (table,) = tabulars(source)
    assert with_columns(table, source, [Addition(1, {1: "x"})]) is None
