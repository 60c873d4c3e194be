"""Read plain text into grids: separated values, columns between blanks."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise

from rankadjust.base.errors import RankadjustError
from rankadjust.base.printed import read_number
from rankadjust.tables.formats.grid import CONTEXT_LENGTH, MAX_COLUMNS, Grid, make_grid

_PIECE = re.compile(r"\S+(?: \S+)*")


def delimited_grids(text: str, delimiter: str | None = None) -> list[Grid]:
    """Return the one table of a CSV or TSV text; the default delimiter is the sign that cuts the lines most evenly.

    Leading lines that begin with '#' are context.
    """
    lines = text.splitlines(keepends=True)
    first = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    delimiter = delimiter or _likely_delimiter("".join(lines[first:]))
    reader = csv.reader(lines[first:], delimiter=delimiter)
    rows, starts = [], []
    try:
        line = first + 1
        for row in reader:
            if row:
                rows.append(row)
                starts.append(line)
            line = first + reader.line_num + 1
    except csv.Error as error:
        raise RankadjustError(f"line {first + reader.line_num}: not valid CSV ({error})") from None
    context = [line.lstrip("# ") for line in reversed(lines[:first])]
    return [make_grid(rows, lines=starts, context=context)] if rows else []


def _likely_delimiter(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()][:50]

    def evenness(delimiter: str) -> tuple[int, int]:
        counts = Counter(line.count(delimiter) for line in lines)
        counts.pop(0, None)
        most = counts.most_common(1)
        return most[0][::-1] if most else (0, 0)

    return max(",;\t|", key=evenness)


def split_pipes(line: str) -> list[str]:
    r"""Return the cells of a line of a pipe table; '\|' is not a border."""
    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]


def _blocks(marks: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the first index of each run of true marks, and the index after its last."""
    padded = [False, *marks, False]
    edges = [index for index, (before, mark) in enumerate(pairwise(padded)) if before != mark]
    return list(zip(edges[::2], edges[1::2], strict=True))


def texts_above(lines: Sequence[str], first: int) -> list[str]:
    """Return the last texts above a line, the nearest first, and the first texts of the file, such as its command."""
    near = filter(str.strip, reversed(lines[max(0, first - 5 * CONTEXT_LENGTH) : first]))
    top = filter(str.strip, lines[: min(first, 2 * CONTEXT_LENGTH)])
    return list(dict.fromkeys([*islice(near, CONTEXT_LENGTH), *top]))


def blank_grids(text: str) -> list[Grid]:
    """Return blocks of lines as tables whose columns are separated by tabs, or by two blanks or more in all lines.

    Lines of dashes are borders. The first lines of a block that have a single text are above its table.
    """
    lines = text.splitlines()
    grids = []
    for first, last in _blocks([bool(line.strip()) for line in lines]):
        context = texts_above(lines, first)
        own = [at for at in range(first, last) if not re.fullmatch(r"[\s=+|-]+", lines[at])]
        while own and len(re.split(r"\s{2,}|\t", lines[own[0]].strip())) == 1:
            context = [lines[own.pop(0)], *context]
        if len(own) > 1 and (rows := _cut([lines[at] for at in own])):
            grids.append(make_grid(rows, lines=[at + 1 for at in own], context=context))
    return grids


def _cut(lines: Sequence[str]) -> list[list[str]]:
    """Return lines cut at tabs, or where all lines of numbers have two blanks or more; empty if they have neither.

    The names above several columns may cross the blanks: they go to the column that they overlap most.
    """
    at_tabs = [re.split(r" *\t\s*", line.strip()) for line in lines]
    if len(set(map(len, at_tabs))) == 1 and len(at_tabs[0]) > 1:
        return at_tabs
    lines = [line.expandtabs() for line in lines]
    body = [line for line in lines if sum(read_number(word) is not None for word in line.split()) > 1]
    spans = max(_spans(lines), _spans(body), key=len)
    if not 1 < len(spans) <= MAX_COLUMNS:
        return []
    rows = [[""] * len(spans) for _ in lines]
    for row, line in zip(rows, lines, strict=True):
        for match in _PIECE.finditer(line):
            shared = [min(match.end(), end) - max(match.start(), start) for start, end in spans]
            at = shared.index(max(shared))
            row[at] = f"{row[at]} {match[0]}".strip()
    return rows


def _spans(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the columns of lines begin and end: between them, all lines have two blanks or more."""
    filled = [False] * max(map(len, lines), default=0)
    # Go line by line, since one may be as long as all others together.
    for line in lines:
        for match in _PIECE.finditer(line):
            filled[match.start() : match.end()] = [True] * len(match[0])
    return _blocks(filled)
