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

HERE = Path(__file__).parents[2] / "data" / "manuscript"
TABLES = sorted(HERE.glob("*.tex"))
FILES = {"check.md", "methods.tex", "references.bib", "table.md", "table.tex"}


def made_of(text, tmp_path, name="table.tex", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return rankadjust.paper(path, **options)


@cache
def paper_of(name):
    """Return what is made of a table of tests/data/manuscript, once for all tests that look at it."""
    return rankadjust.paper(HERE / f"{name}.tex")


def source_of(paper):
    return paper.latex


def added(name):
    """Return the lines of a table of tests/data/manuscript that its author does not have."""
    before = (HERE / f"{name}.tex").read_text(encoding="utf-8").splitlines()
    return [line for line in source_of(paper_of(name)).splitlines() if line not in before]


def test_counting_and_chance_stand_at_the_foot_in_the_format_of_the_table():
    # FB15k-237: popularity has an MRR of 0.2345 (docs/which-number.md), chance a mean rank of 7153.3; Nations: counting
    # has 0.8148, chance 0.38444 (docs/case-study.md). One baseline for all columns is named.
    caption, *rows = added("two-sets")
    assert rows[:1] == [r"Counting & 23.5 & 1395 & 35.6 & 81.5 & 70.8 \\"]
    assert rows[1:] == [r"Chance &  & 7153 &  & 38.4 & 16.7 \\"]
    assert caption.endswith(
        "(test, filtered). Counting: the best scorer that only counts training triples. "
        r"Chance: the expectation of a random ranking.}\label{tab:main}"
    )
    assert added("seeds")[1:] == [r"Counting (rules) & 0.682 & 0.587 \\", r"Chance & 0.059 & 0.018 \\"]
    assert added("long") == [r"Counting & 0.682 & .883 & 6.0 \\", r"Chance & 0.059 & .103 & 58.5 \\"]


def test_an_unknown_metric_is_left_out_and_listed_with_its_line(tmp_path):
    made = made_of(
        "model,dataset,metric,value\nA,Nations,mrr,0.7\nA,Nations,fool,0.3\n", tmp_path, "table.csv"
    )
    assert "Nations / MRR" in made.files["table.md"]
    assert "0.3 " not in made.files["table.md"]
    assert "table.csv:3: unknown metric 'fool'" in made.files["check.md"]


def test_chance_has_no_row_where_it_is_nothing(tmp_path):
    text = "| Model | FB15k-237 MRR |\n|---|---|\n| TransE | 0.294 |\n"
    assert "Chance" not in made_of(text, tmp_path, "table.md").latex


def test_each_block_of_a_table_has_its_own_foot(tmp_path):
    text = (
        "\\begin{tabular}{llc}\nData & Model & MRR \\\\ \\hline\n"
        "\\multirow{2}{*}{FB15k-237} & A & 0.29 \\\\\n & B & 0.34 \\\\ \\hline\n"
        "\\multirow{2}{*}{WN18RR} & A & 0.41 \\\\\n & B & 0.48 \\\\ \\hline\n\\end{tabular}\n"
    )
    counting = [line.strip() for line in made_of(text, tmp_path).latex.splitlines() if "Counting" in line]
    assert counting == [r"& Counting (popularity) & 0.23 \\ \hline", r"& Counting (rules) & 0.37 \\ \hline"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "\\newcommand{\\result}[2]{#1 & #2 \\\\}\n"
            "\\begin{tabular}{lc}\nModel & Nations MRR \\\\ \\midrule\n"
            "\\result{A}{0.43} \\result{B}{0.51}\n\\end{tabular}\n",
            "come out of macros",
        ),
        (
            "\\begin{tblr}{colspec={lcc}}\nDataset & Metric & TransE \\\\ \\hline\n"
            "Nations & MRR & 0.43 \\\\\nUMLS & MRR & 0.51 \\\\\n\\end{tblr}\n",
            "a table of this form",
        ),
    ],
)
def test_a_table_without_a_place_for_the_rows_stays_byte_for_byte(tmp_path, text, reason):
    paper = made_of(text, tmp_path)
    assert paper.files["table.tex"] == text.encode()
    assert reason in paper.files["check.md"]


def test_a_table_with_its_metrics_in_rows_gets_columns(tmp_path):
    text = (
        "\\begin{tabular}{|l|cc|}\n\\hline\n & A & \\textbf{B} \\\\ \\hline\n"
        "\\multicolumn{3}{|c|}{FB15k-237} \\\\ \\hline\nMRR & 29.4 & 33.8 \\\\\n"
        "MR & 357 & 177 \\\\ \\hline\n\\end{tabular}\n"
    )
    made = made_of(text, tmp_path)
    # The numbers of test_counting_and_chance_stand_at_the_foot_in_the_format_of_the_table.
    assert made.files["table.tex"].decode() == (
        "\\begin{tabular}{|l|cc|r|r|}\n\\hline\n & A & \\textbf{B} & Counting & Chance \\\\ \\hline\n"
        "\\multicolumn{3}{|c|}{FB15k-237} & & \\\\ \\hline\nMRR & 29.4 & 33.8 & 23.5 & \\\\\n"
        "MR & 357 & 177 & 1395 & 7153 \\\\ \\hline\n\\end{tabular}\n"
    )
    assert "wider by 2 columns" in made.files["check.md"]


def test_tables_in_one_float_share_its_caption(tmp_path):
    table = "\\begin{{tabular}}{{lc}}\nModel & {} MRR \\\\ \\hline\nA & 0.21 \\\\\n\\end{{tabular}}\n"
    both = "".join(map(table.format, ("FB15k-237", "WN18RR")))
    made = made_of(f"\\begin{{table}}\n\\caption{{Two}}\n{both}\\end{{table}}\n", tmp_path).latex
    assert r"\caption{Two. Counting: the best scorer that only counts training triples.}" in made


def test_a_caption_that_is_not_there_is_asked_for():
    assert source_of(paper_of("sides")).startswith(r"\begin{tabular*}")
    assert "table 1 has no caption: write into its text: Counting:" in paper_of("sides").files["check.md"]


def test_a_score_has_one_column_a_data_set(tmp_path):
    text = (HERE / "two-sets.tex").read_text(encoding="utf-8")
    made = made_of(text, tmp_path, score="recommended")
    # The gain where chance is nothing: (0.294 - 0.23455) / (1 - 0.23455). Else the index: (0.481 - 0.38444) / 0.61556.
    new = [line for line in made.latex.splitlines() if line not in text.splitlines()]
    assert [line for line in new if line.startswith((r"\begin", " &", "Model", "TransE"))] == [
        r"\begin{tabular}{@{}l|ccc|ccrr@{}}",
        r" & \multicolumn{3}{c|}{FB15k-237} & \multicolumn{2}{c}{Nations} & FB15k-237 & Nations \\",
        r"Model & MRR & MR & Hits@10 & MRR & Hits@1 & MRR gain & MRR adj. \\ % a comment with & and \\",
        r"TransE & 29.4 & 357 & 46.5 & 48.1 & 20.1 & 7.8 & 15.7 \\",
    ]
    header, _, first = made.files["table.md"].splitlines()[:3]
    assert [name.strip() for name in header.split("|")[-3:-1]] == [
        "FB15k-237 / MRR gain",
        "Nations / MRR adj.",
    ]
    assert [cell.strip() for cell in first.split("|")[-3:-1]] == ["", ""]


def test_markdown_becomes_latex_with_spans(tmp_path):
    text = "| Model | Nations MRR | Nations MR | UMLS MRR |\n|---|---|---|---|\n| A_1 | 0.43 | 3.1 | 0.8 |\n"
    latex = made_of(text, tmp_path, "table.md").latex
    assert latex.startswith("% \\usepackage{booktabs,adjustbox}")
    assert "\\begin{adjustbox}{max width=\\linewidth}" in latex
    assert "  A\\_1 & 0.43 & 3.1 & 0.8 \\\\\n  \\midrule\n  Counting & 0.81 &" in latex


def test_a_frame_is_a_table_too():
    frame = pl.DataFrame({"model": ["A", "B"], "dataset": "FB15k-237", "MRR": ["29.4 %", "33.8 %"]})
    assert "A & 29.4 \\% \\\\" in rankadjust.paper(frame).latex
    assert "Counting (popularity) & 23.5 \\% \\\\" in rankadjust.paper(frame).latex
    assert "not named & 29.4 \\% \\\\" in rankadjust.paper(frame.drop("model")).latex


def test_what_a_tool_has_written_becomes_a_table_for_a_page():
    paper = rankadjust.paper(HERE.parent / "tables" / "pykeen_results_nations.json")
    header, _, first = paper.files["table.md"].splitlines()[:3]
    assert header.startswith("| Model ")
    assert "Nations / " in header
    assert "params" not in header
    assert max(len(text.strip()) for text in first.split("|")) <= len("not named")
    assert "a tool has written" in paper.files["check.md"]


def test_runs_of_one_model_keep_a_row_each(tmp_path):
    text = "dataset,model,metric,value\nNations,A,mrr,0.431\nNations,A,mrr,0.702\n"
    table = made_of(text, tmp_path, "mine.csv").files["table.md"].splitlines()
    assert [[cell.strip() for cell in line.split("|")[1:3]] for line in table[2:4]] == [
        ["A", "0.431"],
        ["A", "0.702"],
    ]


def test_a_number_below_zero_has_a_minus_sign(tmp_path):
    text = "dataset,model,metric,value\nNations,A,mrr,0.300\nNations,B,mrr,0.702\n"
    # (0.3 - 0.38444) / (1 - 0.38444) = -0.137
    assert "$-$0.137" in made_of(text, tmp_path, "mine.csv", score="index").latex


def test_the_methods_are_three_sentences_with_the_numbers_of_the_table():
    first, second, third = re.split(r"\.\s+(?=[A-Z])", paper_of("two-sets").files["methods.tex"].strip())
    assert "ranked among all entities without the other known answers" in first
    assert second.endswith(r"\cite{rankadjust} reaches an MRR of 23.5 on FB15k-237 and 81.5 on Nations")
    # 0.0007 of 0.294 is 0.25 %, rounded up.
    assert third == (
        r"A random ranking \cite{hoyt2022unified} reaches an MRR of 38.4 on Nations and an MR of 7153 on FB15k-237; it "
        r"explains at most 0.3\,\% of any other value."
    )


@pytest.mark.parametrize(
    ("preamble", "command"),
    [
        (r"\usepackage[numbers]{natbib}", r"\citep"),
        (r"\documentclass[sigconf]{acmart}", r"\citep"),
        (r"\usepackage[backend=biber]{biblatex}", r"\parencite"),
        (r"\usepackage{cite}", r"\cite"),
    ],
)
def test_methods_cite_as_the_document_does(tmp_path, preamble, command):
    (tmp_path / "main.tex").write_text(preamble, encoding="utf-8")
    made = made_of((HERE / "seeds.tex").read_text(encoding="utf-8"), tmp_path)
    assert rf"{command}{{rankadjust}}" in made.files["methods.tex"]


def test_the_check_names_contradictions_of_ones_own_model_first(tmp_path):
    text = (
        (HERE / "two-sets.tex")
        .read_text(encoding="utf-8")
        .replace("& 46.5", "& 16.5")
        .replace("53.1", "13.1")
    )
    check = made_of(text, tmp_path).files["check.md"]
    # Hits@10 of 16.5 % leaves no ranks for an MRR of 29.4 %: at most 0.165 + 0.835 / 11 = 0.241.
    assert re.findall(r"- (\w+), FB15k-237: impossible", check) == ["Ours", "TransE"]
    assert "Ours is below counting: Hits@10 on FB15k-237 and MRR on Nations; say why" in check


def test_the_check_fits_on_a_page(tmp_path):
    rows = "".join(
        f"Nations,model {number},{metric},0.5\n" for number in range(60) for metric in ("mrr", "hits@1")
    )
    check = made_of(f"dataset,model,metric,value\n{rows}", tmp_path, "mine.csv").files["check.md"]
    assert len(check.splitlines()) <= 40
    assert "and 54 more" in check


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_all_files_are_made(path):
    assert set(paper_of(path.stem).files) == FILES


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
    with pytest.raises(RankadjustError, match="unknown score 'indx'; did you mean index"):
        rankadjust.paper(HERE / "seeds.tex", score="indx")
    (tmp_path / "file").touch()
    with pytest.raises(RankadjustError, match="this is a file; name a folder"):
        rankadjust.paper(HERE / "seeds.tex", tmp_path / "file")


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
    [pytest.param(path.stem, marks=[pytest.mark.slow] * (path.stem != "two-sets")) for path in TABLES],
)
def test_the_latex_compiles_with_rows_and_with_columns(name, tmp_path):
    paper_of(name).write(tmp_path)
    anew = rankadjust.paper(HERE / f"{name}.tex", score="recommended")
    (tmp_path / "anew.tex").write_text(anew.latex, encoding="utf-8")
    compiled(tmp_path, "table", "anew")


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
