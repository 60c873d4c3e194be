"""What people are told of faults of the system: of real errors, as the system and the libraries raise them."""

import errno

import numpy as np
import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError, exit_with_message
from rankadjust.base.faults import errno_of, in_words, is_of_writing, unwritable
from rankadjust.base.files import write_parquet
from rankadjust.base.whole import atomic_path

AGAIN = "free some of its disk, and give the same command again"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, f"a/b: cannot be written (No space left on device); {AGAIN}"),
        (
            errno.EROFS,
            "a/b: cannot be written (Read-only file system); nothing can be written to its disk; choose ",
        ),
        (errno.EACCES, "a/b: cannot be written (Permission denied); allow it, or choose another path"),
        (errno.EISDIR, "a/b: cannot be written (Is a directory); choose another path"),
    ],
)
def test_why_a_path_cannot_be_written_and_what_to_do(number, said):
    assert unwritable("a/b", OSError(number, "")).startswith(said)


def test_a_panic_of_a_library_is_one_line_after_its_traceback(monkeypatch, capsys):
    # polars panics where it is to print a frame and this variable is no number.
    monkeypatch.setenv("POLARS_TABLE_WIDTH", "wide")
    with pytest.raises(SystemExit) as info, exit_with_message():
        str(pl.DataFrame({"a": [1]}))
    assert str(info.value.code).startswith("error: an internal error of polars: could not parse table width")
    assert "Traceback (most recent call last):" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt), exit_with_message():
        raise KeyboardInterrupt


def test_libraries_tell_of_a_full_disk_in_words_of_their_own():
    # As they were raised on a full disk, by polars 2 and numpy 2.
    polars = pl.exceptions.ComputeError("underlying IO error: No space left on device (os error 28)")
    numpy = OSError("200000 requested and 0 written")
    for error in (polars, numpy, OSError("No space left on device (os error 28)")):
        assert errno_of(error) == errno.ENOSPC
        assert is_of_writing(error)
    assert errno_of(pl.exceptions.ComputeError("no such column")) is None


def test_a_full_disk_is_told_whatever_the_library_says(tmp_path):
    # /dev/full answers as a full disk does; a link to it takes the place of the file that is being written.
    def write():
        with atomic_path(tmp_path / "out.parquet") as temporary:
            temporary.unlink()
            temporary.symlink_to("/dev/full")
            raise pl.exceptions.ComputeError("Invalid thrift: transport error")

    with pytest.raises(RankadjustError, match=r"out\.parquet: cannot be written \(No space left on device\)"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_a_library_that_is_not_of_writing_stays_what_it_is(tmp_path):
    with pytest.raises(pl.exceptions.ComputeError, match="no such column"), atomic_path(tmp_path / "out"):
        raise pl.exceptions.ComputeError("no such column")
    write_parquet(pl.DataFrame({"a": [1]}), tmp_path / "out")


def test_what_is_read_or_written_without_permission_is_named():
    error = PermissionError(errno.EACCES, "Permission denied", "table.csv")
    assert (
        in_words(error, "standard output") == "table.csv: Permission denied; allow it, or choose another path"
    )
    assert in_words(FileNotFoundError(errno.ENOENT, "No such file", "a"), "here") is None
    assert in_words(KeyError("a"), "here") is None


def test_too_little_memory_is_one_line():
    with pytest.raises(SystemExit) as info, exit_with_message():
        np.empty(1 << 55)
    assert str(info.value).startswith("error: not enough memory (Unable to allocate")
    assert str(info.value).endswith("); close other programs, or use a machine with more of it")


def test_an_error_of_the_program_keeps_its_traceback():
    with pytest.raises(FileNotFoundError), exit_with_message():
        raise FileNotFoundError(errno.ENOENT, "No such file", "a")
