"""The doctor: each thing that can be wrong is brought about, named in a line, and mended by what the line says."""

import json
import os
import shutil
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import polars as pl
import pytest
from filelock import FileLock

from rankadjust import doctor
from rankadjust.base.io import write_sums
from rankadjust.base.stages import CANDIDATES, CONFIGURATION, write_product, write_product_text
from rankadjust.doctor import declared, examine, unmet

TOPICS = ["path", "locale", "clock", "disk", "versions", "inputs", "results"]


def wrong(folder, about):
    """Return the lines about what is wrong; that nothing is wrong is one line, too."""
    found = [finding for finding in examine(folder) if finding.about == about]
    assert len({finding.wrong for finding in found}) == 1
    return [finding.line for finding in found if finding.wrong]


def command(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "rankadjust", "doctor", str(folder), *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def made(tmp_path):
    """Return a folder with results of a run, and what it fetched."""
    results, fetched = tmp_path / "results", tmp_path / "resources" / "datasets" / "Toy"
    for folder in (results / "candidates", results / "database", fetched):
        folder.mkdir(parents=True)
    write_product(pl.DataFrame({"a": [1]}), results / "candidates" / "Toy.parquet", CANDIDATES, "Toy")
    write_product_text("a: 1", results / "run_config.yaml", CONFIGURATION, "results")
    (results / "database" / "datasets.tsv").write_text("dataset\nToy\n")
    write_sums([results / "database" / "datasets.tsv"], results / "database" / "SHA256SUMS")
    (fetched / "training.txt").write_text("a\tr\tb\n")
    splits = {"training": {"sha256": doctor_sum(fetched / "training.txt")}}
    (fetched / "source.json").write_text(json.dumps({"splits": splits}))
    return tmp_path


def doctor_sum(path):
    # As a user computes it.
    return subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout.split()[0]


def test_where_all_is_well_there_is_a_line_each(made):
    done = command(made)
    assert done.returncode == 0, done.stdout
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [["ok", topic] for topic in TOPICS]
    assert done.stdout.splitlines()[-1].endswith(
        "3 products of runs and 1 fetched data sets are as they were written"
    )
    assert done.stderr == ""
    found = json.loads(command(made, "--json").stdout)
    assert [(one["about"], one["wrong"]) for one in found] == [(topic, False) for topic in TOPICS]


def test_a_folder_that_is_not_there_is_the_first_thing_that_is_wrong(tmp_path):
    done = command(tmp_path / "no")
    assert done.returncode == 1
    assert done.stdout.startswith(
        f"wrong  path      {tmp_path / 'no'}: there is no such folder; make it, or name"
    )


def test_a_name_that_cannot_be_printed_and_a_library_beside_another_are_wrong(tmp_path):
    odd = tmp_path / "a\nb"
    (odd / "rankadjust").mkdir(parents=True)
    (odd / "rankadjust" / "__init__.py").touch()
    name, other = wrong(odd, "path")
    assert "characters that cannot be printed; rename it" in name
    assert f"uses the library in {doctor._PROJECT}; use the command of this checkout: make install" in other


@pytest.mark.skipif(
    not Path("/proc/self").is_dir(), reason="this system has no folder in which root cannot write"
)
def test_a_folder_that_cannot_be_written_is_wrong():
    (line,) = doctor.wrong_path(Path("/proc"))
    assert line.startswith("/proc: cannot be written (")
    assert line.endswith("choose another path")


def test_a_locale_that_the_system_lacks_and_one_without_letters_are_wrong(tmp_path):
    lines = command(tmp_path, LC_ALL="xx_YY", PYTHONIOENCODING="latin-1").stdout.splitlines()
    missing, letters = [line for line in lines if line.startswith("wrong")]
    assert missing.startswith("wrong  locale    the system has no locale as named by LC_ALL=xx_YY")
    assert letters.startswith("wrong  locale    what is printed: in ")
    assert missing.endswith("export LC_ALL=C.UTF-8")
    assert letters.endswith("export LC_ALL=C.UTF-8")
    assert command(tmp_path, LC_ALL="C.UTF-8", PYTHONIOENCODING="").returncode == 0


def test_files_from_the_future_are_wrong_until_they_are_touched_as_the_line_says(made):
    later = time.time() + 86_400
    for name in ("results/run_config.yaml", "resources/datasets/Toy/training.txt"):
        os.utime(made / name, (later, later))
    (line,) = wrong(made, "clock")
    assert line.startswith(
        f"{made / 'resources/datasets/Toy/training.txt'} and 1 others: dated in the future"
    )
    subprocess.run(line.partition("is right: ")[2], shell=True, check=True)
    assert wrong(made, "clock") == []


def test_a_clock_before_this_version_and_a_disk_with_another_one_are_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr("rankadjust.base.version.REGISTRY_DATE", "9999-01-01")
    (line,) = wrong(tmp_path, "clock")
    assert "before this version was made (9999-01-01)" in line
    monkeypatch.undo()
    ahead = time.time() + 60
    monkeypatch.setattr("time.time", lambda: ahead)
    (line,) = wrong(tmp_path, "clock")
    assert line.startswith(f"the disk of {tmp_path} is 60 s behind this machine, so that ") or "59 s" in line


@pytest.mark.parametrize(
    ("limit", "said"), [("_ROOM", "MB are free, and a run"), ("_FILES", "more files (inodes)")]
)
def test_too_little_room_for_a_run_is_wrong(tmp_path, monkeypatch, limit, said):
    monkeypatch.setattr(doctor, limit, 1 << 62)
    here, temporary = wrong(tmp_path, "disk")
    assert said in here
    assert here.startswith(f"{tmp_path}: ")
    assert here.endswith("choose another folder (snakemake --directory)")
    assert temporary.endswith("choose another folder for temporary files (TMPDIR)")


def test_packages_that_are_missing_or_too_old_are_wrong():
    lines = list(
        unmet(
            [
                "polars>=999",
                "numpy",
                "rankadjust-has-no-such-package>=1",
                "no-such-package-either; python_version < '3'",
                "one-of-an-extra; extra == 'test'",
                "one-of-the-workflow; (python_version > '3') and extra == 'workflow'",
                "jinja2<1; extra == 'workflow'",
                "pytest<1; extra == 'test'",
            ]
        )
    )
    assert [line.partition(";")[0] for line in lines] == [
        f"polars {metadata.version('polars')}, and polars>=999 is needed",
        "rankadjust-has-no-such-package is missing",
        "one-of-the-workflow is missing",
        f"jinja2 {metadata.version('jinja2')}, and jinja2<1 is needed",
    ]
    assert all("install it again: make -B -C " in line for line in lines)


def test_what_is_installed_is_held_against_pyproject_and_against_the_wheel(project, monkeypatch, tmp_path):
    python, requirements = declared()
    assert python == ">=3.11"
    assert {"click>=8.4", "markdown-it-py>=3.0"} <= set(requirements)
    assert "backports-zstd>=1.0; (python_version < '3.14') and extra == 'workflow'" in requirements
    monkeypatch.setattr(doctor, "_PROJECT", tmp_path)
    assert declared() == (python, metadata.requires("rankadjust"))
    assert wrong(tmp_path, "versions") == []


def test_products_and_fetched_files_that_are_not_as_they_were_written_are_wrong(made):
    candidates = made / "results" / "candidates" / "Toy.parquet"
    data = bytearray(candidates.read_bytes())
    data[8] ^= 1
    candidates.write_bytes(data)
    (made / "results" / "database" / "datasets.tsv").unlink()
    (made / "results" / "run_config.yaml").write_text("")
    (made / "resources" / "datasets" / "Toy" / "training.txt").write_text("a\tr\tc\n")
    again = "; the same snakemake command makes it again"
    assert wrong(made, "results") == [
        f"{candidates}: damaged, its bytes are not those that were written{again}",
        f"{made}/results/database/datasets.tsv: it is missing{again}",
        f"{made}/results/run_config.yaml: it is empty{again}",
        f"{made}/resources/datasets/Toy: training.txt has other bytes; the same snakemake command fetches it again",
    ]


def test_a_killed_run_is_named_and_one_at_work_is_left_alone(made):
    state = made / ".snakemake" / "rankadjust"
    state.mkdir(parents=True)
    (state / "run.json").write_text('{"since": "2026-01-01 00:00:00 UTC"}')
    (line,) = wrong(made, "results")
    assert line.endswith("the last run, since 2026-01-01 00:00:00 UTC, was killed; the same command takes it up where "
                         "it stopped")  # fmt: skip
    shutil.rmtree(made / "results" / "database")
    with FileLock(state / "run.lock"):
        assert wrong(made, "results") == []
        assert "a run is at work here" in examine(made)[-1].line


def test_a_check_whose_package_is_missing_says_so_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "packaging.specifiers", None)
    (line,) = wrong(tmp_path, "versions")
    assert line.startswith("not examined, for packaging.specifiers cannot be imported; install it again: ")
    assert wrong(tmp_path, "inputs") == []
