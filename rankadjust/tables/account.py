"""Say how a file was understood, ask for what it does not state, and draft the sidecar that states it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import yaml

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.words import folded
from rankadjust.chance.metrics import resolve, usual_name
from rankadjust.counting.protocols import load_benchmarks
from rankadjust.tables.cells import adjustment_of
from rankadjust.tables.facts import DEFAULT, GRADED, INFERRED, Fact, name_of
from rankadjust.tables.headers import Names, datasets_within, metric_key
from rankadjust.tables.layout import Layout, Table
from rankadjust.tables.reading import Reading
from rankadjust.tables.sidecar import find_key, given_facts

# A longer text above a table is a paragraph rather than a title, and too long as a key of a sidecar.
_LONGEST_KEY = 100
# How many lines the description has, and how many names and texts a line quotes.
_LINES, _FEW = 10, 3
_QUESTIONS = {
    "dataset": "dataset:  # which data set: a name of the registry",
    "model": "model:  # which model",
}
_ASKED = ("dataset", "model", "metric", "split", "side", "protocol")
# These facts seldom differ between the tables of a file, so that tables with the same gap share a question.
_OF_FILE = ("split", "side", "protocol")
_USUAL = {
    "split": ("testing", "validation"),
    "side": ("both", "head", "tail"),
    "protocol": ("filtered", "raw"),
}
_MOST_OFFERED = 9

# A value as a record of the tidy rows, and its facts.
_Row = tuple[Mapping[str, Any], Mapping[str, Fact | None]]


def describe(reading: Reading, *, everything: bool = False) -> str:
    """Return the account of a reading: how many numbers were read, why others were not, and what was assumed.

    It has at most ten lines, one for a reason; `everything` also shows every value.
    """
    unread = unread_lines(reading)
    count = sum(number for number, _ in unread)
    read = reading.cells.filter(state="value").height
    head = f"{reading.path.name}: {read:,} of {read + count:,} numbers read"
    head += f", {count:,} not:" if count else "" if read else ": no cell holds a number"
    assumed = _assumed_lines(reading)
    remarks = [f"note: {remark}" for remark in reading.remarks]
    lines = [f"  {line}" for _, line in unread]
    if everything:
        return "\n".join([head, *lines, *assumed, *remarks, *_values(reading)]) + "\n"
    room = _LINES - 2
    reasons = max(room - len(assumed) - len(remarks), room // 2)
    shown = [*_first(lines, reasons, "  … and {} more reasons")]
    rest = [*assumed, *remarks]
    shown += _first(rest, room - len(shown), "… and {} more assumptions and notes")
    values = reading.values
    example = "" if values.is_empty() else f"first value: {_example(values.row(0, named=True))}; "
    return "\n".join([head, *shown, f"{example}--all shows everything"]) + "\n"


def _first(lines: Sequence[str], most: int, more: str) -> list[str]:
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], more.format(len(lines) - most + 1)]


def unread_lines(reading: Reading) -> list[tuple[int, str]]:
    """Return, for each reason why numbers were not read, their number and a line: how many, where, the reason."""
    alike: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for cell in reading.cells.filter(pl.col("reason").is_not_null()).iter_rows(named=True):
        alike[cell["reason"]].append(cell)
    return [(len(cells), f"{len(cells):,} {_where(cells, reading)}: {why}") for why, cells in alike.items()]


def unread_cells(reading: Reading) -> list[str]:
    """Return a line for each reason why cells that should hold a value could not be read."""
    own = replace(reading, cells=reading.unread)
    return [line for _, line in unread_lines(own)]


def _where(cells: Sequence[Mapping[str, Any]], reading: Reading) -> str:
    """Return the place of cells, with a few of their texts: "in table 2, column 3 'MRR' (lines 4 to 9): '~0.5'"."""
    grids = list(dict.fromkeys(cell["grid"] for cell in cells))
    place = "" if len(reading.tables) == 1 else f"table{'s' * (len(grids) > 1)} {_list(grids)}, "
    layout = reading.tables[grids[0] - 1].layout
    kind = "row" if layout.metrics == "rows" else "column"
    names = {cell[kind]: _name(layout, kind, cell[kind]) for cell in cells if cell["grid"] == grids[0]}
    named = [f"{number} '{name}'" if name else str(number) for number, name in names.items()]
    lines = [cell["line"] for cell in cells if cell["line"] is not None]
    span = f"line{_range(lines)}" if lines else f"row{_range([cell['row'] for cell in cells])}"
    where = f"{kind}{'s' * (len(named) > 1)} {_list(named)}, {span}"
    texts = _list([f"'{text}'" for text in dict.fromkeys(cell["text"] for cell in cells)])
    return " ".join(f"in {place}{where} ({texts})".split())


def _name(layout: Layout, kind: str, number: int) -> str:
    if kind == "column":
        return layout.columns[number - 1].name
    return next(filter(None, layout.rows[number - 1].labels.values()), "")


def _range(numbers: Sequence[int]) -> str:
    first, last = min(numbers), max(numbers)
    return f" {first}" if first == last else f"s {first} to {last}"


def _list(names: Sequence[object]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(map(str, names[:_FEW])) + more


def _assumed_lines(reading: Reading) -> list[str]:
    """Return a line for each reason of facts that nobody states; the defaults share a line."""
    height = len(reading.facts)
    defaults: dict[tuple[str, str], int] = Counter()
    reasons: dict[tuple[str, str], int] = Counter()
    for facts in reading.facts:
        for name in GRADED:
            if name not in facts:
                continue
            fact = facts[name]
            if fact is not None and fact.source == DEFAULT and not fact.reason:
                defaults[name, fact.value] += 1
            elif why := "not named" if fact is None else fact.why:
                reasons[name, why] += 1

    def share(count: int) -> str:
        return "" if count == height else f" ({count} of {height} values)"

    usual = [f"{name_of(name)} {word}{share(count)}" for (name, word), count in defaults.items()]
    lines = [f"assumed: {', '.join(usual)} by default"] if usual else []
    return lines + [f"assumed: {name_of(name)} {why}{share(count)}" for (name, why), count in reasons.items()]


def _example(row: Mapping[str, Any]) -> str:
    about = [row["model"], row["dataset"], usual_name(row["metric"]), row["value"], row["unit"]]
    return " ".join(filter(None, [*about, row["split"], row["side"], row["protocol"]]))


def _values(reading: Reading) -> Iterator[str]:
    """Yield the values of every table as lines whose columns are aligned."""
    for table in reading.tables:
        values = reading.values.filter(pl.col("grid") == table.number)
        if values.is_empty():
            continue
        yield f"table {table.number}:"
        evaluation = pl.concat_str(
            *("split", "side", "protocol", pl.col("ties").replace({"realistic": None})),
            separator=", ",
            ignore_nulls=True,
        )
        shown = values.select(
            pl.col("row").cast(pl.String),
            "model",
            pl.col("dataset").alias("data set"),
            pl.col("metric").map_elements(usual_name, return_dtype=pl.String),
            *("value", "unit"),
            evaluation.alias("evaluation"),
        )
        shown = shown.select(column.name for column in shown if column.drop_nulls().replace("", None).count())
        lines = [shown.columns, *([text or "" for text in row] for row in shown.iter_rows())]
        widths = [max(len(row[column]) for row in lines) for column in range(shown.width)]
        for row in lines:
            cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
            yield f"  {'  '.join(cells)}".rstrip()


def draft_sidecar(reading: Reading) -> str:
    """Return the shortest sidecar (YAML) that states all assumptions and keeps every key of the sidecar in use.

    With this sidecar, the file gives the same values. A fact that rankadjust could not even assume becomes a comment,
    for the user to fill in.
    """
    drafts: dict[int, dict[str, Any]] = {}
    asked: dict[int, list[str]] = {}
    keys = table_keys(reading)
    for table in reading.tables:
        if table.layout.metrics:
            drafts[table.number], asked[table.number] = _draft(table, _rows_of(reading, table))
    everywhere = [text for text in _QUESTIONS.values() if all(text in own for own in asked.values())]
    comments = [f"# {question}" for question in everywhere] if asked else []
    for number, own in asked.items():
        key = keys[number]
        name = f"table '{key.rstrip(' :')}'" if isinstance(key, str) else f"table {key}"
        comments += [f"# {name}: {question}" for question in own if question not in everywhere]
    title = f"# What rankadjust assumed about {reading.path.name}. Correct it and read the table again;"
    return "\n".join(
        [title, "# docs/tables.md explains every key.", *comments, sidecar_text(reading, drafts)]
    )


def _rows_of(reading: Reading, table: Table) -> list[_Row]:
    rows = zip(reading.values.iter_rows(named=True), reading.facts, strict=True)
    return [(row, facts) for row, facts in rows if row["grid"] == table.number]


def sidecar_text(reading: Reading, drafts: Mapping[int, Mapping[str, Any]]) -> str:
    """Return the sidecar (YAML) of a file: the keys of its present sidecar, and `drafts` (number of a table -> keys).

    A key with the same value for all tables is written once, for the whole file. The keys of a single table are written
    under its heading, or under its number if other tables have the same heading.
    """
    drafted = [own for own in drafts.values() if own]
    first = drafted[0] if drafted else {}
    if len(reading.tables) == 1:
        return _yaml(_added(reading.sidecar, first))
    whole = {
        key: value
        for key, value in first.items()
        if key not in ("columns", "rows") and all(own.get(key) == value for own in drafts.values())
    }
    keys = table_keys(reading)
    parts: dict[Any, dict[str, Any]] = {}
    for number, own in drafts.items():
        if left := {key: value for key, value in own.items() if key not in whole}:
            parts[keys[number]] = left
    return _yaml(_added(reading.sidecar, {**whole, **({"tables": parts} if parts else {})}))


def table_keys(reading: Reading) -> dict[int, str | int]:
    """Return the key of each table in a sidecar: the nearest text that is above this table alone, or its number."""
    above = {table.number: table.grid.context for table in reading.tables}
    counts = Counter(_plain(text) for texts in above.values() for text in dict.fromkeys(texts))
    return {
        number: next((text for text in texts if counts[_plain(text)] == 1 and _is_title(text)), number)
        for number, texts in above.items()
    }


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_title(text: str) -> bool:
    return len(text) <= _LONGEST_KEY and "\n" not in text and not text.isdigit()


def _added(given: Mapping[Any, Any], facts: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return both mappings merged; where they disagree, `given` wins."""
    both = [key for key in given if isinstance(given[key], Mapping) and isinstance(facts.get(key), Mapping)]
    return {**facts, **given, **{key: _added(given[key], facts[key]) for key in both}}


def _yaml(stated: Mapping[str, Any]) -> str:
    def dumped(key: str, value: Any) -> str:  # noqa: ANN401 - a node of YAML
        style = None if isinstance(value, Mapping) else False
        return yaml.safe_dump(
            {key: value}, default_flow_style=style, sort_keys=False, allow_unicode=True, width=100
        )

    return "".join(dumped(key, value) for key, value in stated.items())


def _draft(table: Table, rows: Sequence[_Row]) -> tuple[dict[str, Any], list[str]]:
    """Return the keys that a sidecar of one table would have, and the questions that it would leave to the user."""
    unknown = {name for _, facts in rows for name in _QUESTIONS if facts[name] is None}
    stated: dict[str, Any] = {}
    lines: dict[int, dict[str, Any]] = defaultdict(dict)
    place = "row" if table.layout.metrics == "rows" else "column"
    # The unit follows from the numbers themselves, so nobody would write it down.
    for name in ("dataset", "metric", "split", "side", "protocol"):
        if whole := _assumed_of_all(rows, name):
            stated[name] = whole
            continue
        for number in dict.fromkeys(row[place] for row, _ in rows):
            if own := _assumed_of_all([pair for pair in rows if pair[0][place] == number], name):
                lines[number][name] = own
    asked = [question for name, question in _QUESTIONS.items() if name in unknown]
    return stated | _lines_of(table, place, lines), asked


def _assumed_of_all(rows: Sequence[_Row], name: str) -> str | None:
    """Return the fact that was assumed for all these values, in the words of a sidecar.

    None if somebody states the fact for some of the values, or if their facts differ.
    """
    facts = [own.get(name) for _, own in rows]
    known = {fact.value for fact in facts if fact is not None}
    if len(known) != 1 or not all(fact is not None and fact.source in (INFERRED, DEFAULT) for fact in facts):
        return None
    [value] = known
    return value if name != "metric" or adjustment_of(value) else resolve(value).label


def _lines_of(table: Table, place: str, facts: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Return `columns` and `rows` of a sidecar: the column assumed to name the models, and facts of single lines."""
    columns = table.layout.columns
    headers = [[*column.header, column.name] for column in columns]
    keys: dict[Any, Any] = {
        find_key(column.index + 1, column.name, headers): column.role for column in columns if column.assumed
    }
    if place == "column":
        own = {number: facts[number] for number in facts if not columns[number - 1].assumed}
        keys |= _ranges(own, {column.index + 1: column.name for column in columns}, headers)
        return {"columns": keys} if keys else {}
    rows = [row for row in table.layout.rows if row.kind == "values"]
    labels = [list(row.labels.values()) for row in rows]
    names = {row.index + 1: next(filter(None, row.labels.values()), "") for row in rows}
    by_row = _ranges({number: facts[number] for number in names if number in facts}, names, labels)
    return {key: value for key, value in (("columns", keys), ("rows", by_row)) if value}


def _ranges(
    facts: Mapping[int, Mapping[str, Any]], names: Mapping[int, str], texts: Sequence[Sequence[str]]
) -> dict[Any, Any]:
    """Return the facts by the key of their line; neighbouring lines with the same facts share a key such as '3-10'."""
    runs: list[list[int]] = []
    for number in sorted(facts):
        goes_on = runs and runs[-1][-1] == number - 1 and facts[number] == facts[runs[-1][-1]]
        runs[-1:] = [[*runs[-1], number]] if goes_on else [*runs[-1:], [number]]
    keys = [
        find_key(run[0], names[run[0]], texts) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs
    ]
    return {key: dict(facts[run[0]]) for key, run in zip(keys, runs, strict=True)}


@dataclass(frozen=True)
class Question:
    """A question about a fact that tables do not state.

    tables: the numbers of these tables. columns: the numbers of the columns without the fact; empty for all columns of
    the tables. where: names these tables and columns for people. fact: the key of the fact in a sidecar. why: the
    reason for assuming the first candidate; None if nothing was assumed. candidates: likely answers, an assumed answer
    first.
    """

    tables: tuple[int, ...]
    columns: tuple[int, ...]
    where: str
    fact: str
    why: str | None
    candidates: tuple[str, ...]

    @property
    def default(self) -> str:
        """The answer of pressing Enter: what was assumed or is usual; '-' for a fact that may differ by column."""
        is_usual = self.why is not None or self.fact in _OF_FILE
        return self.candidates[0] if self.candidates and is_usual and not self.columns else "-"

    @property
    def text(self) -> str:
        """The question, with the candidates by number."""
        offered = "   ".join(f"{number} {text}" for number, text in enumerate(self.candidates, start=1))
        taken = f", taken {self.why}" if self.why else ""
        question = f"{self.where}: which {name_of(self.fact)}{taken}?"
        return "\n".join(filter(None, [question, f"  {offered}" if offered else ""]))


def questions(reading: Reading, names: Names) -> list[Question]:
    """Return the questions about a file, table by table, in the order of the file.

    A question asks for a fact that no value of a table, or of some of its columns, has from a header, a label or a
    sidecar. A question for split, side or protocol covers all tables that lack the same fact.
    """
    by_fact: dict[Any, Question] = {}
    for table in reading.tables:
        for question in _about(table, _rows_of(reading, table), names):
            alone = question.fact not in _OF_FILE or question.columns
            key = (question.fact, question.candidates, *((table.number, question.columns) if alone else ()))
            same = by_fact.get(key, replace(question, tables=()))
            by_fact[key] = replace(same, tables=(*same.tables, table.number))
    keys = table_keys(reading)
    return [replace(question, where=_place(question, reading, keys)) for question in by_fact.values()]


def _about(table: Table, rows: Sequence[_Row], names: Names) -> Iterator[Question]:
    for fact in _ASKED if rows else ():
        columns = [] if _is_unsaid(fact, rows) else _columns_without(fact, rows, table)
        own = [pair for pair in rows if pair[0]["column"] in columns] or rows
        if not _is_unsaid(fact, own):
            continue
        taken = _assumed_of_all(own, fact)
        known = own[0][1].get(fact)
        likely = tuple(dict.fromkeys([*([taken] if taken else []), *_likely(fact, table, own, names)]))
        why = _how_taken(known) if taken and known else None
        yield Question((table.number,), tuple(columns), "", fact, why, likely[:_MOST_OFFERED])


def _how_taken(fact: Fact) -> str | None:
    return fact.reason if fact.source == INFERRED else ", ".join(filter(None, ("by default", fact.reason)))


def _is_unsaid(fact: str, rows: Sequence[_Row]) -> bool:
    """Return whether none of these values states a fact, and all have the same assumption, or none."""
    is_unnamed = fact in _QUESTIONS and all(facts[fact] is None for _, facts in rows)
    return is_unnamed or _assumed_of_all(rows, fact) is not None


def _columns_without(fact: str, rows: Sequence[_Row], table: Table) -> list[int]:
    if table.layout.metrics != "columns" or fact in ("model", "metric"):
        return []
    numbers = dict.fromkeys(row["column"] for row, _ in rows)
    return [
        number
        for number in numbers
        if _is_unsaid(fact, [pair for pair in rows if pair[0]["column"] == number])
    ]


def _likely(fact: str, table: Table, rows: Sequence[_Row], names: Names) -> Sequence[str]:
    """Return likely answers to a question about a table, besides the assumed answer."""
    if fact == "dataset":
        return [name for text in table.grid.context for name in datasets_within(text, names)]
    if fact == "model":
        return [text for text in table.grid.context if len(text.split()) <= 2]
    datasets = {row["dataset"] for row, _ in rows}
    own = [known.protocol.name for known in load_benchmarks() if known.dataset in datasets]
    return [*(own if fact == "protocol" else []), *_USUAL.get(fact, ())]


def _place(question: Question, reading: Reading, keys: Mapping[int, str | int]) -> str:
    tables = question.tables
    if question.columns:
        columns = reading.tables[tables[0] - 1].layout.columns
        names = ", ".join(f"{number} '{columns[number - 1].name}'" for number in question.columns)
        return f"{_place(replace(question, columns=()), reading, keys)}, columns {names}"
    holding = [table.number for table in reading.tables if table.layout.metrics]
    if list(tables) == holding:
        return f"all {len(holding)} tables" if len(holding) > 1 else reading.path.name
    if len(tables) > 1:
        return f"tables {', '.join(map(str, tables))}"
    [number] = tables
    lines = [line for line in reading.tables[number - 1].grid.lines if line is not None]
    title = f" '{keys[number]}'" if isinstance(keys[number], str) else ""
    return f"table {number}{title}" + (f" (lines {lines[0]} to {lines[-1]})" if lines else "")


def answered(question: Question, answer: str, names: Names, *, is_repeated: bool = False) -> str | None:
    """Return the meaning of an answer: a candidate for its number, a name, or None for '-', which leaves the fact open.

    Raises RankadjustError for an unknown name. The name of a data set that is like one of ours may be a typing error,
    so it counts only if the user repeats it.
    """
    text = answer.strip()
    if text in ("-", ""):
        return None
    if text.isdigit() and 1 <= int(text) <= len(question.candidates):
        return question.candidates[int(text) - 1]
    if text.isdigit():
        raise RankadjustError(f"there is no answer {text}; type its number, a name, or -")
    if question.fact == "metric":
        if metric_key(text) is None:
            raise RankadjustError(f"metric '{text}' is not known; write for example MRR")
        return text
    if question.fact == "dataset" and folded(text) not in names:
        # The user may have a data set of their own, which our registry does not have.
        hint = did_you_mean(text, names.values())
        if hint and not is_repeated:
            raise RankadjustError(
                f"no data set '{text}' is known{hint} If it is your own, type its name again"
            )
        return text
    return given_facts({question.fact: text}, names)[question.fact]


def answers_as_sidecar(reading: Reading, answers: Iterable[tuple[Question, str]]) -> str:
    """Return the sidecar that states the answers and keeps every key of the file's present sidecar."""
    drafts: dict[int, dict[str, Any]] = {table.number: {} for table in reading.tables if table.layout.metrics}
    lines: dict[int, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for question, answer in answers:
        for number in question.tables:
            drafts[number] |= {} if question.columns else {question.fact: answer}
            for column in question.columns:
                lines[number][column][question.fact] = answer
    for number, facts in lines.items():
        drafts[number] |= _lines_of(reading.tables[number - 1], "column", facts)
    return sidecar_text(reading, drafts)
