"""Which products are no longer what was written: of files in every format that a stage writes."""

import json
import os

import polars as pl
import pytest

from rankadjust.base.contents import Digests, read_json
from rankadjust.base.io import write_sums
from rankadjust.base.mending import Products, last_damage
from rankadjust.base.stages import (
    CONFIGURATION,
    FIGURE,
    MOMENTS,
    PAGE,
    SUMMARY,
    write_product,
    write_product_json,
    write_product_text,
)

SEALED = ("moments.parquet", "summary.json", "report.html", "run.yaml")
JOBS = {
    **{name: (name,) for name in SEALED},
    "tables": ("tables/a.csv", "tables/b.csv", "tables/SHA256SUMS"),
    "case": ("case.csv", "case.csv.sha256"),
    "forms": ("tables/c.csv", "tables/c.md", "tables/c.sha256"),
    "figures": ("figures",),
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return a folder with the outputs of jobs: sealed files, tables with their sums, one with its own, a folder."""
    monkeypatch.chdir(tmp_path)
    for folder in ("tables", "figures"):
        (tmp_path / folder).mkdir()
    write_product(pl.DataFrame({"a": [1, 2]}), "moments.parquet", MOMENTS, "Toy")
    write_product_json({"a": 1}, "summary.json", SUMMARY, "Toy")
    write_product_text("<html></html>", "report.html", PAGE, "results")
    write_product_text("a: 1", "run.yaml", CONFIGURATION, "results")
    for name in ("tables/a.csv", "tables/b.csv", "tables/c.csv", "tables/c.md", "case.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    write_sums([tmp_path / "tables/a.csv", tmp_path / "tables/b.csv"], "tables/SHA256SUMS")
    write_sums(["case.csv"], "case.csv.sha256")
    write_sums(["tables/c.csv", "tables/c.md"], "tables/c.sha256")
    write_product_text("<svg/>", "figures/a.svg", FIGURE, "a")
    (tmp_path / "figures/a.png").write_bytes(b"png")
    write_sums([tmp_path / "figures/a.svg", tmp_path / "figures/a.png"], "figures/SHA256SUMS")
    return tmp_path


def products(folder, *, look=True, dry=False):
    state = folder / ".snakemake" / "rankadjust"
    return Products(state, Digests(state / "digests.json"), look=look, dry=lambda: dry)


def flip(path, place):
    """Flip a bit of a file, and leave its time stamp."""
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(bytes(data))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_what_is_whole_and_what_is_not_there_has_no_damage(made, capsys):
    look = products(made)
    assert {look.damage(*outputs) for outputs in JOBS.values()} == {""}
    assert look.damage("no.parquet", "none") == ""
    assert capsys.readouterr().err == ""
    assert not (made / ".snakemake").exists()


@pytest.mark.parametrize("place", [1, -3])
@pytest.mark.parametrize(
    ("job", "name"),
    [
        *((name, name) for name in SEALED),
        ("tables", "tables/b.csv"),
        ("case", "case.csv"),
        ("figures", "figures/a.svg"),
        ("figures", "figures/a.png"),
    ],
)
def test_a_flipped_bit_is_seen_in_the_job_that_made_the_file(made, capsys, job, name, place):
    flip(made / name, place)
    found = {each: products(made).damage(*outputs) for each, outputs in JOBS.items()}
    assert [each for each, damage in found.items() if damage] == [job]
    wrong = found[job].partition("; changed at")[0]
    assert wrong.startswith(f"{name}: ")
    reasons = (
        "its bytes do not match its sum",
        "its bytes are not those that were written",
        "it has no seal",
    )
    assert any(reason in wrong for reason in reasons)
    assert capsys.readouterr().err == f"note: {wrong}; a run makes it again\n"


def test_of_several_files_of_a_job_one_line_is_said(made, capsys):
    for name in JOBS["tables"][:2]:
        flip(made / name, 0)
    products(made).damage(*JOBS["tables"])
    assert capsys.readouterr().err == (
        "note: tables/a.csv: its bytes do not match its sum (and 1 more of the same job); "
        "a run makes them again\n"
    )


def test_a_file_that_was_emptied_is_damaged(made):
    for name in SEALED:
        (made / name).write_bytes(b"")
        assert products(made).damage(name).startswith(f"{name}: it is empty; changed at ")
    (made / "tables/a.csv").write_bytes(b"")
    assert products(made).damage(*JOBS["tables"]).startswith("tables/a.csv: its bytes do not match its sum")
    flip(made / "tables/c.md", 3)
    assert products(made).damage(*JOBS["forms"]).startswith("tables/c.md: its bytes do not match its sum")


def test_a_sum_or_a_file_of_a_folder_that_is_missing_is_seen(made):
    (made / "case.csv.sha256").unlink()
    assert products(made).damage(*JOBS["case"]).startswith("case.csv: its sum is missing")
    (made / "tables/c.sha256").unlink()
    assert products(made).damage(*JOBS["forms"]).startswith("tables/c.csv: its sum is missing")
    (made / "figures/a.png").unlink()
    assert products(made).damage("figures").startswith("figures/a.png: it is missing")
    (made / "figures/SHA256SUMS").unlink()
    assert products(made).damage("figures").startswith("figures: it has no SHA256SUMS that can be read")


def test_what_was_mended_stays_the_same_parameter_and_a_job_does_not_look(made):
    whole = (made / "case.csv").read_bytes()
    flip(made / "case.csv", 0)
    assert products(made, look=False).damage(*JOBS["case"]) == ""
    assert products(made, dry=True).damage(*JOBS["case"]) != ""
    assert products(made, look=False).damage(*JOBS["case"]) == ""
    first = products(made).damage(*JOBS["case"])
    assert products(made, look=False).damage(*JOBS["case"]) == first
    (made / "case.csv").write_bytes(whole)
    assert products(made).damage(*JOBS["case"]) == first


def test_a_large_file_is_remembered_as_whole_until_it_changes(made):
    write_product_text("a" * (1 << 20), "report.html", PAGE, "results")
    look = products(made)
    assert look.damage("report.html") == look.damage("run.yaml") == ""
    look.save()
    # What was found, and by which size, inode and times it is known again.
    remembered = read_json(made / ".snakemake" / "rankadjust" / "seals.json")
    stat = (made / "report.html").stat()
    identity = [stat.st_size, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns]
    assert remembered == {"report.html": ["", *identity]}
    flip(made / "report.html", 7)
    assert "damaged, its bytes are not those" in products(made).damage("report.html")


def test_the_last_damage_stays_the_same_when_the_folder_is_whole_again(tmp_path):
    memory = tmp_path / "state" / "damage.json"
    assert last_damage("Toy", "", memory, remember=True) == ""
    assert not memory.exists()
    assert last_damage("Toy", "cut off", memory, remember=False) == ""
    assert last_damage("Toy", "cut off", memory, remember=True) == "cut off"
    assert last_damage("Toy", "", memory, remember=True) == "cut off"
    assert last_damage("Other", "", memory, remember=True) == ""
    assert json.loads(memory.read_text()) == {"Toy": "cut off"}
