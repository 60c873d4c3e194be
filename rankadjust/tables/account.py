"""Describe how rankadjust understood a file, and draft the sidecar that states its assumptions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import yaml

from rankadjust.chance.metrics import resolve, usual_name
from rankadjust.tables.layout import Table
from rankadjust.tables.reading import Reading
from rankadjust.tables.sidecar import find_key
from rankadjust.tables.tokens import DEFAULTS
from rankadjust.tables.units import base_metric

# A longer text above a table is a paragraph rather than a title, and too long as a key of a sidecar.
_LONGEST_KEY = 100
# How many values the description prints; the tidy file has all of them.
_SHOWN = 50
# How many texts the description quotes where the cells of a column share a reason.
_FEW = 3
_FIELD = "data set|model|metric|split|side|protocol|unit|value"
_ASSUMED = re.compile(rf"(?:^|; )({_FIELD}) (.*?)(?=; (?:{_FIELD}) |$)")
_QUESTIONS = {
    "data set": "dataset:  # which data set: a name of the registry",
    "model": "model:  # which model",
}


def describe(reading: Reading) -> str:
    """Return the description of a reading: each value, each assumption, and each cell that could not be read."""
    lines = [f"{reading.path.name}: {reading.balance}"]
    for table in reading.tables:
        values = reading.values.filter(pl.col("grid") == table.number)
        rows = [line for line in table.grid.lines if line is not None]
        span = f", lines {rows[0]} to {rows[-1]}" if rows else ""
        lines += ["", f"table {table.number}{span}: {values.height} values"]
        if values.height:
            lines += [f"  {line}" for line in _shown(values)]
    texts = reading.values["assumed"].drop_nulls()
    assumed = Counter(entry for text in texts for entry in entries(text).items())
    height = reading.values.height
    if assumed:
        shares = {count: "" if count == height else f" ({count} values)" for count in assumed.values()}
        facts_assumed = (f"  {what} {why}{shares[count]}" for (what, why), count in assumed.items())
        lines += ["", "assumed:", *facts_assumed]
    if reading.remarks:
        lines += ["", "left alone:", *(f"  {remark}" for remark in reading.remarks)]
    if reading.unread.height:
        lines += ["", "not read:", *(f"  {line}" for line in unread_cells(reading))]
    return "\n".join(lines) + "\n"


def entries(assumed: str | None) -> dict[str, str]:
    """Return the assumptions in a text of the column `assumed`: the name of the field -> the reason."""
    return dict(_ASSUMED.findall(assumed or ""))


def unread_cells(reading: Reading) -> list[str]:
    """Return a line for each cell that should hold a value and could not be read: its place, its text, the reason.

    The cells of a column that share a reason share a line, which quotes up to `_FEW` of their texts.
    """
    alike = reading.unread.group_by("grid", "column", "reason", maintain_order=True).agg(
        "text",
        *(pl.col(name).min().alias(f"{name}_first") for name in ("row", "line")),
        *(pl.col(name).max().alias(f"{name}_last") for name in ("row", "line")),
    )
    return [
        f"{_where(cells, reading)}: {_texts(cells['text'])}: {cells['reason']}"
        for cells in alike.iter_rows(named=True)
    ]


def _texts(texts: Sequence[str]) -> str:
    shown = ", ".join(f"'{text}'" for text in texts[:_FEW])
    return shown if len(texts) <= _FEW else f"{shown} and {len(texts) - _FEW} more"


def _where(cells: Mapping[str, Any], reading: Reading) -> str:
    table = "" if len(reading.tables) == 1 else f"table {cells['grid']}, "
    column = reading.tables[cells["grid"] - 1].layout.columns[cells["column"] - 1].name
    row, line = (_range(name, cells) for name in ("row", "line"))
    name = f" '{column}'" if column and len(cells["text"]) > 1 else ""
    return f"{table}{row}, column {cells['column']}{name}" + (f" ({line})" if line else "")


def _range(name: str, cells: Mapping[str, Any]) -> str:
    first, last = cells[f"{name}_first"], cells[f"{name}_last"]
    if first is None:
        return ""
    return f"{name} {first}" if first == last else f"{name}s {first} to {last}"


def _shown(values: pl.DataFrame) -> Iterator[str]:
    """Yield the values of a table as lines whose columns are aligned."""
    shown = values.head(_SHOWN).select(
        pl.col("row").cast(pl.String),
        "model",
        pl.col("dataset").alias("data set"),
        pl.col("metric").map_elements(usual_name, return_dtype=pl.String),
        "value",
        "unit",
        pl.concat_str(
            "split",
            "side",
            "protocol",
            pl.col("ties").replace({"realistic": None}),
            separator=", ",
            ignore_nulls=True,
        ).alias("evaluation"),
    )
    shown = shown.select(column.name for column in shown if column.drop_nulls().replace("", None).count())
    table = [shown.columns, *([text or "" for text in row] for row in shown.iter_rows())]
    widths = [max(len(row[column]) for row in table) for column in range(shown.width)]
    for row in table:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
    if values.height > _SHOWN:
        yield f"… and {values.height - _SHOWN} more; --tidy writes all"


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
            values = reading.values.filter(pl.col("grid") == table.number)
            drafts[table.number], asked[table.number] = _draft(table, values)
    everywhere = [text for text in _QUESTIONS.values() if all(text in own for own in asked.values())]
    comments = [f"# {question}" for question in everywhere] if asked else []
    for number, own in asked.items():
        key = keys[number]
        name = f"table '{key.rstrip(' :')}'" if isinstance(key, str) else f"table {key}"
        comments += [f"# {name}: {question}" for question in own if question not in everywhere]
    title = f"# What rankadjust assumed about {reading.path.name}. Correct it and read the table again;"
    stated = sidecar_text(reading, drafts)
    return "\n".join([title, "# docs/tables.md explains every key.", *comments, stated])


def sidecar_text(reading: Reading, drafts: Mapping[int, Mapping[str, Any]]) -> str:
    """Return the sidecar (YAML) of a file: the keys of its present sidecar, and `drafts` (number of a table -> keys).

    A key with the same value for all tables is written once, for the whole file. The keys of a single table are written
    under its heading, or under its number if other tables have the same heading.
    """
    drafted = [own for own in drafts.values() if own]
    first = drafted[0] if drafted else {}
    whole = {
        key: value
        for key, value in first.items()
        if key not in ("columns", "rows")
        and len(drafted) == len(drafts)
        and all(own.get(key) == value for own in drafted)
    }
    if len(reading.tables) == 1:
        return _yaml(_added(reading.sidecar, first))
    keys = table_keys(reading)
    parts: dict[Any, dict[str, Any]] = {}
    for number, own in drafts.items():
        if left := {key: value for key, value in own.items() if key not in whole}:
            parts[keys[number]] = left
    return _yaml(_added(reading.sidecar, {**whole, **({"tables": parts} if parts else {})}))


def table_keys(reading: Reading) -> dict[int, str | int]:
    """Return the key of each table in a sidecar: the nearest text that is above this table alone, or its number."""
    above = {table.number: table.grid.context for table in reading.tables}
    counts = Counter(_folded(text) for texts in above.values() for text in dict.fromkeys(texts))
    return {
        number: next((text for text in texts if counts[_folded(text)] == 1 and _is_title(text)), number)
        for number, texts in above.items()
    }


def _folded(text: str) -> str:
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


def _draft(table: Table, values: pl.DataFrame) -> tuple[dict[str, Any], list[str]]:
    """Return the keys that a sidecar of one table would have, and the questions that it would leave to the user."""
    rows = with_reasons(values)
    unknown = {what for row in rows for what, why in row["why"].items() if why == "not named"}
    asked = [question for what, question in _QUESTIONS.items() if what in unknown]
    stated: dict[str, Any] = {}
    lines: dict[int, dict[str, Any]] = defaultdict(dict)
    place = "row" if table.layout.metrics == "rows" else "column"
    # The unit follows from the numbers themselves, so nobody would write it down.
    for name in ("dataset", "metric", "split", "side", "protocol"):
        if whole := assumed_of_all(rows, name):
            stated[name] = whole
            continue
        for number in dict.fromkeys(row[place] for row in rows):
            if own := assumed_of_all([row for row in rows if row[place] == number], name):
                lines[number][name] = own
    return stated | lines_of(table, place, lines), asked


def with_reasons(values: pl.DataFrame) -> list[dict[str, Any]]:
    """Return values as records with `why`: the assumed field -> the reason."""
    return [{**row, "why": entries(row["assumed"])} for row in values.iter_rows(named=True)]


def assumed_of_all(rows: Sequence[Mapping[str, Any]], name: str) -> str | None:
    """Return the fact that was assumed for all these values, in the words of a sidecar.

    None if the table itself states the fact for some of the values, or if their facts differ.
    """
    known = {_taken(row, name) for row in rows}
    if len(known) != 1 or not all(_is_assumed(row, name) for row in rows):
        return None
    [value] = known
    return str(value) if name != "metric" or base_metric(value)[1] else resolve(value).label


def _is_assumed(row: Mapping[str, Any], name: str) -> bool:
    why = row["why"].get("data set" if name == "dataset" else name, "not named")
    # The sidecar needs the metric only if it was found elsewhere than in the header.
    return why != "not named" and not (name == "metric" and why.startswith("as printed"))


def _taken(row: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - a text
    if row[name] is None and name in DEFAULTS:
        return row["why"].get(name, "").removesuffix(" by default").split(" by default,")[0]
    return row[name]


def lines_of(table: Table, place: str, facts: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
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
    return {
        find_key(run[0], names[run[0]], texts) if len(run) == 1 else f"{run[0]}-{run[-1]}": dict(
            facts[run[0]]
        )
        for run in runs
    }
