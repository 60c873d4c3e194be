"""Progress of long work: a bar with the time left, on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


def say(text: str) -> None:
    """Write a line for people to standard error, as it is now: a job sends it to its log."""
    sys.stderr.write(f"{text}\n")
