"""Progress of long work: a bar with the time left, on a terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")

# Seconds before a bar is shown: short work says nothing.
QUIET = 2.0


@contextmanager
def progress(what: str, total: int, unit: str) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of units that were done since."""
    from tqdm import tqdm

    with tqdm(
        desc=what, total=total, unit=f" {unit}", unit_scale=True, delay=QUIET, file=sys.stderr, disable=None
    ) as bar:
        yield bar.update


def reporting(
    results: Iterable[Result], sizes: Iterable[int], report: Callable[[int], object]
) -> Iterator[Result]:
    """Yield results as they come, and report the size of each."""
    for result, size in zip(results, sizes, strict=True):
        report(size)
        yield result


def say(text: str) -> None:
    """Write a line for people to standard error, as it is now: a job sends it to its log."""
    sys.stderr.write(f"{text}\n")
