"""The whole workflow, run as a user runs it: real Snakemake, real jobs, a temporary directory."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import polars as pl
import pytest

from rankadjust.database.store import load_baselines, write_baselines, write_candidates, write_database
from tests.copies import FEW, copy_project
from tests.servers import snakemakes
from tests.sessions import sessions
from tests.tiny import REGISTRY, write_tiny
from tests.unit.test_cli import run_line

PROJECT = Path(__file__).parents[2]

CONFIG = """\
datasets: [Tiny]
protocols: [filtered, pykeen]
metrics: [mr, mrr, hits_at_k]
ks: [1, 3]
tables: [results.csv, words.csv, printed.md]
registry: [tiny.yaml]
"""
# What follows from the database.
RESCORED = {"rescore_tables": 1, "literature": 1, "compare": 1, "figures": 1, "render": 1}
PAPERS = {"paper_of_table": 3}
LATER = RESCORED | PAPERS
GATHERED = {"gather": 1} | LATER
COUNTED = {"count": 1, "moments": 1} | GATHERED
BASELINED = {"baselines": 1}
ENCODED = {"encode": 1} | BASELINED | COUNTED
FETCHED = {"fetch": 1} | ENCODED
TABLE = """\
dataset,model,metric,value
Tiny,A,mrr,0.61
Tiny,A,hits@1,33 %
Tiny,B,mr,2.5
Unheard,B,mr,2.5
"""
# Read with the mapping of words, the defaults of tidy tables and the released database; with a sidecar.
WORDS = "dataset,model,metric,value,split\nTiny,A,mrr,0.61,test\nFB15k-237,A,mrr,0.338,\n"
PRINTED = "| Model | MRR |\n|---|---|\n| A | .61 |\n"
INPUTS = {
    "config.yaml": CONFIG,
    "results.csv": TABLE,
    "words.csv": WORDS,
    "printed.md": PRINTED,
    "printed.yaml": "dataset: Tiny\n",
}

NOTE_WHAT_IS_READ = """\
import os, sys

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
        os.write(reads, os.fsencode(os.path.abspath(arguments[0]) + chr(10)))

reads = os.open(os.environ["READS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
sys.addaudithook(note)
"""


def snakemake(*arguments, cwd, snakefile=PROJECT / "Snakefile", environment=()):
    """Run the installed command; the caller's own settings stay out."""
    command = ["--snakefile", str(snakefile), "--cores", "2", *map(str, arguments)]
    if not environment:
        return snakemakes.start(*command, cwd=cwd)
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("RANKADJUST", "PYTHONPATH"))
    }
    return subprocess.run(
        [sys.executable, "-m", "snakemake", *command],
        cwd=cwd,
        env=inherited | dict(environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def rankadjust(*arguments, cwd):
    """Run the command in a folder, in this process: exit code, output, error."""
    with contextlib.chdir(cwd):
        return run_line("", *arguments)


def write_inputs(folder):
    write_tiny(folder)
    for name, text in INPUTS.items():
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a folder with inputs, a copy of the project and a finished run in a directory elsewhere."""
    folder = tmp_path_factory.mktemp("run")
    write_inputs(folder)
    copy_project(folder / "project")
    # Python runs a module of this name at its start, in every job.
    (folder / "sitecustomize.py").write_text(NOTE_WHAT_IS_READ)
    # Later runs have another locale, and the same bytes.
    environment = {"PYTHONPATH": str(folder), "READS": str(folder / "reads.txt"), "LC_ALL": "C"}
    done = again(folder, environment=environment)
    assert done.returncode == 0, done.stderr
    (folder / "sitecustomize.py").unlink()
    return folder


def again(folder, *arguments, **keywords):
    return snakemake(
        *arguments,
        "--directory",
        folder / "elsewhere",
        "--configfile",
        folder / "config.yaml",
        cwd=folder,
        snakefile=folder / "project" / "Snakefile",
        **keywords,
    )


def planned(folder, *arguments):
    """Return the rules that a dry run would execute, with how often."""
    dry = again(folder, "--dry-run", "--quiet", "host", *arguments)
    assert dry.returncode == 0, dry.stderr
    lines = dry.stdout.splitlines()
    if any("Nothing to be done" in line for line in [*lines, *dry.stderr.splitlines()]):
        return {}
    start = next(number for number, line in enumerate(lines) if line.startswith("job "))
    rows = [line.split() for line in lines[start + 2 :]]
    stop = next(number for number, row in enumerate(rows) if row[:1] == ["total"])
    return {row[0]: int(row[1]) for row in rows[:stop] if row[0] != "all"}


def test_a_run_gives_every_result(run):
    results = run / "elsewhere" / "results"
    for name in (
        "report.html",
        "database/adjustments.parquet",
        "database/adjustments.tsv.gz",
        "database/baselines.parquet",
        "database/candidates.parquet",
        "database/datasets.tsv",
        "rescored/results.parquet",
        "rescored/results.csv",
        "rescored/results.md",
        "paper/words/table.tex",
        "paper/words/figure.pdf",
        "figures/chance-share.svg",
        "figures/chance-share.png",
        "figures/chance-share.json",
    ):
        assert (results / name).stat().st_size > 0, name
    assert not (run / "results").exists()


def test_the_database_of_a_tiny_graph_is_right(run):
    # By hand: testing triples (b,r,a), (c,r,b), (d,r,b); entities a, b, c, d. Known tails of r: a:{b,c} b:{c,a}
    # c:{a,b} d:{a,b}, so N = 4 - 2 + 1 = 3 for each; known heads of r: b:{a,c,d} a:{c,d,b}, so N = 4 - 3 + 1 = 2.
    database = pl.read_parquet(run / "elsewhere" / "results" / "database" / "adjustments.parquet")
    rows = database.filter(
        dataset="Tiny", protocol="filtered", split="testing", metric="arithmetic_mean_rank"
    )
    assert dict(rows.select("side", "expectation").iter_rows()) == {"head": 1.5, "tail": 2.0, "both": 1.75}
    assert dict(rows.select("side", "tasks").iter_rows()) == {"head": 3, "tail": 3, "both": 6}


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


@pytest.mark.shared
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
def test_a_data_set_to_which_no_protocol_applies_is_summarised_and_not_counted(run):
    rerun = planned(run, "--until", "gather", "--config", "protocols=time-aware")
    assert "gather" in rerun
    assert not {"count", "moments"} & set(rerun)


def test_rescored_table_keeps_every_row_and_says_why(run):
    rescored = pl.read_parquet(run / "elsewhere" / "results" / "rescored" / "results.parquet")
    assert rescored["status"].to_list() == ["ok", "ok", "ok", "dataset_unknown"]
    assert rescored["model"].to_list() == ["A", "A", "B", "B"]
    assert "Unheard" in rescored["message"][3]
    # E[MR] = 1.75, optimum 1: index = (2.5 - 1.75) / (1 - 1.75) = -1.
    assert rescored["index"][2] == pytest.approx(-1, rel=1e-12)


@pytest.mark.parametrize(("document", "least"), [("README.md", 1), ("docs/evaluate.md", 3)])
def test_the_documents_show_what_the_command_prints_of_the_results_of_a_run(run, document, least):
    page = (PROJECT / document).read_text(encoding="utf-8")
    here = run / "elsewhere"
    for table in re.findall(r"^```csv\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
        (here / "ranks.csv").write_text(table)
    found = [session for session in sessions(page) if "--results results" in session[0]]
    assert len(found) >= least
    for command, expected in found:
        _, output, error = rankadjust(*command.replace("my-graph", "Tiny").split()[1:], cwd=here)
        printed = (output + error).replace("Tiny", "my-graph").rstrip("\n")
        assert (command, printed) == (command, expected)


def test_the_results_of_a_run_hold_what_the_command_needs(run):
    results = run / "elsewhere" / "results"
    arguments = ("adjust", "--dataset", "tiny", "mr=1.5", "--json")
    code, by_folder, error = rankadjust(*arguments, "--results", results, cwd=run)
    database = results / "database" / "adjustments.parquet"
    assert code == 0, error
    assert rankadjust(*arguments, "--database", database, cwd=run)[1] == by_folder
    # By hand: three ranks of 1 or 2 and three of 1 to 3 have the mean (3 * 1.5 + 3 * 2) / 6.
    assert json.loads(by_folder)[0]["expectation"] == pytest.approx(1.75, rel=1e-12)


def test_the_report_opens_without_network(run):
    page = (run / "elsewhere" / "results" / "report.html").read_text()
    for needle in ("<script src", "<link", "@import", 'src="http', "url(http"):
        assert needle not in page


def test_a_run_leaves_the_resources_of_the_project_as_they_are(run, tmp_path):
    def contents(project):
        folder = project / "resources"
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    # What a run downloads is beside its results, not in the project.
    kept, copied = contents(run / "project"), contents(copy_project(tmp_path / "copy"))
    assert len(kept) > 10
    assert kept == copied


# What a run makes again of which product, when a bit of it is another one and its time stamp the same.
DAMAGED = {
    "triples/Tiny.labels.parquet": ENCODED,
    "candidates/Tiny.parquet": COUNTED,
    "baselines/Tiny.parquet": BASELINED | GATHERED,
    "benchmark-moments.parquet": GATHERED | {"benchmarks": 1},
    "database/datasets.tsv": GATHERED,
    "rescored/words.md": RESCORED,
    "literature.parquet": {"literature": 1, "compare": 1, "render": 1},
    "comparison/chance-share.csv": {"compare": 1, "render": 1},
    "paper/words/table.tex": {"paper_of_table": 1},
    "figures/chance-share.png": {"figures": 1, "render": 1},
    "run_config.yaml": {"run_config": 1},
}


def flip(path):
    """Flip a bit in the middle of a file, and leave its time stamp."""
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_a_damaged_report_is_made_again_and_a_second_run_does_nothing(run):
    assert planned_after(run, "elsewhere/results/report.html", flip) == {"render": 1}
    assert planned(run) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rerun"), DAMAGED.items(), ids=DAMAGED)
def test_damage_that_snakemake_does_not_see_is_mended_by_the_next_run(run, name, rerun):
    assert planned_after(run, f"elsewhere/results/{name}", flip) == rerun


def final_bytes(results):
    """Return the bytes of every result; logs and benchmarks tell of time and place."""
    return {
        path.relative_to(results): path.read_bytes()
        for path in results.rglob("*")
        if path.is_file() and path.relative_to(results).parts[0] not in ("logs", "benchmarks")
    }


def turkish_locale():
    """Return the locale in which i is not the small letter of I; None where it is not installed."""
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    return next((name for name in known if name.lower().replace("-", "") == "tr_tr.utf8"), None)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Return another clone, and what a run said there that found damage, a clock ahead, and another locale.

    All at once: where bytes differ, the failure names the files, and the settings can be put back one by one.
    """
    folder = tmp_path_factory.mktemp("other") / "[2025] İstanbul ığ" / "deeper"
    folder.mkdir(parents=True)
    write_inputs(folder)
    copy_project(folder / "project")
    locale = turkish_locale() or "C.UTF-8"
    environment = {"LC_ALL": locale, "LANG": locale, "TZ": "Pacific/Chatham", "PYTHONHASHSEED": "4242"}
    begun = again(folder, "database", environment=environment)
    assert begun.returncode == 0, begun.stderr
    results = folder / "elsewhere" / "results"
    os.utime(results / "triples" / "Tiny.parquet", (time.time() + 3600,) * 2)
    flip(results / "candidates" / "Tiny.parquet")
    threaded = ("encode", "count", "moments", "gather", "rescore_tables", "paper_of_table", "compare")
    threaded += ("figures", "render")
    done = again(folder, "--set-threads", *(f"{rule}=2" for rule in threaded), environment=environment)
    assert done.returncode == 0, done.stderr
    return folder, done.stderr


@pytest.mark.slow
def test_another_clone_folder_locale_time_zone_hash_seed_and_threads_give_the_same_bytes(run, elsewhere):
    expected, found = (final_bytes(place / "elsewhere" / "results") for place in (run, elsewhere[0]))
    assert sorted(found) == sorted(expected)
    assert [path for path in expected if found[path] != expected[path]] == []
    if turkish_locale() is None:
        pytest.skip("the locale tr_TR.UTF-8 is not installed: localedef -i tr_TR -f UTF-8 tr_TR.UTF-8")


@pytest.mark.slow
def test_the_same_command_makes_again_what_is_damaged_and_reads_what_a_clock_ahead_has_dated(elsewhere):
    """With the same bytes, as the test above shows."""
    folder, said = elsewhere
    damaged = (
        "note: results/candidates/Tiny.parquet: damaged, its bytes are not those that were written; a run"
    )
    assert damaged in said
    triples = folder / "elsewhere" / "results" / "triples" / "Tiny.parquet"
    assert f"note: {triples}: dated in the future, when the clock was ahead; dated now instead\n" in said
    assert planned(folder) == {}


@pytest.mark.parametrize(
    ("module", "rerun"),
    [
        ("page/charts/size.py", {"figures": 1, "render": 1}),
        ("manuscript/figure.py", PAPERS),
        ("page/templates/page.js", {"render": 1}),
        ("baselines/links.py", BASELINED | GATHERED),
        ("chance/random_scorer.py", {"moments": 1, "benchmarks": 1, "gather": 1} | LATER),
        ("cli/commands.py", {}),
    ],
)
@pytest.mark.slow
def test_an_edited_module_reruns_what_depends_on_it_and_nothing_else(run, module, rerun):
    path = run / "project" / "rankadjust" / module
    before = path.read_bytes() if path.exists() else None
    path.write_bytes((before or b"") + b"\n# edited\n")
    try:
        assert planned(run) == rerun
    finally:
        path.write_bytes(before) if before is not None else path.unlink()


@pytest.mark.slow
def test_the_configuration_as_run_makes_the_same_run_again(run):
    written = run / "elsewhere" / "results" / "run_config.yaml"
    lines = written.read_text().splitlines()
    assert "- ../../tiny.yaml" in lines
    dry = snakemake(
        *("--directory", run / "elsewhere", "--configfile", written, "--dry-run"),
        cwd=run,
        snakefile=run / "project" / "Snakefile",
    )
    assert dry.returncode == 0, dry.stderr
    assert "Nothing to be done" in dry.stdout + dry.stderr


@pytest.mark.slow
def test_the_report_of_snakemake_holds_every_final_table_and_figure(run):
    done = again(run, "--report", run / "report.zip")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(run / "report.zip") as archive:
        names = {Path(name).name for name in archive.namelist()}
    results = run / "elsewhere" / "results"
    final = [
        *results.glob("*.*"),
        *results.glob("database/*.tsv*"),
        *results.glob("rescored/*.csv"),
        *results.glob("comparison/*.csv"),
        *results.glob("figures/*.svg"),
    ]
    # Not for people: what the database is made of, and what the page takes of the literature.
    assert {path.name for path in final} - names == {"benchmark-moments.parquet", "literature.parquet"}


@pytest.mark.slow
def test_a_target_rule_makes_its_part_alone(run):
    assert set(planned(run, "--forcerun", "gather", "--until", "gather")) <= {"gather"}
    dry = snakemake(
        "database", "--dry-run", "--directory", run / "fresh", "--configfile", run / "config.yaml", cwd=run
    )
    assert dry.returncode == 0, dry.stderr
    assert not (run / "fresh" / "results").exists()


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
        "evaluate", "ranks.csv", "--tasks", tasks / "filtered.parquet", "--by", "candidates", cwd=run
    )
    assert code == 0, error
    # Three tasks of two candidates and three of three: tests/data/tiny.
    rows = [line.split()[:3] for line in output.splitlines()[2:4]]
    assert rows == [["2", "3", "0.8333"], ["3", "3", "0.6111"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"config.yaml": CONFIG.replace("[Tiny]", "[Tinny]")},
            r"config.yaml:1: datasets: .*Tinny.*did you mean Tiny",
        ),
        pytest.param(
            {"config.yaml": CONFIG.replace("filtered,", "filterd,")},
            r"config.yaml:2: protocols: .*filterd.*filtered",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"config.yaml": CONFIG.replace("mrr,", "mrrr,")},
            r"config.yaml:3: metrics: .*mrrr.*mrr",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"config.yaml": CONFIG + "dataset: [Tiny]\n"},
            r"config.yaml:7: unknown key 'dataset'; did you mean datasets",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"tiny.yaml": REGISTRY.replace("format:", "fromat:")},
            r"tiny.yaml:5: unknown key 'Tiny.fromat'; did you mean",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"results.csv": None},
            r"config.yaml:5: tables: .*results.csv: there is no such table",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["data set", "protocol", "metric", "config key", "registry key", "table"],
)
def test_a_mistake_in_the_configuration_is_one_line(tmp_path, change, message):
    write_inputs(tmp_path)
    apply(change, tmp_path)
    done = snakemake("--configfile", "config.yaml", "--dry-run", cwd=tmp_path)
    assert done.returncode != 0
    assert_last_line(done, message)


@pytest.mark.slow
def test_a_table_from_the_future_is_refused_before_the_first_job(tmp_path):
    write_inputs(tmp_path)
    os.utime(tmp_path / "results.csv", (time.time() + 3600,) * 2)
    done = snakemake("--configfile", "config.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert_last_line(
        done,
        r"^error: /.*/results.csv: dated in the future .*; give it the present time: touch /.*results.csv$",
    )
    assert not (tmp_path / "results").exists()


# tests/unit/database/test_release.py has what is whole; this is when the workflow asks.
@pytest.mark.slow
def test_a_release_of_few_data_sets_is_refused_before_the_first_job(tmp_path):
    write_inputs(tmp_path)
    done = snakemake("release", "--configfile", "config.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert_last_line(
        done, r"^error: the release would lack .*; set the keys datasets, without_training and protocols as "
    )
    assert len(re.findall(r"^error: ", done.stderr, flags=re.MULTILINE)) == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"data/test.txt": "a\tr\tb\na\tr\n"},
            r"error: rule encode, data set Tiny: /.*/data/test\.txt:2: 2 fields ",
        ),
        (
            {"data/test.txt": ""},
            r"error: rule encode, data set Tiny: /.*/data/test\.txt: the file is empty",
        ),
        ({"data/test.txt": None}, r"error: .*Tiny.*test\.txt"),
    ],
    ids=["two fields", "empty", "missing"],
)
def test_a_bad_file_is_one_line_and_leaves_nothing_behind(tmp_path, change, message):
    write_inputs(tmp_path)
    apply(change, tmp_path)
    done = snakemake("database", "--configfile", "config.yaml", "--retries", 2, cwd=tmp_path)
    assert done.returncode != 0
    assert_last_line(done, message)
    # It would fail the same way again.
    assert len(re.findall(message, done.stderr)) == 1
    assert "trying again" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("results/triples/*"))
    assert not list(tmp_path.glob("results/database/*"))


@pytest.mark.slow
def test_what_was_read_is_said_and_what_looks_wrong_is_said_last(tmp_path):
    write_inputs(tmp_path)
    valid = tmp_path / "data" / "valid.txt"
    shutil.copy(valid, tmp_path / "data" / "test.txt")
    done = snakemake("results/triples/Tiny.parquet", "--configfile", "config.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = "Tiny: 4 entities, 2 relations, 6 / 2 / 2 triples\n"
    warning = (
        "warning: Tiny: the splits validation and testing are the same file, line by line: check the paths"
    )
    assert line in done.stderr
    assert line in (tmp_path / "results" / "logs" / "encode" / "Tiny.log").read_text()
    assert_last_line(done, warning)
    # A later run that reads nothing, and one that fails, end with it too.
    options = ("--configfile", "config.yaml", "--forcerun", "fetch")
    later = snakemake("download", *options, cwd=tmp_path)
    assert line not in later.stderr
    assert_last_line(later, warning)
    valid.unlink()
    failed = snakemake("download", *options, cwd=tmp_path)
    assert failed.returncode != 0
    assert (
        f"{warning} under sources\nerror: rule fetch, data set Tiny: Tiny could not be fetched: "
        in failed.stderr
    )


@pytest.mark.slow
def test_the_last_lines_name_the_job_that_failed_and_its_log(run, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(run / "project", project)
    write_inputs(tmp_path)
    benchmarks, moments = project / "scripts" / "benchmarks.py", project / "scripts" / "moments.py"
    replaced("def benchmarks", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n\ndef benchmarks")(
        benchmarks
    )
    replaced("    resolved =", "    raise KeyError('lost')\n    resolved =")(moments)
    arguments = ("results/moments/Tiny.parquet", "results/benchmark-moments.parquet", "--keep-going")
    done = snakemake(
        *(*arguments, "--configfile", tmp_path / "config.yaml", "--directory", tmp_path / "here"),
        *("--retries", 1),
        cwd=tmp_path,
        snakefile=project / "Snakefile",
    )
    assert done.returncode != 0
    assert set(done.stderr.splitlines()[-2:]) == {
        "error: rule moments, data set Tiny: unexpected KeyError: 'lost' (log: results/logs/moments/Tiny.log)",
        "error: rule benchmarks: killed, interrupted, or out of memory (log: results/logs/benchmarks.log)",
    }
    again = [line for line in done.stderr.splitlines() if line.startswith("trying again: ")]
    assert sorted(line.partition(" (log: ")[0] for line in again) == [
        "trying again: rule benchmarks: killed, interrupted, or out of memory",
        "trying again: rule moments, data set Tiny: unexpected KeyError: 'lost'",
    ]
    assert "Traceback" not in done.stderr
    log = (tmp_path / "here" / "results" / "logs" / "moments" / "Tiny.log").read_text()
    assert log.startswith("Traceback (most recent call last):")


def apply(change, folder):
    for name, text in change.items():
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)


def assert_last_line(done, message):
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert lines, "nothing was said"

    assert re.search(message, lines[-1]), done.stderr


# No stale result: whatever a run reads, an edit of it reruns what was made of it, and no more.


def replaced(old, new):
    def edit(path):
        text = path.read_text()
        assert text.count(old) >= 1
        path.write_text(text.replace(old, new, 1))

    return edit


def older(old, new):
    """Return an edit that leaves the file older than before, as `mv` and `cp -p` of another file do."""

    def edit(path):
        time = path.stat().st_mtime - 86400
        replaced(old, new)(path)
        os.utime(path, (time, time))

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
        {"benchmarks": 1} | BASELINED | COUNTED,
    ),
    "benchmark": (
        "project/config/benchmarks.yaml",
        replaced("validation: 162886", "validation: 162887"),
        {"benchmarks": 1} | GATHERED,
    ),
    "mapping": ("project/config/published.yaml", replaced("test: testing", "test: validation"), LATER),
    "tidy default": (
        "project/workflow/schemas/tidy.schema.yaml",
        replaced("default: testing", "default: validation"),
        LATER,
    ),
    "template": (
        "project/rankadjust/page/templates/page.html.jinja",
        replaced("<h1>", "<h1>Edited: "),
        {"render": 1},
    ),
    "sidecar": ("printed.yaml", replaced("Tiny", "Nations"), LATER),
    "released counts": (
        "project/resources/database/datasets.tsv",
        replaced("FB15k-237\ttransductive", "FB15k-237\tinductive"),
        {"render": 1},
    ),
    "shipped table": (
        "project/resources/published/conve.csv",
        replaced("ConvE", "ConvE again"),
        LATER,
    ),
    "older table": ("results.csv", older("2.5", "2.4"), LATER),
    "older data": ("data/test.txt", older("d\tr\tb\n", ""), FETCHED),
    "released database": ("project/resources/database/adjustments.parquet", other_expectation, LATER),
    "released baselines": ("project/resources/database/baselines.parquet", other_baselines, LATER),
    "released histograms": ("project/resources/database/candidates.parquet", fewer_tasks, LATER),
}
# Edits that make a result an error: they show in what reruns alone.
REFUSING = {
    "header lines": ("tiny.yaml", replaced("columns:", "header_lines: 1, columns:"), ENCODED),
    "expected": ("tiny.yaml", replaced("Tiny:\n", "Tiny:\n  expected: {entities: 5}\n"), ENCODED),
    "schema of benchmarks": (
        "project/workflow/schemas/benchmarks.schema.yaml",
        replaced("required: [", "required: [nothing, "),
        {"benchmarks": 1} | GATHERED,
    ),
    "schema of the mapping": (
        "project/workflow/schemas/published.schema.yaml",
        replaced("required: [", "required: [nothing, "),
        LATER,
    ),
    "schema of sidecars": (
        "project/workflow/schemas/sidecar.schema.yaml",
        replaced("type: object", "type: array"),
        LATER,
    ),
}
# What every run reads anew before it decides anything, so that an edit is never missed: values of these files are
# among the params, and the other schemas only refuse.
READ_BY_EVERY_RUN = {
    # Of these the sums of what is read are compared; so are two tables that no run reads further.
    "project/resources/database/SHA256SUMS",
    "project/resources/database/metric_adjustments.tsv.gz",
    "project/resources/published/SHA256SUMS",
    "config.yaml",
    "project/config/config.yaml",
    "project/config/datasets.yaml",
    "project/profiles/default/config.yaml",
    "project/workflow/schemas/config.schema.yaml",
    "project/workflow/schemas/datasets.schema.yaml",
    "project/workflow/schemas/protocols.schema.yaml",
    # What describes a deposit: its digest is a param of the release, which is no part of a run of `all`.
    "project/rankadjust/output/columns.yaml",
    "project/rankadjust/output/templates/CC0-1.0.txt",
    "project/rankadjust/output/templates/deposit/CITATION.cff.jinja",
    "project/rankadjust/output/templates/deposit/README.md.jinja",
    "project/rankadjust/output/templates/deposit/zenodo.html.jinja",
}


def test_every_file_that_a_run_reads_is_among_those_that_are_edited_here(run):
    root = run.resolve()
    reads = {Path(line) for line in set((run / "reads.txt").read_text().splitlines())}
    inside = {path.relative_to(root) for path in reads if path.is_relative_to(root) and path.is_file()}
    read = {
        path.as_posix()
        for path in inside
        if path.suffix not in (".py", ".pyc", ".smk", ".rst")
        and path.name not in ("Snakefile", "reads.txt")
        and path.parts[0] != "elsewhere"
    }
    edited = {file for file, *_ in [*EDITS.values(), *REFUSING.values()]}
    # The two other splits are read as the third is, and one table as another.
    alike = {"data/train.txt", "data/valid.txt", "words.csv", "printed.md"}
    # One digest is of all shipped tables, and one of all templates of the page.
    alike |= {
        f"project/resources/published/{path.name}" for path in (PROJECT / "resources/published").glob("*.csv")
    }
    templates = Path("rankadjust", "page", "templates")
    alike |= {
        (Path("project") / templates / path.name).as_posix() for path in (PROJECT / templates).iterdir()
    }
    assert read - edited - READ_BY_EVERY_RUN - alike == set()
    assert (edited | READ_BY_EVERY_RUN) - read == set()


@pytest.mark.parametrize(("file", "edit", "rerun"), EDITS.values(), ids=EDITS)
@pytest.mark.slow
def test_an_edit_of_what_was_read_reruns_what_was_made_of_it(run, file, edit, rerun):
    assert planned_after(run, file, edit) == rerun


# Many runs for more of the same: they run before a change lands, not at every `make test`.
@pytest.mark.shared
@pytest.mark.parametrize(("file", "edit", "rerun"), REFUSING.values(), ids=REFUSING)
def test_an_edit_that_refuses_what_was_read_reruns_it(run, file, edit, rerun):
    assert planned_after(run, file, edit) == rerun


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


@pytest.mark.slow
def test_a_comment_reruns_nothing_and_a_file_that_moved_no_counting(run):
    files = ["tiny.yaml", "printed.yaml", "config.yaml"]
    files += [path.relative_to(run) for path in (run / "project" / "config").glob("*.yaml")]
    files += [path.relative_to(run) for path in (run / "project" / "workflow" / "schemas").glob("*.yaml")]
    before = {run / file: (run / file).read_bytes() for file in files}
    try:
        for path, text in before.items():
            path.write_bytes(b"# A remark.\n" + text)
        assert planned(run) == {}
        (run / "moved").mkdir()
        shutil.copy(run / "data" / "test.txt", run / "moved" / "test.txt")
        replaced("data/test.txt", "moved/test.txt")(run / "tiny.yaml")
        # Re-scoring reads the whole registry.
        assert set(planned(run)) <= set(LATER)
    finally:
        for path, text in before.items():
            path.write_bytes(text)


@pytest.fixture(scope="module")
def edited(run):
    """Return what a run gave before and after all edits at once, with damage and a fetched file that was cut off."""
    results = run / "elsewhere" / "results"
    before = snapshot(results)
    for name in ("rescored/words.csv", "figures/chance-share.svg", "report.html"):
        flip(results / name)
    for file, edit, _ in EDITS.values():
        meant(run, run / file, edit)
    cut = run / "elsewhere" / "resources" / "datasets" / "Tiny" / "training.txt"
    cut.write_bytes(cut.read_bytes()[:6])
    done = again(run)
    assert done.returncode == 0, done.stderr
    return before, snapshot(results)


def snapshot(results):
    return {
        "database": pl.read_parquet(results / "database" / "adjustments.parquet"),
        "triples": pl.read_parquet(results / "triples" / "Tiny.parquet"),
        "page": (results / "report.html").read_text(),
        **{path.stem: pl.read_parquet(path) for path in (results / "rescored").glob("*.parquet")},
    }


@pytest.mark.slow
def test_after_all_edits_every_result_is_another(run, edited):
    before, after = edited

    def changed(table, *columns, **row):
        old, new = (snapshots[table].filter(**row).select(columns).rows() for snapshots in edited)
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
    assert changed("words", "split", dataset="Tiny") == [("validation",)]
    assert changed("words", "split", dataset="FB15k-237") == [("validation",)]
    changed("words", "expectation", dataset="FB15k-237")
    assert changed("printed", "dataset") == [("Nations",)]
    assert changed("results", "value", model="B", dataset="Tiny") == [(2.4,)]
    assert "<h1>Edited: " in after["page"]
    fetched = run / "elsewhere" / "resources" / "datasets" / "Tiny" / "training.txt"
    assert fetched.read_bytes() == (run / "data" / "train.txt").read_bytes()


@pytest.mark.slow
def test_after_damaged_files_were_made_again_nothing_is_left_to_do(run, edited):
    assert planned(run) == {}


@pytest.mark.slow
def test_a_table_as_people_have_it_is_rescored(run):
    (run / "elsewhere" / "table.md").write_text(
        "| Model | MRR | Hits@1 (%) |\n|---|---|---|\n| **A** | .61 | 33.0 |\n| B | 0.50 | – |\n"
    )
    facts = "dataset: Tiny\nprotocol: filtered\nsplit: test\nside: both\n"
    (run / "elsewhere" / "table.yaml").write_text(facts)
    done = again(run, "rescore", "--config", "tables=table.md")
    assert done.returncode == 0, done.stderr
    rescored = pl.read_csv(run / "elsewhere" / "results" / "rescored" / "table.csv")
    assert rescored.select("model", "metric", "value", "status").rows() == [
        ("A", "inverse_harmonic_mean_rank", 0.61, "ok"),
        ("A", "hits_at_1", 0.33, "ok"),
        ("B", "inverse_harmonic_mean_rank", 0.5, "ok"),
    ]
    log = (run / "elsewhere" / "results" / "logs" / "rescore.log").read_text()
    assert "1 missing" in log


@pytest.mark.shared
def test_the_default_run_from_the_mirror_gives_the_verified_numbers(tmp_path, shared):
    project = copy_project(tmp_path / "project", [*FEW, "hoyt2022-case-study"])
    done = snakemake(
        "--directory",
        tmp_path,
        "--config",
        f"mirror={shared / 'data' / 'mirror'}",
        "offline=true",
        cwd=tmp_path,
        snakefile=project / "Snakefile",
    )
    assert done.returncode == 0, done.stderr
    # Of a rule that runs for this table only.
    assert (tmp_path / "results" / "case-study.csv").stat().st_size > 0
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
