"""Progress: a bar on a terminal, and nothing anywhere else."""

import io

import pytest

from rankadjust.base.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_a_bar_is_for_a_terminal(monkeypatch, stream):
    shown = stream()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("rankadjust.base.progress.QUIET", 0.0)
    with progress("counting", 50_000, "triples") as report:
        for _ in range(5):
            report(10_000)
    assert ("counting: 100%" in shown.getvalue()) is shown.isatty()
