"""Read logs into grids: lines of names and numbers, `mrr: 0.35, hits@10 = 0.53` or `MRR 0.361, Hits@1 0.268`.

The name of a number is the text before it, as far as it is a metric with known words (`Valid average MRR`, `Hits left
@10`); `:` and `=` also name numbers of other kinds. Words before the first name of a line are its label.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, groupby
from typing import NamedTuple

from rankadjust.base.printed import PRINTED, plain
from rankadjust.tables.formats.grid import Grid, make_grid
from rankadjust.tables.formats.records import load_json, paths_of
from rankadjust.tables.formats.text import texts_above
from rankadjust.tables.headers import Names, read_header

# A number and its remark: a note ('(Filtered)'), or another number in brackets. A number ends here unless a list of
# numbers or a word continues it.
_NUMBER = re.compile(
    rf"""(?P<sign>["']?\s*[:=]\s*["']?|(?<=[\w@)])\s)"""
    rf"""(?:(?P<value>{PRINTED}(?:\s?[(\[][-+\d.,;\s%±]{{1,40}}[)\]])?|(?i:n/?a|nan|none|null)))"""
    r"""(?![\w.:/]|,\d)["']?(?:\s?(?P<note>\([A-Za-z]{1,20}\)))?"""
)
# Programs write such stamps before their messages: times, levels, and after these the place in the code. Words for a
# split in brackets hold for the text after them.
_TIME = r"(?:\w{1,40}:)?(?:[IWE]?[\d/-]{4,10}[ T])?\d\d:\d\d:[\d.,]{2,9}(?:\s\d+(?=\s\S+:\d+\]))?"
_LEVEL = r"(?:INFO|DEBUG|WARNING|root|wandb)\b(?::\w+:(?=\w))?"
_PLACE = r"(?:\w+\.py:\d+\s|(?:__\w+__|root|\w+(?:\.\w+)+)(?::[\w<>]+)*(?::\s?\d+)?\s*(?:-\s|[\]|:]))\s*"
_STAMP = re.compile(
    r"(?:[#>*]+\s*|\[(?![^\]]*\b(?i:train|valid|val|dev|test)\w*\])[^\]]{1,40}\]\s*:?\s*"
    rf"|(?:{_TIME}|{_LEVEL})[\s|:-]*(?:{_PLACE})?|-\s)*"
)
# What may precede the name of a number: the end of another message, of a list, of a field of a logger.
_ENDS = re.compile(r"[,;{}|\t\]:]|\s-\s|\s/\s")
_IN_BRACKETS = re.compile(r"\[(?:[^\[\]]{0,30}\s)?([A-Za-z]{3,12})\]:?\s*")
# The split or side of the lines below: 'Test:', 'Evaluate on valid', '-- left'.
_TITLE = re.compile(
    r"\W*(?:evaluat\w+ (?:on )?)?((?:train|val|dev|test|left|right|head|tail)[a-z]*)\b[\w ]{0,30}\W*",
    re.IGNORECASE,
)
_STEP = re.compile(r"\s+at (?:step|epoch) (?P<step>\d{1,18}+)(?=\s*[:=]?\s*(?:[-+.\d]|(?i:nan)))")
# Facts among the pairs of a line: 'model=TransE dataset=UMLS mrr=0.9'.
_FIELD = re.compile(r"(?<![^\s,;])([A-Za-z]\w{0,79}+)=([A-Za-z][^\s,;=]{0,79}+)(?=[\s,;]|$)")
# Hits in a list: "'hits@[1,3,10]': tensor([0.2, 0.3, 0.5])", and numbers within a call: 'tensor(0.31)'.
_LISTED = re.compile(r"""(hits?@)\[([\d, ]+)\]["']?\s*[:=]\s*(?:\w+\()?\[([\d., ]+)\]\)?""", re.IGNORECASE)
_CALL = re.compile(
    r"(?<![\w.])(?:\w+\.)?(?:tensor|array|float\d*)\(\[?([-+\d.e]{1,40})\]?(?:,\s*[a-z]\w*=[^()]{0,80})?\)"
)
_ALONE = re.compile(r"(?<![\w.,:/@=-])\d*\.\d+(?![\w.:/%]|-\d)")
_MARKS = " \t,'\"{}#*-(["
_LONGEST_LINE, _MOST_WORDS = 10_000, 6
# A log with more parts describes training: the lines between its values are not titles.
_MOST_BLOCKS = 50
_NO_NAMES = Names()


class _Line(NamedTuple):
    """A line of a log: its number, its text, its label, its facts, its numbers by name, and its training step."""

    number: int
    text: str
    label: str = ""
    facts: Mapping[str, str] = {}
    pairs: Mapping[str, str] = {}
    step: Mapping[str, str] = {}


def log_grids(text: str) -> list[Grid]:
    """Return the lines with numbers as tables.

    Lines of two numbers or more, and of a number and facts, make a table with a row for each line: its label, its
    facts, a column for each name. A line without numbers begins another table ('-- left', '-- right'). Each run of
    lines with a single number makes a table with a row for each line; beside lines of several, it must name a metric.
    """
    read = [_line(number, written) for number, written in enumerate(text.splitlines(), start=1)]
    blocks: dict[int, list[_Line]] = defaultdict(list)
    title = 0
    for line in read:
        if len(line.pairs) + bool(line.pairs and line.facts) > 1:
            blocks[title].append(line)
        elif line.text.strip() and not line.pairs:
            title = line.number
    parts = list(blocks.values()) if len(blocks) <= _MOST_BLOCKS else [list(chain(*blocks.values()))]
    runs = groupby(read, lambda line: len(line.pairs) == 1 and not line.facts)
    singles = (list(run) for is_single, run in runs if is_single)
    tables = [(part, False) for part in parts] + [
        (run, True)
        for run in singles
        if any(_is_understood(*line.pairs) for line in run) or (len(run) > 1 and not parts)
    ]
    lines = [line.text for line in read]
    return [_table(*table, lines) for table in sorted(tables, key=lambda table: table[0][0].number)]


def is_log(text: str) -> bool:
    """Return whether a line of a text names two metrics or more, each with its number."""
    lines = (_line(0, line) for line in text.splitlines() if ":" in line or "=" in line)
    return any(sum(map(_is_understood, line.pairs)) > 1 for line in lines)


def _is_understood(name: str) -> bool:
    said = read_header(name, _NO_NAMES)
    return said.metric is not None and not (said.unknown or said.rest)


def _line(number: int, written: str) -> _Line:
    text = _STAMP.sub("", plain(written).translate({0xFF08: " (", 0xFF09: ")"}), count=1)
    if len(text) > _LONGEST_LINE:
        return _Line(number, text)
    step = _STEP.search(text)
    listed = _unlisted(_STEP.sub("", text))
    bare = _FIELD.sub(lambda match: " " * len(match[0]), listed)
    facts = dict(_FIELD.findall(listed))
    found = list(_pairs(bare))
    if not found:
        return _Line(number, text, facts=facts)
    label = _IN_BRACKETS.sub("", found[0][0]).strip(" \t\"':={[(,>|-")
    # Numbers without a name, such as the values of a paper, are cells of a column without a header.
    found += [("", " ", number) for number in _ALONE.findall(_NUMBER.sub("", bare))]
    pairs: dict[str, str] = {}
    for _, name, value in found:
        # A name that comes again must not replace the first: both are named, and nothing says how they differ.
        pairs[f"{name} #{len(pairs) + 1}" if name in pairs else name] = value
    return _Line(number, text, label, facts, pairs, step.groupdict() if step else {})


def _pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the text before each name in a line, the name, and the number as printed."""
    at, context, seen = 0, "", set[str]()
    for match in _NUMBER.finditer(text):
        written = _ENDS.split(text[at : match.start()])[-1].lstrip(_MARKS)
        start = match.start() - len(written)
        label, name = text[:start], re.sub(r"\baverage\s+(?=\S)", "", written.rstrip(_MARKS))
        metric = next(iter(_metrics_at_end(name, r"\S+")), None)
        sign = match["sign"].strip(" \"'")
        # A number in brackets needs no sign: '(raw 0.30)'.
        if not name[:1].isalpha() or not (metric or sign or text[start - 1 : start] == "("):
            continue
        if metric is None:
            # Only before a colon may a name have two words.
            name = " ".join(name.split()[-1 if sign == "=" else -2 :])
        else:
            if at == 0:
                # Words before the first name that are not understood are the label of the line.
                label, name = label + name.removesuffix(metric), metric
            # Words before the first of several metrics hold for the others, 'left(filter) mrr: 0.3, mr: 9', but words
            # that are joined to a metric do not, 'right_mrr: 0.3, mr: 9', and a metric that comes again ends them.
            before = name.removesuffix([name, *_metrics_at_end(name, r"[^\W_]+")][-1])
            words = before.strip(_MARKS)
            is_end = before.endswith("_") or (not words and f"{context} {name}" in seen)
            context = "" if is_end else words or context
            name = name if words else f"{context} {name}".strip()
            seen.add(name)
        within = _IN_BRACKETS.findall(text, 0, start)[-1:]
        name = " ".join(filter(None, (*within, name, match["note"])))
        yield label, name, match["value"]
        at = match.end()


def _metrics_at_end(text: str, word: str) -> list[str]:
    """Return the ends of a text, in whole words, that are metrics with known words, the longest first."""
    ends = [text[match.start() :] for match in re.finditer(word, text)]
    return list(filter(_is_understood, ends[-_MOST_WORDS:]))


def _unlisted(line: str) -> str:
    """Return a line with a pair for each number of a list and each leaf of a dictionary; texts are facts."""

    def pairs(match: re.Match[str]) -> str:
        keys, values = (match[group].replace(" ", "").strip(",").split(",") for group in (2, 3))
        if len(keys) != len(values):
            return match[0]
        return ", ".join(f"{match[1]}{key}: {value}" for key, value in zip(keys, values, strict=True))

    line = _LISTED.sub(pairs, _CALL.sub(r"\1", line))
    with suppress(ValueError, RecursionError):
        if line.rstrip().endswith("}"):
            leaves = paths_of(load_json(line.replace("'", '"')))
            return ", ".join(f"{path}={value}" for path, value in leaves)
    return line


def _table(read: Sequence[_Line], is_long: bool, lines: Sequence[str]) -> Grid:
    """Return lines as a table: the label of each, its facts, a column for each name; or, if long, name and number."""
    above = texts_above(lines, read[0].number - 1)
    match = _TITLE.fullmatch(above[0]) if above else None
    title = match[1] if match else ""
    records = [{"": line.label or title, **line.facts, **line.pairs} for line in read]
    if is_long:
        begins = re.compile(title, re.IGNORECASE).match
        records = [
            {"": name if begins(name) else f"{title} {name}", "value": value, **line.step}
            for line in read
            for name, value in line.pairs.items()
        ]
    columns = list(dict.fromkeys(chain(*records)))
    rows = [columns, *([record.get(column, "") for column in columns] for record in records)]
    numbers = [read[0].number, *(line.number for line in read)]
    return make_grid(rows, header_rows=1, lines=numbers, context=above)
