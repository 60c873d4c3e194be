"""Read logs into grids: lines of 'key: value' pairs."""

import re
from collections.abc import Container, Sequence
from itertools import chain
from typing import NamedTuple

from rankadjust.base.printed import PRINTED, plain
from rankadjust.chance.metrics import find_adjusted
from rankadjust.tables.formats.grid import Grid, make_grid
from rankadjust.tables.formats.plaintext import blocks_of, texts_above
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


def log_grids(text: str) -> list[Grid]:
    """Return lines of 'key: number' pairs as tables.

    Lines with two or more pairs make a table with a row for each line: the text before the first pair, the facts of the
    line, and a column for each key. A line of other text begins another table ('-- left', '-- right'). Each run of
    lines with a single pair makes a table with a row for each line; beside lines of several pairs, it must name a
    metric.
    """
    read = [_line(number, written) for number, written in enumerate(text.splitlines(), start=1)]
    lines = [line.text for line in read]
    several = [line for line in read if len(line.pairs) > 1]
    blocks: dict[int, list[_Line]] = {}
    title = 0
    for line in read:
        if len(line.pairs) > 1:
            blocks.setdefault(title, []).append(line)
        elif line.text.strip() and not line.pairs:
            title = line.number
    parts = list(blocks.values()) if len(blocks) <= _MOST_BLOCKS else [several]
    single = [line._replace(pairs=_only_pair(line)) for line in read]
    keys = {line.pairs[0]["name"] for line in single if line.pairs}
    marks = [bool(line.pairs) or _is_bare(line.text, keys) for line in single]
    alone = [single[first:last] for first, last in blocks_of(marks) if last - first > 1]
    grids = [(part[0].number, _pairs_table(part, lines)) for part in parts]
    grids += [
        (run[0].number, _single_pairs(run, lines))
        for run in alone
        if not several or any(map(_is_metric, run))
    ]
    return [grid for _, grid in sorted(grids, key=lambda pair: pair[0])]


class _Line(NamedTuple):
    """A line of a log: its number, its text without the stamp, its pairs, and its facts ('model=TransE')."""

    number: int
    text: str
    pairs: list[re.Match[str]]
    facts: dict[str, str]


def _line(number: int, written: str) -> _Line:
    written = plain(written)
    match = _STAMP.match(written)
    stamp = match[0] if match else ""
    text = _unlisted(written.removeprefix(stamp))
    pairs = _PAIR.finditer(_FIELD.sub(lambda match: " " * len(match[0]), text))
    # The stamp of some programs names the split: '[Epoch 410 valid]: '.
    split = _SPLIT_WORD.search(stamp)
    return _Line(
        number, text, list(pairs), dict(_FIELD.findall(text)) | ({"split": split[1]} if split else {})
    )


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
    above = texts_above(lines, read[0].number - 1)
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
    above = texts_above(lines, read[0].number - 1)
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
