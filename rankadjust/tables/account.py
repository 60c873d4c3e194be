"""What was understood of a table, told to people, and as a sidecar to start from."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import yaml

from rankadjust.chance.metrics import resolve
from rankadjust.tables.headers import Facts
from rankadjust.tables.layout import Column, Row, Table
from rankadjust.tables.reading import Reading
from rankadjust.tables.sidecar import Line, find_key
from rankadjust.tables.units import base_metric, is_share

_ASKED = {
    "dataset": "which data set: a name of the registry",
    "model": "which model",
    "split": "training, validation or testing; testing if nothing says so",
    "side": "head, tail or both; both if nothing says so",
    "protocol": "such as filtered, raw or sampled-100; filtered if nothing says so",
}


def describe(reading: Reading) -> str:
    """Return what was understood of a file: each column, each assumption, and each cell that could not be read."""
    lines = [f"{reading.path.name}: {reading.balance}"]
    for table in reading.tables:
        lines += ["", *_described(table, reading.values.filter(pl.col("grid") == table.number))]
    if reading.remarks:
        lines += ["", "assumed and left alone:", *(f"  {remark}" for remark in reading.remarks)]
    if reading.unread.height:
        lines += ["", "not read:", *(f"  {line}" for line in unread_cells(reading))]
    return "\n".join(lines) + "\n"


def unread_cells(reading: Reading) -> list[str]:
    """Return a line for each cell that should hold a value and could not be read: where, its text, why."""
    return [
        f"{_where(cell, reading)}: '{cell['text']}': {cell['reason']}"
        for cell in reading.unread.iter_rows(named=True)
    ]


def _where(cell: Mapping[str, Any], reading: Reading) -> str:
    table = "" if len(reading.tables) == 1 else f"table {cell['grid']}, "
    line = "" if cell["line"] is None else f" (line {cell['line']})"
    return f"{table}row {cell['row']}, column {cell['column']}{line}"


def _described(table: Table, values: pl.DataFrame) -> list[str]:
    rows = [line for line in table.grid.lines if line is not None]
    span = f", lines {rows[0]} to {rows[-1]}" if rows else ""
    lines = [f"table {table.number}{span}: {values.height} values"]
    for column in table.layout.rows[0].columns if table.layout.rows else ():
        own = values.filter(pl.col("column") == column.index + 1)
        what = column.role if not own.height else "; ".join(_summaries(own))
        lines.append(f"  column {column.index + 1} '{column.name}': {what}")
    return lines


def _summaries(values: pl.DataFrame) -> list[str]:
    """Return metric, unit, data set and evaluation of the values of a column, each different combination once."""
    names = ("metric", "unit", "dataset", "split", "side", "protocol")
    return [
        ", ".join(filter(None, row)) for row in values.select(names).unique(maintain_order=True).iter_rows()
    ]


def draft_sidecar(reading: Reading) -> str:
    """Return a sidecar (YAML) that states what was understood; the file reads the same with it.

    What nothing says stands in it as a comment, to be filled in.
    """
    drafts = {
        table.number: _draft(table, reading.values.filter(pl.col("grid") == table.number))
        for table in reading.tables
        if table.layout.metrics
    }
    head = [
        f"# What rankadjust understood of {reading.path.name}. Correct it and read the table again;",
        "# docs/tables.md explains every key.",
    ]
    if len(reading.tables) == 1:
        stated, comments = drafts.get(1, ({}, []))
        return "\n".join([*head, *comments, _yaml(_added(reading.sidecar, stated))])
    stated = {"tables": {number: draft for number, (draft, _) in drafts.items() if draft}}
    comments = [
        f"# table {number}: {line.removeprefix('# ')}"
        for number, (_, lines) in drafts.items()
        for line in lines
    ]
    return "\n".join([*head, *comments, _yaml(_added(reading.sidecar, stated))])


def _added(given: Mapping[Any, Any], found: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return what was given, with what was found where nothing was given."""
    both = [key for key in given if isinstance(given[key], Mapping) and isinstance(found.get(key), Mapping)]
    return {**found, **given, **{key: _added(given[key], found[key]) for key in both}}


def _yaml(stated: Mapping[str, Any]) -> str:
    if not stated:
        return ""
    return yaml.safe_dump(stated, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def _draft(table: Table, values: pl.DataFrame) -> tuple[dict[str, Any], list[str]]:
    stated: dict[str, Any] = {}
    comments = []
    for name, question in _ASKED.items():
        known = values[name].drop_nulls().unique().to_list()
        if values.height and not known:
            comments.append(f"# {name}:  # {question}")
        elif len(known) == 1 and not values[name].null_count() and name != "model":
            stated[name] = known[0]
    metrics = table.layout.metrics
    if metrics == "table":
        stated |= _metric_of(values)
    header = sum(row.kind == "header" and row.block == 0 for row in table.layout.rows)
    if header > 1:
        stated["header_rows"] = header
    lines = {
        "columns": _columns(table, values, stated),
        "rows": _rows(table, values) if metrics == "rows" else {},
    }
    return stated | {key: value for key, value in lines.items() if value}, comments


def _columns(table: Table, values: pl.DataFrame, stated: Mapping[str, Any]) -> dict[Any, Any]:
    blocks = {row.block for row in table.layout.rows}
    if len(blocks) > 1:
        # A column means something else under each header of such a table.
        return {}
    columns = table.layout.rows[0].columns
    keys: dict[Any, Any] = {}
    for column in columns:
        own = values.filter(pl.col("column") == column.index + 1)
        if column.line != Line():
            continue
        key = find_key(column.index + 1, column.name, [[*other.header, other.name] for other in columns])
        if column.role != "value":
            keys[key] = column.role
        elif table.layout.metrics == "columns" and own.height:
            parts = [_part_of(column, part, own, stated) for part in column.parts]
            if all(parts):
                keys[key] = parts[0] if len(parts) == 1 else parts
    return keys


def _part_of(column: Column, part: Facts, values: pl.DataFrame, stated: Mapping[str, Any]) -> dict[str, Any]:
    metric = next((own.metric for own in column.line.parts if own.metric), None) or part.metric
    own = values.filter(pl.col("metric") == metric) if metric else values
    facts = _metric_of(own)
    for name in ("dataset", "split", "side", "protocol", "candidates"):
        printed = getattr(part, name)
        if printed is not None and name not in stated and part.rest is None:
            facts[name] = int(printed) if name == "candidates" else printed
    return facts


def _metric_of(values: pl.DataFrame) -> dict[str, Any]:
    keys = values["metric"].unique().to_list()
    if len(keys) != 1:
        return {}
    units = values["unit"].unique().to_list()
    facts = {"metric": keys[0] if base_metric(keys[0])[1] else resolve(keys[0]).label}
    return facts | ({"unit": units[0]} if len(units) == 1 and is_share(keys[0]) else {})


def _rows(table: Table, values: pl.DataFrame) -> dict[Any, Any]:
    rows = [row for row in table.layout.rows if row.kind in ("values", "other")]
    labels = [list(row.labels.values()) for row in rows]
    keys: dict[Any, Any] = {}
    for row in (row for row in rows if row.line == Line()):
        own = values.filter(pl.col("row") == row.index + 1)
        key = find_key(row.index + 1, _label_of(row), labels)
        facts = _metric_of(own) if own.height else {}
        if row.kind == "other":
            keys[key] = "other"
        elif facts and len(row.parts) == 1:
            keys[key] = facts
    return keys


def _label_of(row: Row) -> str:
    return next((text for text in row.labels.values() if text), "")
