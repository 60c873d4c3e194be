"""Whoever reads a foreign file gets its content or one printable line of RankadjustError, whatever is in it.

tests/data/hostile/<reader>/ holds documents that once broke a reader. The property test makes others of them and of
valid documents, always the same ones (tests/conftest.py).
"""

import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.configuration import load_configuration
from rankadjust.counting.protocols import load_protocols
from rankadjust.data import registry
from rankadjust.data.archives import extract
from rankadjust.data.read import Format, read_ranges, read_triples
from rankadjust.database.constants import Constants
from rankadjust.evaluation.one_value import adjust
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.literature.rescore import rescore
from rankadjust.literature.result_files import read_results
from rankadjust.tables.reading import read_tables

DATA = Path(__file__).parents[1] / "data"
HOSTILE = DATA / "hostile"
# Signs with a meaning to some format, control characters, and numbers at the end of what is possible.
NASTY = (
    *"\0\ufeff\u202e\u2028\r\t\ud800'\"`\\|<>&#%{}[]:;,*!$~=é漢½²٣±",
    *(
        "\x1b[31m",
        "\n\n",
        "---",
        "1e999999",
        "NaN",
        "-inf",
        "9" * 5000,
        "0." + "1" * 400,
        "null",
        "<<",
        "&a",
        "*a",
    ),
    *(
        "!!python/object:os",
        "[" * 900,
        "{a: " * 900,
        "<td rowspan=99999 colspan=99999>",
        "\\def\\x#1{\\x{#1}}",
    ),
    ".. csv-table::\n   :file: /etc/passwd\n",
)
TABLE = "| Model | MRR | H@10 |\n|---|---|---|\n| TransE | 0.226 | 50.1 |\n"


@cache
def known() -> Constants:
    return Constants.released()


def read_table(path: Path, _: Path) -> None:
    read_results(path, known().registry)


def read_tidy(path: Path, _: Path) -> None:
    rescore(read_results(path, known().registry).rows.head(20), known())


def read_sidecar(path: Path, folder: Path) -> None:
    table = folder / "fb15k237.md"
    table.write_text(TABLE, encoding="utf-8")
    read_tables(table, path, known().registry)


def read_printed(path: Path, _: Path) -> None:
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    metric, _, value = text.rpartition("=")
    try:
        adjust(value, dataset="Nations", metric=metric or "mrr", database=known())
    except RankadjustError:
        resolve(text)


def read_graph(path: Path, _: Path) -> None:
    for form in (Format(), Format(delimiter="whitespace"), Format(delimiter="::")):
        try:
            read_triples(path, form)
        except RankadjustError:
            continue


def unpack(path: Path, folder: Path) -> None:
    extract(path, f"x{path.suffix}", {folder / "training.txt": "train.txt"})


# The reader of each folder of tests/data/hostile, and a valid document to begin with.
READERS: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "archive-tar": (unpack, "x"),
    "archive-zip": (unpack, "x"),
    "config": (lambda path, folder: load_configuration([path], {}, folder), "datasets: all\nks: [1, 10]\n"),
    "printed": (read_printed, "hits@10=53.3%"),
    "protocols": (
        lambda path, _: load_protocols(path),
        "protocols:\n  mine: {description: x, entities: training, filter: none, negatives: 5}\n",
    ),
    "ranges": (lambda path, _: read_ranges(path), "2\n0\t1\t1\n0\t1\t2\n1\t1\t1\n1\t1\t3\n"),
    "ranks-csv": (lambda path, _: tasks_from(path), "rank,side,triple\n1,head,0\n2.5,tail,0\n"),
    "ranks-parquet": (lambda path, _: tasks_from(path), "PAR1"),
    "ranks-tsv": (lambda path, _: tasks_from(path), "rank\tside\n1\thead\n"),
    "registry": (
        lambda path, _: registry._read(path),
        "mine:\n  sources:\n  - kind: local\n    files: {training: a, testing: b}\n  expected: {entities: 3}\n",
    ),
    "scores-npy": (lambda path, _: tasks_from(path), "\x93NUMPY"),
    "scores-npz": (lambda path, _: tasks_from(path), "PK"),
    "sidecar": (read_sidecar, "dataset: WN18RR\ncolumns:\n  MRR: {metric: MRR, unit: percent}\n"),
    "table-csv": (read_table, "Model,MRR,H@10\nTransE,0.226,50.1\n"),
    "table-html": (read_table, "<table><tr><th>Model<th>MRR<tr><td>TransE<td>0.2</table>"),
    "table-json": (read_table, '{"dataset": "nations", "metrics": {"both": {"hits_at_10": 0.5}}}'),
    "table-jsonl": (read_table, '{"model": "a", "mrr": 0.3}\n{"model": "b", "mrr": 0.35}\n'),
    "table-rst": (read_table, "====== =====\nModel  MRR\n====== =====\nTransE 0.2\n====== =====\n"),
    "table-tex": (read_table, "\\begin{tabular}{ll}\nModel & MRR \\\\\nTransE & 0.2 \\\\\n\\end{tabular}\n"),
    "table-text": (read_table, "Model     MRR    H@10\nTransE   0.226  50.1\nmrr: 0.3\n"),
    "table-tidy": (read_tidy, "dataset,model,metric,value\nWN18RR,TransE,MRR,0.226\n"),
    "table-yaml": (read_table, "metrics: {mrr: 0.3, hits_at_10: 0.5}\ndataset: nations\n"),
    "triples-text": (read_graph, "a\tr\tb\nb\tr\tc\n1 2 3\na::r::b\n"),
}
SUFFIXES = {"csv": ".csv", "tsv": ".tsv", "html": ".html", "json": ".json", "jsonl": ".jsonl", "rst": ".rst"}
SUFFIXES |= {"tex": ".tex", "text": ".txt", "tidy": ".csv", "printed": ".txt", "ranges": ".txt"}
TEXTS = [name for name in READERS if not name.startswith(("archive", "scores", "ranks-parquet"))]
DOCUMENTS = sorted(path for path in HOSTILE.glob("*/*") if path.is_file())


def problem_with(name: str, document: bytes, suffix: str, folder: Path) -> str | None:
    """Return what a reader did but to read the document, or to refuse it in one line that a terminal can show."""
    path = folder / f"document{suffix}"
    path.write_bytes(document)
    try:
        READERS[name][0](path, folder)
    except RankadjustError as error:
        if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in str(error)):
            return f"not printable: {error!r}"
    # A panic of polars is a BaseException, and so is sys.exit in a library.
    except BaseException as error:
        return repr(error)
    return None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_document_that_broke_a_reader_is_read_or_refused_in_one_line(document, tmp_path):
    assert problem_with(document.parent.name, document.read_bytes(), document.suffix, tmp_path) is None


@st.composite
def changed(draw, text):
    """Return a valid document with up to five insertions, losses and repetitions."""
    for _ in range(draw(st.integers(0, 5))):
        first = draw(st.integers(0, len(text)))
        last = min(len(text), first + draw(st.integers(0, 40)))
        middle = draw(st.sampled_from(NASTY) | st.text(max_size=8) | st.just(text[first:last] * 300))
        text = text[:first] + middle + text[last if draw(st.booleans()) else first :]
    return text.encode(draw(st.sampled_from(("utf-8", "utf-8", "utf-8", "utf-16"))), "surrogatepass")


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_changed_document_is_read_or_refused_in_one_line(name, tmp_path_factory):
    suffix = SUFFIXES.get(name.rpartition("-")[2], ".yaml")
    folder = tmp_path_factory.mktemp(name)

    @given(changed(READERS[name][1]))
    def each(document):
        assert problem_with(name, document, suffix, folder) is None

    each()
