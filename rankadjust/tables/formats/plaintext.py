"""Read plain text into grids: CSV, pipes without Markdown's delimiter row, 'key: value' lines, fixed-width text."""

import csv
import io
import re
from collections import Counter
from collections.abc import Container, Sequence
from itertools import chain, groupby, islice, pairwise
from typing import NamedTuple

from rankadjust.base.errors import RankadjustError
from rankadjust.base.printed import PRINTED, plain, read_number
from rankadjust.chance.adjusted_names import find_adjusted
from rankadjust.tables.formats.grid import CONTEXT_LENGTH, MAX_COLUMNS, Grid, make_grid
from rankadjust.tables.formats.tools import load_json, paths_of

_PAIR = re.compile(
    # A word of a key has at most 80 characters, so that a line of one endless word takes no endless time.
    # A split belongs to the key: 'Test Mean Rank: 177', 'Test average MRR : 0.52', 'Valid MRR at step 100: 0.33'.
    r"""["']?(?P<split>(?i:train|training|val|valid|validation|dev|test)\ )?(?:average\ )?"""
    # A bracket belongs to the key, too: 'MRR(filter): 0.31', 'Hits@10(filter)_tail: 0.5'.
    r"""(?P<name>[A-Za-z][\w@./-]{0,79}+(?:\ [A-Za-z][\w@./-]{0,79}+)??(?:\ ?\([A-Za-z]{1,20}\)[\w-]{0,79}+)?)["']?"""
    r"""(?:\ at\ (?:step|epoch)\ (?P<step>[0-9]{1,18}))?\s*[:=]\s*"""
    # A number ends here unless a list of numbers or a word continues it.
    rf"""["']?(?P<value>{PRINTED})(?![\w.:]|,\d)["']?"""
)
# A line of a single pair may have a key of several words: 'Hits left @10: 0.48', 'Mean reciprocal rank: 0.3'.
_LINE = re.compile(
    r"""[\s*]*(?P<split>)(?P<name>[A-Za-z][^=,;"']{0,60}?)\s*"""
    rf"""(?:\ at\ (?:step|epoch)\ (?P<step>[0-9]{{1,18}}))?\s*[:=]\s*(?P<value>{PRINTED})\s*"""
)
# The split of the lines below: 'Test:', 'Evaluate on valid'.
_SPLIT = re.compile(
    r"\W*(?:evaluat\w+ (?:on )?)?((?:train|val|dev|test)[a-z]*)\b[\w ]{0,30}\W*", re.IGNORECASE
)
_SPLIT_WORD = re.compile(r"\b(train|valid|val|dev|test)(?:ing|ation)?\b", re.IGNORECASE)
# Programs write such stamps before their messages.
_STAMP = re.compile(
    r"(?:[#>*]+\s*|\[[^\]]{1,40}\]\s*:?\s*|(?:\w{1,40}:)?(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:[\d.,]{2,9}:?\s*"
    r"|(?:INFO|DEBUG|WARNING|root|wandb)\b[:\s-]*|-\s)*"
)
# Facts among the pairs of a line: 'model=TransE dataset=UMLS mrr=0.9'.
_FIELD = re.compile(r"(?<![^\s,;])([A-Za-z]\w{0,79}+)=([A-Za-z][^\s,;=]{0,79}+)(?=[\s,;]|$)")
# Hits in a list: "'hits@[1,3,10]': tensor([0.2, 0.3, 0.5])".
_LISTED = re.compile(r"""(hits?@)\[([\d, ]+)\]["']?\s*[:=]\s*(?:\w+\()?\[([\d., ]+)\]\)?""", re.IGNORECASE)
_LONGEST_LISTED = 1000
# A key without a value, or with a note after its value: 'Hits@1:', 'MR: 125 (Filtered)'.
_BARE = re.compile(r"\s*([A-Za-z][\w@./-]{0,79}+)\s*:\s*")
_NOTED = re.compile(r"^(\s*[^:=()]+?)(\s*[:=]\s*[\d.]+\s?%?)\s*(\([A-Za-z]+\))\s*$")
# A line that is a title of the lines below it.
_TITLE = re.compile(r"[-=]{2,}\s*(\w+(?: \w+){0,2})\s*[-=]*")
# A metric before the pairs of its sides: 'MRR: Tail : 0.43, Head : 0.25'.
_METRIC = re.compile(r"([\w@.-]{1,40}+)\s*:\s*$")
# Signs around a pair that is alone in its line, as in a dictionary.
_AROUND_PAIR = " ,'\"{}"
# A metric and its value in a list: 'MRR 0.361, Hits@1 0.268'.
_SPACED = re.compile(rf"([A-Za-z][\w@.-]{{0,40}}+) (?={PRINTED}(?:\s?[,;|/]|\s*$))")
# The text before a pair, without the signs at its end.
_LABEL = re.compile(r".*[^\s:={\[(,>|-]", re.DOTALL)
# A log with more parts describes training: the lines between its values are not titles.
_MOST_BLOCKS = 50
# The labels of rows in OpenKE's test output.
_OPENKE = re.compile(r"(l|r|averaged)\((raw|filter)\):")
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
    if first == end or delimiter not in "".join(lines[first:end]):
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
    for first, last in _blocks([line.count("|") > 0 and not line.lstrip().startswith("+") for line in lines]):
        own = [at for at in range(first, last) if not re.fullmatch(r"[\s|+:=-]+", lines[at])]
        # A header may begin with an empty corner in place of a border: '   | MRR' above 'A | 0.5'.
        border = "" if all(lines[at].lstrip().startswith("|") for at in own) else "|"
        numbered = [(at + 1, split_pipes(border + lines[at])) for at in own]
        if len(numbered) > 1 and max(len(cells) for _, cells in numbered) > 1:
            rows = [[cell.replace("\\|", "|") for cell in cells] for _, cells in numbered]
            context = [*_above(lines, first), *lines[last : last + CONTEXT_LENGTH]]
            grids.append(make_grid(rows, lines=[number for number, _ in numbered], context=context))
    return grids


def _blocks(marks: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the first index of each run of true marks, and the index after its last."""
    padded = [False, *marks, False]
    edges = [index for index, (before, mark) in enumerate(pairwise(padded)) if before != mark]
    return list(zip(edges[::2], edges[1::2], strict=True))


def log_grids(text: str) -> list[Grid]:
    """Return lines of 'key: number' pairs as tables.

    Lines with two or more pairs make a table with a row for each line: the text before the first pair, the facts of the
    line, and a column for each key. A line of other text begins another table ('-- left', '-- right'). Each run of
    lines with a single pair makes a table with a row for each line; beside lines of several pairs, it must name a
    metric.
    """
    lines, read = [], []
    for number, written in enumerate(text.splitlines(), start=1):
        stamped = plain(written)
        stamp = _STAMP.match(stamped)
        line = _unlisted(stamped[stamp.end() if stamp else 0 :])
        facts = dict(_FIELD.findall(line))
        # The stamp of some programs names the split: '[Epoch 410 valid]: '.
        if split := _SPLIT_WORD.search(stamp[0] if stamp else ""):
            facts["split"] = split[1]
        lines.append(line)
        read.append(_Line(number, line, list(_PAIR.finditer(_FIELD.sub(_blanked, line))), facts))
    several = [entry for entry in read if len(entry.pairs) > 1]
    blocks: dict[int, list[_Line]] = {}
    title = 0
    for entry in read if several else ():
        if len(entry.pairs) > 1:
            blocks.setdefault(title, []).append(entry)
        elif entry.text.strip() and not entry.pairs:
            title = entry.number
    parts = list(blocks.values()) if len(blocks) <= _MOST_BLOCKS else [several]
    single = [entry._replace(pairs=_only_pair(entry)) for entry in read]
    keys = {entry.pairs[0]["name"] for entry in single if entry.pairs}
    marks = [bool(entry.pairs) or _is_bare(entry.text, keys) for entry in single]
    alone = [single[first:last] for first, last in _blocks(marks) if last - first > 1]
    if several:
        alone = [run for run in alone if any(map(_is_metric, run))]
    grids = [(part[0].number, _pairs_table(part, lines)) for part in parts]
    grids += [(run[0].number, _single_pairs(run, lines)) for run in alone]
    return [grid for _, grid in sorted(grids, key=lambda pair: pair[0])]


class _Line(NamedTuple):
    """A line of a log: its number, its text without the stamp, its pairs, and its facts ('model=TransE')."""

    number: int
    text: str
    pairs: list[re.Match[str]]
    facts: dict[str, str]


def _blanked(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _is_bare(line: str, keys: Container[str]) -> bool:
    match = _BARE.fullmatch(line)
    return match is not None and (match[1] in keys or "@" in match[1])


def _is_metric(line: _Line) -> bool:
    return any(find_adjusted(pair["name"]) is not None for pair in line.pairs)


def _unlisted(line: str) -> str:
    """Return a line with a pair for each number of a list, and a note after a value moved to its key."""

    def pairs(match: re.Match[str]) -> str:
        keys, values = (match[group].replace(" ", "").strip(",").split(",") for group in (2, 3))
        if len(keys) != len(values):
            return match[0]
        return ", ".join(f"{match[1]}{key}: {value}" for key, value in zip(keys, values, strict=True))

    if len(line) <= _LONGEST_LISTED:
        line = _flat(line.strip()) if line.strip()[-1:] == "}" else line
        line = _SPACED.sub(lambda pair: f"{pair[1]}: " if find_adjusted(pair[1]) else pair[0], line)
    is_short = len(line) <= _LONGEST_LISTED and line.endswith((")", "]", "}"))
    return _NOTED.sub(r"\1 \3\2", _LISTED.sub(pairs, line)) if is_short else line


def _flat(line: str) -> str:
    """Return a nested dictionary of Python as pairs: "{'both': {'realistic': {'mrr': 0.3}}}"."""
    try:
        data = load_json(line.replace("'", '"'))
    except (ValueError, RecursionError):
        return line
    if not isinstance(data, dict) or not any(isinstance(value, dict) for value in data.values()):
        return line
    return ", ".join(f"{path}: {value}" for path, value in paths_of(data))


def _only_pair(line: _Line) -> list[re.Match[str]]:
    """Return the pair of a line that holds nothing else; empty for other lines."""
    if len(line.pairs) == 1 and line.pairs[0].group().strip(_AROUND_PAIR) == line.text.strip(_AROUND_PAIR):
        return line.pairs
    match = _LINE.fullmatch(line.text) if len(line.pairs) < 2 else None
    return [match] if match else []


def _single_pairs(read: Sequence[_Line], lines: Sequence[str]) -> Grid:
    """Return lines of one pair as a table with a row for each, and a column for the training step if any has a step."""
    pairs = [pair for line in read for pair in line.pairs]
    has_steps = any(pair["step"] for pair in pairs)
    above = _above(lines, read[0].number - 1)
    title = _SPLIT.fullmatch(above[0]) if above else None
    split = f"{title[1]} " if title else ""
    rows = [
        [f"{'' if pair['split'] else split}{_key(pair)}", pair["value"], *([pair["step"] or ""] * has_steps)]
        for pair in pairs
    ]
    numbers = [read[0].number, *(line.number for line in read if line.pairs)]
    header = ["", "value", *(["step"] * has_steps)]
    return make_grid([header, *rows], header_rows=1, lines=numbers, context=above)


def _metric_before(line: str, pairs: Sequence[re.Match[str]]) -> tuple[str, str]:
    """Return the text before the first pair, and the metric that its keys share: 'MRR: Tail : 0.43, Head : 0.25'."""
    first = pairs[0].start()
    match = _METRIC.search(line, max(0, first - 50), first)
    is_metric = match is not None and find_adjusted(match[1]) is not None
    return (line[: match.start()], f"{match[1]} ") if match and is_metric else (line[:first], "")


def _key(pair: re.Match[str]) -> str:
    """Return the key of a pair, with the split before it, if any."""
    return f"{pair['split'] or ''}{pair['name']}"


def _pairs_table(read: Sequence[_Line], lines: Sequence[str]) -> Grid:
    """Return lines of several pairs as a table: the text before the first pair, the facts, a column for each key."""
    above = _above(lines, read[0].number - 1)
    title = _TITLE.fullmatch(above[0]) if above else None
    labels, values = [], []
    for line in read:
        before, metric = _metric_before(line.text, line.pairs)
        label = _LABEL.match(_FIELD.sub("", before))
        labels.append(label[0] if label else title[1] if title else "")
        values.append({f"{metric}{_key(pair)}": pair["value"] for pair in line.pairs})
    named = [list(dict.fromkeys(chain(*own))) for own in ([line.facts for line in read], values)]
    rows = [
        [label, *(line.facts.get(name, "") for name in named[0]), *(own.get(name, "") for name in named[1])]
        for line, label, own in zip(read, labels, values, strict=True)
    ]
    numbers = [read[0].number, *(line.number for line in read)]
    return make_grid([["", *chain(*named)], *rows], header_rows=1, lines=numbers, context=above)


def _above(lines: Sequence[str], first: int) -> list[str]:
    """Return the last texts above a line, the nearest first, and the first texts of the file, such as its command."""
    near = filter(str.strip, reversed(lines[max(0, first - 5 * CONTEXT_LENGTH) : first]))
    top = filter(str.strip, lines[: min(first, 2 * CONTEXT_LENGTH)])
    return list(dict.fromkeys([*islice(near, CONTEXT_LENGTH), *top]))


def fixed_width_grids(text: str) -> list[Grid]:
    """Return blocks of lines as tables, cut where all lines of a block have blanks, or at a line of '---  ---'.

    If the lines of a block have no blanks in common, they are cut at runs of two blanks or tabs, provided that every
    line then has the same number of cells.
    """
    lines = [line.expandtabs() for line in text.splitlines()]
    grids = []
    for first, last in _blocks([bool(line.strip()) for line in lines]):
        context = _above(lines, first)
        if any(_BORDER.match(line) for line in lines[first:last]):
            bordered = bordered_grid(lines[first:last], first, context)
            if len(bordered.rows) > 1:
                grids.append(bordered)
                continue
        numbers = [number for number in range(first, last) if not re.fullmatch(r"[\s=+|-]+", lines[number])]
        while numbers and len(re.split(r"\s{2,}", lines[numbers[0]].strip())) == 1:
            context = [lines[numbers.pop(0)], *context]
        rows = _cut_at_common_blanks([lines[number] for number in numbers])
        if rows:
            grids.append(make_grid(rows, lines=[number + 1 for number in numbers], context=context))
    return grids


def single_blank_grids(text: str) -> list[Grid]:
    """Return tables from text copied out of a PDF: lines that end in equally many numbers, with single blanks between.

    The header is the line above with as many words. A line of fewer words above the header holds names, each for the
    same number of columns.
    """
    lines = [" ".join(line.split()) for line in text.splitlines()]
    runs = [
        (count, list(run)) for count, run in groupby(range(len(lines)), lambda at: _numbers_at_end(lines[at]))
    ]
    spans = [(count, run[0], run[-1] + 1) for count, run in runs if count > 1 and len(run) > 1]
    return [_of_single_blanks(lines, first, last, count) for count, first, last in spans]


def _numbers_at_end(line: str) -> int:
    words = line.split()
    count = next((n for n, word in enumerate(reversed(words)) if not _is_value(word)), len(words))
    return count if 0 < count < len(words) else 0


def _is_value(word: str) -> bool:
    return word in ("-", "–", "—") or ("." in word and read_number(word) is not None) or word.isdigit()


def _of_single_blanks(lines: Sequence[str], first: int, last: int, count: int) -> Grid:
    cells = [line.rsplit(" ", count) for line in lines[first:last]]
    numbers = list(range(first + 1, last + 1))
    above = [number for number in range(max(0, first - 3), first) if lines[number]][::-1]
    header = next((number for number in above if len(lines[number].split()) in (count, count + 1)), None)
    if header is None:
        remark = f"lines {first + 1} to {last}: no line above has {count} words: state the columns"
        return make_grid(cells, lines=numbers, context=_above(lines, first), remarks=[remark])
    rows = [["", *lines[header].split()][-count - 1 :]]
    names = next((lines[number].split() for number in above if 1 < len(lines[number].split()) < count), [])
    if names and count % len(names) == 0:
        rows.insert(0, ["", *(name for name in names for _ in range(count // len(names)))])
    remark = f"lines {first + 1} to {last}: cut at single blanks, as many words as line {header + 1} has"
    return make_grid(
        [*rows, *cells],
        header_rows=len(rows),
        lines=[header + 1] * len(rows) + numbers,
        context=_above(lines, header),
        remarks=[remark],
    )


def openke_grids(text: str) -> list[Grid]:
    """Return the tables that OpenKE prints of a test (base/Test.h): metrics above, sides and filters on the left."""
    sides = {"l": "left", "r": "right", "averaged": "both"}
    lines = text.splitlines()
    blocks: list[tuple[int, list[list[str]], list[int]]] = []
    for number, line in enumerate(lines):
        cells = re.split(r"\s*\t\s*|\s{2,}", line.strip())
        beside = _OPENKE.fullmatch(cells[0])
        if cells[0] == "metric:":
            blocks.append((number, [["side", "protocol", *cells[1:]]], [number + 1]))
        elif beside and blocks:
            blocks[-1][1].append([sides[beside[1]], beside[2], *cells[1:]])
            blocks[-1][2].append(number + 1)
    return [
        make_grid(
            rows,
            header_rows=1,
            lines=numbers,
            context=[line for line in _above(lines, number) if "no type" not in line],
        )
        for number, rows, numbers in blocks
    ]


def _cut_at_common_blanks(lines: Sequence[str]) -> list[list[str]]:
    """Return lines cut where all have blanks; the names above several columns may cross the blanks between values."""
    if len(lines) < 2:
        return []
    width = max(map(len, lines))
    gaps = _gaps(lines, 2)
    body = [line for line in lines if sum(map(_is_value, line.split())) > 1]
    between_values = _gaps(body, 2) if 1 < len(body) < len(lines) else []
    if len(gaps) < len(between_values) < MAX_COLUMNS:
        columns = list(pairwise([0, *chain(*between_values), width]))[::2]
        return [_pieces(line, columns) for line in lines]
    for cuts, needs_number in ((gaps, False), (_gaps(lines, 1), True)):
        edges = [0, *(last for _, last in cuts), width]
        rows = [[line[first:last].strip() for first, last in pairwise(edges)] for line in lines]
        # A single blank is a gap only if it separates numbers, as between columns set side by side.
        if 0 < len(cuts) <= MAX_COLUMNS and (
            not needs_number or any(read_number(cell) for row in rows for cell in row[1:])
        ):
            return rows
    split = [re.split(r"\s{2,}", line.strip()) for line in lines]
    return split if len({len(row) for row in split}) == 1 and len(split[0]) > 1 else []


def _gaps(lines: Sequence[str], least: int) -> list[tuple[int, int]]:
    """Return the places after the first sign where all lines have this many blanks."""
    blank = [True] * max(map(len, lines), default=0)
    # Go sign by sign, since one line may be as long as all others together.
    for line in lines:
        for at, sign in enumerate(line):
            if sign != " ":
                blank[at] = False
    return [(first, last) for first, last in _blocks(blank) if last - first >= least and first > 0]


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
