"""Errors for people: one line that says what is wrong, where, and what to do; text that is safe to show."""

import difflib
import errno
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# An error says at its end what to do, so that it is its middle that is left out.
_LONGEST = 1500
_END = 300
_LEFT_OUT = " […] "
# A terminal obeys control characters, and characters that turn the direction of writing make a line look different from
# its content. The joiners U+200C and U+200D stay: Persian, Hindi and emoji need them.
_INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f"
)
_IN_A_LINE = re.compile(f"[{_INVISIBLE}]")
_IN_A_TEXT = re.compile(f"(?![\n\t])[{_INVISIBLE}]")
_REMEDIES = {
    errno.ENOSPC: "free some of its disk, and give the same command again",
    errno.EDQUOT: "free some of your quota, and give the same command again",
    errno.EFBIG: "allow larger files (ulimit -f), and give the same command again",
    errno.EROFS: "nothing can be written to its disk; choose another path",
    errno.EACCES: "allow it, or choose another path",
    errno.EPERM: "allow it, or choose another path",
}
# What can be of nothing but writing; a file to be read may not be permitted either.
_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


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
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(by_folded[match] for match in close)}?" if close else ""


def listed(words: Iterable[str]) -> str:
    """Return 'a', 'a and b', 'a, b and c'."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def visible(text: str) -> str:
    """Return a text of lines with every invisible character but line feeds and tabs as its escape."""
    return _IN_A_TEXT.sub(_escape, text)


def one_line(text: str) -> str:
    """Return a text on one line: all invisible characters as escapes, the middle left out where it is very long."""
    shown = _IN_A_LINE.sub(_escape, text)
    if len(shown) > _LONGEST:
        return f"{shown[: _LONGEST - _END - len(_LEFT_OUT)]}{_LEFT_OUT}{shown[-_END:]}"
    return shown


def unwritable(path: str | Path, error: BaseException) -> str:
    """Return one line that says that a path cannot be written, why, and what to do."""
    number = errno_of(error)
    reason = os.strerror(number) if number else str(error).splitlines()[0]
    return f"{path}: cannot be written ({reason}); {_REMEDIES.get(number, 'choose another path')}"


def is_of_writing(error: BaseException) -> bool:
    """Say whether an error can only have come of writing: a full disk, a quota, a limit, a disk that is read-only."""
    return errno_of(error) in _OF_WRITING


def errno_of(error: BaseException) -> int:
    """Return the system's number of an error, also where polars gives it in words; 0 where it has none."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    code = re.search(r"\(os error (\d+)\)", str(error))
    return int(code[1]) if code else 0


def in_words(error: BaseException) -> str | None:
    """Return one line about a mistake of the user or a fault of the system; None for any other error."""
    if isinstance(error, RankadjustError):
        return str(error)
    if isinstance(error, MemoryError):
        reason = f" ({error})" if str(error) else ""
        return f"not enough memory{reason}; close other programs, or use a machine with more of it"
    path, number = getattr(error, "filename", None) or "standard output", errno_of(error)
    if is_of_writing(error):
        return unwritable(path, error)
    # The number does not say whether the file was read or written.
    return f"{path}: {os.strerror(number)}; {_REMEDIES[number]}" if number in _REMEDIES else None


@contextmanager
def exit_with_message() -> Iterator[None]:
    """Turn a RankadjustError, or a fault of the system, into one line on standard error and exit code 1."""
    try:
        yield
    except (RankadjustError, OSError, MemoryError) as error:
        message = in_words(error)
        if message is None:
            raise
        sys.exit(f"error: {message}")


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
