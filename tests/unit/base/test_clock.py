"""Files from the future: found, refused where they are the user's, dated now where a run wrote them."""

import os
import subprocess
import time

import pytest

from rankadjust.base.clock import date_now, dated_in_future, require_dated
from rankadjust.base.errors import RankadjustError


@pytest.fixture
def dated(tmp_path):
    """Return a function that makes a file of a time so many seconds from now."""

    def make(name, seconds):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (time.time() + seconds,) * 2)
        return path

    return make


def test_files_from_the_future_are_found_in_folders_behind_no_link(dated, tmp_path):
    early, late = dated("a/now.txt", 0), dated("a/.late.txt", 3600)
    dated("b/other.txt", 3600)
    (tmp_path / "a" / "link").symlink_to(tmp_path / "b")
    (tmp_path / "a" / "lost").symlink_to(tmp_path / "nowhere")
    assert dated_in_future([tmp_path / "a", tmp_path / "not there"]) == [late]
    # A second is what a file system may round, and a server be ahead.
    assert dated_in_future([early, dated("soon", 1)]) == []


def test_a_table_from_the_future_is_refused_with_what_to_type(dated):
    with pytest.raises(
        RankadjustError, match=r"my table.csv: dated in the future \(.* UTC; the clock says .*touch '"
    ):
        require_dated([dated("a/now.csv", 0), dated("a/my table.csv", 3600)])


def test_several_tables_from_the_future_are_touched_by_the_command_that_is_told(dated):
    first, second = dated("a b/one.csv", 3600), dated("c/two.csv", 3600)
    with pytest.raises(RankadjustError, match=r"one.csv and 1 more: dated in the future") as refused:
        require_dated([first, second])
    subprocess.run(str(refused.value).partition("the present time: ")[2], shell=True, check=True)
    require_dated([first, second])


def test_what_a_run_wrote_is_dated_now_all_at_once(dated, tmp_path):
    first, second, old = dated("a/first", 7200), dated("a/second", 3600), dated("a/old", -3600)
    before = old.stat().st_mtime
    assert date_now([tmp_path / "a"]) == [first, second]
    # Neither is newer than the other, so that no job runs again for it.
    assert first.stat().st_mtime_ns == second.stat().st_mtime_ns <= time.time_ns()
    assert old.stat().st_mtime == before
    assert date_now([tmp_path / "a"]) == []
