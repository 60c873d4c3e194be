"""Progress: lines in a log, a bar on a terminal, and nothing where work is short."""

import io
import re

from rankadjust.base.progress import progress, reporting


class Terminal(io.StringIO):
    def isatty(self):
        return True


def work(**options):
    with progress("counting", 50_000, "triples", **options) as report:
        return list(reporting(iter("abcde"), [10_000] * 5, report))


def test_lines_in_a_log(capsys):
    assert work(every=0.0) == list("abcde")
    lines = capsys.readouterr().err.splitlines()
    line = re.compile(r"counting: (10|20|30|40|50)\.0k of 50\.0k triples, [\d.]+[kMG]?/s, 00:00 left")
    assert [match[1] for match in map(line.fullmatch, lines) if match] == ["10", "20", "30", "40", "50"]
    assert len(lines) == 5


def test_what_was_done_before_does_not_count_for_the_speed(capsys, monkeypatch):
    clock = iter([100.0, 110.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with progress("counting", 1000, "triples", start=500, every=1.0) as report:
        report(100)
    assert capsys.readouterr().err == "counting: 600 of 1.00k triples, 10.0/s, 00:40 left\n"


def test_a_bar_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    work(quiet=0.0)
    assert re.search(
        r"\rcounting: 100%\|.*\| 50\.0k/50\.0k \[00:00<00:00, .* triples/s\]", terminal.getvalue()
    )


def test_short_work_says_nothing(monkeypatch, capsys):
    work()
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    work()
    assert terminal.getvalue() == ""
