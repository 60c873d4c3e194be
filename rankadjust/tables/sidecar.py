"""Sidecars: what a YAML file beside a table states about it (workflow/schemas/sidecar.schema.yaml)."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.schemas import line_of, read_yaml, validate
from rankadjust.base.words import our_word, shipped_mapping
from rankadjust.tables.cells import label
from rankadjust.tables.tokens import FIELDS, Facts, Names, find_dataset, metric_key

_FACTS = (*FIELDS, "notes")
_BRACES = re.compile(r"\{([^{}]*)\}")
# Columns or rows from the first to the last, by number.
_RANGE = re.compile(r"(\d{1,7})\s*[-–]\s*(\d{1,7})")
# YAML reads these words as true and false; a table means the words.
_BOOLEANS = {True: {"yes", "true", "on", "y"}, False: {"no", "false", "off", "n"}}


Keys = Sequence[str | int]
"""The keys that lead to a node of the file, for messages."""


@dataclass(frozen=True)
class Line:
    """What is stated about a column or row: its role, facts, words to replace.

    key: the key under which it is stated, None where nothing is.
    """

    role: str | None = None
    facts: Facts = field(default_factory=Facts)
    words: Mapping[Any, str] = field(default_factory=dict)
    key: Any = None

    def word(self, text: str) -> str:
        """Return what to put for a cell's text."""
        plain = label(text)
        for key, replacement in self.words.items():
            spellings = _BOOLEANS[key] if isinstance(key, bool) else {str(key).casefold()}
            if plain.casefold() in spellings:
                return replacement
        return plain


NO_LINE = Line()
"""Nothing is stated."""


@dataclass(frozen=True)
class Stated:
    """What a sidecar states about one table: facts of all its values, and lines by their keys."""

    facts: Facts = field(default_factory=Facts)
    about: Mapping[str, str] = field(default_factory=dict)
    header_rows: int | None = None
    columns: Mapping[Any, Line] = field(default_factory=dict)
    rows: Mapping[Any, Line] = field(default_factory=dict)

    def column(self, number: int, texts: Iterable[str]) -> Line:
        """Return what is stated about a column, by its number (from 1) or one of its header texts."""
        return _find(self.columns, number, texts)

    def row(self, number: int, texts: Iterable[str]) -> Line:
        """Return what is stated about a row, by its number (from 1, the header included) or one of its labels."""
        return _find(self.rows, number, texts)


def _find(lines: Mapping[Any, Line], number: int, texts: Iterable[str]) -> Line:
    """Return the line under the number or a text of it; one that is in no other key may be within a range, '3-10'."""
    known = set(map(_plain, texts)) if lines else set()
    for key, line in lines.items():
        is_number = isinstance(key, int) and not isinstance(key, bool)
        if key == number if is_number else _plain(str(key)) in known:
            return line
    return next((line for key, line in lines.items() if _is_within(number, key)), NO_LINE)


def _is_within(number: int, key: Any) -> bool:  # noqa: ANN401 - a key of YAML
    ends = _RANGE.fullmatch(key) if isinstance(key, str) else None
    return ends is not None and int(ends[1]) <= number <= int(ends[2])


def _plain(text: str) -> str:
    return label(text).casefold()


def load_sidecar(path: str | Path) -> Mapping[str, Any]:
    """Read and check a sidecar; a mistake is a RankadjustError with file, line and key."""
    data = read_yaml(path) or {}
    validate(data, "sidecar", path)
    return dict(data)


def sidecar_of(path: str | Path) -> Path | None:
    """Return the sidecar that stands beside a table: the same name with the suffix .yaml or .yml.

    That of a file which is YAML itself ends in .sidecar.yaml or .sidecar.yml.
    """
    # The folder of work ("." or "") has no name of which to make another.
    if not Path(path).name:
        return None
    usual = usual_sidecar(path)
    return next((beside for beside in (usual, usual.with_suffix(".yml")) if beside.is_file()), None)


def usual_sidecar(path: str | Path) -> Path:
    """Return where the sidecar of a table belongs, whether there is one or not."""
    kind = ".sidecar" if Path(path).suffix in (".yaml", ".yml") else ""
    return Path(path).with_suffix(f"{kind}.yaml")


def stated_about(
    data: Mapping[str, Any], table: int, names: Names, path: str | Path, texts: Iterable[str] = ()
) -> Stated:
    """Return what a sidecar states about the table with this number and these texts above it.

    What stands under `tables` wins, under its number before under a text. Raises RankadjustError for a metric that is
    not known.
    """
    parts = data.get("tables", {})
    keys = [key for key in parts if means_table(key, table, texts)]
    merged = {key: value for key, value in data.items() if key != "tables"}
    # A number is of one table, a heading of all tables below it.
    for own in (parts[key] for key in sorted(keys, key=lambda key: str(key) == str(table))):
        merged |= {
            key: {**merged.get(key, {}), **value} if key in ("columns", "rows") else value
            for key, value in own.items()
        }
    for lines in ("columns", "rows"):
        merged.setdefault(lines, {})
    return Stated(
        facts=_facts(merged, names, path),
        about={key: str(merged[key]) for key in ("source", "source_url", "year") if key in merged},
        header_rows=merged.get("header_rows"),
        columns=_lines("columns", merged, names, path),
        rows=_lines("rows", merged, names, path),
    )


def means_table(key: Any, table: int, texts: Iterable[str]) -> bool:  # noqa: ANN401 - a key of YAML
    """Tell whether a key under `tables` is the number of a table or one of the texts above it."""
    return str(key) == str(table) or _plain(str(key)) in map(_plain, texts)


def _lines(kind: str, data: Mapping[str, Any], names: Names, path: str | Path) -> dict[Any, Line]:
    return {key: _line(key, value, names, path, kind) for key, value in data[kind].items()}


def _line(key: Any, value: Any, names: Names, path: str | Path, kind: str) -> Line:  # noqa: ANN401 - nodes of YAML
    if isinstance(value, str):
        return Line(role=value, key=key)
    return Line(value.get("role"), _facts(value, names, path, [kind, key]), value.get("words", {}), key)


def _facts(value: Mapping[str, Any], names: Names, path: str | Path, keys: Keys = ()) -> Facts:
    found: dict[str, Any] = {key: str(value[key]) for key in _FACTS if key in value}
    if "metric" in found:
        key = metric_key(found["metric"])
        if key is None:
            where = _where(path, [*keys, "metric"])
            raise RankadjustError(f"{where}: metric '{found['metric']}' is not known; write for example MRR")
        found["metric"] = key
    for name in {"split", "task"} & found.keys():
        ours = our_word(name, found[name])
        # Other sets and tasks than ours have names, too; a slip of the pen is none.
        if ours is None and (hint := did_you_mean(found[name], shipped_mapping()["words"][name])):
            raise RankadjustError(f"{_where(path, [*keys, name])}: unknown {name} '{found[name]}'{hint}")
        found[name] = (ours if name == "task" else None) or found[name]
    if "dataset" in found and not is_pattern(found["dataset"]):
        found["dataset"] = find_dataset(found["dataset"], names) or found["dataset"]
    return Facts(**found)


def require_found(
    path: str | Path,
    data: Mapping[str, Any],
    stated: Sequence[Stated],
    found: Set[tuple[str, Any]],
    texts: Sequence[Sequence[str]],
) -> None:
    """Raise a RankadjustError where a key of `columns`, `rows` or `tables` names nothing in the file.

    stated: what the sidecar states about each table. found: kind and key of the lines that a table has. texts: those
    above each table.
    """
    for key in data.get("tables", {}):
        if not any(means_table(key, number, above) for number, above in enumerate(texts, start=1)):
            where = _where(path, ["tables", key])
            known = list(dict.fromkeys(text for above in texts for text in above))
            hint = did_you_mean(str(key), known) if isinstance(key, str) and not key.isdigit() else ""
            raise RankadjustError(
                f"{where}: tables: the file has no table {key}; it has {len(stated)}{hint or ''}"
            )
    asked = ((kind, key) for kind in ("columns", "rows") for table in stated for key in getattr(table, kind))
    for kind, key in asked:
        if (kind, key) not in found:
            raise RankadjustError(
                f"{_where(path, [kind, key])}: {kind}: no table has the {kind[:-1]} {key!r}; "
                "write its text as printed, or its number"
            )


def _where(path: str | Path, keys: Keys) -> str:
    line = line_of(path, list(keys))
    return f"{path}:{line}" if line else f"{path}"


def find_key(number: int, text: str, texts: Sequence[Sequence[str]]) -> str | int:
    """Return the key under which to state something: the text if it means one line of all, else the line's number."""
    matches = sum(_plain(text) in map(_plain, own) for own in texts)
    return text if text and matches == 1 else number


def is_pattern(text: str | None) -> bool:
    """Tell whether a stated name has braces to fill."""
    return text is not None and _BRACES.search(text) is not None


def fill(pattern: str, texts: Mapping[str, str], path: str | Path) -> str:
    """Return a pattern with the text for each name in braces; RankadjustError for a name that has none."""

    def text_of(match: re.Match[str]) -> str:
        for name, text in texts.items():
            if _plain(name) == _plain(match[1]):
                return text
        hint = did_you_mean(match[1], texts) or f"; there are {', '.join(filter(None, texts))}"
        raise RankadjustError(
            f"{path}: the pattern '{pattern}' names {{{match[1]}}}, which is no column{hint}"
        )

    return " ".join(_BRACES.sub(text_of, pattern).split())
