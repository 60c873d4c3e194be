"""Errors in one line, safe to show, and faults of the system as the system and the libraries raise them."""

import errno
import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.base.errors import (
    RankadjustError,
    did_you_mean,
    errno_of,
    exit_with_message,
    in_words,
    is_of_writing,
    one_line,
    unwritable,
    visible,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202egnp.exe", r"a\u202egnp.exe"),
        ("a\r0.99", r"a\r0.99"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("lone \ud800", r"lone \ud800"),
        ("Größe 漢字 עברית 👩\u200d🔬 a\u0301", "Größe 漢字 עברית 👩\u200d🔬 a\u0301"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_its_escape(text, shown):
    assert visible(text) == one_line(text) == str(RankadjustError(text)) == shown


def test_lines_stay_lines_in_a_text_and_not_in_an_error():
    assert visible("a\tb\nc") == "a\tb\nc"
    assert one_line("a\tb\nc") == r"a\tb\nc"


def test_an_error_keeps_its_ends_however_long_it_is():
    told = one_line("file.csv:3: " + "9" * 100_000 + "; write fewer")
    assert told.startswith("file.csv:3: 999")
    assert told.endswith("; write fewer")
    assert len(told) < 2000
    assert len(one_line("\0" * 100_000)) == len(told)
    assert one_line(told) == told


@given(st.text() | st.text(st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp"))))
def test_nothing_invisible_is_left_and_nothing_changes_twice(text):
    shown = one_line(text)
    categories = {unicodedata.category(character) for character in shown if character not in "\u200c\u200d"}
    assert not categories & {"Cc", "Cs", "Zl", "Zp"}
    assert one_line(shown) == shown


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


def test_libraries_tell_of_a_full_disk_in_words_of_their_own():
    # As they were raised on a full disk, by polars 2.
    polars = pl.exceptions.ComputeError("underlying IO error: No space left on device (os error 28)")
    for error in (polars, OSError("No space left on device (os error 28)")):
        assert errno_of(error) == errno.ENOSPC
        assert is_of_writing(error)
    assert errno_of(pl.exceptions.ComputeError("no such column")) == 0


def test_what_is_read_or_written_without_permission_is_named():
    error = PermissionError(errno.EACCES, "Permission denied", "table.csv")
    assert in_words(error) == "table.csv: Permission denied; allow it, or choose another path"
    assert in_words(FileNotFoundError(errno.ENOENT, "No such file", "a")) is None
    assert in_words(KeyError("a")) is None


def test_too_little_memory_is_one_line():
    with pytest.raises(SystemExit) as info, exit_with_message():
        raise MemoryError("Unable to allocate 256 PiB")
    assert str(info.value).startswith("error: not enough memory (Unable to allocate")
    assert str(info.value).endswith("); close other programs, or use a machine with more of it")


def test_an_error_of_the_program_keeps_its_traceback():
    with pytest.raises(FileNotFoundError), exit_with_message():
        raise FileNotFoundError(errno.ENOENT, "No such file", "a")


def test_close_names_are_suggested():
    assert did_you_mean("nation", ["Nations", "UMLS"]) == "; did you mean Nations?"
    assert did_you_mean("xyz", ["Nations", "UMLS"]) == ""


def test_a_mistake_ends_with_one_line_and_no_traceback():
    with pytest.raises(SystemExit) as info, exit_with_message():
        raise RankadjustError("file.csv:3: two fields")
    assert info.value.code == "error: file.csv:3: two fields"
