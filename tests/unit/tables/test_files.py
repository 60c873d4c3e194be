"""Files of every format into grids of text.

Round trips: random tables, rendered in each format by the code below (Markdown, LaTeX and CSV by the project's own
writers), come back unchanged. Texts hold what the format can carry; what must not break it stands in the alphabet.
"""

import csv
import html
import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.output.markup import escape_latex, to_markdown
from rankadjust.tables.files import READERS, SUFFIXES, read_grids, recognise
from rankadjust.tables.formats import latex as reader
from rankadjust.tables.formats.html import html_grids
from rankadjust.tables.formats.latex import latex_grids, latex_to_text
from rankadjust.tables.formats.logs import log_grids
from rankadjust.tables.formats.markdown import markdown_grids
from rankadjust.tables.formats.rst import rst_grids
from rankadjust.tables.formats.text import blank_grids, delimited_grids
from tests.searching import in_profile

QUICK = settings(max_examples=in_profile(100), suppress_health_check=[HealthCheck.too_slow])
WORDS = "abzAZ019äλ表"
ASCII = "abzAZ019"
# Characters in a field, beyond which Python's csv refuses it unless a program says otherwise.
LONGEST_FIELD = 131_072


@pytest.fixture(autouse=True)
def usual_limit_of_fields():
    """Take back what another package has said to csv in this process: frictionless allows fields of any length."""
    before = csv.field_size_limit(LONGEST_FIELD)
    yield
    csv.field_size_limit(before)


def texts(alphabet: str) -> st.SearchStrategy[str]:
    """Texts of one to three words with a letter or digit in each, single blanks between them."""
    word = st.tuples(st.sampled_from(ASCII), st.text(alphabet, max_size=5)).map("".join)
    return st.lists(word, min_size=1, max_size=3).map(" ".join)


def tables(alphabet: str, *, empty: bool = True) -> st.SearchStrategy[list[list[str]]]:
    """Rectangular tables of a header and one to four rows; first column and header are never empty."""

    def of_width(width: int) -> st.SearchStrategy[list[list[str]]]:
        cell = texts(alphabet) | st.just("") if empty else texts(alphabet)
        row = st.tuples(texts(alphabet), *[cell] * (width - 1)).map(list)
        header = st.lists(texts(alphabet), min_size=width, max_size=width, unique=True)
        return st.tuples(header, st.lists(row, min_size=1, max_size=4)).map(
            lambda parts: [parts[0], *parts[1]]
        )

    return st.integers(2, 5).flatmap(of_width)


def frame_of(table: list[list[str]]) -> pl.DataFrame:
    return pl.DataFrame(table[1:], schema=dict.fromkeys(table[0], pl.String), orient="row")


def rows_of(grid) -> list[list[str]]:
    return [list(row) for row in grid.rows]


def only(grids):
    assert len(grids) == 1
    return grids[0]


@QUICK
@given(tables(WORDS + "|`*_<>&~#\\[](){}!.-+$%^:\"'"))
def test_markdown_round_trip(table):
    grid = only(markdown_grids(to_markdown(frame_of(table))))
    assert rows_of(grid) == table
    assert grid.header_rows == 1
    assert grid.lines == (1, *range(3, len(table) + 2))


@QUICK
@given(tables(WORDS + "|*_<>&~#\\[](){}!.-+$%^:;,/"))
def test_latex_round_trip(table):
    header, *rows = (" & ".join(map(escape_latex, row)) + r" \\" for row in table)
    text = "\n".join([r"\begin{tabular}{ll}", header, r"\midrule", *rows, r"\end{tabular}"])
    grid = only(latex_grids(text))
    assert rows_of(grid) == table
    assert grid.header_rows == 1


@QUICK
@given(tables(WORDS + "|`*_<>&~#\\[](){}!.-+$%^:;,\"'\t"), st.sampled_from(",;\t|"))
def test_csv_round_trip(table, delimiter):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows(table)
    table = [[" ".join(cell.split()) for cell in row] for row in table]
    assert rows_of(only(delimited_grids(file.getvalue(), delimiter))) == table


@QUICK
@given(tables(WORDS + "|`*_<>&~#\\[](){}!.-+$%^:;,\"'"))
def test_html_round_trip(table):
    cells = [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in table]
    assert rows_of(only(html_grids(f"<p>x</p><table>{''.join(cells)}</table>"))) == table


def escape_rst(text: str) -> str:
    """Escape marks, and the first character: 'a)' and '- x' would be lists."""
    return "".join(
        f"\\{character}" if character in "`*_|\\<>" or not index else character
        for index, character in enumerate(text)
    )


def widths_of(table: list[list[str]]) -> list[int]:
    return [max(4, *map(len, column)) for column in zip(*table, strict=True)]


@QUICK
@given(tables(ASCII + "`*_<>&~#()!.$%^;,"))
def test_rst_grid_table_round_trip(table):
    escaped = [[escape_rst(cell) for cell in row] for row in table]
    widths = widths_of(escaped)
    rules = ["+" + "+".join(mark * (width + 2) for width in widths) + "+" for mark in "=-"]
    lines = [rules[1]]
    for index, row in enumerate(escaped):
        lines.append(
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        )
        lines.append(rules[0] if index == 0 else rules[1])
    grid = only(rst_grids("\n".join(lines) + "\n"))
    assert rows_of(grid) == table
    assert grid.header_rows == 1


@QUICK
@given(tables(ASCII + "`*_<>&~#()!.$%^;,"))
def test_rst_simple_table_round_trip(table):
    escaped = [[escape_rst(cell) for cell in row] for row in table]
    widths = widths_of(escaped)
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in escaped]
    grid = only(rst_grids("\n".join([rule, lines[0], rule, *lines[1:], rule]) + "\n"))
    assert rows_of(grid) == table


@QUICK
@given(tables(WORDS + "`*_<>&~#()!.$%^;,"))
def test_rst_list_table_round_trip(table):
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in table:
        lines += [f"   {'*' if index == 0 else ' '} - {escape_rst(cell)}" for index, cell in enumerate(row)]
    grid = only(rst_grids("\n".join(lines) + "\n"))
    assert rows_of(grid) == table
    assert grid.header_rows == 1


@QUICK
@given(tables(WORDS + "`*_<>&~#()!.$%^;,|"), st.integers(2, 4), st.booleans())
def test_fixed_width_round_trip(table, gap, ruled):
    widths = widths_of(table)
    lines = [
        (" " * gap).join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table
    ]
    rule = [(" " * gap).join("-" * width for width in widths)] if ruled else []
    text = "\n".join(["A caption above", "", lines[0], *rule, *lines[1:]])
    grid = only(blank_grids(text))
    assert rows_of(grid) == table
    assert grid.context == ("A caption above",)


@QUICK
@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9e9)), min_size=1, max_size=4),
    st.sampled_from(["=", ": "]),
)
def test_log_round_trip(pairs, sign):
    lines = [f"epoch {index}, mrr{sign}{a}, mean_rank{sign}{b}" for index, (a, b) in enumerate(pairs)]
    grid = only(log_grids("started\n" + "\n".join(lines)))
    assert rows_of(grid) == [
        ["", "mrr", "mean_rank"],
        *[[f"epoch {index}", str(a), str(b)] for index, (a, b) in enumerate(pairs)],
    ]


def test_lines_of_one_pair_are_a_table_of_two_columns():
    first, second = log_grids("epoch 3\nmrr: 0.5\nmr = 12\n\nloss = 1\nx\n\n'h@1': .2,\n'h@3': .3\n")
    assert rows_of(first) == [["", "value"], ["mrr", "0.5"], ["mr", "12"]]
    assert rows_of(second) == [["", "value"], ["h@1", ".2"], ["h@3", ".3"]]
    assert (first.lines, first.context) == ((2, 2, 3), ("epoch 3",))


def test_the_text_that_most_likely_names_a_table_comes_first():
    table = "<table><tr><td>1</table>"
    above = "<h1>A</h1><p>old<h2>B</h2><p>gone<h2>C</h2><p>some longer text of seven plain words</p>"
    assert [grid.context for grid in html_grids(f"{table}{above}{table}<p>D:</p>{table}")] == [
        (),
        ("C", "some longer text of seven plain words", "A"),
        ("D:", "C", "some longer text of seven plain words", "A"),
    ]


def test_markdown_keeps_cells_beyond_the_header_and_says_so():
    grid = only(markdown_grids("a | b\n--|--\n1 | 2 | 3\n4 |\n"))
    assert rows_of(grid) == [["a", "b", ""], ["1", "2", "3"], ["4", "", ""]]
    assert grid.remarks == ("line 3: 3 cells where the header has 2",)


def test_markdown_repairs_a_short_delimiter_row():
    grid = only(markdown_grids("text\n\n| a | b |\n|--|\n| 1 | 2 |\n"))
    assert rows_of(grid) == [["a", "b"], ["1", "2"]]


def test_markdown_table_without_a_header_is_read():
    grid = only(markdown_grids("text\n\n|---|---|\n| 1 | 2 |\n"))
    assert rows_of(grid) == [["", ""], ["1", "2"]]
    assert (grid.lines, grid.context) == ((3, 4), ("text",))


@pytest.mark.parametrize("end", ["# b", "> b", "- b", "1. b", "---", "```", "<div>", "text", ""])
def test_markdown_table_ends_where_another_block_begins(end):
    grid = markdown_grids(f"|a|\n|-|\n|1|\n{end}\n|2|\n")[0]
    assert rows_of(grid) == [["a"], ["1"]]


@pytest.mark.parametrize("line", ["-1|2", "0.5 | 1", "*a* | `b`", "#b|", "<b>|", "|", "`` a `` | ~"])
def test_markdown_table_goes_on_in_lines_that_begin_no_block(line):
    grid = only(markdown_grids(f"|a|b|\n|-|-|\n{line}\n|2|\n"))
    assert len(grid.rows) == 3


def test_markdown_marks_and_links_become_text():
    text = "|a|b|\n|-|-|\n|[**x** y](https://z)|<u>`1`</u>^2^[^3] &pm; 4<sup>5</sup><br>~6~|\n\n[^3]: note\n"
    assert only(markdown_grids(text)).rows[1] == ("x y", "1^2^^{3} ± 4^{5}\n~6~")


def test_markdown_tables_in_comments_are_left_out():
    grid = only(markdown_grids("# T\n\n<!--\n\n|a|b|\n|-|-|\n|3|4|\n-->\n\n|a|b|\n|-|-|\n|1|2|3|\n"))
    assert grid.lines == (10, 12)
    assert grid.remarks == ("line 12: 3 cells where the header has 2", "what is in a comment is not read")
    assert rows_of(only(markdown_grids("Write <!-- there.\n\n|a|b|\n|-|-|\n|1|2|\n"))) == [
        ["a", "b"],
        ["1", "2"],
    ]


def test_html_table_in_markdown_has_the_heading_above_as_context():
    first, second = markdown_grids(
        "# A\n\n|a|\n|-|\n|1|\n\n## B\n\n<table>\n<tr><td>x</td><td>2</td></tr>\n\n</table>\n"
    )
    assert first.context == ("A",)
    assert (second.context, second.lines) == (("B", "A"), (10,))


def test_html_spans_cover_rows_and_columns_and_wrong_ones_do_no_harm():
    text = (
        "<table><tr><th rowspan=2>M</th><th colspan='2'>D</th></tr><tr><th>x</th><th>y</th></tr>"
        "<tr><td rowspan=0>1</td><td colspan=abc>2</td><td rowspan=99999>3</td></tr><tr><td>4</td></tr></table>"
    )
    grid = only(html_grids(text))
    assert rows_of(grid) == [["M", "D", "D"], ["M", "x", "y"], ["1", "2", "3"], ["1", "4", "3"]]
    assert grid.header_rows == 2


@pytest.mark.slow
def test_html_rows_keep_their_lines_beyond_the_65535th_and_cells_close_what_they_hold():
    rows = "<TR><td><b>1<td>2\n" * 70_000
    grid = only(html_grids(f"<table><tr><th>a<th>b\n{rows}</table>"))
    assert grid.rows[-1] == ("1", "2")
    assert (len(grid.rows), grid.lines[-1]) == (70_001, 70_001)


def test_html_elements_whose_names_begin_like_that_of_a_row_are_none():
    # hypothesis, test_reading.py: "<tr:" got an attribute in the midst of its name, and its line was no number.
    grid = only(
        html_grids(
            "<table>\n<tr:><td>1</td></tr:>\n<tr-x y><td>2</td></tr-x>\n<tr/><td>3<tr\nid=a><td>4</table>"
        )
    )
    assert [row[0] for row in rows_of(grid)] == ["1", "3", "4"]
    assert grid.lines[-2:] == (4, 4)


def test_html_tables_within_a_table_are_read_and_it_is_not():
    text = "<table><tr><td><table><tr><td>1</table><td><table><tr><td>2</table></table>"
    assert [rows_of(grid) for grid in html_grids(text)] == [[["1"]], [["2"]]]


def test_html_cells_within_a_picture_are_text_of_the_cell_that_holds_it():
    text = "<table><tr><td>A<td>B<tr><td>1<svg><tr><td>2</td><td>3</td></tr></svg><td>4</table>"
    assert rows_of(only(html_grids(text))) == [["A", "B"], ["1\n23", "4"]]


def test_html_comments_scripts_and_styles_are_no_text():
    text = "<table><tr><td>1<!-- 2 --><script>3</script><style>4</style>&pm;5<img alt=6></table>"
    assert only(html_grids(text)).rows == (("1±56",),)


def test_latex_spans_rules_and_commands():
    text = r"""
    \section{Part} \begin{table}\caption{On \textbf{X}}
    \begin{tabular}[t]{@{}lc|c@{}} \toprule[1.5pt]
    \multirow{2}{*}{A} & \multicolumn{2}{c}{B\footnote{no}} \\ \cmidrule(lr){2-3} & c & \best{d} \\[2pt] \midrule
    % old & 0 & 0 \\
    e~\cite{f} & \textcolor{red}{1\%} & \makecell[c]{2\\3} \\ & \cellcolor{gray!20}4$^\dagger$ & 5 \\ \bottomrule
    \end{tabular}\end{table}"""
    grid = only(latex_grids(text))
    assert rows_of(grid) == [["A", "B", "B"], ["A", "c", "d"], ["e", "1%", "2\n3"], ["", "4^†", "5"]]
    assert grid.header_rows == 2
    assert grid.lines == (4, 4, 6, 6)
    assert grid.context == ("On X", "Part")


def test_latex_negative_multirow_reaches_upwards():
    text = r"""\begin{longtable}{ll} a & b \\ \endhead
    & 1 \\ \multirow{-2}*{x} & 2 \\ \end{longtable}"""
    grid = only(latex_grids(text))
    assert rows_of(grid) == [["a", "b"], ["x", "1"], ["x", "2"]]


def test_latex_tables_without_an_end_are_read_with_a_remark():
    grid = only(latex_grids("\\begin{tabular}{ll} a & b \\\\\n c & \\textbf{d \\\\"))
    assert rows_of(grid) == [["a", "b"], ["c", "d"]]
    assert grid.remarks == ("a group in braces or the table itself has no end",)


def test_latex_captions_may_follow_their_table_and_tables_may_stand_in_cells():
    text = r"""\section{S}
    \begin{table}\begin{tabular}{ll}\begin{tabular}[c]{@{}c@{}}a\\b\end{tabular} & c \\ \end{tabular}
    \caption[s]{One}\end{table}
    \begin{table}\begin{tabular*}\textwidth{l} d \\ \end{tabular*}\caption{Two}\end{table}"""
    first, second = latex_grids(text)
    assert (rows_of(first), first.context) == ([["a\nb", "c"]], ("One", "S"))
    assert (rows_of(second), second.context) == ([["d"]], ("Two", "S"))


def test_a_cell_of_markdown_as_long_as_a_book_stays_as_it_is_written():
    # Of such brackets alone, a text of 200 kB takes markdown-it three seconds.
    cell = "![" * 6000
    assert only(markdown_grids(f"| a | **b** |\n|---|---|\n| {cell} | *c* |\n")).rows == (
        ("a", "b"),
        (cell, "c"),
    )


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"$\uparrow$ \textdagger\ \checkmark \alpha$_{i}$ $\infty$ \ldots", "↑ † ✓ α_i ∞ …"),
        (r"N\'{e}dellec \"o stra\ss e", "Nedellec o straß e"),
        (r"\textcolor[HTML]{ff0000}{1\%} \rotatebox{90}{M} \diagbox{A}{B} \frac{1}{2}", "1% M A / B 1 / 2"),
        (r"\ours \best{0.5} \ours{}", r"\ours 0.5 \ours"),
        (r"a~\cite[p. 3][]{b} {\bf 7} 12{,}345 3\,533 -- ``x''", "a   7 12,345 3 533 – “x”"),
        # A macro that is not known says all its arguments, which must not become one number.
        (r"\res{35}{2} 0.5\pm{0.1}", "35 2 0.5±0.1"),
        (r"x\textsuperscript{a} \footnotemark[1]y } \_ {\%", "x^{a} y  _ %"),
    ],
)
def test_latex_fragments_as_text(latex, text):
    assert latex_to_text(latex) == text


def test_rst_spans_cover_rows_and_columns():
    text = """
+---+-------+
| a | b     |
|   +---+---+
|   | c | d |
+===+===+===+
| 1 | 2 | 3 |
+---+---+---+
"""
    grid = only(rst_grids(text))
    assert rows_of(grid) == [["a", "b", "b"], ["a", "c", "d"], ["1", "2", "3"]]
    assert grid.header_rows == 2


def test_an_rst_table_that_docutils_refuses_is_refused_with_its_line():
    with pytest.raises(RankadjustError, match=r"^near line \d: Malformed table"):
        rst_grids("T\n=\n\n+----+----+\n| a  | b\n+----+----+\n| 1  | 2  |\n")


def test_rst_tables_in_directives_of_sphinx_are_read():
    table = "   ==  ==\n   a   b\n   ==  ==\n   1   2\n   ==  ==\n"
    grid = only(rst_grids(f".. tab:: T\n   :sync: x\n\n{table}"))
    assert (rows_of(grid), grid.lines) == ([["a", "b"], ["1", "2"]], (5, 7))


def test_rst_of_too_many_characters_is_refused():
    with pytest.raises(RankadjustError, match="at most 500,000 characters are read"):
        rst_grids("x\n" * 300_000)


def test_rst_simple_table_with_cells_of_several_columns_and_lines():
    text = "=====  =====  ======\n   Inputs     Output\n------------  ------\n  A      B    A or B\n"
    text += "=====  =====  ======\n**x**  a      1\n       b\n\\      c      2\n=====  =====  ======\n"
    grid = only(rst_grids(text))
    assert rows_of(grid) == [
        ["Inputs", "Inputs", "Output"],
        ["A", "B", "A or B"],
        ["x", "a b", "1"],
        ["", "c", "2"],
    ]
    assert (grid.header_rows, grid.lines, grid.remarks) == (2, (2, 4, 6, 8), ())


def test_rst_csv_table_and_its_options():
    text = (
        "A\n==\n\n.. csv-table:: T\n   :header: a, b\n   :delim: ;\n\n   x; 1\n   ``y``; `z <u>`__\n\nText\n"
    )
    grid = only(rst_grids(text.replace("a, b", "a; b")))
    assert rows_of(grid) == [["a", "b"], ["x", "1"], ["y", "z"]]
    assert (grid.header_rows, grid.context) == (1, ("T", "A"))


def test_rst_comments_hold_no_table_and_marks_are_no_text():
    text = r":sup:`1` [2]_ |b| *c* d_ 3 * 4 * k_x `e f`_ \*"
    table = f"   ==  {'=' * 50}\n   a   {text}\n   ==  {'=' * 50}\n"
    assert rst_grids(f"..\n{table}") == []
    [grid] = rst_grids(f".. table:: T\n\n{table}")
    assert rows_of(grid) == [["a", "^{1} ^{2} b c d 3 * 4 * k_x e f *"]]
    assert grid.context == ("T",)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x\n<TABLE><tr><td>1</td></tr></TABLE>", "HTML"),
        (r"\begin{tabular}{l} 1 \\ \end{tabular}", "LaTeX"),
        ("a | b\n--|--\n1 | 2", "Markdown"),
        ("+----+\n| a  |\n+----+", "reStructuredText"),
        ("a\tb\n1\t2", "TSV"),
        ("a | b\n1 | 2", "CSV"),
        ('x: {"a": 1, "b": 2}', "log"),
        ("a    b\nc    d", "columns"),
        ("a,b\n1,2", "CSV"),
    ],
)
def test_formats_are_recognised(text, name):
    assert recognise(text) == name
    assert READERS[name](text)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiter_is_found(delimiter):
    text = f"# made by hand\nmodel{delimiter}MRR\nA{delimiter}0.5\nB{delimiter}0.25\n"
    grid = only(delimited_grids(text))
    assert rows_of(grid) == [["model", "MRR"], ["A", "0.5"], ["B", "0.25"]]
    assert (grid.lines, grid.context) == ((2, 3, 4), ("made by hand",))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_with_a_remark(tmp_path, encoding):
    """Excel saves its "Unicode text" so."""
    mark = "" if encoding == "utf-16" else "\ufeff"
    (tmp_path / "a.tsv").write_bytes(f"{mark}Modell\tMRR\r\nMüller\t0.3\r\n".encode(encoding))
    [grid] = read_grids(tmp_path / "a.tsv")
    assert grid.rows == (("Modell", "MRR"), ("Müller", "0.3"))
    assert grid.remarks == ("read as UTF-16",)


def test_windows_encoding_is_read_with_a_remark(tmp_path):
    (tmp_path / "a.csv").write_bytes("Müller,±\r\n1,2\r\n".encode("cp1252"))
    grid = only(read_grids(tmp_path / "a.csv"))
    assert rows_of(grid) == [["Müller", "±"], ["1", "2"]]
    assert grid.remarks == ("not UTF-8: read as Windows-1252",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.md", None, "there is no such file"),
        ("a.docx", "PK\x03\x04", "this is not a text format; save the table as CSV or HTML"),
        ("a.png", "P\0", "this is not a text format; save the table as CSV or HTML"),
        ("a.md", "only words", "no table found in this Markdown text"),
        ("a.html", "<p>x</p>", "no table found in this HTML text"),
        ("a.html", "<table></table>", "no table found in this HTML text"),
        ("a.csv", "", "no table found in this CSV text"),
        ("a.csv", "a,b\n" + "x" * (LONGEST_FIELD + 1) + ",1", "line 2: not valid CSV"),
    ],
)
def test_files_without_a_table_are_an_error(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(RankadjustError, match=message) as raised:
        read_grids(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_parsers_are_not_loaded_before_they_are_needed():
    code = (
        "import sys, rankadjust.tables.reading, rankadjust.output.markup; "
        "print([m for m in ('markdown_it', 'selectolax') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_suffix_has_a_reader():
    assert set(SUFFIXES.values()) <= set(READERS)
    assert all(suffix == Path(f"x{suffix}").suffix for suffix in SUFFIXES)


MACROS = r"""
\documentclass{article}
\usepackage{siunitx}
\newcommand{\ours}{\textsc{NewKG}\xspace}
\newcommand{\best}[1]{\textbf{#1}}
\newcommand{\pair}[2]{#2 / #1}
\def\mrr{MRR}
\DeclareMathOperator{\hits}{Hits}
% \newcommand{\hidden}{never}
\newcommand{\none}{n/a}
\begin{table}
\resizebox{\textwidth}{!}{%
\begin{tabular*}{\textwidth}{lS[table-format=2.2]cc}
\toprule
Model & {\mrr} & $\hits$@10 & Best \\ \midrule
\ours & 33.70(12) & \best{0.5} & \pair{0.1}{0.2} \\
\other{} & 5(2) & \pair{0.3}{0.2} & \none \\ \bottomrule
\end{tabular*}}
\end{table}
"""


def test_macros_of_a_latex_file_are_expanded_and_unknown_ones_stay_as_text():
    [grid] = latex_grids(MACROS)
    assert rows_of(grid) == [
        ["Model", "MRR", "Hits@10", "Best"],
        ["NewKG", "33.70(12)", "0.5", "0.2 / 0.1"],
        [r"\other", "5(2)", "0.2 / 0.3", "n/a"],
    ]
    assert grid.lines == (15, 16, 17)


def test_macros_that_use_themselves_end(monkeypatch):
    [grid] = latex_grids(
        r"\def\a{\a\a}\begin{tabular}{ll}A & B \\ \a & 1 \\ \end{tabular}".replace(r"\a\a}", r"\a}")
    )
    assert grid.rows[1][1] == "1"
    # A hundredth of the limit, which is as good as reached: each level is eight times as long as the one below it.
    monkeypatch.setattr(reader, "_MOST", 200_000)
    with pytest.raises(RankadjustError, match="expand to more than 2 MB"):
        latex_grids(r"\def\a{\b\b\b\b\b\b\b\b}\def\b{\a\a\a\a\a\a\a\a}\begin{tabular}{l}\a\end{tabular}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", "<table>" + "<tr><td colspan=1000>a<td colspan=1000>b</tr>" * 2 + "</table>"),
        ("a.tex", r"\begin{tabular}{l}" + "&" * 2000 + r"\end{tabular}"),
        ("a.tex", r"\begin{tabular}{l}" + r"\multirow{9999}{*}{a} \\" * 9000 + r"\end{tabular}"),
        ("a.tex", r"\begin{tabular}{l}" + r"\multicolumn{999}{c}{a} &" * 2 + r"\end{tabular}"),
        ("a.md", "|" * 2000 + "\n" + "|-" * 2000 + "\n|1|\n"),
    ],
)
def test_a_table_of_no_use_is_refused_in_one_line(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(RankadjustError, match="at most 1,000 columns and 5,000,000 cells are read") as raised:
        read_grids(tmp_path / name)
    assert "\n" not in str(raised.value)


def test_groups_in_groups_that_never_end_are_read_with_a_remark():
    grid = only(latex_grids(r"\begin{tabular}{ll}A & B \\ " + r"\textbf{" * 2000 + r"& 1\end{tabular}"))
    assert rows_of(grid) == [["A", "B"], ["& 1", ""]]
    assert grid.remarks == ("a group in braces or the table itself has no end",)


def test_blank_lines_are_looked_into_once():
    # 20,000 lines took hours while the pattern of a border ran over the ends of lines.
    assert recognise(" \n" * 20_000 + "a b") == "CSV"
