"""Errors for people: one line that says what is wrong, where, and what to do."""

import difflib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class RankadjustError(Exception):
    """A mistake in what the user gave; the message is one line and needs no traceback."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return '; did you mean A or B?' for close matches of name, '' when there are none."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(by_folded[match] for match in close)}?" if close else ""


@contextmanager
def exit_with_message() -> Iterator[None]:
    """Turn a RankadjustError into one line on standard error and exit code 1."""
    try:
        yield
    except RankadjustError as error:
        sys.exit(f"error: {error}")
