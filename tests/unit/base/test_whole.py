"""Writing: whole or not at all, through links into their targets, through devices and pipes without replacing them."""

import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.base.files import write_bytes, write_text
from rankadjust.base.whole import atomic_path, whole_folder

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a device")


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path, there):
    target = tmp_path / "elsewhere" / "target.txt"
    if there:
        target.parent.mkdir()
        target.write_text("old")
    link = tmp_path / "link.txt"
    (tmp_path / "between.txt").symlink_to("elsewhere/target.txt")
    link.symlink_to(tmp_path / "between.txt")
    write_text("new", link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "between.txt",
        "elsewhere",
        "link.txt",
        "target.txt",
    ]


def test_links_in_a_circle_are_one_line(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(RankadjustError, match=r"a: cannot be written \(Too many levels of symbolic links\)"):
        write_text("x", tmp_path / "a")


@root
def test_a_device_stays_a_device(tmp_path):
    # Of its own, so that a mistake harms nobody: 1, 3 is /dev/null.
    null = tmp_path / "null"
    os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    (tmp_path / "link").symlink_to(null)
    for path in (null, tmp_path / "link"):
        write_bytes(b"x" * 100_000, path)
    assert stat.S_ISCHR(null.stat().st_mode)
    assert (tmp_path / "link").is_symlink()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_link_to_the_null_device_stays_one(tmp_path):
    link = tmp_path / "nowhere.csv"
    link.symlink_to(os.devnull)
    write_text("x", link)
    assert link.is_symlink()
    assert stat.S_ISCHR(link.stat().st_mode)


def test_a_device_that_is_full_is_one_line(tmp_path):
    link = tmp_path / "full.csv"
    link.symlink_to("/dev/full")
    with pytest.raises(RankadjustError, match=r"full\.csv: cannot be written \(No space left on device\)"):
        write_text("x", link)


@pytest.fixture
def pipe(tmp_path):
    """Return a named pipe, and a function that returns what came out of it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()

    def told():
        reader.join()
        return read

    return path, told


def write_half(path):
    with suppress(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError


def test_into_a_pipe_goes_what_is_whole(pipe):
    path, told = pipe
    write_bytes(b"x" * 300_000, path)
    assert told() == [b"x" * 300_000]
    assert list(path.parent.iterdir()) == [path]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_nothing_goes_into_a_pipe_where_writing_fails(pipe):
    path, told = pipe
    write_half(path)
    assert told() == [b""]


def test_the_old_file_and_nothing_else_is_left_where_writing_fails(tmp_path):
    path = tmp_path / "file.txt"
    write_text("old", path)
    write_half(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_substitution_is_written_through():
    # What bash puts in the place of >(command).
    reading, writing = os.pipe()
    write_text("told", f"/dev/fd/{writing}")
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "told"


@pytest.mark.parametrize("place", ["/dev/stdout", "/proc/self/fd/1"])
def test_standard_output_that_goes_into_a_file_keeps_what_stands_there(tmp_path, place):
    said = tmp_path / "said.txt"
    said.write_text("before\n")
    code = (
        "from rankadjust.base.files import write_text; print('first'); "
        f"write_text('told\\n', {place!r}); print('last')"
    )
    with said.open("a") as stream:
        subprocess.run([sys.executable, "-c", code], stdout=stream, check=True)
    assert said.read_text() == "before\nfirst\ntold\nlast\n"


def test_a_folder_in_the_place_of_a_file_is_one_line_before_anything_is_computed(tmp_path):
    (tmp_path / "out.csv").mkdir()

    def write():
        with atomic_path(tmp_path / "out.csv"):
            raise AssertionError("it is too late now")

    with pytest.raises(RankadjustError, match=r"out\.csv: cannot be written \(Is a directory\)"):
        write()


def test_a_file_in_the_place_of_a_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file" / "out.csv", tmp_path / "file" / "a" / "out.csv"):
        with pytest.raises(
            RankadjustError, match=r"out\.csv: cannot be written \((Not a directory|File exists)\)"
        ):
            write_text("x", path)


def test_a_folder_takes_the_place_of_the_old_one_whole(tmp_path):
    place = tmp_path / "above" / "folder"
    for names in (("a", "b"), ("c",)):
        with whole_folder(place) as new:
            (new / "sub").mkdir()
            for name in names:
                (new / "sub" / name).write_text(name)
        assert sorted(path.name for path in (place / "sub").iterdir()) == list(names)
    assert list(place.parent.iterdir()) == [place]
