"""Sidecars: what a YAML file beside a table states about it (workflow/schemas/sidecar.schema.yaml)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.schemas import line_of, read_yaml, validate
from rankadjust.tables.cells import label
from rankadjust.tables.headers import Facts, Names, find_dataset, metric_key

_FACTS = ("dataset", "model", "metric", "split", "side", "protocol", "candidates", "unit", "notes")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# YAML reads these words as true and false; a table means the words.
_BOOLEANS = {True: {"yes", "true", "on", "y"}, False: {"no", "false", "off", "n"}}


Keys = Sequence[str | int]
"""The keys that lead to a place in the file, for messages."""


@dataclass(frozen=True)
class Line:
    """What is stated about a column or row: its role, facts (one for each value of a cell), words to replace."""

    role: str | None = None
    parts: tuple[Facts, ...] = ()
    words: Mapping[Any, str] = field(default_factory=dict)

    def word(self, text: str) -> str:
        """Return what to put for a cell's text."""
        plain = label(text)
        for key, replacement in self.words.items():
            spellings = _BOOLEANS[key] if isinstance(key, bool) else {str(key).casefold()}
            if plain.casefold() in spellings:
                return replacement
        return plain


@dataclass(frozen=True)
class Stated:
    """What a sidecar states about one table; `used` collects the keys of rows and columns that were found."""

    facts: Facts = field(default_factory=Facts)
    about: Mapping[str, str] = field(default_factory=dict)
    header_rows: int | None = None
    columns: Mapping[Any, Line] = field(default_factory=dict)
    rows: Mapping[Any, Line] = field(default_factory=dict)
    used: set[tuple[str, Any]] = field(default_factory=set)

    def column(self, number: int, texts: Iterable[str]) -> Line:
        """Return what is stated about a column, by its number (from 1) or one of its header texts."""
        return self._find("columns", self.columns, number, texts)

    def row(self, number: int, texts: Iterable[str]) -> Line:
        """Return what is stated about a row, by its number (from 1, the header included) or one of its labels."""
        return self._find("rows", self.rows, number, texts)

    def _find(self, kind: str, lines: Mapping[Any, Line], number: int, texts: Iterable[str]) -> Line:
        known = {_plain(text) for text in texts}
        for key, line in lines.items():
            if (
                key == number
                if isinstance(key, int) and not isinstance(key, bool)
                else _plain(str(key)) in known
            ):
                self.used.add((kind, key))
                return line
        return Line()


def _plain(text: str) -> str:
    return label(text).casefold()


def load_sidecar(path: str | Path) -> Mapping[str, Any]:
    """Read and check a sidecar; a mistake is a RankadjustError with file, line and key."""
    data = read_yaml(path) or {}
    validate(data, "sidecar", path)
    return dict(data)


def sidecar_of(path: str | Path) -> Path | None:
    """Return the sidecar that stands beside a table: the same name with the suffix .yaml or .yml."""
    for suffix in (".yaml", ".yml"):
        beside = Path(path).with_suffix(suffix)
        if beside.is_file():
            return beside
    return None


def stated_about(data: Mapping[str, Any], table: int, names: Names, path: str | Path) -> Stated:
    """Return what a sidecar states about the table with this number; what stands under `tables` wins.

    Raises RankadjustError for a metric that is not known.
    """
    own = _own(data, table)
    merged = {**{key: value for key, value in data.items() if key != "tables"}, **own}
    for lines in ("columns", "rows"):
        merged[lines] = {**data.get(lines, {}), **own.get(lines, {})}
    return Stated(
        facts=_facts(merged, names, path),
        about={key: str(merged[key]) for key in ("source", "source_url", "year") if key in merged},
        header_rows=merged.get("header_rows"),
        columns={
            key: _line(value, names, path, ["columns", key]) for key, value in merged["columns"].items()
        },
        rows={key: _line(value, names, path, ["rows", key]) for key, value in merged["rows"].items()},
    )


def _own(data: Mapping[str, Any], table: int) -> Mapping[str, Any]:
    for key, value in data.get("tables", {}).items():
        if str(key) == str(table):
            return dict(value)
    return {}


def _line(value: Any, names: Names, path: str | Path, keys: Keys) -> Line:  # noqa: ANN401 - a node of YAML
    if isinstance(value, str):
        return Line(role=value)
    if isinstance(value, Sequence):
        parts = enumerate(value)
        return Line(parts=tuple(_facts(part, names, path, [*keys, index]) for index, part in parts))
    facts = _facts(value, names, path, keys)
    return Line(value.get("role"), (facts,) if facts != Facts() else (), value.get("words", {}))


def _facts(value: Mapping[str, Any], names: Names, path: str | Path, keys: Keys = ()) -> Facts:
    found = {key: str(value[key]) for key in _FACTS if key in value}
    if "metric" in found:
        key = metric_key(found["metric"])
        if key is None:
            line = line_of(path, [*keys, "metric"])
            raise RankadjustError(
                f"{path}{f':{line}' if line else ''}: metric '{found['metric']}' is not known; write for example MRR"
            )
        found["metric"] = key
    if "dataset" in found and not is_pattern(found["dataset"]):
        found["dataset"] = find_dataset(found["dataset"], names) or found["dataset"]
    return Facts(**found)


def require_used(path: str | Path, data: Mapping[str, Any], stated: Sequence[Stated]) -> None:
    """Raise a RankadjustError where a key of `columns`, `rows` or `tables` names nothing in the file."""
    for key in data.get("tables", {}):
        if str(key) not in map(str, range(1, len(stated) + 1)):
            line = line_of(path, ["tables", key])
            raise RankadjustError(
                f"{path}{f':{line}' if line else ''}: tables: the file has no table {key}; it has {len(stated)}"
            )
    used = {key for table in stated for key in table.used}
    for kind in ("columns", "rows"):
        for table in stated:
            for key in getattr(table, kind):
                if (kind, key) not in used:
                    line = line_of(path, [kind, key])
                    raise RankadjustError(
                        f"{path}{f':{line}' if line else ''}: {kind}: no table has the {kind[:-1]} {key!r}; "
                        "write its text as printed, or its number"
                    )


def find_key(number: int, text: str, texts: Sequence[Sequence[str]]) -> str | int:
    """Return the key under which to state something: the text if it means one line of all, else the line's number."""
    matches = sum(_plain(text) in map(_plain, own) for own in texts)
    return text if text and matches == 1 else number


def is_pattern(text: str | None) -> bool:
    """Tell whether a stated name has places to fill."""
    return text is not None and _PLACEHOLDER.search(text) is not None


def fill(pattern: str, places: Mapping[str, str], path: str | Path) -> str:
    """Return a pattern with its places filled; RankadjustError for a place that the table does not have."""

    def text_of(match: re.Match[str]) -> str:
        for name, text in places.items():
            if _plain(name) == _plain(match[1]):
                return text
        hint = did_you_mean(match[1], places) or f"; there are {', '.join(filter(None, places))}"
        raise RankadjustError(
            f"{path}: the pattern '{pattern}' names {{{match[1]}}}, which is no column{hint}"
        )

    return " ".join(_PLACEHOLDER.sub(text_of, pattern).split())
