"""Errors for people: one line that says what is wrong, where, and what to do."""

import difflib
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rankadjust.base.faults import in_words, is_panic
from rankadjust.base.visible import one_line

# Skip suggestions for very long input: nobody mistyped it, and comparing is slow.
_LONGEST_NAME = 200


class RankadjustError(Exception):
    """A mistake of the user; the message is one line and needs no traceback.

    It may quote any file, so control characters are escaped, and very long text is cut in its middle.

    Examples
    --------
    >>> from rankadjust import adjust
    >>> try:
    ...     adjust(0.3, dataset="FB15k-273", metric="mrr")
    ... except RankadjustError as error:
    ...     print(error)
    unknown data set 'FB15k-273'; did you mean FB15k-237 or FB15K-237-10 or FB15k?

    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class ImpossibleValueError(RankadjustError):
    """A number that its metric cannot have: out of range, or impossible with these numbers of candidates."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return '; did you mean A or B?' for close matches of name, '' when there are none."""
    if len(name) > _LONGEST_NAME:
        return ""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(by_folded[match] for match in close)}?" if close else ""


def installed_by(extra: str) -> str:
    """Return what brings the packages of an extra: it names a folder, since rankadjust is on no package index."""
    return f"in the folder of rankadjust: pip install '.[{extra}]'"


def listed(words: Iterable[str]) -> str:
    """Return 'a', 'a and b', 'a, b and c'."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


@contextmanager
def exit_with_message() -> Iterator[None]:
    """Turn a RankadjustError, or a fault of the system, into one line on standard error and exit code 1.

    So is a panic of a library, after the traceback that its developers need.
    """
    try:
        yield
    except RankadjustError as error:
        sys.exit(f"error: {error}")
    except (OSError, MemoryError) as error:
        message = in_words(error, "standard output")
        if message is None:
            raise
        sys.exit(f"error: {message}")
    except BaseException as error:
        if not is_panic(error):
            raise
        traceback.print_exception(error)
        sys.exit(f"error: {in_words(error, '')}")
