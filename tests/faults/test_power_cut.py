"""Power cuts: what has its final name is whole on the disk. Whole runs: test_kills.py."""

import polars as pl
import pytest

from rankadjust.base.io import atomic_folder, put_in_place, write_text
from rankadjust.base.stages import TRIPLES, read_product, write_product
from tests.faults.disks import mounted, needs_disk

pytestmark = needs_disk


@pytest.fixture
def disk(tmp_path):
    with mounted(tmp_path) as disk:
        yield disk


FRAME = pl.DataFrame({"head": list(range(5000))})


def write_frame(folder):
    write_product(FRAME, folder / "new" / "a.parquet", TRIPLES, "Tiny")
    return lambda: read_product(folder / "new" / "a.parquet", TRIPLES, "Tiny").equals(FRAME)


def write_new(folder):
    write_text("x" * 9000, folder / "one" / "two" / "a.txt")
    return lambda: (folder / "one" / "two" / "a.txt").read_text() == "x" * 9000


def write_over(folder):
    write_text("new", folder / "old.txt")
    return lambda: (folder / "old.txt").read_text() == "new"


def write_folder(folder):
    with atomic_folder(folder / "datasets" / "Tiny") as new:
        (new / "sub").mkdir()
        (new / "sub" / "training.txt").write_text("a\tb\tc\n")
        (new / "source.json").write_text("{}")
    return lambda: (
        (folder / "datasets" / "Tiny" / "sub" / "training.txt").read_text() == "a\tb\tc\n"
        and (folder / "datasets" / "Tiny" / "source.json").read_text() == "{}"
    )


def adopt(folder):
    (folder / "a.part").write_text("fetched")
    put_in_place(folder / "a.part", folder / "a")
    return lambda: (folder / "a").read_text() == "fetched"


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_frame, write_new, write_over, write_folder, adopt])
def test_what_was_written_outlives_a_power_cut(disk, write):
    (disk.folder / "old.txt").write_text("old")
    disk.flush()
    is_there = write(disk.folder)
    disk.cut()
    disk.restart()
    assert is_there()
