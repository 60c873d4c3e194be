"""Read separated values, and columns between blanks, into grids."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from itertools import dropwhile, groupby, islice

from rankadjust.base.errors import RankadjustError
from rankadjust.base.printed import read_number
from rankadjust.tables.formats.grid import CONTEXT_LENGTH, MAX_COLUMNS, Grid, make_grid

# Words between which there is one blank are one text.
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
    # Where less than a third of the lines have it, a sign separates nothing, and the lines are the cells of one column.
    even = {"\x1f": (0, 0)}
    for delimiter in ",;\t|":
        counts = Counter(line.count(delimiter) for line in lines if delimiter in line)
        if counts and 3 * counts.total() >= len(lines):
            even[delimiter] = max((many, count) for count, many in counts.items())
    return max(even, key=lambda delimiter: even[delimiter])


def split_pipes(line: str) -> list[str]:
    r"""Return the cells of a line of a pipe table; '\|' is not a border."""
    inner = re.sub(r"^\||(?<!\\)\|$", "", line.strip())
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def texts_above(lines: Sequence[str], first: int) -> list[str]:
    """Return the last texts above a line, the nearest first, and the first texts of the file, such as its command."""
    near = filter(str.strip, reversed(lines[max(0, first - 5 * CONTEXT_LENGTH) : first]))
    top = filter(str.strip, lines[: min(first, 2 * CONTEXT_LENGTH)])
    return list(dict.fromkeys([*islice(near, CONTEXT_LENGTH), *top]))


def blank_grids(text: str) -> list[Grid]:
    """Return blocks of lines as tables whose columns are between blanks; lines of dashes are borders.

    The first lines of a block that have a single text are above its table.
    """
    lines = text.expandtabs().splitlines()
    grids = []
    for is_text, block in groupby(range(len(lines)), lambda at: bool(lines[at].strip())):
        own = [at for at in block if is_text and not re.fullmatch(r"[\s=+|-]+", lines[at])]
        own = list(dropwhile(lambda at: len(_PIECE.findall(lines[at])) == 1, own))
        cut = [list(_PIECE.finditer(lines[at])) for at in own]
        # A name above several columns may cross the blanks between them; it goes to the column that it overlaps most.
        of_numbers = [
            pieces for pieces in cut if sum(read_number(piece[0]) is not None for piece in pieces) > 1
        ]
        spans = max(_spans(cut), _spans(of_numbers), key=len)
        rows = [[""] * len(spans) for _ in own]
        if len(own) > 1 and 1 < len(spans) <= MAX_COLUMNS:
            for row, piece in (
                (row, piece) for row, pieces in zip(rows, cut, strict=True) for piece in pieces
            ):
                shared = [min(piece.end(), end) - max(piece.start(), start) for start, end in spans]
                at = shared.index(max(shared))
                row[at] = f"{row[at]} {piece[0]}".strip()
            grids.append(make_grid(rows, lines=[at + 1 for at in own], context=texts_above(lines, own[0])))
    return grids


def _spans(cut: Sequence[Sequence[re.Match[str]]]) -> list[tuple[int, int]]:
    """Return where columns begin and end: between them, no line has a text."""
    filled = {place for pieces in cut for piece in pieces for place in range(*piece.span())}
    marks = "".join("x" if place in filled else " " for place in range(max(filled, default=-1) + 1))
    return [match.span() for match in re.finditer("x+", marks)]
