"""Names that become part of a path or of a command line, and the pattern of each kind.

A registry is often somebody else's file: what it calls a data set or a file must not lead out of a folder, and
what it calls a package must not be an option or an address. The schemas name these kinds under `format`.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from rankadjust.base.errors import RankadjustError


class Kind(NamedTuple):
    """A kind of names: the pattern that the whole name has to match, and the same in words."""

    pattern: re.Pattern[str]
    rule: str


_DRIVE = r"(?![A-Za-z]:)"
_CONTROL = r"\x00-\x1f\x7f"

KINDS: Mapping[str, Kind] = {
    # A job's name holds its wildcards as 'dataset=Nations,table=mine': no ',', '=' or ':' either.
    "name": Kind(
        re.compile(r"\w(?:[\w .+()-]{0,98}[\w+()-])?"),
        "a name begins with a letter, digit or _ and holds nothing but these, blanks and . - + ( ), "
        "at most 100 in all",
    ),
    "file-name": Kind(
        re.compile(rf"{_DRIVE}(?!\.\.?$)[^/\\{_CONTROL}]{{1,255}}"),
        "the plain name of a file is meant, without a folder",
    ),
    "member": Kind(
        re.compile(rf"{_DRIVE}(?![/\\])(?!(?:.*[/\\])?\.\.(?:[/\\]|$))[^{_CONTROL}]+"),
        "a member of an archive is meant, none outside of its folder ('..', 'C:', a leading '/')",
    ),
    # https://packaging.python.org/en/latest/specifications/name-normalization/#name-format
    "package": Kind(
        re.compile(r"(?i:[A-Z0-9](?:[A-Z0-9._-]*[A-Z0-9])?)", re.ASCII),
        "the name of a package is letters, digits and . - _ between them",
    ),
    # https://packaging.python.org/en/latest/specifications/version-specifiers/#public-version-identifiers
    "version": Kind(
        re.compile(
            r"(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc)[0-9]+)?(?:\.post[0-9]+)?(?:\.dev[0-9]+)?"
            r"(?:\+[a-z0-9]+(?:\.[a-z0-9]+)*)?"
        ),
        "one exact version is meant, such as '1.11.1'",
    ),
}


def problem_with(name: object, kind: str) -> str | None:
    """Return what is wrong with a name of one of the KINDS, None where nothing is."""
    if not isinstance(name, str):
        return f"{name!r} is not text; write it in quotes"
    return None if KINDS[kind].pattern.fullmatch(name) else f"{name!r}: {KINDS[kind].rule}"


def require(name: object, kind: str, what: str) -> str:
    """Return the name if it is one of that kind; else raise RankadjustError, which says `what` it names."""
    problem = problem_with(name, kind)
    if problem:
        raise RankadjustError(f"{what} {problem}")
    return str(name)
