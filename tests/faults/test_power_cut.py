"""Power cuts: what has its final name is whole on the disk, and the same command ends with the same bytes.

The power of a small ext4 disk is cut by the ioctl with which ext4 itself is tested (EXT4_IOC_SHUTDOWN without flushing
the journal): from one moment to the next nothing more reaches the image. It is mounted again as after a restart. It
commits names every second and bytes when it likes, within half a minute: a file that was renamed without being
flushed is empty after a cut.
"""

import fcntl
import os
import random
import shutil
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import psutil
import pytest

from rankadjust.base.files import write_text
from rankadjust.base.stages import TRIPLES, read_product, write_product
from rankadjust.base.whole import put_in_place, whole_folder
from tests.faults.runs import Run, make_project, nothing_left, remove, results, slowly, triples
from tests.servers.http_faults import FaultServer, always

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk and cut its power"),
    pytest.mark.skipif(not shutil.which("mkfs.ext4"), reason="mkfs.ext4 is missing (e2fsprogs)"),
    pytest.mark.skipif(
        not Path("/dev/loop-control").exists(), reason="this system mounts no image (no loop)"
    ),
]
SEED = 20261122
# EXT4_IOC_SHUTDOWN and EXT4_GOING_FLAGS_NOLOGFLUSH of the header fs/ext4/ext4.h of Linux.
_SHUTDOWN, _WITHOUT_FLUSHING = 0x8004587D, 2
_SIZE = 256 << 20


class Disk:
    """A small disk at a folder, mounted from an image."""

    def __init__(self, folder, image):
        self.folder, self.image = folder, image

    def on(self):
        subprocess.run(["mount", "-o", "loop,commit=1", self.image, self.folder], check=True)

    def cut(self):
        """Let nothing more reach the disk."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, _SHUTDOWN, struct.pack("I", _WITHOUT_FLUSHING))
        finally:
            os.close(handle)

    def restart(self):
        """Mount what had reached the disk; of the image itself, another mount namespace may hold what was not."""
        subprocess.run(["umount", self.folder], check=True)
        left = self.image.with_name("left")
        subprocess.run(["cp", "--sparse=always", self.image, left], check=True)
        left.replace(self.image)
        self.on()

    def flush(self):
        subprocess.run(["sync", "--file-system", self.folder], check=True)


@contextmanager
def mounted(folder):
    """Yield a disk; it and its image vanish at last."""
    image, place = folder / "image", folder / "disk"
    with image.open("wb") as file:
        file.truncate(_SIZE)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    place.mkdir()
    disk = Disk(place, image)
    disk.on()
    try:
        with nothing_left(place):
            yield disk
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
        image.unlink()


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
    with whole_folder(folder / "datasets" / "Tiny") as new:
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


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a disk with a project whose data set comes from a slow server, the project, and what a whole run makes."""
    place = tmp_path_factory.mktemp("power")
    with FaultServer() as server, mounted(place) as disk:
        for split, text in triples().items():
            server.serve(f"/{split}.txt", text, always(slowly), etag=f'"{split}"')
        folder = disk.folder / "project"
        folder.mkdir()
        make_project(folder, server.address)
        begun = time.monotonic()
        run = start(folder)
        assert run.wait() == 0, run.said
        yield disk, folder, results(folder), time.monotonic() - begun


def start(folder):
    # What the system holds for temporary files is another disk as a rule, and here.
    scratch = folder.parents[1] / "tmp"
    scratch.mkdir(exist_ok=True)
    return Run(folder, TMPDIR=scratch)


def cut_short(disk, folder, seconds):
    """Begin a run from nothing, cut the power after so many seconds, and switch it on again."""
    remove(folder, ["results", "resources/datasets", "resources/downloads", ".snakemake"])
    disk.flush()
    run = start(folder)
    run.lives(seconds)
    disk.cut()
    victims = [psutil.Process(run.process.pid)] if run.process.poll() is None else []
    victims += [child for victim in victims for child in victim.children(recursive=True)]
    for victim in victims:
        victim.kill()
    run.process.wait()
    psutil.wait_procs(victims)
    disk.restart()


def cuts(project, number):
    """Cut the power so many times at random; return what the same command said where it did not end well."""
    disk, folder, expected, duration = project
    chance = random.Random(f"{SEED} {number}")
    wrong = {}
    for _ in range(number):
        # Also shortly after the end of the run, when nothing is left to be done.
        seconds = chance.uniform(0, 1.1 * duration)
        cut_short(disk, folder, seconds)
        run = start(folder)
        code = run.wait()
        found = results(folder)
        damaged = [name for name, digest in expected.items() if found.get(name) != digest]
        if code or damaged or set(found) - set(expected):
            wrong[f"{seconds:.1f} of {duration:.1f} s"] = (code, damaged, run.said)
    return wrong


@pytest.mark.slow
def test_after_a_power_cut_the_same_command_gives_the_same_bytes(project):
    assert cuts(project, 1) == {}


@pytest.mark.faults
def test_after_a_dozen_power_cuts_the_same_command_gives_the_same_bytes(project, capsys):
    wrong = cuts(project, 12)
    with capsys.disabled():
        sys.stdout.write(f"\n12 power cuts, {len(wrong)} after which the same command did not end well\n")
    assert wrong == {}
