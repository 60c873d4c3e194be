"""Small data sets computed together, as on a cluster: the same results, the same words when one is wrong."""

import re
import shutil

import pytest

from tests.copies import PROJECT, copy_project
from tests.workflow.test_workflow import snakemake

pytestmark = pytest.mark.slow

# B has times, so that one of the protocols applies to it alone, and to C none.
REGISTRY = """\
{name}:
  role: {role}
  sources:
    - kind: local
      files: {{training: {name}/train.txt, validation: {name}/valid.txt, testing: {name}/test.txt}}
  format: {{delimiter: tab, columns: [{columns}]}}
"""
CONFIG = """\
datasets: [A, B, C]
protocols: [time-aware, pykeen]
metrics: [mr, mrr, hits_at_k]
ks: [1, 3]
tables: null
registry: [registry.yaml]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with three tiny data sets and a copy of the project."""
    folder = tmp_path_factory.mktemp("batches")
    texts = []
    for name, role, columns in (
        ("A", "transductive", "head, relation, tail"),
        ("B", "temporal", "head, relation, tail, time"),
        ("C", "transductive", "tail, relation, head"),
    ):
        shutil.copytree(PROJECT / "tests" / "data" / "tiny", folder / name)
        texts.append(REGISTRY.format(name=name, role=role, columns=columns))
    for path in (folder / "B").iterdir():
        path.write_text("".join(f"{line}\t{len(line)}\n" for line in path.read_text().splitlines()))
    (folder / "registry.yaml").write_text("".join(texts))
    (folder / "config.yaml").write_text(CONFIG)
    copy_project(folder / "project")
    return folder


def run(folder, where, *arguments):
    return snakemake(
        *("database", "--directory", folder / where, "--configfile", folder / "config.yaml", *arguments),
        cwd=folder,
        snakefile=folder / "project" / "Snakefile",
    )


def results(folder):
    """Return the bytes of every result; how long a job took and what it logged is none."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in files.items()
        if not name.startswith(("benchmarks/", "logs/", "run_config.yaml"))
    }


@pytest.fixture(scope="module")
def together(folder):
    done = run(folder, "together", "--config", "batch=1000")
    assert done.returncode == 0, done.stderr
    return done


def test_data_sets_in_a_batch_give_the_same_bytes_as_each_alone(folder, together):
    done = run(folder, "alone")
    assert done.returncode == 0, done.stderr
    found = results(folder / "together" / "results")
    assert found == results(folder / "alone" / "results")
    assert {"triples/C.json", "candidates/A.parquet", "moments/B.parquet", "baselines/B.parquet"} <= set(
        found
    )
    logs = {path.parent.name for path in (folder / "together" / "results" / "logs").glob("*/*")}
    assert logs == {"fetch", "batch"}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("project/scripts/count.py", '"""', '"""Edited. '),
        ("project/rankadjust/chance/moments.py", '"""', '"""Edited. '),
        (
            "project/config/protocols.yaml",
            "duplicates: drop\n    filter: cumulative",
            "duplicates: drop\n    filter: none",
        ),
        ("registry.yaml", "[tail, relation, head]", "[head, relation, tail]"),
    ],
)
def test_an_edit_of_what_a_batch_was_made_with_makes_it_again(folder, together, file, old, new):
    path = folder / file
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new, 1))
    try:
        dry = run(folder, "together", "--config", "batch=1000", "--dry-run", "--quiet", "host")
    finally:
        path.write_text(before)
    assert re.search(r"^batch_1 +1$", dry.stdout, flags=re.MULTILINE), dry.stdout


def test_a_second_run_of_a_batch_does_nothing(folder, together):
    dry = run(folder, "together", "--config", "batch=1000", "--dry-run")
    assert "Nothing to be done" in dry.stdout + dry.stderr


def test_every_data_set_of_a_batch_that_is_wrong_has_its_line(folder):
    contents = {name: (folder / name / "test.txt").read_text() for name in "AC"}
    (folder / "A" / "test.txt").write_text("a\tr\tb\na\tr\n")
    (folder / "C" / "test.txt").write_text("")
    try:
        done = run(folder, "wrong", "--config", "batch=1000", "--retries", "1")
    finally:
        for name, text in contents.items():
            (folder / name / "test.txt").write_text(text)
    assert done.returncode != 0
    first, second = done.stderr.splitlines()[-2:]
    assert re.fullmatch(r"error: rule batch_1, data set A: /.*/test\.txt:2: 2 fields .*batch_1\.log\)", first)
    assert re.fullmatch(r"error: rule batch_1, data set C: /.*/test\.txt: the file is empty.*\)", second)
    assert "trying again" not in done.stderr
    assert not results(folder / "wrong" / "results").keys() & {"triples/B.parquet", "moments/B.parquet"}


def test_where_jobs_go_to_other_machines_small_data_sets_are_computed_together(folder):
    # `--jobs` beside `--cores` is what the profile of a cluster sets.
    dry = run(folder, "elsewhere", "--dry-run", "--jobs", "10", "--quiet", "host")
    assert re.search(r"^batch_1 +1$", dry.stdout, flags=re.MULTILINE), dry.stderr
    assert not re.search(r"^(encode|count|moments|baselines) ", dry.stdout, flags=re.MULTILINE)


@pytest.mark.parametrize("batch", ["batch=0", "batch=1000"])
def test_a_job_that_is_tried_again_is_granted_more(folder, batch):
    def granted(attempt):
        dry = run(
            folder,
            "granted",
            "--dry-run",
            "--attempt",
            attempt,
            "--quiet",
            "host",
            "--config",
            batch,
        )
        assert dry.returncode == 0, dry.stderr
        rules = re.findall(
            r"^rule (\w+):\n(.*?)^ +resources: ([^\n]*)", dry.stdout, flags=re.DOTALL | re.MULTILINE
        )
        # Downloads and the text of the configuration stay on the machine of the run.
        return {
            rule: [int(number) for number in re.findall(r"(?:mem_mb|runtime)=(\d+)", resources)]
            for rule, _, resources in rules
            if rule not in ("fetch", "run_config", "database")
        }

    first, second = granted(1), granted(2)
    assert len(first) >= (3 if batch == "batch=1000" else 6)
    assert all(len(amounts) == 2 for amounts in first.values())
    assert second == {rule: [2 * amount for amount in amounts] for rule, amounts in first.items()}
