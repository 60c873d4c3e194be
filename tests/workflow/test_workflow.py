"""The whole workflow, run as a user runs it: real Snakemake, real jobs, a temporary directory."""

import contextlib
import gzip
import hashlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

from rankadjust.base.io import read_json
from rankadjust.database.store import load_baselines, write_baselines, write_candidates, write_database
from tests.copies import FEW, copy_project
from tests.servers import snakemakes
from tests.servers.http_faults import FaultServer
from tests.servers.zenodo import Deposit, LoopbackZenodo
from tests.sessions import sessions
from tests.tiny import REGISTRY, write_tiny
from tests.unit.test_cli import run_line

PROJECT = Path(__file__).parents[2]

CONFIG = """\
datasets: [Tiny]
protocols: [filtered, pykeen]
metrics: [mr, mrr, hits_at_k]
ks: [1, 3]
tables: [results.csv, printed.md]
registry: [tiny.yaml]
"""
# What follows from the database, and from what comes before it.
RESCORED = {"rescore": 1, "literature": 1, "compare": 1, "render": 1}
LATER = RESCORED | {"paper_of_table": 2}
GATHERED = {"database": 1} | LATER
COUNTED = {"count": 1, "moments": 1} | GATHERED
ENCODED = {"encode": 1, "baselines": 1} | COUNTED
# The last rows are read with the mapping of words, a code base, the defaults of tidy tables and the released database.
TABLE = """\
dataset,model,metric,value,split,evaluator
Tiny,A,mrr,0.61,,
Tiny,A,hits@1,33 %,,
Tiny,B,mr,2.5,,
Unheard,B,mr,2.5,,
Tiny,W,mrr,0.61,test,
FB15k-237,W,mrr,0.338,,OpenKE
"""
# Read with a sidecar.
PRINTED = "| Model | MRR |\n|---|---|\n| A | .61 |\n"
INPUTS = {
    "config.yaml": CONFIG,
    "results.csv": TABLE,
    "printed.md": PRINTED,
    "printed.yaml": "dataset: Tiny\n",
}
# Python runs a module named sitecustomize at its start, in every job.
NOTE_WHAT_IS_READ = """\
import os, sys

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        os.write(reads, os.fsencode(os.path.abspath(arguments[0]) + chr(10)))

reads = os.open(os.environ["READS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
sys.addaudithook(note)
"""


def snakemake(*arguments, cwd, snakefile=PROJECT / "Snakefile", environment=(), anew=False):
    """Run the installed command; the caller's own settings stay out. anew: in a Python that is started for it."""
    command = ["--snakefile", str(snakefile), "--cores", "2", *map(str, arguments)]
    if not anew:
        return snakemakes.start(*command, cwd=cwd, environment=environment)
    return subprocess.run(
        [sys.executable, "-m", "snakemake", *command],
        cwd=cwd,
        env=inherited() | dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )


def inherited():
    return {
        key: value for key, value in os.environ.items() if not key.startswith(("RANKADJUST", "PYTHONPATH"))
    }


def rankadjust(*arguments, cwd):
    """Run the command in a folder, in this process: exit code, output, error."""
    with contextlib.chdir(cwd):
        return run_line("", *arguments)


def write_inputs(folder):
    write_tiny(folder)
    for name, text in INPUTS.items():
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """Return a folder with inputs, a copy of the project and a run in a directory elsewhere: the database is made."""
    folder = tmp_path_factory.mktemp("run")
    write_inputs(folder)
    copy_project(folder / "project")
    (folder / "sitecustomize.py").write_text(NOTE_WHAT_IS_READ)
    gone_on(folder, "database", "results/run_config.yaml")
    return folder


@pytest.fixture(scope="module")
def run(counted):
    """Return the same folder with the whole run."""
    gone_on(counted, anew=True)
    (counted / "sitecustomize.py").unlink()
    return counted


def gone_on(folder, *targets, anew=False):
    # Later runs have another locale, and the same bytes.
    environment = {"PYTHONPATH": str(folder), "READS": str(folder / "reads.txt"), "LC_ALL": "C"}
    done = again(folder, *targets, environment=environment, anew=anew)
    assert done.returncode == 0, done.stderr


def again(folder, *arguments, **keywords):
    return snakemake(
        *(*arguments, "--directory", folder / "elsewhere", "--configfile", folder / "config.yaml"),
        cwd=folder,
        snakefile=folder / "project" / "Snakefile",
        **keywords,
    )


def planned(folder, *arguments):
    """Return the rules that a dry run would execute, with how often."""
    dry = again(folder, *arguments, "--dry-run", "--quiet", "host")
    assert dry.returncode == 0, dry.stderr
    lines = dry.stdout.splitlines()
    if any("Nothing to be done" in line for line in [*lines, *dry.stderr.splitlines()]):
        return {}
    start = next(number for number, line in enumerate(lines) if line.startswith("job "))
    rows = [line.split() for line in lines[start + 2 :]]
    stop = next(number for number, row in enumerate(rows) if row[:1] == ["total"])
    return {row[0]: int(row[1]) for row in rows[:stop] if row[0] not in ("all", "report", "paper")}


@pytest.mark.parametrize("target", ["database", pytest.param("all", marks=pytest.mark.slow)])
def test_a_second_run_of_an_unchanged_project_does_nothing(counted, request, target):
    if target == "all":
        request.getfixturevalue("run")
        assert planned(counted, target) == {}
    written = counted / "elsewhere" / "results" / "run_config.yaml"
    assert "- ../../tiny.yaml" in written.read_text().splitlines()
    # The configuration as run makes the same run again.
    assert planned(counted, target, "--configfile", written) == {}


@pytest.mark.slow
def test_a_run_gives_every_result(run):
    results = run / "elsewhere" / "results"
    for name in (
        "database/adjustments.tsv.gz",
        "database/datasets.tsv",
        "rescored/results.csv",
        "rescored/results.md",
        "comparison/contradictions.csv",
        "paper/results/table.tex",
    ):
        assert (results / name).stat().st_size > 0, name
    assert not (run / "results").exists()
    page = (results / "report.html").read_text()
    assert [
        text for text in ("<script src", "<link", "@import", 'src="http', "url(http") if text in page
    ] == []


def test_the_database_of_a_tiny_graph_is_right(counted):
    # By hand: testing triples (b,r,a), (c,r,b), (d,r,b); entities a, b, c, d. Known tails of r: a:{b,c} b:{c,a}
    # c:{a,b} d:{a,b}, so N = 4 - 2 + 1 = 3 for each; known heads of r: b:{a,c,d} a:{c,d,b}, so N = 4 - 3 + 1 = 2.
    database = pl.read_parquet(counted / "elsewhere" / "results" / "database" / "adjustments.parquet")
    rows = database.filter(
        dataset="Tiny", protocol="filtered", split="testing", metric="arithmetic_mean_rank"
    )
    assert dict(rows.select("side", "expectation").iter_rows()) == {"head": 1.5, "tail": 2.0, "both": 1.75}
    assert dict(rows.select("side", "tasks").iter_rows()) == {"head": 3, "tail": 3, "both": 6}


@pytest.mark.slow
def test_rescored_table_keeps_every_row_and_says_why(run):
    rescored = pl.read_parquet(run / "elsewhere" / "results" / "rescored" / "results.parquet")
    assert rescored["status"].to_list() == ["ok", "ok", "ok", "dataset_unknown", "ok", "ok"]
    assert rescored["model"].to_list() == ["A", "A", "B", "B", "W", "W"]
    assert "Unheard" in rescored["message"][3]
    # E[MR] = 1.75, optimum 1: index = (2.5 - 1.75) / (1 - 1.75) = -1.
    assert rescored["index"][2] == pytest.approx(-1, rel=1e-12)
    # A table as people have it, whose sidecar says the data set.
    printed = pl.read_csv(run / "elsewhere" / "results" / "rescored" / "printed.csv")
    assert printed.select("dataset", "model", "value", "status").rows() == [("Tiny", "A", 0.61, "assumed")]


@pytest.mark.parametrize(("document", "least"), [("docs/own-data.md", 2)])
def test_the_documents_show_what_the_command_prints_of_the_results_of_a_run(counted, document, least):
    page = (PROJECT / document).read_text(encoding="utf-8")
    here = counted / "elsewhere"
    for table in re.findall(r"^```csv\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
        (here / "ranks.csv").write_text(table)
    found = [session for session in sessions(page) if "--results results" in session[0]]
    assert len(found) >= least
    for command, expected in found:
        _, output, error = rankadjust(*command.replace("my-graph", "Tiny").split()[1:], cwd=here)
        printed = (output + error).replace("Tiny", "my-graph").rstrip("\n")
        assert (command, printed) == (command, expected)


@pytest.mark.slow
def test_the_tasks_of_a_run_can_be_joined_with_ranks(run):
    done = again(run, "tasks")
    assert done.returncode == 0, done.stderr
    tasks = run / "elsewhere" / "results" / "tasks" / "Tiny"
    assert sorted(path.name for path in tasks.iterdir()) == ["filtered.parquet", "pykeen.parquet"]
    (run / "ranks.csv").write_text(
        "triple,side,rank\n1,head,1\n1,tail,2\n2,head,1\n2,tail,1\n3,head,2\n3,tail,3\n"
    )
    code, output, error = rankadjust(
        "evaluate", "ranks.csv", "--tasks", tasks / "filtered.parquet", "--json", cwd=run
    )
    assert code == 0, error
    # (1 + 1/2 + 1 + 1 + 1/2 + 1/3) / 6, and all six tasks have the only relation.
    mrr = {(row["side"], row["metric"]): row for row in json.loads(output)}[
        "both", "inverse_harmonic_mean_rank"
    ]
    assert (round(mrr["value"], 4), mrr["relations"]) == (0.7222, 1)


@pytest.mark.slow
def test_the_report_of_snakemake_holds_every_final_table_and_figure(run):
    done = again(run, "--report", run / "report.zip")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(run / "report.zip") as archive:
        names = {Path(name).name for name in archive.namelist()}
    results = run / "elsewhere" / "results"
    folders = ("*.*", "database/*.tsv*", "rescored/*.csv", "comparison/*.csv", "figures/*.svg")
    final = {path.name for folder in folders for path in results.glob(folder)}
    # Not for people: what the database is made of, and what the page takes of the literature.
    assert final - names == {"benchmark-moments.parquet", "literature.parquet"}


# No stale result: whatever a run reads, an edit of it reruns what was made of it, and no more.


def replaced(old, new):
    def edit(path):
        text = path.read_text()
        assert text.count(old) >= 1
        path.write_text(text.replace(old, new, 1))

    return edit


def other_expectation(path):
    write_database(pl.read_parquet(path).with_columns(expectation=pl.col("expectation") / 2), path)


def other_baselines(path):
    write_baselines([load_baselines(path).with_columns(value=pl.col("value") / 2)], path)


def fewer_tasks(path):
    write_candidates(pl.read_parquet(path).with_columns(tasks=(pl.col("tasks") + 1) // 2), path)


# File, edit, what reruns. Each also changes a result, as the run with all of them at once shows.
EDITS = {
    "columns": ("tiny.yaml", replaced("[head, relation, tail]", "[tail, relation, head]"), ENCODED),
    "protocol": (
        "project/config/protocols.yaml",
        replaced("duplicates: drop\n    filter: cumulative", "duplicates: drop\n    filter: none"),
        {"benchmarks": 1, "baselines": 1} | COUNTED,
    ),
    "benchmark": (
        "project/config/benchmarks.yaml",
        replaced("validation: 162886", "validation: 162887"),
        {"benchmarks": 1} | GATHERED,
    ),
    "mapping": ("project/config/published.yaml", replaced("test: testing", "test: validation"), LATER),
    "template": (
        "project/rankadjust/page/templates/page.html.jinja",
        replaced("<h1>", "<h1>Edited: "),
        {"render": 1},
    ),
    "sidecar": ("printed.yaml", replaced("Tiny", "Nations"), RESCORED | {"paper_of_table": 1}),
    "table": ("results.csv", replaced("2.5", "2.4"), RESCORED | {"paper_of_table": 1}),
    "shipped table": ("project/resources/published/conve.csv", replaced("ConvE", "ConvE again"), RESCORED),
    "data": ("data/test.txt", replaced("d\tr\tb\n", ""), {"fetch": 1} | ENCODED),
    "released database": ("project/resources/database/adjustments.parquet", other_expectation, LATER),
    "released baselines": ("project/resources/database/baselines.parquet", other_baselines, LATER),
    "released histograms": ("project/resources/database/candidates.parquet", fewer_tasks, LATER),
}
MODULES = {
    "page/boards.py": {"render": 1},
    "manuscript/paper.py": {"paper_of_table": 2},
    "baselines/links.py": {"baselines": 1} | GATHERED,
    "chance/random_scorer.py": {"moments": 1, "benchmarks": 1} | GATHERED,
    "cli/commands.py": {},
}


@pytest.mark.slow
@pytest.mark.parametrize(("file", "edit", "rerun"), EDITS.values(), ids=EDITS)
def test_an_edit_of_what_was_read_reruns_what_was_made_of_it(run, file, edit, rerun):
    assert planned_after(run, file, edit) == rerun


@pytest.mark.slow
@pytest.mark.parametrize(("module", "rerun"), MODULES.items(), ids=MODULES)
def test_an_edited_module_reruns_what_imports_it_and_nothing_else(run, module, rerun):
    def edit(path):
        path.write_text(f"{path.read_text()}\n# edited\n")

    assert planned_after(run, f"project/rankadjust/{module}", edit) == rerun


@pytest.mark.slow
def test_an_edit_of_one_entry_of_the_registry_leaves_the_other_data_sets_alone(run):
    edit = replaced("entities: 14541", "entities: 14542")
    # Re-scoring reads the whole registry.
    assert planned_after(run, "project/config/datasets.yaml", edit) == LATER


def planned_after(run, file, edit):
    path = run / file
    before, stat = path.read_bytes(), path.stat()
    meant(run, path, edit)
    try:
        return planned(run)
    finally:
        meant(run, path, lambda path: path.write_bytes(before))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def meant(run, path, edit):
    """Edit a file; of a table that ships with the project the sums are renewed, as `make sums` does."""
    edit(path)
    if path.is_relative_to(run / "project" / "resources"):
        command = [sys.executable, "-m", "rankadjust.base.shipped_sums"]
        subprocess.run(command, cwd=run / "project", check=True)


# What every run reads anew before it decides anything.
READ_BY_EVERY_RUN = {"config.yaml", "project/config/config.yaml", "project/profiles/default/config.yaml"}


@pytest.mark.slow
def test_whatever_a_run_reads_is_an_input_of_some_rule(run):
    reads = {Path(line) for line in (run / "reads.txt").read_text().splitlines()}
    root = run.resolve()
    read = {
        path.relative_to(root).as_posix()
        for path in reads
        if path.is_relative_to(root)
        and path.is_file()
        and path.suffix not in (".py", ".pyc", ".smk", ".rst")
        and path.name not in ("Snakefile", "reads.txt")
        and path.relative_to(root).parts[0] != "elsewhere"
    }
    summary = again(run, "--detailed-summary").stdout
    inputs = {
        (run / "elsewhere" / name).resolve().relative_to(root).as_posix()
        for line in summary.splitlines()[1:]
        for name in line.split("\t")[4].split(",")
        if (run / "elsewhere" / name).resolve().is_relative_to(root)
    }
    assert len(read) > 20
    assert read - inputs == READ_BY_EVERY_RUN


@pytest.mark.slow
def test_all_edits_at_once_change_every_result(run, tmp_path):
    def snapshot(results):
        return {
            "database": pl.read_parquet(results / "database" / "adjustments.parquet"),
            "triples": pl.read_parquet(results / "triples" / "Tiny.parquet"),
            **{path.stem: pl.read_parquet(path) for path in (results / "rescored").glob("*.parquet")},
        }

    folder = tmp_path / "copy"
    shutil.copytree(run, folder, symlinks=True)
    before = snapshot(folder / "elsewhere" / "results")
    for file, edit, _ in EDITS.values():
        meant(folder, folder / file, edit)
    done = again(folder)
    assert done.returncode == 0, done.stderr
    after = snapshot(folder / "elsewhere" / "results")

    def changed(table, *columns, **row):
        old, new = (snapshots[table].filter(**row).select(columns).rows() for snapshots in (before, after))
        assert old
        assert old != new, (table, columns, row)
        return new

    mean_rank = {"metric": "arithmetic_mean_rank", "split": "testing", "dataset": "Tiny"}
    # Two testing triples are left, b r a and c r b, read from right to left.
    assert changed("database", "tasks", protocol="filtered", side="head", **mean_rank) == [(2,)]
    labels = before["triples"].filter(split="testing")["head"].to_list()
    assert after["triples"].filter(split="testing")["tail"].to_list() == labels[:2]
    # Without a filter all four entities are candidates of every task: (1 + 4) / 2.
    assert changed("database", "expectation", protocol="pykeen", side="both", **mean_rank) == [(2.5,)]
    biokg = {"dataset": "ogbl-biokg", "split": "validation", "side": "head"}
    assert changed("database", "tasks", **biokg)[0] == (162887,)
    assert changed("results", "split", model="W", dataset="Tiny") == [("validation",)]
    changed("results", "expectation", model="W", dataset="FB15k-237")
    assert changed("printed", "dataset") == [("Nations",)]
    assert changed("results", "value", model="B", dataset="Tiny") == [(2.4,)]
    assert "<h1>Edited: " in (folder / "elsewhere" / "results" / "report.html").read_text()
    assert planned(folder) == {}


def final_bytes(results):
    """Return the bytes of every result of a default run; logs and benchmarks tell of time and place."""
    return {
        path.relative_to(results): path.read_bytes()
        for path in results.rglob("*")
        if path.is_file() and path.relative_to(results).parts[0] not in ("logs", "benchmarks", "tasks")
    }


def turkish_locale():
    """Return the locale in which i is not the small letter of I; None where it is not installed."""
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    return next((name for name in known if name.lower().replace("-", "") == "tr_tr.utf8"), None)


@pytest.mark.slow
def test_a_killed_run_goes_on_after_unlock_and_everything_else_gives_the_same_bytes_too(run, tmp_path):
    """Another clone in a folder of any name, locale, time zone, hash seed and number of threads, all at once.

    Where bytes differ, the failure names the files, and the settings can be put back one by one.
    """
    folder = tmp_path / """it's "my" [2025] $HOME İstanbul ığ"""
    folder.mkdir()
    write_inputs(folder)
    project = copy_project(folder / "project")
    (folder / ".venv").symlink_to(sys.prefix)
    locale = turkish_locale() or "C.UTF-8"
    settings = {"LC_ALL": locale, "LANG": locale, "TZ": "Pacific/Chatham", "PYTHONHASHSEED": "4242"}
    # The first time, the job kills its run and itself, after half of its work. It is the only job then: Snakemake
    # reads no profile in a folder with brackets, so it would ask about another job's unfinished file before the lock.
    moments = project / "scripts" / "moments.py"
    whole = moments.read_text()
    replaced("    tables = []\n", "    import os\n    tables = []\n    os.killpg(0, 9)\n")(moments)
    command = [folder / ".venv" / "bin" / "python", "-m", "snakemake"]
    command += [
        "--snakefile",
        project / "Snakefile",
        "--configfile",
        "config.yaml",
        "--directory",
        "elsewhere",
    ]

    def started(*arguments):
        return subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env=inherited() | settings,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )

    assert started("--cores", "1").returncode == -signal.SIGKILL
    moments.write_text(whole)
    locked = started("--cores", "2")
    assert locked.returncode != 0
    assert "--unlock" in locked.stderr
    assert started("--unlock").returncode == 0
    threaded = ("encode", "count", "moments", "database", "rescore", "paper_of_table", "render")
    done = started("--cores", "2", "--set-threads", *(f"{rule}=2" for rule in threaded))
    assert done.returncode == 0, done.stderr
    expected, found = (final_bytes(place / "elsewhere" / "results") for place in (run, folder))
    assert sorted(found) == sorted(expected)
    assert [path for path in expected if found[path] != expected[path]] == []
    if turkish_locale() is None:
        pytest.skip("the locale tr_TR.UTF-8 is not installed: localedef -i tr_TR -f UTF-8 tr_TR.UTF-8")


# Mistakes


def apply(change, folder):
    for name, text in change.items():
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)


# The others are seen without a run too: tests/unit/base/test_foundation.py.
MISTAKES = {
    "registry key": (
        {"tiny.yaml": REGISTRY.replace("format:", "fromat:")},
        r"tiny.yaml:5: unknown key 'Tiny.fromat'; did you mean",
    ),
    "data set": (
        {"config.yaml": CONFIG.replace("[Tiny]", "[Tinny]")},
        r"config.yaml:1: datasets: .*Tinny.*did you mean Tiny",
    ),
    "config key": (
        {"config.yaml": CONFIG + "dataset: [Tiny]\n"},
        r"config.yaml:7: unknown key 'dataset'; did you mean datasets",
    ),
    "table": ({"results.csv": None}, r"config.yaml:5: tables: .*results.csv: there is no such table"),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (name != "registry key"), id=name)
        for name, case in MISTAKES.items()
    ],
)
def test_a_mistake_in_the_configuration_is_one_line(tmp_path, change, message):
    write_inputs(tmp_path)
    apply(change, tmp_path)
    done = snakemake("--configfile", "config.yaml", "--dry-run", cwd=tmp_path)
    assert done.returncode != 0
    assert re.search(rf"^error: .*{message}", done.stderr.splitlines()[-1]), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "rule", "message"),
    [
        ({"data/test.txt": "a\tr\tb\na\tr\n"}, "encode", r"/.*/data/test\.txt:2: 2 fields .*"),
        ({"data/test.txt": None}, "fetch", "Tiny could not be fetched: .*test.txt.*"),
    ],
    ids=["two fields", "missing"],
)
def test_a_bad_file_is_one_line_and_leaves_nothing_behind(tmp_path, change, rule, message):
    write_inputs(tmp_path)
    apply(change, tmp_path)
    done = snakemake("database", "--configfile", "config.yaml", cwd=tmp_path)
    assert done.returncode != 0
    log = f"results/logs/{rule}/Tiny.log"
    found = re.findall(rf"^error: {message} \(log: {log}\)$", done.stderr, flags=re.MULTILINE)
    assert len(found) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert re.fullmatch(rf"(?s).*error: {message}\n", (tmp_path / log).read_text())
    assert not list(tmp_path.glob("results/triples/*"))
    assert not list(tmp_path.glob("results/database/*"))


@pytest.mark.slow
def test_what_was_read_is_said_and_what_looks_wrong_is_said_last(tmp_path):
    write_inputs(tmp_path)
    shutil.copy(tmp_path / "data" / "train.txt", tmp_path / "data" / "test.txt")
    done = snakemake("results/triples/Tiny.parquet", "--configfile", "config.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = "Tiny: 4 entities, 2 relations, 6 / 2 / 6 triples\n"
    warning = "warning: Tiny: 6 of the 6 testing triples (100%) are in training, too"
    assert line in done.stdout
    assert line in (tmp_path / "results" / "logs" / "encode" / "Tiny.log").read_text()
    # A later run that reads nothing says it too.
    later = snakemake("download", "--configfile", "config.yaml", "--forcerun", "fetch", cwd=tmp_path)
    assert line not in later.stdout
    for run in (done, later):
        assert any(text.startswith(warning) for text in run.stderr.splitlines()), run.stderr


@pytest.mark.slow
def test_an_unexpected_error_is_named_with_its_log_which_has_the_traceback(run, tmp_path):
    shutil.copytree(run / "project", tmp_path / "project")
    write_inputs(tmp_path)
    replaced("    resolved =", "    raise KeyError('lost')\n    resolved =")(
        tmp_path / "project" / "scripts" / "benchmarks.py"
    )
    done = snakemake(
        *("results/benchmark-moments.parquet", "--configfile", tmp_path / "config.yaml"),
        cwd=tmp_path,
        snakefile=tmp_path / "project" / "Snakefile",
    )
    assert done.returncode != 0
    assert "error: unexpected KeyError (log: results/logs/benchmarks.log)\n" in done.stderr
    assert "Traceback" not in done.stderr
    log = (tmp_path / "results" / "logs" / "benchmarks.log").read_text()
    assert log.startswith("Traceback (most recent call last):")
    assert log.endswith("KeyError: 'lost'\n")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_one_line_and_with_more_room_the_same_command_goes_on(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    write_inputs(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "triples").symlink_to(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    try:
        arguments = ("results/triples/Tiny.parquet", "--configfile", "config.yaml")
        (disk / "filler").write_bytes(bytes(1 << 20))
        full = snakemake(*arguments, cwd=tmp_path)
        (disk / "filler").unlink()
        done = snakemake(*arguments, cwd=tmp_path)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)
    assert full.returncode != 0
    lines = re.findall(
        r"^error: .*: cannot be written \(No space left on device\); free some .*", full.stderr, re.M
    )
    assert len(lines) == 1, full.stderr
    assert "Traceback" not in full.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_ctrl_c_ends_a_run_without_a_traceback_and_the_same_command_goes_on(tmp_path):
    """It comes while the run is planned, while a job imports its library, and while another one works."""
    write_inputs(tmp_path)
    project = copy_project(tmp_path / "project")
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    told = os.open(ready, os.O_RDWR)
    wait = f"__import__('pathlib').Path({str(ready)!r}).write_text('x'); __import__('signal').pause()\n"
    count = project / "scripts" / "count.py"
    whole = count.read_text()
    command = [sys.executable, "-m", "snakemake", "--snakefile", project / "Snakefile", "--cores", "1"]
    command += ["results/candidates/Tiny.parquet", "--configfile", "config.yaml"]
    for before in ("from rankadjust.base.io", "    isolated ="):
        indented = before[: len(before) - len(before.lstrip())]
        replaced(before, f"{indented}{wait}{before}")(count)
        with subprocess.Popen(
            command, cwd=tmp_path, env=inherited(), stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as running:
            assert select.select([told], [], [], 600)[0], "the job has not come so far in ten minutes"
            os.read(told, 1)
            os.killpg(running.pid, signal.SIGINT)
            said = running.stderr.read()
        assert running.returncode != 0
        assert "Traceback" not in said
        assert not list(tmp_path.glob("results/candidates/*"))
        count.write_text(whole)
    plan = project / "rankadjust" / "plan.py"
    planned = plan.read_text()
    plan.write_text(f"{planned}\n__import__('os').kill(__import__('os').getpid(), {signal.SIGINT:d})\n")
    done = subprocess.run(
        command, cwd=tmp_path, env=inherited(), stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.stderr.splitlines()[1:] == ["interrupted"]
    plan.write_text(planned)
    done = snakemake(*command[5:], cwd=tmp_path, snakefile=project / "Snakefile")
    assert done.returncode == 0, done.stderr


# Real data


BOUNDS = """\
Bounded:
  sources:
    - kind: local
      files: {training: data/train.txt, validation: data/valid.txt, testing: data/test.txt}
  without_training:
    validation: {url: "https://example.org/valid2id.txt"}
    testing: {url: "https://example.org/test2id.txt"}
    ranges: {url: "https://example.org/type_constrain.txt"}
  expected: {entities: 4}
"""
BOUNDED_FILES = {
    "valid2id.txt": "1\n0 1 0\n",
    "test2id.txt": "1\n0 2 0\n",
    "type_constrain.txt": "1\n0\t1\t0\n0\t2\t1\t2\n",
}


@pytest.mark.slow
def test_bounds_are_in_the_database_until_the_triples_are_given(tmp_path):
    """Of 4 entities, one head and two tails: N is 4 on the side of the heads, and 3 on the other."""
    write_inputs(tmp_path)
    (tmp_path / "bounds.yaml").write_text(BOUNDS)
    mirror = tmp_path / "mirror" / "example.org"
    mirror.mkdir(parents=True)
    for name, text in BOUNDED_FILES.items():
        (mirror / name).write_text(text)
    database = tmp_path / "results" / "database" / "adjustments.parquet"

    def made(datasets):
        settings = ["registry=tiny.yaml,bounds.yaml", "without_training=Bounded", f"datasets={datasets}"]
        settings += ["protocols=filtered", "metrics=mr", "mirror=mirror", "offline=true", "tables=null"]
        done = snakemake(database.relative_to(tmp_path), "--config", *settings, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        rows = pl.read_parquet(database).filter(dataset="Bounded", split="testing")
        return {row[0]: row[1:] for row in rows.select("side", "expectation", "expectation_low").rows()}

    assert made("Tiny") == {"head": (None, 2.5), "tail": (None, 2.0), "both": (None, 2.25)}
    # The triples are those of Tiny: its expectations are the exact ones.
    assert made("Tiny,Bounded") == {"head": (1.5, None), "tail": (2.0, None), "both": (1.75, None)}


@pytest.mark.slow
def test_a_data_set_that_nobody_has_read_is_fetched_compared_and_reported(tmp_path):
    """OpenEA, made up: a triple a line, with as many triples, entities and relations as are documented."""
    lines = [f"e{n % 15_000}\tr{n % 248}\te{(7 * n + 1) % 15_000}\n" for n in range(38_265)]
    (tmp_path / "archive").mkdir()
    with zipfile.ZipFile(tmp_path / "archive" / "d.zip", "w") as archive:
        archive.writestr("OpenEA_dataset_v2.0/D_W_15K_V1/rel_triples_1", "".join(lines))
    body = (tmp_path / "archive" / "d.zip").read_bytes()
    with FaultServer() as server:
        server.serve("/figshare.com/ndownloader/files/34234391%3Fname%3DOpenEA_dataset_v2.0.zip", body)
        settings = ["datasets=OpenEA", "protocols=filtered", "metrics=mr", f"mirror={server.address}"]
        done = snakemake("database", "--config", *settings, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    sent = read_json(tmp_path / "results" / "triples" / "OpenEA.json")
    [file] = sent["files"]
    assert (file["sha256"], file["bytes"]) == (hashlib.sha256(body).hexdigest(), len(body))
    assert (sent["entities"], sent["relations"], sent["triples"]) == (15_000, 248, {"training": 38_265})
    database = pl.read_parquet(tmp_path / "results" / "database" / "adjustments.parquet")
    assert database.filter(dataset="OpenEA", side="both")["tasks"].to_list() == [2 * 38_265]


@pytest.mark.slow
def test_the_published_constants_come_from_zenodo_and_are_set_beside_ours(run, tmp_path):
    """The record is our own file in its layout, which has the exact values, and one with a wrong digit."""
    published = (PROJECT / "resources" / "database" / "metric_adjustments.tsv.gz").read_bytes()
    lines = gzip.decompress(published).decode().splitlines(keepends=True)
    [place] = [
        n for n, line in enumerate(lines) if line.startswith("nations\tarithmetic_mean_rank\tboth\ttesting")
    ]
    lines[place] = "nations\tarithmetic_mean_rank\tboth\ttesting\t4.5\n"
    with LoopbackZenodo(tmp_path) as zenodo:
        zenodo.records["6331629"] = [
            Deposit("metric_adjustments.tsv.gz", gzip.compress("".join(lines).encode()))
        ]
        trusted = {"HTTPS_PROXY": zenodo.address, "SSL_CERT_FILE": str(zenodo.certificate)}
        done = again(run, "record", environment=trusted)
    assert done.returncode == 0, done.stderr
    results = run / "elsewhere" / "results" / "record"
    compared = pl.read_csv(results / "comparison.csv")
    assert compared.height == len(lines) - 1
    of_nations = pl.col("pykeen") == "nations", pl.col("split") == "testing", pl.col("side") == "both"
    assert set(compared.filter(*of_nations)["reason"]) == {"equal", "another release of the data"}
    assert set(compared.remove(*of_nations)["reason"]) == {"equal"}
    assert "another release of the data" in (results / "comparison.svg").read_text()


@pytest.mark.shared
def test_the_default_run_from_the_mirror_gives_the_verified_numbers(tmp_path, shared):
    project = copy_project(tmp_path / "project", [*FEW, "hoyt2022-case-study"])
    done = snakemake(
        *("--directory", tmp_path, "--config", f"mirror={shared / 'data' / 'mirror'}", "offline=true"),
        cwd=tmp_path,
        snakefile=project / "Snakefile",
    )
    assert done.returncode == 0, done.stderr
    # Of a rule that runs for this table only.
    assert (tmp_path / "results" / "figures" / "adjustment.svg").stat().st_size > 0
    database = pl.read_parquet(tmp_path / "results" / "database" / "adjustments.parquet")
    nations = database.filter(dataset="Nations", protocol="filtered", split="testing", side="both")
    # Computed independently in extended precision.
    assert nations["entities"].unique().to_list() == [14]
    assert nations["tasks"].unique().to_list() == [402]
    expectation = dict(nations.select("metric", "expectation").iter_rows())
    variance = dict(nations.select("metric", "variance").iter_rows())
    assert expectation["inverse_harmonic_mean_rank"] == pytest.approx(0.3844414082699486, rel=1e-12)
    assert variance["inverse_harmonic_mean_rank"] == pytest.approx(1.8117984421965722e-04, rel=1e-12)
    assert expectation["arithmetic_mean_rank"] == pytest.approx(4.477611940298507, rel=1e-12)
    assert expectation["geometric_mean_rank"] == pytest.approx(3.46887876544273, rel=1e-12)
