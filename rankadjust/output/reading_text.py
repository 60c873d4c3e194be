"""Say how a file was understood, ask for missing facts, and draft the sidecar that states them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import yaml

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.words import folded
from rankadjust.chance.metrics import resolve, usual_name
from rankadjust.tables.cells import scale_of
from rankadjust.tables.facts import DEFAULT, GRADED, INFERRED, Fact, name_of
from rankadjust.tables.headers import Names, metric_key, within
from rankadjust.tables.reading import Reading
from rankadjust.tables.sidecar import given_facts

# How many lines the description has, how many names and texts a line quotes, how many answers a question offers.
_LINES, _FEW, _MOST_OFFERED = 10, 3, 9
_ASKED = ("dataset", "model", "metric", "split", "side", "protocol")
# The facts that seldom differ between the tables of a file, so that tables with the same gap share a question.
_USUAL = {
    "split": ("testing", "validation"),
    "side": ("both", "head", "tail"),
    "protocol": ("filtered", "raw"),
}


def describe(reading: Reading, *, everything: bool = False) -> str:
    """Return the account of a reading: how many numbers were read, why others were not, and the assumed facts.

    It has at most ten lines, one for a reason; `everything` also shows every value.
    """
    count = reading.cells["reason"].count()
    read = reading.cells.filter(state="value").height
    head = f"{reading.path.name}: {read:,} of {read + count:,} numbers read"
    head += f", {count:,} not:" if count else "" if read else ": no cell holds a number"
    reasons = [f"  {line}" for line in _unread_lines(reading.cells, reading)]
    lines = [*reasons, *_assumed_lines(reading), *(f"note: {remark}" for remark in reading.remarks)]
    if everything:
        rows = reading.values.iter_rows(named=True)
        values = (f"table {row['grid']}, row {row['row']}: {_shown(row)}" for row in rows)
        return "\n".join([head, *lines, *values]) + "\n"
    if len(lines) > _LINES - 2:
        lines = [*lines[: _LINES - 3], f"… and {len(lines) - _LINES + 3} more lines"]
    first = "".join(f"first value: {_shown(row)}; " for row in reading.values.head(1).to_dicts())
    return "\n".join([head, *lines, f"{first}--all shows everything"]) + "\n"


def unread_cells(reading: Reading | None) -> list[str]:
    """Return a line for each reason why cells could not be read that should hold a value; None: a tidy table."""
    if reading is None:
        return []
    return [f"{reading.path.name}: {line}" for line in _unread_lines(reading.unread, reading)]


def _unread_lines(cells: pl.DataFrame, reading: Reading) -> list[str]:
    alike: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for cell in cells.drop_nulls("reason").iter_rows(named=True):
        alike[cell["reason"]].append(cell)
    return [f"{len(own):,} {_where(own, reading)}: {why}" for why, own in alike.items()]


def _where(cells: Sequence[Mapping[str, Any]], reading: Reading) -> str:
    """Return the place of cells, with a few of their texts: "in table 2, column 3 'MRR', lines 4 to 9 ('~0.5')"."""
    grids = list(dict.fromkeys(cell["grid"] for cell in cells))
    place = "" if len(reading.tables) == 1 else f"table{'s' * (len(grids) > 1)} {_list(grids)}, "
    table = reading.tables[grids[0] - 1]
    kind = "row" if table.metrics == "rows" else "column"
    lines = table.rows if kind == "row" else table.columns
    names = {cell[kind]: lines[cell[kind] - 1].name for cell in cells if cell["grid"] == grids[0]}
    named = [f"{number} '{name}'" if name else str(number) for number, name in names.items()]
    numbers = [cell["line"] for cell in cells if cell["line"] is not None]
    span = f"line{_range(numbers)}" if numbers else f"row{_range([cell['row'] for cell in cells])}"
    texts = _list([f"'{text}'" for text in dict.fromkeys(cell["text"] for cell in cells)])
    where = f"in {place}{kind}{'s' * (len(named) > 1)} {_list(named)}, {span} ({texts})"
    return " ".join(where.split())


def _range(numbers: Sequence[int]) -> str:
    first, last = min(numbers), max(numbers)
    return f" {first}" if first == last else f"s {first} to {last}"


def _list(names: Sequence[object]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(map(str, names[:_FEW])) + more


def _assumed_lines(reading: Reading) -> list[str]:
    """Return a line for each reason of facts that nobody states; the defaults share a line."""
    reasons: Counter[tuple[bool, str]] = Counter()
    for name, fact in ((name, facts[name]) for facts in reading.facts for name in GRADED if name in facts):
        is_usual = fact is not None and fact.source == DEFAULT and not fact.reason
        if why := (fact.value if is_usual else fact.why) if fact else "not named":
            reasons[is_usual, f"{name_of(name)} {why}"] += 1
    height = len(reading.facts)
    shown: dict[bool, list[str]] = {True: [], False: []}
    for (is_usual, said), count in reasons.items():
        shown[is_usual].append(f"{said} ({count} of {height} values)" if count < height else said)
    usual = [f"{', '.join(shown[True])} by default"] if shown[True] else []
    return [f"assumed: {said}" for said in usual + shown[False]]


def _shown(row: Mapping[str, Any]) -> str:
    number = " ".join(
        filter(None, (row["model"], row["dataset"], usual_name(row["metric"]), row["value"], row["unit"]))
    )
    ties = None if row["ties"] == "realistic" else row["ties"]
    return ", ".join(filter(None, (number, row["split"], row["side"], row["protocol"], ties)))


@dataclass(frozen=True)
class Gap:
    """A fact that nobody states of the values of tables.

    fact: its name. tables: the numbers of the tables. taken: what was assumed, None if nothing was. offered: likely
    answers to a question about it, an assumed answer first.
    """

    fact: str
    tables: tuple[int, ...]
    taken: Fact | None = None
    offered: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """The answer of pressing Enter: what was assumed or is usual; '-' leaves the fact open."""
        return self.offered[0] if self.offered and (self.taken or self.fact in _USUAL) else "-"


def gaps(reading: Reading, names: Names | None = None) -> list[Gap]:
    """Return the facts that nobody states of a whole table; tables with the same assumption share one.

    names: the data sets; without them no answers are offered.
    """
    found: dict[Any, Gap] = {}
    for table in reading.tables:
        grids = reading.values["grid"]
        rows = [own for grid, own in zip(grids, reading.facts, strict=True) if grid == table.number]
        for fact in _ASKED if rows else ():
            known = [own.get(fact) for own in rows]
            is_stated = any(own and own.source not in (INFERRED, DEFAULT) for own in known)
            if is_stated or len({own.value if own else None for own in known}) > 1:
                continue
            taken = known[0]
            likely = [_word(fact, taken)] if taken else []
            if names is not None:
                likely += _USUAL.get(fact, ())
                around = table.grid.context if fact == "dataset" else ()
                likely += [name for text in around for name in within("dataset", text, names)]
            offered = tuple(dict.fromkeys(likely))[:_MOST_OFFERED]
            is_shared = taken is not None or names is None or fact in _USUAL
            key = (fact, offered, None if is_shared else table.number)
            same = found.get(key, Gap(fact, (), taken, offered))
            found[key] = replace(same, tables=(*same.tables, table.number))
    return list(found.values())


def _word(fact: str, taken: Fact) -> str:
    """Return an assumed fact in the words of a sidecar."""
    is_plain = fact == "metric" and scale_of(taken.value)[0] in ("share", "rank")
    return resolve(taken.value).label if is_plain else taken.value


def question(gap: Gap, reading: Reading) -> str:
    """Return the question about a gap, with the offered answers by number."""
    number, *others = gap.tables
    lines = [line for line in reading.tables[number - 1].grid.lines if line is not None]
    span = f" (lines {lines[0]} to {lines[-1]})" if lines else ""
    where = f"tables {', '.join(map(str, gap.tables))}" if others else f"table {number}{span}"
    where = reading.path.name if len(reading.tables) == 1 else where
    taken = f", taken {gap.taken.why}" if gap.taken and gap.taken.why else ""
    offered = "   ".join(f"{place} {text}" for place, text in enumerate(gap.offered, start=1))
    return f"{where}: which {name_of(gap.fact)}{taken}?" + (f"\n  {offered}" if offered else "")


def answered(gap: Gap, answer: str, names: Names) -> str | None:
    """Return the meaning of an answer: an offered one for its number, a name, or None for '-', which leaves it open.

    Raises RankadjustError for an unknown name; only a data set that is like none of ours may be the user's own.
    """
    text = answer.strip()
    if text in ("-", ""):
        return None
    if text.isdigit():
        if not 1 <= int(text) <= len(gap.offered):
            raise RankadjustError(f"there is no answer {text}; type its number, a name, or -")
        return gap.offered[int(text) - 1]
    if gap.fact == "metric":
        if metric_key(text) is None:
            raise RankadjustError(f"metric '{text}' is not known; write for example MRR")
        return text
    is_own = gap.fact == "dataset" and folded(text) not in names and not did_you_mean(text, names.values())
    return text if is_own else given_facts({gap.fact: text}, names)[gap.fact]


def draft_sidecar(reading: Reading) -> str:
    """Return the shortest sidecar (YAML) that states all assumptions and keeps every key of the sidecar in use.

    With this sidecar, the file gives the same values. A data set or a model that rankadjust could not even assume
    becomes a comment, for the user to fill in.
    """
    found = gaps(reading)
    title = f"# What rankadjust assumed about {reading.path.name}. Correct it and read the table again;"
    explained = "# docs/tables.md explains every key."
    asked = []
    for gap in found:
        if gap.taken is None:
            where = "" if _is_whole(gap, reading) else f"table {gap.tables[0]}: "
            asked.append(f"# {where}{gap.fact}:  # which {name_of(gap.fact)}")
    stated = [(gap, _word(gap.fact, gap.taken)) for gap in found if gap.taken]
    return "\n".join([title, explained, *asked, sidecar_stating(reading, stated)])


def _is_whole(gap: Gap, reading: Reading) -> bool:
    """Return whether a gap is one of all tables with values."""
    return len(gap.tables) == reading.values["grid"].n_unique()


def sidecar_stating(reading: Reading, stated: Iterable[tuple[Gap, str]]) -> str:
    """Return the sidecar (YAML) of a file that states facts, and keeps every key of its present sidecar.

    What holds for all tables is written once, the rest under the number of a table.
    """
    whole: dict[str, Any] = {}
    parts: dict[int, dict[str, Any]] = defaultdict(dict)
    for gap, word in stated:
        for about in [whole] if _is_whole(gap, reading) else [parts[number] for number in gap.tables]:
            about[gap.fact] = word
    for table in reading.tables:
        if roles := {column.index + 1: column.role for column in table.columns if column.assumed}:
            (whole if len(reading.tables) == 1 else parts[table.number])["columns"] = roles
    written = _added(reading.sidecar, whole | ({"tables": dict(sorted(parts.items()))} if parts else {}))
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 100}
    flow = {key: None if isinstance(value, Mapping) else False for key, value in written.items()}
    return "".join(
        yaml.safe_dump({key: written[key]}, default_flow_style=flow[key], **options) for key in written
    )


def _added(given: Mapping[Any, Any], facts: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return both mappings merged; where they disagree, `given` wins."""
    both = [key for key in given if isinstance(given[key], Mapping) and isinstance(facts.get(key), Mapping)]
    return {**facts, **given, **{key: _added(given[key], facts[key]) for key in both}}
