"""The whole workflow, run as a user runs it: real Snakemake, real jobs, a temporary directory."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

PROJECT = Path(__file__).parents[2]
PARTS = ("Snakefile", "workflow", "scripts", "rankadjust", "config", "resources", "profiles")

REGISTRY = """\
Tiny:
  sources:
    - kind: local
      files: {training: data/train.txt, validation: data/valid.txt, testing: data/test.txt}
  format: {delimiter: tab, columns: [head, relation, tail]}
"""
CONFIG = """\
datasets: [Tiny]
protocols: [filtered, pykeen]
metrics: [mr, mrr, hits_at_k]
ks: [1, 3]
tables: [results.csv]
registry: [tiny.yaml]
"""
# What follows from the database.
LATER = {"rescore_tables": 1, "compare": 1, "figures": 1, "render": 1}
TABLE = """\
dataset,model,metric,value
Tiny,A,mrr,0.61
Tiny,A,hits@1,33 %
Tiny,B,mr,2.5
Unheard,B,mr,2.5
"""


def snakemake(*arguments, cwd, snakefile=PROJECT / "Snakefile", environment=()):
    """Run the installed command; the caller's own settings stay out."""
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("RANKADJUST", "PYTHONPATH"))
    }
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "snakemake",
            "--snakefile",
            str(snakefile),
            "--cores",
            "2",
            *map(str, arguments),
        ],
        cwd=cwd,
        env=inherited | dict(environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def write_inputs(folder):
    shutil.copytree(PROJECT / "tests" / "data" / "tiny", folder / "data")
    (folder / "tiny.yaml").write_text(REGISTRY)
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "results.csv").write_text(TABLE)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a folder with inputs, a copy of the project and a finished run in a directory elsewhere."""
    folder = tmp_path_factory.mktemp("run")
    write_inputs(folder)
    project = folder / "project"
    project.mkdir()
    for part in PARTS:
        source = PROJECT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, project / part)
    done = again(folder)
    assert done.returncode == 0, done.stderr
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
        "database/datasets.tsv",
        "rescored/results.parquet",
        "rescored/results.csv",
        "rescored/results.md",
        "figures/adjustment.svg",
        "figures/adjustment.png",
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


def test_the_report_opens_without_network(run):
    page = (run / "elsewhere" / "results" / "report.html").read_text()
    for needle in ("<script src", "<link", "@import", 'src="http', "url(http"):
        assert needle not in page


def test_a_run_leaves_the_resources_of_the_project_as_they_are(run):
    def contents(folder):
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    # What a run downloads is beside its results, not in the project.
    kept = contents(run / "project" / "resources")
    committed = subprocess.run(
        ["git", "ls-files", "-z", "resources"], cwd=PROJECT, capture_output=True, check=True, text=True
    ).stdout
    names = [Path(name).relative_to("resources") for name in committed.split("\0") if name]
    assert names
    assert {name: kept.get(name) for name in names} == {
        name: (PROJECT / "resources" / name).read_bytes() for name in names
    }
    assert set(kept) == set(contents(PROJECT / "resources"))


def test_a_second_run_does_nothing(run):
    assert planned(run) == {}


@pytest.mark.parametrize(
    ("module", "rerun"),
    [
        ("output/report.py", {"compare": 1, "figures": 1, "render": 1}),
        ("output/templates/report.html.jinja", {"render": 1}),
        ("chance/random_scorer.py", {"moments": 1, "benchmarks": 1, "gather": 1} | LATER),
        ("cli.py", {}),
    ],
)
def test_an_edited_module_reruns_what_depends_on_it_and_nothing_else(run, module, rerun):
    path = run / "project" / "rankadjust" / module
    before = path.read_bytes() if path.exists() else None
    path.write_bytes((before or b"") + b"\n# edited\n")
    try:
        assert planned(run) == rerun
    finally:
        path.write_bytes(before) if before is not None else path.unlink()


def test_a_target_rule_makes_its_part_alone(run):
    assert set(planned(run, "--forcerun", "gather", "--until", "gather")) <= {"gather"}
    dry = snakemake(
        "database", "--dry-run", "--directory", run / "fresh", "--configfile", run / "config.yaml", cwd=run
    )
    assert dry.returncode == 0, dry.stderr
    assert not (run / "fresh" / "results").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"config.yaml": CONFIG.replace("[Tiny]", "[Tinny]")},
            r"config.yaml:1: datasets: .*Tinny.*did you mean Tiny",
        ),
        (
            {"config.yaml": CONFIG.replace("filtered,", "filterd,")},
            r"config.yaml:2: protocols: .*filterd.*filtered",
        ),
        ({"config.yaml": CONFIG.replace("mrr,", "mrrr,")}, r"config.yaml:3: metrics: .*mrrr.*mrr"),
        (
            {"config.yaml": CONFIG + "dataset: [Tiny]\n"},
            r"config.yaml:7: unknown key 'dataset'; did you mean datasets",
        ),
        (
            {"tiny.yaml": REGISTRY.replace("format:", "fromat:")},
            r"tiny.yaml:5: unknown key 'Tiny.fromat'; did you mean",
        ),
        ({"results.csv": None}, r"config.yaml:5: tables: .*results.csv: there is no such table"),
    ],
    ids=["data set", "protocol", "metric", "config key", "registry key", "table"],
)
def test_a_mistake_in_the_configuration_is_one_line(tmp_path, change, message):
    write_inputs(tmp_path)
    apply(change, tmp_path)
    done = snakemake("--configfile", "config.yaml", "--dry-run", cwd=tmp_path)
    assert done.returncode != 0
    assert_last_line(done, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data/test.txt": "a\tr\tb\na\tr\n"}, r"error: /.*/data/test\.txt:2: 2 fields "),
        ({"data/test.txt": ""}, r"error: /.*/data/test\.txt: the file is empty"),
        ({"data/test.txt": None}, r"error: .*Tiny.*test\.txt"),
    ],
    ids=["two fields", "empty", "missing"],
)
def test_a_bad_file_is_one_line_and_leaves_nothing_behind(tmp_path, change, message):
    write_inputs(tmp_path)
    apply(change, tmp_path)
    done = snakemake("database", "--configfile", "config.yaml", cwd=tmp_path)
    assert done.returncode != 0
    assert_last_line(done, message)
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("results/triples/*"))
    assert not list(tmp_path.glob("results/database/*"))


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
    assert f"{warning} under sources\nerror: Tiny could not be fetched: " in failed.stderr


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


def test_a_table_as_people_have_it_is_rescored(run):
    (run / "elsewhere" / "table.md").write_text(
        "| Model | MRR | Hits@1 (%) |\n|---|---|---|\n| **A** | .61 | 33.0 |\n| B | 0.50 | – |\n"
    )
    (run / "elsewhere" / "table.yaml").write_text("dataset: Tiny\n")
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
    done = snakemake(
        "--directory",
        tmp_path,
        "--config",
        f"mirror={shared / 'data' / 'mirror'}",
        "offline=true",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
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
