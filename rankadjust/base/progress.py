"""Progress of long work: a bar with the time left on a terminal, now and then a line in a log."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")

# Seconds before a bar is shown, and between two lines in a log: short work says nothing.
_QUIET = 3.0
_EVERY = 10.0


@contextmanager
def progress(
    what: str, total: int | None, unit: str, *, start: int = 0, quiet: float = _QUIET, every: float = _EVERY
) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of units that were done since.

    total: how many there are; None where nobody knows. start: how many were done before. quiet: seconds before a bar
    is shown on a terminal. every: seconds between two lines, where standard error is none.
    """
    if sys.stderr.isatty():
        from tqdm import tqdm

        short = "B" if unit == "bytes" else f" {unit}"
        with tqdm(
            desc=what, total=total, initial=start, unit=short, unit_scale=True, delay=quiet, file=sys.stderr
        ) as bar:
            yield bar.update
        return
    began = reported = time.monotonic()
    done = start

    def report(more: int) -> None:
        nonlocal done, reported
        done += more
        now = time.monotonic()
        if now - reported >= every:
            reported = now
            say(_line(what, done, total, unit, (done - start) / (now - began)))

    yield report


def reporting(
    results: Iterable[Result], sizes: Iterable[int], report: Callable[[int], object]
) -> Iterator[Result]:
    """Yield results as they come, and report the size of each."""
    for result, size in zip(results, sizes, strict=True):
        report(size)
        yield result


def _line(what: str, done: int, total: int | None, unit: str, rate: float) -> str:
    """Return 'what: 12.5M of 50M bytes, 1.25M/s, 00:30 left'."""
    from tqdm import tqdm

    sized = tqdm.format_sizeof
    if total is None:
        return f"{what}: {sized(done)} {unit}, {sized(rate)}/s"
    left = tqdm.format_interval((total - done) / rate) if rate else "?"
    return f"{what}: {sized(done)} of {sized(total)} {unit}, {sized(rate)}/s, {left} left"


def say(text: str) -> None:
    """Write a line for people to standard error, as it is now: a job sends it to its log."""
    sys.stderr.write(f"{text}\n")
