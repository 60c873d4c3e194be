"""What is fuzzed: every reader of files and of text that somebody else wrote, each with documents to read.

A target reads a file and returns, or raises RankadjustError: anything else is a finding (`tests/fuzz/judging.py`).
"""

import bz2
import lzma
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.base.sealed import write_sealed
from rankadjust.chance.metrics import resolve
from rankadjust.configuration import load_configuration
from rankadjust.counting.protocols import load_benchmarks, load_protocols
from rankadjust.data import registry
from rankadjust.data.archives import extract
from rankadjust.data.arrays import write_encoded
from rankadjust.data.encoding import encode
from rankadjust.data.ranges import read_ranges
from rankadjust.data.reading import Format, read_entities, read_triples
from rankadjust.data.registry import Dataset, load_registry
from rankadjust.database.beside import load_candidates, load_datasets
from rankadjust.database.constants import Constants
from rankadjust.database.store import ADJUSTMENTS, load_database
from rankadjust.evaluation.one_value import adjust
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.literature.rescore import rescore
from rankadjust.literature.results import read_results
from rankadjust.literature.statuses import problems
from rankadjust.output.formatting import markdown_table
from rankadjust.tables.account import draft_sidecar
from rankadjust.tables.reading import read_tables
from tests.fuzz.documents import (
    NASTY,
    any_arrays,
    byte_documents,
    columns_of,
    frames_as,
    gzipped,
    lying_npys,
    members_of,
    npy,
    npz,
    tarred,
    text_documents,
    yaml_documents,
    zipped,
)

PROJECT = Path(__file__).parents[2]
DATA = PROJECT / "tests" / "data"
# Longer seeds make few changes and long readings.
_LONGEST_SEED = 6000


@dataclass(frozen=True)
class Target:
    """A reader. name: of the reader; suffix: of the files it is given; documents: what it is given.

    read: takes the path of a file, which it may only read, and a folder for whatever it writes.
    text: whether documents are text, whose parts can be repeated to see how time grows.
    """

    name: str
    suffix: str
    documents: st.SearchStrategy[bytes]
    read: Callable[[Path, Path], object]
    text: bool = True


# Triples


_FORMATS = (
    Format(),
    Format(delimiter="whitespace", labels="integer"),
    Format(delimiter="comma", strip=True, header_lines=1),
    Format(delimiter="::"),
    Format(delimiter="space", columns=("head", "relation", "tail", "time")),
    Format(columns=("ignore", "head", "relation", "tail", "ignore")),
)
_TRIPLES = (
    (DATA / "tiny" / "train.txt").read_text(),
    "a\tr\tb\nb\tr\tc\nc\ts\ta\n",
    "1 2 3\n2 1 3\n3 1 1\n",
    "head,relation,tail\na, r ,b\n",
    "a::r::b\nb::r::c\n",
    "a r b 2014-01-01\nb r c 2014-01-02\n",
    "x\ta\tr\tb\ty\n",
    "3\n0 1 0\n1 2 0\n2 0 1\n",
)


def _triples(path: Path, _: Path) -> None:
    for form in _FORMATS:
        try:
            frame = read_triples(path, form)
        except RankadjustError:
            continue
        encode({"training": frame})
    read_entities(path, Format(columns=("entity",), delimiter="tab"))


def _arrays(path: Path, folder: Path) -> None:
    form = Format(file=path.suffix[1:], columns=("head", "relation", "tail"))
    write_encoded({"training": path}, form, folder / "encoded.parquet", {"training": path.name}, "mine")


_ids = st.integers(0, 6).flatmap(
    lambda rows: st.lists(st.integers(0, 9), min_size=3 * rows, max_size=3 * rows)
)
_npy_triples = st.builds(
    lambda ids, kind, order: npy(np.array(ids, dtype=kind).reshape(-1, 3).copy(order)),
    _ids,
    st.sampled_from(("<i8", "<u4", "<i2", ">i4", "<f8", "?", "<U3")),
    st.sampled_from("CF"),
)
_PARQUET_TRIPLES = columns_of(("head", "relation", "tail", "head", "relation", "tail", "time", "x"))


# Archives


_MEMBERS = ("train.txt", "x/train.txt", "./train.txt", "x/valid.txt")


def _extract(name: str, path: Path, folder: Path) -> None:
    members = {
        folder / "training.txt": None
        if name.endswith((".gz", ".bz2", ".xz", ".zst")) and ".tar" not in name
        else "train.txt"
    }
    extract(path, name, members, {})


_tars = st.builds(
    tarred,
    members_of(_MEMBERS),
    st.sampled_from((tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE)),
)
_zips = st.builds(
    zipped,
    members_of(_MEMBERS),
    st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)),
)
_texts = st.binary(max_size=60) | st.just(b"a\tr\tb\n" * 1000)


# YAML


def _pieces_of(path: str, most: int = 40) -> list[str]:
    """Return the first entries of a YAML file of the project, each a document of its own."""
    text = (PROJECT / path).read_text(encoding="utf-8")
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        if line[:1].strip() and not line.startswith("#"):
            pieces.append("")
        if pieces:
            pieces[-1] += line
    return pieces[:most]


_MINE = (
    """
mine:
  role: temporal
  sources:
    - kind: local
      files: {training: train.txt, testing: test.txt}
  format: {delimiter: comma, columns: [head, relation, tail, time], header_lines: 1}
""",
    """
arrays:
  sources:
    - kind: http
      files:
        training: {url: "http://127.0.0.1/a.npy", bytes: 9}
        testing: {url: "http://127.0.0.1/b.npy"}
  format: {file: npy, num_entities: 10, num_relations: 2}
""",
    """
wheel:
  sources:
    - kind: package
      package: x
      version: "1.0"
      file: x-1.0-py3-none-any.whl
      members: {training: a/train.txt, testing: a/test.txt}
  expected: {entities: 3, differs: known}
""",
    """
record:
  sources:
    - kind: zenodo
      record: 12
      file: x.zip
      members: {training: a, testing: b}
""",
)
_PROTOCOLS = (
    "protocols:\n  mine:\n    description: x\n    entities: training\n    filter: none\n    negatives: 5\n"
)
_BENCHMARKS = """
benchmarks:
  - protocol: sampled-500
    sides: [head, tail]
    source: somewhere
    datasets:
      ogbl-wikikg2:
        aliases: [OGBWikiKG2, wikikg2]
        entities: 2500604
        tasks: {validation: 429456, testing: 598543}
      ogbl-wikikg: {entities: 2500604}
  - protocol: raw
    sides: [tail]
    metrics: [mrr]
    source: somewhere
    datasets:
      other: &other {entities: 10}
      another: *other
"""
_CONFIGURATIONS = (
    "\n".join(
        line
        for line in (PROJECT / "config" / "config.yaml").read_text().splitlines()
        if not line.strip().startswith("#")
    ),
    "datasets: all\nks: [1, 10]\nmemory_mb: 100\n",
    "datasets: [Nations]\ntables: ['*.csv', '~/x.md']\nmirror: x\nbatch: 3\npartitions: 2\n",
)
_SIDECARS = (
    *(
        path.read_text(encoding="utf-8")
        for folder in ("sidecars", "tables")
        for path in sorted((DATA / folder).glob("*.yaml"))
    ),
    """
columns:
  MRR: {metric: MRR, unit: percent}
  2: {metric: hits@10}
rows:
  TransE: {protocol: raw}
  3: other
header_rows: 1
model: "{Model} x"
tables:
  1: {dataset: WN18RR}
""",
)
_TABLE = "| Model | MRR | H@10 |\n|---|---|---|\n| TransE | 0.226 | 50.1 |\n| RotatE | 0.476 | 57.1 |\n"


def _sidecar(path: Path, folder: Path) -> None:
    table = folder / "fb15k237.md"
    table.write_text(_TABLE, encoding="utf-8")
    read_tables(table, path, _registry())


def _configuration(path: Path, folder: Path) -> None:
    load_configuration([path], {"ks": path.read_text(encoding="utf-8", errors="replace")[:50]}, folder)


def _registry_file(path: Path, _: Path) -> None:
    # Without the shipped file, which takes a hundred times as long and is the same every time.
    registry._read(path)


@cache
def _registry() -> Mapping[str, Dataset]:
    return load_registry()


# Tables


def _table(path: Path, folder: Path) -> None:
    found = read_results(path, _registry())
    if found.reading is not None:
        sidecar = folder / "drafted.yaml"
        sidecar.write_text(draft_sidecar(found.reading), encoding="utf-8")
        read_tables(path, sidecar, _registry())


def _tidy(path: Path, _: Path) -> None:
    rows = read_results(path, _registry()).rows
    rescored = rescore(rows.head(50), _database(), registry=_registry())
    problems(rescored)
    markdown_table(rescored)


@cache
def _database() -> pl.DataFrame:
    return load_database()


def _tables(*patterns: str) -> list[str]:
    found = [path for pattern in patterns for path in sorted((DATA / "tables").glob(pattern))]
    return [path.read_text(encoding="utf-8", errors="replace")[:_LONGEST_SEED] for path in found]


_TABLE_WORDS = (
    "MRR",
    "Hits@10",
    "H@1",
    "MR",
    "FB15k-237",
    "WN18RR",
    "TransE",
    "0.338",
    "33.8",
    "±",
    "(raw)",
    "filtered",
    "head",
    "-",
)
_TIDY = tuple(
    "\n".join(path.read_text(encoding="utf-8").splitlines()[:6]) + "\n"
    for path in sorted((PROJECT / "resources" / "published").glob("*.csv"))[:8]
)
_RESULTS = (
    '{"metrics": {"both": {"realistic": {"hits_at_10": 0.5, "arithmetic_mean_rank": 7.0}}}, "dataset": "nations"}',
    '[{"model": "a", "mrr": 0.3, "dataset": "WN18RR"}, {"model": "b", "mrr": 0.35, "dataset": "WN18RR"}]',
)
_FIXED = (
    "Model     MRR    H@10\nTransE   0.226  50.1\nRotatE   0.476  57.1\n",
    "=====  =====\nModel  MRR\n=====  =====\nTransE 0.2\n=====  =====\n",
    "epoch 1 mrr: 0.338 hits@10: 0.5\nMRR = 0.44, Hits@1: 33.2%\n",
    "Model | MRR | H@10\nTransE | 0.2 | 0.3\n",
)
_JSON_WORDS = (
    "{",
    "}",
    "[",
    "]",
    '"a":',
    "NaN",
    "Infinity",
    "-Infinity",
    '"\\ud800"',
    "[" * 900,
    '{"a":' * 900,
    "[" * 60000,
    '"mrr": 1e999',
)
_HTML_WORDS = (
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "<td rowspan=99999 colspan=99999>",
    "<th colspan=3>",
    "&#x202e;",
    "&nbsp;",
    "<script>",
    "<!--",
    "<svg>",
    "<template>",
    "<div>" * 500,
)
_LATEX_WORDS = (
    "\\begin{tabular}{ll}",
    "\\end{tabular}",
    "\\\\",
    "&",
    "\\multicolumn{3}{c}{x}",
    "\\multirow{2}{*}{x}",
    "\\newcommand{\\a}{\\a}",
    "\\a",
    "\\def\\x#1{#1\\x{#1}}",
    "$",
    "{" * 400,
    "%",
    "\\input{x}",
    "\\hline",
    "\\textbf{",
)
_RST_WORDS = (
    "+---+---+",
    "| a | b |",
    "=== ===",
    ".. list-table::",
    ".. csv-table::\n   :file: /etc/passwd\n",
    ".. include:: /etc/passwd",
    ".. raw:: html\n   :url: x\n",
    "* - a",
    "`",
    "|x|",
    ".. |x| replace:: |x|",
)
_MARKDOWN_WORDS = (
    "|",
    "|---|",
    "|:-:|",
    "\n\n",
    "# ",
    "> " * 200,
    "- " * 200,
    "```",
    "<table><tr><td>1",
    "[a](b)",
    "**",
    "\\|",
    "<!--",
)


# Ranks and scores


_RANKS = (
    "rank,side,triple\n1,head,0\n2.5,tail,0\n7,head,1\n",
    "optimistic,pessimistic,num_candidates,weight,group\n1,2,10,1,a\n3,3,12,0.5,b\n",
    "rank,relation,query,cardinality,half_link\n1,r,q,1-1,x\n2,s,p,n-n,y\n",
)
_TRACE = "".join(
    f"{{event: example_rank, epoch: 1, split: test, task: {task}, s: 1, p: 2, o: 3, rank: 5, rank_filtered: 4}}\n"
    for task in ("sp", "po")
)
_RANK_COLUMNS = (
    "rank",
    "rank",
    "optimistic",
    "pessimistic",
    "side",
    "triple",
    "num_candidates",
    "weight",
    "group",
    "relation",
    "query",
    "Rank",
)
_SCORE_NAMES = (
    "scores",
    "target",
    "mask",
    "filter_indptr",
    "filter_indices",
    "side",
    "triple",
    "weight",
    "group",
    "y_pred_pos",
    "y_pred_neg",
)


@st.composite
def _score_arrays(draw: st.DrawFn) -> dict[str, np.ndarray]:
    tasks, candidates = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    found = {
        "scores": random.normal(size=(tasks, candidates)),
        "target": random.integers(0, candidates, tasks),
    }
    extra = {
        "mask": random.integers(0, 2, (tasks, candidates)).astype(draw(st.sampled_from("?Bbl"))),
        "filter_indptr": np.arange(tasks + 1),
        "filter_indices": random.integers(0, candidates, tasks),
        "side": np.array(["head", "tail"] * tasks)[:tasks],
        "triple": np.arange(tasks),
        "weight": np.ones(tasks),
        "group": np.array(["a"] * tasks),
    }
    for name in draw(st.sets(st.sampled_from(tuple(extra)), max_size=3)):
        found[name] = extra[name]
    for name in draw(st.sets(st.sampled_from(_SCORE_NAMES), max_size=2)):
        found[name] = draw(any_arrays())
    return found


_npzs = st.builds(lambda members, packed: npz(members, packed=packed), _score_arrays(), st.booleans())
_hostile_npzs = st.builds(
    lambda one, two: zipped([("scores.npy", one), ("target.npy", two)]),
    lying_npys() | any_arrays().map(npy),
    lying_npys() | st.just(npy(np.array([0, 1, 2]))),
)


def _tasks(path: Path, _: Path) -> None:
    tasks_from(path)


def _score_folder(path: Path, folder: Path) -> None:
    target = folder / "scores"
    target.mkdir()
    (target / "scores.npy").write_bytes(path.read_bytes())
    (target / "target.npy").write_bytes(npy(np.array([0, 0, 0])))
    (target / "mask.npy").write_bytes(path.read_bytes())
    tasks_from(target)


# Printed values and names


def _printed(path: Path, _: Path) -> None:
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    metric, _, value = text.rpartition("=")
    known = ("mrr", "amr", "hits@10", "median_rank")
    for name in known if not metric else (metric, *known[:1]):
        try:
            adjust(value, dataset="Nations", metric=name, database=Constants.released())
        except RankadjustError:
            continue
    # The name of a data set is looked for in the whole registry, which takes a hundred times as long.
    if crc32(path.read_bytes()[:4]) % 32:
        resolve(text)
        return
    try:
        adjust("0.4", dataset=text, metric="mrr", database=Constants.released())
    except RankadjustError:
        resolve(text)


_PRINTED = (
    "0.338",
    "33.8%",
    "0,338",
    "12,345.6",
    "1.5 ± 0.2",
    "hits@10=53.3%",
    "mrr=.4",
    "1e-3",
    "12 345",
    "ndcg@5=0.4",
    "h@٣=0.1",
)


# The released database and what stands beside it


def _database_file(path: Path, folder: Path) -> None:
    for load in (load_database, load_candidates):
        try:
            load(path)
        except RankadjustError:
            continue


@cache
def _written_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"
        write_sealed(_database().head(40), path, ADJUSTMENTS)
        return path.read_bytes()


_DATABASE_COLUMNS = (*ADJUSTMENTS.columns, "x")


def _all_targets() -> list[Target]:
    tables: Sequence[tuple[str, str, Sequence[str], Sequence[str]]] = (
        ("table-csv", ".csv", [*_tables("*.csv"), *_TIDY[:2]], (",", ";", '"', '""')),
        ("table-tsv", ".tsv", [*_tables("*.tsv"), "Model\tMRR\nTransE\t0.3\n"], ("\t", '"')),
        ("table-markdown", ".md", _tables("*.md"), _MARKDOWN_WORDS),
        ("table-html", ".html", _tables("*.html"), _HTML_WORDS),
        ("table-latex", ".tex", _tables("*.tex"), _LATEX_WORDS),
        ("table-rst", ".rst", _tables("*.rst"), _RST_WORDS),
        ("table-json", ".json", [*_tables("*.json"), *_RESULTS], _JSON_WORDS),
        (
            "table-jsonl",
            ".jsonl",
            [*_tables("*.jsonl"), *_RESULTS, "\n".join(_RESULTS[:1] * 3)],
            (*_JSON_WORDS, "\n"),
        ),
        (
            "table-text",
            ".txt",
            [*_tables("*.txt", "*.log"), *_FIXED],
            ("  ", "|", "===", "---", ":", "=", "\n\n"),
        ),
    )
    scores = _npzs | _hostile_npzs
    parquet = partial(frames_as, "parquet")
    return [
        Target("triples-text", ".txt", text_documents(_TRIPLES, ("\t", "::", " ", ",", "x^2")), _triples),
        Target("triples-npy", ".npy", byte_documents(_npy_triples | lying_npys()), _arrays, text=False),
        Target("triples-parquet", ".parquet", byte_documents(parquet(_PARQUET_TRIPLES)), _arrays, text=False),
        Target(
            "ranges",
            ".txt",
            text_documents(("1\n0\t2\t1\t2\n0\t1\t3\n", "0\n", "2\n0\t1\t1\n0\t1\t2\n1\t1\t1\n1\t1\t3\n")),
            lambda path, _: read_ranges(path),
        ),
        Target("archive-zip", ".zip", byte_documents(_zips), partial(_extract, "x.zip"), text=False),
        Target("archive-tar", ".tar", byte_documents(_tars), partial(_extract, "x.tar"), text=False),
        Target(
            "archive-tar-gz", ".gz", byte_documents(gzipped(_tars)), partial(_extract, "x.tar.gz"), text=False
        ),
        Target(
            "archive-bz2",
            ".bz2",
            byte_documents(_texts.map(bz2.compress)),
            partial(_extract, "x.bz2"),
            text=False,
        ),
        Target(
            "archive-xz",
            ".xz",
            byte_documents(_texts.map(lzma.compress)),
            partial(_extract, "x.xz"),
            text=False,
        ),
        Target(
            "registry", ".yaml", yaml_documents([*_pieces_of("config/datasets.yaml"), *_MINE]), _registry_file
        ),
        Target("config", ".yaml", yaml_documents(_CONFIGURATIONS), _configuration),
        Target("protocols", ".yaml", yaml_documents([_PROTOCOLS]), lambda path, _: load_protocols(path)),
        Target("benchmarks", ".yaml", yaml_documents([_BENCHMARKS]), lambda path, _: load_benchmarks(path)),
        Target("sidecar", ".yaml", yaml_documents(_SIDECARS), _sidecar),
        *(
            Target(name, suffix, text_documents(seeds, (*words, *_TABLE_WORDS)), _table)
            for name, suffix, seeds, words in tables
        ),
        Target(
            "table-yaml",
            ".yaml",
            yaml_documents([*_tables("*.yml"), "metrics: {mrr: 0.3, hits_at_10: 0.5}\ndataset: nations\n"]),
            _table,
        ),
        Target("table-tidy", ".csv", text_documents(_TIDY, (",", '"', *_TABLE_WORDS)), _tidy),
        Target(
            "ranks-csv",
            ".csv",
            text_documents(_RANKS, (",", '"', "rank", "side")) | frames_as("csv", columns_of(_RANK_COLUMNS)),
            _tasks,
        ),
        Target(
            "ranks-tsv",
            ".tsv",
            text_documents([text.replace(",", "\t") for text in _RANKS], ("\t", '"')),
            _tasks,
        ),
        Target(
            "ranks-parquet",
            ".parquet",
            byte_documents(parquet(columns_of(_RANK_COLUMNS))),
            _tasks,
            text=False,
        ),
        Target(
            "ranks-trace",
            ".yaml",
            text_documents([_TRACE], ("rank_filtered: ", ", ", "{", "}", "epoch: ", "-1")),
            _tasks,
        ),
        Target("scores-npz", ".npz", byte_documents(scores), _tasks, text=False),
        Target(
            "scores-npy",
            ".npy",
            byte_documents(lying_npys() | any_arrays().map(npy)),
            _score_folder,
            text=False,
        ),
        Target(
            "printed",
            ".txt",
            text_documents(_PRINTED, ("=", "@", "±", "%", ",", ".", "_at_", "k"))
            | st.sampled_from(NASTY).map(lambda text: text.encode("utf-8", "surrogatepass")),
            _printed,
        ),
        Target(
            "database",
            ".parquet",
            byte_documents(st.builds(_written_database) | parquet(columns_of(_DATABASE_COLUMNS))),
            _database_file,
            text=False,
        ),
        Target(
            "datasets-tsv", ".tsv", text_documents((_datasets_seed(),)), lambda path, _: load_datasets(path)
        ),
    ]


def _datasets_seed() -> str:
    text = (PROJECT / "resources" / "database" / "datasets.tsv").read_text(encoding="utf-8")
    return "\n".join(text.splitlines()[:4]) + "\n"


TARGETS: Mapping[str, Target] = {target.name: target for target in _all_targets()}
