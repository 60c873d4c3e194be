"""What a paper needs of a table of results."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import rankadjust
from rankadjust.base.errors import RankadjustError
from rankadjust.manuscript.latex_source import tabulars
from rankadjust.manuscript.printed_scores import BEST

HERE = Path(__file__).parents[2] / "data" / "manuscript"
TABLES = sorted(HERE.glob("*.tex"))
FILES = {"check.md", "methods.tex", "references.bib", "table.csv", "table.md", "table.tex"}
FIGURES = {"figure.pdf", "figure.png", "figure.svg"}


def made_of(text, tmp_path, name="table.tex", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return rankadjust.paper(path, figure=False, **options)


@cache
def paper_of(name, replace=False):
    """Return what is made of a table of tests/data/manuscript, once for all tests that look at it."""
    return rankadjust.paper(HERE / f"{name}.tex", figure=not replace, replace=replace)


def source_of(paper):
    return paper.files["table.tex"].decode("utf-8")


def test_each_value_gets_the_number_that_says_something():
    paper = paper_of("two-sets")
    scores = dict(paper.values.select(pl.concat_str("dataset", "metric", separator=" "), "score").iter_rows())
    # FB15k-237 has 14,541 entities: chance is below 0.001 there. A mean rank always depends on their number.
    assert scores == {
        "FB15k-237 inverse_harmonic_mean_rank": "gain",
        "FB15k-237 arithmetic_mean_rank": "index",
        "FB15k-237 hits_at_10": "gain",
        "Nations inverse_harmonic_mean_rank": "index",
        "Nations hits_at_1": "index",
    }
    # (0.702 - E) / (1 - E) with E = 0.38444, which docs/case-study.md has for Nations: 0.516.
    assert r"\textbf{70.2} & 51.6" in source_of(paper)


def test_the_author_s_table_is_kept():
    paper = paper_of("two-sets")
    before, after = (HERE / "two-sets.tex").read_text(encoding="utf-8"), source_of(paper)
    texts = [
        [text[cell.start : cell.end] for row in tabulars(text)[0].rows for cell in row]
        for text in (before, after)
    ]
    spans = re.compile(r"\\multicolumn\{\d+\}")
    kept = iter(spans.sub("", text) for text in texts[1])
    # In the same order, with new ones between them.
    assert all(spans.sub("", text) in kept for text in texts[0])
    assert after.startswith(before[: before.index(" Nations (test")])
    assert after.endswith(before[before.index(r"\bottomrule") :])


def test_the_caption_explains_the_new_columns():
    caption = re.search(r"\\caption\{(.*)\}\\label", source_of(paper_of("two-sets")))[1]
    assert caption.startswith(
        "Link prediction on FB15k-237 and Nations (test, filtered). adj.: adjusted for chance"
    )
    assert r"100 (\%) a perfect one" in caption
    assert "dagger" not in caption


def test_a_table_without_a_float_gets_caption_and_label():
    paper = paper_of("sides")
    assert source_of(paper).startswith("\\begin{table}[t]\n\\centering\n\\caption{adj.:")
    assert r"\label{tab:adjusted}" in source_of(paper)
    assert source_of(paper).rstrip().endswith(r"\end{table}")


def test_a_longtable_without_a_caption_gets_one_of_its_own():
    made = source_of(paper_of("long"))
    assert re.match(
        r"\\begin\{longtable\}\{[^\n]*\n\\caption\{adj\.: .*\}\\label\{tab:adjusted\}\\\\\n\\toprule", made
    )
    # Its head stands there twice, and both are as wide as the table.
    assert made.count("{MRR, UMLS} & adj. & Hits@10, UMLS & adj.") == 2


def test_numbers_in_place_of_the_printed_ones():
    made = source_of(paper_of("siunitx", replace=True))
    # AMRI of CoDEx-S: (80.5 - E) / (1 - E) is above 0.9.
    assert re.search(r"TransE  & 35\.1 &  9\d\.\d+ & ", made)
    assert "{MR (adj.)}" in made


def test_a_table_made_of_macros_is_set_anew_and_said(tmp_path):
    text = (
        "\\newcommand{\\result}[2]{#1 & #2 \\\\}\n"
        "\\begin{tabular}{lc}\nModel & MRR \\\\ \\midrule\n\\result{A}{0.43} \\result{B}{0.51}\n\\end{tabular}\n"
    )
    (tmp_path / "nations.yaml").write_text("dataset: Nations\nprotocol: filtered\nsplit: test\nside: both\n")
    paper = made_of(text, tmp_path, "nations.tex")
    assert r"B & 0.51 & 0.20 \\" in source_of(paper)
    assert "set anew" in paper.files["check.md"]
    assert source_of(paper).startswith("\\newcommand{\\result}[2]{#1 & #2 \\\\}\n")


def test_markdown_becomes_latex_with_spans(tmp_path):
    text = "| Model | Nations MRR | Nations MR | UMLS MRR |\n|---|---|---|---|\n| A_1 | 0.43 | 3.1 | 0.8 |\n"
    paper = made_of(text, tmp_path, "table.md")
    assert r"A\_1 & 0.43 & \textbf" not in paper.files["table.tex"]
    assert paper.files["table.tex"].startswith("% \\usepackage{booktabs,adjustbox}")
    assert "\\begin{adjustbox}{max width=\\linewidth}" in paper.files["table.tex"]
    # (0.43 - E) / (1 - E), E = 0.38444.
    assert re.search(r"A\\_1 & 0\.43 & 0\.07 &", paper.files["table.tex"])


def test_markdown_and_csv_have_what_the_latex_has():
    paper = paper_of("two-sets")
    assert "FB15k-237 / MRR gain" in paper.files["table.csv"]
    replaced = paper_of("two-sets", replace=True)
    assert "Nations / MRR (adj.)" in replaced.files["table.csv"]
    # (0.702 - 0.38444) / (1 - 0.38444) = 0.516
    assert ",51.6," in replaced.files["table.csv"]
    assert "70.2" not in replaced.files["table.csv"]


def test_what_a_tool_has_written_becomes_a_table_for_a_page():
    paper = rankadjust.paper(HERE.parent / "tables" / "pykeen_results_nations.json", figure=False)
    header = paper.files["table.csv"].splitlines()[0]
    assert header.startswith("Model,Nations / ")
    assert "params" not in header
    assert max(len(text) for text in paper.files["table.csv"].splitlines()[1].split(",")) <= len("not named")
    assert "a tool has written" in paper.files["check.md"]


def test_more_results_than_a_page_has_room_for_make_no_figure(tmp_path):
    rows = "".join(f"Nations,model {number},mrr,0.5\n" for number in range(61))
    (tmp_path / "mine.csv").write_text(f"dataset,model,metric,value\n{rows}")
    made = rankadjust.paper(tmp_path / "mine.csv")
    assert "figure.pdf" not in made.files
    assert made.files["check.md"].endswith("No figure: 61 results fit on no page.\n")


def test_runs_of_one_model_keep_a_row_each(tmp_path):
    text = "dataset,model,metric,value\nNations,A,mrr,0.431\nNations,A,mrr,0.702\n"
    table = made_of(text, tmp_path, "mine.csv").files["table.csv"]
    assert [line.split(",")[:2] for line in table.splitlines()[1:]] == [["A", "0.431"], ["A", "0.702"]]


def test_a_number_below_zero_has_a_minus_sign(tmp_path):
    text = "dataset,model,metric,value\nNations,A,mrr,0.3\nNations,B,mrr,0.702\n"
    # (0.3 - 0.38444) / (1 - 0.38444) = -0.137
    assert "$-$0.1" in made_of(text, tmp_path, "mine.csv").files["table.tex"]


def test_ranks_are_compared_by_their_tasks():
    folder = Path(__file__).parents[2] / "data" / "compare"
    paper = rankadjust.paper([folder / "complex", folder / "distmult"], dataset="Kinships", figure=False)
    rows = {(row["model"], row["metric"]): row for row in paper.values.iter_rows(named=True)}
    compared = rankadjust.compare([folder / "complex", folder / "distmult"], dataset="Kinships")
    for row in compared.values.filter(side="both").iter_rows(named=True):
        if (row["model"], row["metric"]) in rows:
            assert rows[row["model"], row["metric"]]["value"] == pytest.approx(row["value"], rel=1e-12)
    assert rows["complex", "inverse_harmonic_mean_rank"]["mark"] == BEST
    assert rows["distmult", "inverse_harmonic_mean_rank"]["mark"] == ""
    assert "sign-flip test" in paper.files["methods.tex"]


def test_the_methods_say_where_what_was_adjusted():
    methods = paper_of("two-sets").files["methods.tex"]
    assert (
        r"MR on FB15k-237, and MRR and Hits@1 on Nations are adjusted for chance \cite{hoyt2022unified}"
        in methods
    )
    assert "MRR and Hits@10 on FB15k-237 are printed as they are" in methods
    assert "all entities without the other known answers" in methods


def test_the_check_names_contradictions(tmp_path):
    text = (HERE / "two-sets.tex").read_text(encoding="utf-8").replace("& 46.5", "& 16.5")
    check = made_of(text, tmp_path).files["check.md"]
    # Hits@10 of 16.5 % leaves no ranks for an MRR of 29.4 %: at most 0.165 + 0.835 / 11 = 0.241.
    assert "impossible" in check


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_all_files_are_made(path):
    files = paper_of(path.stem).files
    assert set(files) == FILES | FIGURES
    assert files["figure.pdf"].startswith(b"%PDF")
    # Fonts are in the file: a stream of one, in whatever format.
    assert b"/FontFile" in files["figure.pdf"]


def test_the_same_table_gives_the_same_bytes_in_a_folder(tmp_path):
    second = rankadjust.paper(HERE / "seeds.tex", tmp_path / "made")
    assert second.files == paper_of("seeds").files
    made = {file.name: file.read_bytes() for file in (tmp_path / "made").glob("[!.]*")}
    assert made == {
        name: content.encode("utf-8") if isinstance(content, str) else content
        for name, content in second.files.items()
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "no value was read"),
        ("| Model | MRR |\n|---|---|\n| A | 0.3 |\n", "no value could be adjusted"),
    ],
)
def test_a_table_with_nothing_to_adjust(tmp_path, text, message):
    with pytest.raises(RankadjustError, match=message):
        made_of(text, tmp_path, "table.md")


def test_what_is_typed_wrong(tmp_path):
    with pytest.raises(RankadjustError, match="the data set of these ranks is missing"):
        rankadjust.paper([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    with pytest.raises(RankadjustError, match="unknown score 'indx'; did you mean index"):
        rankadjust.paper(HERE / "seeds.tex", score="indx", figure=False)
    (tmp_path / "file").touch()
    with pytest.raises(RankadjustError, match="this is a file; name a folder"):
        rankadjust.paper(HERE / "seeds.tex", tmp_path / "file", figure=False)


DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs,multirow,siunitx,rotating,array,amsmath,longtable,adjustbox}
\begin{document}
%s
\input{methods}
\bibliographystyle{plain}\bibliography{references}
\end{document}
"""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=[pytest.mark.slow] * (path.stem not in ("two-sets", "siunitx", "long")))
        for path in TABLES
    ],
)
def test_the_latex_compiles_with_numbers_added_and_replaced(name, tmp_path):
    paper_of(name).write(tmp_path)
    (tmp_path / "replaced.tex").write_text(source_of(paper_of(name, replace=True)), encoding="utf-8")
    compiled(tmp_path, "table", "replaced")


def compiled(folder, *tables):
    """Set tables, each with its own macros, and the methods in a folder; skip where there is no LaTeX."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (texlive-latex-extra, texlive-science)")
    (folder / "main.tex").write_text(
        DOCUMENT % "\n".join(rf"\begingroup\input{{{table}}}\endgroup" for table in tables), encoding="utf-8"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Extra alignment tab" not in done.stdout
