"""The tables that ship with the project: what is not as it was shipped is refused, in one line, by every command."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import SUMS, read_sums, sha256_of, shipped
from rankadjust.base.shipped_sums import FOLDERS
from rankadjust.cli import commands

PROJECT = Path(__file__).parents[3]
TABLE = "dataset,model,metric,value\nNations,A,mrr,0.61\nNations,A,mr,2.5\n"
DATABASE, CANDIDATES = "resources/database/adjustments.parquet", "resources/database/candidates.parquet"
BASELINES = "resources/database/baselines.parquet"
COUNTS, PRINTED = "resources/database/datasets.tsv", "resources/published/conve.csv"
SAID = "{}: its bytes do not match its sum in SHA256SUMS beside it; get the file again ("
COMMANDS = {
    "adjust": (DATABASE, ["adjust", "--dataset", "Nations", "mrr=0.61"]),
    "adjust by candidates": (CANDIDATES, ["adjust", "--dataset", "Nations", "mrr=0.61"]),
    "adjust by baselines": (BASELINES, ["adjust", "--dataset", "Nations", "mrr=0.61"]),
    "show counts": (COUNTS, ["show", "Nations"]),
    "show candidates": (CANDIDATES, ["show", "Nations"]),
    "evaluate": (DATABASE, ["evaluate", "ranks.csv", "--dataset", "Nations"]),
    "compare": (DATABASE, ["compare", "--dataset", "Nations", "mrr=0.5", "mrr=0.6"]),
    "rescore": (DATABASE, ["rescore", "mine.csv"]),
    "rescore by candidates": (CANDIDATES, ["rescore", "mine.csv"]),
    "rescore shipped": (PRINTED, ["rescore", PRINTED]),
    "check": (CANDIDATES, ["check", "mine.csv"]),
    "check shipped": (PRINTED, ["check", PRINTED]),
    "datasets": (DATABASE, ["datasets"]),
    "verify": (COUNTS, ["verify", "resources/database"]),
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Return a copy of the project, compiled as the project is, in which a table may be damaged."""
    folder = tmp_path_factory.mktemp("clone")
    for part in ("rankadjust", "config", "resources", "workflow"):
        shutil.copytree(PROJECT / part, folder / part, ignore=shutil.ignore_patterns("raw"))
    (folder / "mine.csv").write_text(TABLE)
    (folder / "ranks.csv").write_text("triple,side,rank\n0,head,1\n0,tail,2\n")
    return folder


def damage(path):
    """Flip one bit in the middle of a file; of text it makes another digit."""
    data = bytearray(path.read_bytes())
    place = len(data) // 2
    if path.suffix in (".csv", ".tsv"):
        place = next(at for at in range(place, len(data)) if data[at] in b"123456789")
    data[place] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(("file", "arguments"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_refuses_a_shipped_table_with_a_changed_bit(clone, monkeypatch, file, arguments):
    monkeypatch.setattr("rankadjust.base.io._PACKAGE", clone / "rankadjust")
    monkeypatch.chdir(clone)
    whole = (clone / file).read_bytes()
    damage(clone / file)
    try:
        done = CliRunner().invoke(commands, arguments)
    finally:
        (clone / file).write_bytes(whole)
    assert isinstance(done.exception, RankadjustError)
    assert SAID.format(file) in str(done.exception)
    assert "\n" not in str(done.exception)
    assert done.output == ""


def test_the_refusal_is_one_line_and_an_exit_code(clone):
    whole = (clone / DATABASE).read_bytes()
    damage(clone / DATABASE)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "rankadjust", *COMMANDS["adjust"][1]],
            cwd=clone,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        (clone / DATABASE).write_bytes(whole)
    assert (done.returncode, done.stdout) == (1, "")
    assert SAID.format(DATABASE) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_doctor_names_every_shipped_table_with_a_changed_bit(clone):
    whole = {file: (clone / file).read_bytes() for file in (COUNTS, PRINTED)}
    for file in whole:
        damage(clone / file)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "rankadjust", "doctor"],
            cwd=clone,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for file, data in whole.items():
            (clone / file).write_bytes(data)
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if line.startswith("wrong")]
    assert [line.partition(": its bytes do not match its sum in SHA256SUMS")[0] for line in wrong] == [
        f"wrong  inputs    {clone / file}" for file in whole
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_sums_are_those_of_the_tables(folder):
    """Where this fails, a table was changed: when that was meant, `make sums`."""
    tables = [
        path
        for path in shipped(folder).iterdir()
        if path.suffix in (".csv", ".tsv", ".parquet", ".gz", ".zip")
    ]
    assert read_sums(shipped(folder) / SUMS) == {path.name: sha256_of(path) for path in tables}
