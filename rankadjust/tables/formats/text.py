"""Read separated values into grids."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import CONTEXT_LENGTH, Grid, make_grid


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
    # Where less than a third of the lines have it, a sign separates nothing, and the lines are the cells of one column.
    even = {"\x1f": (0, 0)}
    for delimiter in ",;\t|":
        counts = Counter(line.count(delimiter) for line in lines if delimiter in line)
        if counts and 3 * counts.total() >= len(lines):
            even[delimiter] = max((many, count) for count, many in counts.items())
    return max(even, key=lambda delimiter: even[delimiter])


def split_pipes(line: str) -> list[str]:
    r"""Return the cells of a line of a pipe table; '\|' is not a border."""
    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]


def texts_above(lines: Sequence[str], first: int) -> list[str]:
    """Return the last texts above a line, the nearest first, and the first texts of the file, such as its command."""
    near = filter(str.strip, reversed(lines[max(0, first - 5 * CONTEXT_LENGTH) : first]))
    top = filter(str.strip, lines[: min(first, 2 * CONTEXT_LENGTH)])
    return list(dict.fromkeys([*islice(near, CONTEXT_LENGTH), *top]))
