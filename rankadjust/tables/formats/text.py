"""Read plain text into grids: separated values, lines with pipes, columns between blanks."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, groupby, islice, pairwise

from rankadjust.base.errors import RankadjustError
from rankadjust.base.printed import read_number
from rankadjust.tables.formats.grid import CONTEXT_LENGTH, MAX_COLUMNS, Grid, make_grid

_BORDER = re.compile(r"^\s*(=+|-+)(\s+(=+|-+))+\s*$")


def delimited_grids(text: str, delimiter: str | None = None) -> list[Grid]:
    """Return the one table of a CSV or TSV text; the default delimiter is the sign that cuts the lines most evenly.

    Leading lines that begin with '#' are context; so are lines without a delimiter, above an empty line or below one.
    """
    lines = text.splitlines(keepends=True)
    comments = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    delimiter = delimiter or _likely_delimiter("".join(lines[comments:]))
    empty = [at for at in range(comments, len(lines)) if not lines[at].strip()]
    first = next((at for at in reversed(empty) if delimiter not in "".join(lines[comments:at])), comments)
    end = next((at for at in empty if at > first and delimiter not in "".join(lines[at:])), len(lines))
    if delimiter not in "".join(lines[first:end]):
        first, end = comments, len(lines)
    reader = csv.reader(io.StringIO("".join(lines[first:end])), delimiter=delimiter)
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
    context = [line.lstrip("# ") for line in (*reversed(lines[:first]), *lines[end:])]
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
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]


def piped_grids(text: str) -> list[Grid]:
    """Return the blocks of lines with pipes ('a | b | c') as tables; lines of dashes are borders."""
    lines = text.splitlines()
    grids = []
    for first, last in blocks_of(["|" in line and not line.lstrip().startswith("+") for line in lines]):
        own = [at for at in range(first, last) if not re.fullmatch(r"[\s|+:=-]+", lines[at])]
        # A header may begin with an empty corner in place of a border: '   | MRR' above 'A | 0.5'.
        border = "" if all(lines[at].lstrip().startswith("|") for at in own) else "|"
        rows = [[cell.replace("\\|", "|") for cell in split_pipes(border + lines[at])] for at in own]
        if len(rows) > 1 and max(map(len, rows)) > 1:
            context = [*texts_above(lines, first), *lines[last : last + CONTEXT_LENGTH]]
            grids.append(make_grid(rows, lines=[at + 1 for at in own], context=context))
    return grids


def blocks_of(marks: Sequence[bool]) -> list[tuple[int, int]]:
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
    """Return blocks of lines as tables whose columns are separated by blanks or tabs.

    A block is cut at a line of '---  ---', at tabs if every line has as many cells, or where all lines have blanks;
    else every line that ends in as many numbers as the next is cut at single blanks, and so is its header.
    """
    written = text.splitlines()
    lines = [line.expandtabs() for line in written]
    grids = []
    for first, last in blocks_of([bool(line.strip()) for line in lines]):
        context = texts_above(lines, first)
        if any(map(_BORDER.match, lines[first:last])):
            bordered = bordered_grid(lines[first:last], first, context)
            if len(bordered.rows) > 1:
                grids.append(bordered)
                continue
        numbers = [number for number in range(first, last) if not re.fullmatch(r"[\s=+|-]+", lines[number])]
        while numbers and len(re.split(r"\s{2,}|\t", written[numbers[0]].strip())) == 1:
            context = [lines[numbers.pop(0)], *context]
        rows = _cut([written[number] for number in numbers]) if len(numbers) > 1 else []
        if rows:
            grids.append(make_grid(rows, lines=[number + 1 for number in numbers], context=context))
    return grids or _cut_at_single_blanks([" ".join(line.split()) for line in lines])


def _cut(written: Sequence[str]) -> list[list[str]]:
    """Return lines cut at tabs, or where all have blanks; empty if they have neither in common.

    The names above several columns may cross the blanks between values.
    """
    if at_tabs := _evenly(written, r" *\t\s*"):
        return at_tabs
    lines = [line.expandtabs() for line in written]
    width = max(map(len, lines))
    gaps = _gaps(lines)
    body = [line for line in lines if sum(map(_is_value, line.split())) > 1]
    between_values = _gaps(body) if 1 < len(body) < len(lines) else []
    if len(gaps) < len(between_values) < MAX_COLUMNS:
        columns = list(pairwise([0, *chain(*between_values), width]))[::2]
        return [_pieces(line, columns) for line in lines]
    if 0 < len(gaps) <= MAX_COLUMNS:
        edges = [0, *(last for _, last in gaps), width]
        return [[line[first:last].strip() for first, last in pairwise(edges)] for line in lines]
    return _evenly(lines, r"\s{2,}")


def _evenly(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Return lines cut at a separator, empty unless all have the same number of pieces, and several."""
    cut = [re.split(separator, line.strip()) for line in lines]
    return cut if len(set(map(len, cut))) == 1 and len(cut[0]) > 1 else []


def _is_value(word: str) -> bool:
    return word in ("-", "–", "—") or ("." in word and read_number(word) is not None) or word.isdigit()


def _numbers_at_end(line: str) -> int:
    words = line.split()
    count = next((n for n, word in enumerate(reversed(words)) if not _is_value(word)), len(words))
    return count if 0 < count < len(words) else 0


def _cut_at_single_blanks(lines: Sequence[str]) -> list[Grid]:
    """Return tables of lines that end in equally many numbers; the header above has as many words.

    A line of fewer words above the header holds names, each for the same number of columns.
    """
    grids = []
    for count, run in groupby(range(len(lines)), key=lambda at: _numbers_at_end(lines[at])):
        numbers = list(run)
        if count < 2 or len(numbers) < 2:
            continue
        above = [at for at in range(max(0, numbers[0] - 3), numbers[0]) if lines[at]][::-1]
        header = next((at for at in above if len(lines[at].split()) in (count, count + 1)), None)
        rows = [] if header is None else [["", *lines[header].split()][-count - 1 :]]
        names = next((own for at in above if 1 < len(own := lines[at].split()) < count), [])
        if rows and names and count % len(names) == 0:
            rows.insert(0, ["", *(name for name in names for _ in range(count // len(names)))])
        top = numbers[0] if header is None else header
        cells = [lines[at].rsplit(" ", count) for at in numbers]
        starts = [top + 1] * len(rows) + [at + 1 for at in numbers]
        context = texts_above(lines, top)
        grids.append(make_grid([*rows, *cells], header_rows=len(rows), lines=starts, context=context))
    return grids


def _gaps(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places after the first sign where all lines have two blanks or more."""
    blank = [True] * max(map(len, lines), default=0)
    # Go sign by sign, since one line may be as long as all others together.
    for line in lines:
        for at, sign in enumerate(line):
            if sign != " ":
                blank[at] = False
    return [(first, last) for first, last in blocks_of(blank) if last - first > 1 and first > 0]


def bordered_grid(lines: Sequence[str], above: int, context: Sequence[str]) -> Grid:
    """Return a table with borders of '=== ===' or '--- ---'; its text may cross the borders.

    above: number of lines above the table. A line with an empty first column continues the row above, unless a border
    is between them.
    """
    is_border = [_BORDER.match(line) is not None for line in lines]
    columns = _spans(lines[is_border.index(True)])
    rows: list[list[list[str]]] = []
    starts: list[int | None] = []
    header_rows = 0
    for number, line in enumerate(lines):
        if is_border[number]:
            # A border across several columns is below the names of these columns.
            is_whole = len(_spans(line)) == len(columns)
            header_rows = header_rows or (len(rows) if is_whole and number < len(lines) - 1 else 0)
            continue
        pieces = _pieces(line, columns)
        if rows and not pieces[0] and not is_border[number - 1]:
            for cell, piece in zip(rows[-1], pieces, strict=True):
                cell.append(piece)
        elif any(pieces):
            rows.append([[piece] for piece in pieces])
            starts.append(above + number + 1)
    texts = [["\n".join(cell) for cell in row] for row in rows]
    return make_grid(texts, header_rows=header_rows, lines=starts, context=context)


def _spans(border: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S+", border)]


def _pieces(line: str, columns: Sequence[tuple[int, int]]) -> list[str]:
    """Return a line cut at the columns.

    If text crosses the columns, the line is cut into pieces at two or more blanks. If there are as many pieces as
    columns, each column gets a piece; else each piece goes to the column that it overlaps most.
    """
    between = (line[end:start] for (_, end), (start, _) in pairwise(columns))
    if not "".join([line[: columns[0][0]], *between]).strip():
        ends = [*(end for _, end in columns[:-1]), len(line)]
        return [line[start:end].strip() for (start, _), end in zip(columns, ends, strict=True)]
    matches = list(re.finditer(r"\S+(?: \S+)*", line))
    if len(matches) == len(columns):
        return [match.group() for match in matches]
    pieces = [""] * len(columns)
    for match in matches:
        shared = [min(match.end(), end) - max(match.start(), start) for start, end in columns]
        column = shared.index(max(shared))
        pieces[column] = f"{pieces[column]} {match.group()}".strip()
    return pieces
