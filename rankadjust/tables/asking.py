"""Ask the user for the facts that the tables of a file do not state, and offer likely answers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.words import folded
from rankadjust.counting.protocols import load_benchmarks
from rankadjust.tables.account import assumed_of_all, lines_of, sidecar_text, table_keys, with_reasons
from rankadjust.tables.layout import Table
from rankadjust.tables.reading import Reading
from rankadjust.tables.sidecar import given_facts
from rankadjust.tables.tokens import Names, datasets_within, metric_key

_ASKED = ("dataset", "model", "metric", "split", "side", "protocol")
# These facts seldom differ between the tables of a file, so that tables with the same gap share a question.
_OF_FILE = ("split", "side", "protocol")
_USUAL = {
    "split": ("testing", "validation"),
    "side": ("both", "head", "tail"),
    "protocol": ("filtered", "raw"),
}
_WORDS = {"dataset": "data set"}
_MOST_OFFERED = 9


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
    def text(self) -> str:
        """The question, with the candidates by number."""
        offered = "   ".join(f"{number} {text}" for number, text in enumerate(self.candidates, start=1))
        taken = f", taken {self.why}" if self.why else ""
        lines = [
            f"{self.where}: which {_WORDS.get(self.fact, self.fact)}{taken}?",
            f"  {offered}" if offered else "",
        ]
        return "\n".join(filter(None, lines))


def questions(reading: Reading, names: Names) -> list[Question]:
    """Return the questions about a file, table by table, in the order of the file.

    A question asks for a fact that no value of a table, or of some of its columns, has from a header, a label or a
    sidecar. A question for split, side or protocol covers all tables that lack the same fact.
    """
    by_fact: dict[Any, Question] = {}
    for table in reading.tables:
        for question in _about(table, reading, names):
            alone = question.fact not in _OF_FILE or question.columns
            key = (question.fact, question.candidates, *((table.number, question.columns) if alone else ()))
            same = by_fact.get(key, replace(question, tables=()))
            by_fact[key] = replace(same, tables=(*same.tables, table.number))
    keys = table_keys(reading)
    return [replace(question, where=_where(question, reading, keys)) for question in by_fact.values()]


def _about(table: Table, reading: Reading, names: Names) -> Iterator[Question]:
    rows = with_reasons(reading.values.filter(pl.col("grid") == table.number))
    for fact in _ASKED if rows else ():
        columns = [] if _is_unsaid(fact, rows) else _columns_without(fact, rows, table)
        own = [row for row in rows if row["column"] in columns] or rows
        if not _is_unsaid(fact, own):
            continue
        taken = assumed_of_all(own, fact)
        why = (
            None if taken is None else own[0]["why"][_WORDS.get(fact, fact)].removeprefix(taken).lstrip(" ,")
        )
        likely = tuple(dict.fromkeys([*([taken] if taken else []), *_likely(fact, table, own, names)]))
        yield Question((table.number,), tuple(columns), "", fact, why, likely[:_MOST_OFFERED])


def _is_unsaid(fact: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether none of these values states a fact, and all have the same assumption, or none."""
    is_unnamed = fact in ("dataset", "model") and all(row[fact] is None for row in rows)
    return is_unnamed or assumed_of_all(rows, fact) is not None


def _columns_without(fact: str, rows: Sequence[Mapping[str, Any]], table: Table) -> list[int]:
    if table.layout.metrics != "columns" or fact in ("model", "metric"):
        return []
    numbers = dict.fromkeys(row["column"] for row in rows)
    return [
        number for number in numbers if _is_unsaid(fact, [row for row in rows if row["column"] == number])
    ]


def _likely(fact: str, table: Table, rows: Sequence[Mapping[str, Any]], names: Names) -> Sequence[str]:
    """Return likely answers to a question about a table, besides the assumed answer."""
    if fact == "dataset":
        return [name for text in table.grid.context for name in datasets_within(text, names)]
    if fact == "model":
        return [text for text in table.grid.context if len(text.split()) <= 2]
    datasets = {row["dataset"] for row in rows}
    own = [known.protocol.name for known in load_benchmarks() if known.dataset in datasets]
    return [*(own if fact == "protocol" else []), *_USUAL.get(fact, ())]


def _where(question: Question, reading: Reading, keys: Mapping[int, str | int]) -> str:
    tables = question.tables
    if question.columns:
        columns = reading.tables[tables[0] - 1].layout.columns
        names = ", ".join(f"'{columns[number - 1].name}'" for number in question.columns)
        return f"{_where(replace(question, columns=()), reading, keys)}, columns {names}"
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


def answers_as_sidecar(reading: Reading, answers: Sequence[tuple[Question, str]]) -> str:
    """Return the sidecar that states the answers and keeps every key of the file's present sidecar."""
    drafts: dict[int, dict[str, Any]] = {table.number: {} for table in reading.tables if table.layout.metrics}
    lines: dict[int, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for question, answer in answers:
        for number in question.tables:
            drafts[number] |= {} if question.columns else {question.fact: answer}
            for column in question.columns:
                lines[number][column][question.fact] = answer
    for number, facts in lines.items():
        drafts[number] |= lines_of(reading.tables[number - 1], "column", facts)
    return sidecar_text(reading, drafts)
