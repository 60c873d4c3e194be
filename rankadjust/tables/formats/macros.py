r"""The macros that a LaTeX file defines for itself: \newcommand, \def and \DeclareMathOperator, written out."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from rankadjust.base.errors import RankadjustError

_NAME = r"\s*\{?\s*\\(?P<%s>[A-Za-z]+)\s*\}?\s*"
_DEFINITION = re.compile(
    r"\\(?:newcommand|renewcommand|providecommand|DeclareRobustCommand)\*?"
    + _NAME % "command"
    + r"(?:\[(?P<count>\d)\])?\s*(?P<default>\[[^\]]*\])?\s*(?=\{)"
    + r"|\\def\s*\\(?P<plain>[A-Za-z]+)(?P<parameters>(?:\s*#\d)*)\s*(?=\{)"
    + r"|\\DeclareMathOperator\*?"
    + _NAME % "operator"
    + r"(?=\{)"
)
_USE = re.compile(r"\\([A-Za-z]+)[ \t]*")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
# Macros that use each other without end, or double what they are given, stop here.
_DEPTH = 10
_MOST = 20_000_000


class Macro(NamedTuple):
    """A macro: its number of arguments, the default of the first (None: it has none), and its body."""

    arguments: int
    default: str | None
    body: str


def without_comments(text: str) -> str:
    """Leave out the comments of a LaTeX text; its lines stay where they are."""
    return _COMMENT.sub("", text)


def expand_macros(text: str) -> str:
    """Return a LaTeX text with its own macros written out and their definitions left out, on the same lines.

    Raises RankadjustError where the macros expand to more than 20 MB.
    """
    macros: dict[str, Macro] = {}
    kept, at = [], 0
    for match in _DEFINITION.finditer(text):
        end = _end_of_group(text, match.end())
        if match.start() < at or end is None:
            continue
        name = match["command"] or match["plain"] or match["operator"]
        count = int(match["count"] or 0) if match["command"] else (match["parameters"] or "").count("#")
        default = match["default"]
        body = " ".join(text[match.end() + 1 : end - 1].split("\n"))
        macros[name] = Macro(count, None if default is None else default[1:-1], body)
        kept += [text[at : match.start()], "\n" * text.count("\n", match.start(), end)]
        at = end
    return _expanded("".join([*kept, text[at:]]), macros, _DEPTH) if macros else text


def _expanded(text: str, macros: Mapping[str, Macro], depth: int) -> str:
    parts, at, length = [], 0, 0
    for match in _USE.finditer(text):
        macro = macros.get(match[1])
        if macro is None or match.start() < at:
            continue
        arguments, end = _arguments(
            text, match.end() if macro.arguments else match.start(1) + len(match[1]), macro
        )
        body = re.sub(r"#(\d)", lambda found, given=arguments: given.get(found[1], ""), macro.body)  # type: ignore[misc]
        # A letter after the macro must not become part of the last word of its body.
        parts += [text[at : match.start()], _expanded(body, macros, depth - 1) if depth else body, "{}"]
        length += len(parts[-2])
        at = end
        if length > _MOST:
            raise RankadjustError("its macros expand to more than 20 MB; write them out")
    return "".join([*parts, text[at:]])


def _arguments(text: str, at: int, macro: Macro) -> tuple[dict[str, str], int]:
    """Return the arguments of a macro by their number, and where they end."""
    given: dict[str, str] = {}
    for number in range(1, macro.arguments + 1):
        if number == 1 and macro.default is not None:
            end = text.find("]", at) if text[at : at + 1] == "[" else -1
            given["1"] = text[at + 1 : end] if end > 0 else macro.default
            at = end + 1 if end > 0 else at
            continue
        while text[at : at + 1].isspace():
            at += 1
        end_of_group = _end_of_group(text, at)
        if end_of_group is None:
            given[str(number)], at = text[at : at + 1], at + 1
        else:
            given[str(number)], at = text[at + 1 : end_of_group - 1], end_of_group
    return given, at


def _end_of_group(text: str, start: int) -> int | None:
    """Return where the group in braces that begins here ends; None where none begins, or it has no end."""
    if text[start : start + 1] != "{":
        return None
    depth = 0
    for match in re.finditer(r"\\.|[{}]", text[start : start + 10_000], re.DOTALL):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return start + match.end()
    return None
