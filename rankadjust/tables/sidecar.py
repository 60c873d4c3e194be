"""Read sidecars: YAML files beside a table that state facts about it (workflow/schemas/sidecar.schema.yaml)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.schemas import line_of, read_yaml, validate
from rankadjust.base.vocabulary import PRINTED_SPLITS, SIDES
from rankadjust.base.words import our_word, shipped_mapping
from rankadjust.counting.evaluators import evaluator_named, protocol_or_evaluator
from rankadjust.tables.facts import FIELDS, GIVEN, NOTHING, Facts, name_of
from rankadjust.tables.formats.cell_text import label
from rankadjust.tables.headers import Names, find_dataset, metric_key

_BRACES = re.compile(r"\{([^{}]*)\}")
# A range of columns or rows, by number: '3-10'.
_RANGE = re.compile(r"(\d{1,7})\s*[-–]\s*(\d{1,7})")
# YAML reads these words as true and false, but a table means the words.
_BOOLEANS = {True: {"yes", "true", "on", "y"}, False: {"no", "false", "off", "n"}}


@dataclass(frozen=True)
class Line:
    """The statements of a sidecar about one column or row: its role, its facts, words to replace.

    key: the key of these statements in the sidecar; None where the sidecar has no such key. about: the
    year of its results.
    """

    role: str | None = None
    facts: Facts = NOTHING
    words: Mapping[Any, str] = field(default_factory=dict)
    key: Any = None
    about: Mapping[str, str] = field(default_factory=dict)

    def word(self, text: str) -> str:
        """Return the replacement of a cell's text, or the plain text if none is stated."""
        plain = label(text)
        for key, replacement in self.words.items():
            if plain.casefold() in (_BOOLEANS[key] if isinstance(key, bool) else {str(key).casefold()}):
                return replacement
        return plain


NO_LINE = Line()
"""A line without statements."""


@dataclass(frozen=True)
class Stated:
    """The statements of a sidecar about one table: facts of all its values, and its lines by their keys."""

    facts: Facts = NOTHING
    about: Mapping[str, str] = field(default_factory=dict)
    header_rows: int | None = None
    columns: Mapping[Any, Line] = field(default_factory=dict)
    rows: Mapping[Any, Line] = field(default_factory=dict)


def line_about(lines: Mapping[Any, Line], number: int, texts: Iterable[str]) -> Line:
    """Return the line with this number (from 1) or one of these texts as key; else that of a range such as '3-10'."""
    known = set(map(_plain, texts)) if lines else set()
    for key, line in lines.items():
        is_number = isinstance(key, int) and not isinstance(key, bool)
        if key == number if is_number else _plain(str(key)) in known:
            return line
    ranges = ((_RANGE.fullmatch(key), line) for key, line in lines.items() if isinstance(key, str))
    return next((line for ends, line in ranges if ends and int(ends[1]) <= number <= int(ends[2])), NO_LINE)


def _plain(text: str) -> str:
    return label(text).casefold()


def load_sidecar(path: str | Path) -> Mapping[str, Any]:
    """Return a sidecar as it is written; a mistake raises a RankadjustError with file, line and key."""
    data = read_yaml(path) or {}
    validate(data, "sidecar", path)
    return dict(data)


def sidecar_of(path: str | Path) -> Path | None:
    """Return the sidecar beside a table, if there is one: the same name with the suffix .yaml or .yml.

    If the table itself is YAML, its sidecar ends in .sidecar.yaml or .sidecar.yml.
    """
    usual = usual_sidecar(path)
    return next((beside for beside in (usual, usual.with_suffix(".yml")) if beside.is_file()), None)


def usual_sidecar(path: str | Path) -> Path:
    """Return the path where the sidecar of a table belongs, whether the file exists or not."""
    path = Path(path)
    return path.parent / f"{path.stem}{'.sidecar' if path.suffix in ('.yaml', '.yml') else ''}.yaml"


def stated_about(
    data: Mapping[str, Any], table: int, names: Names, path: str | Path, texts: Iterable[str] = ()
) -> Stated:
    """Return the statements of a sidecar about the table with this number and these texts above it.

    A statement under `tables` wins over a statement about the whole file; the table's number wins over a text above it,
    for a heading means all tables below it. Raises RankadjustError for an unknown metric.
    """
    parts = data.get("tables", {})
    keys = [key for key in parts if _means_table(key, table, texts)]
    merged: dict[str, Any] = {"columns": {}, "rows": {}} | {k: v for k, v in data.items() if k != "tables"}
    for own in (parts[key] for key in sorted(keys, key=lambda key: str(key) == str(table))):
        lines = {kind: {**merged[kind], **own[kind]} for kind in ("columns", "rows") if kind in own}
        merged |= own | lines
    columns, rows = (
        {key: _line(kind, key, value, names, path) for key, value in merged[kind].items()}
        for kind in ("columns", "rows")
    )
    about = {key: str(merged[key]) for key in {"source", "source_url", "year"} & merged.keys()}
    return Stated(_facts(merged, names, path), about, merged.get("header_rows"), columns, rows)


def _means_table(key: Any, table: int, texts: Iterable[str]) -> bool:  # noqa: ANN401 - a key of YAML
    return str(key) == str(table) or _plain(str(key)) in map(_plain, texts)


def _line(kind: str, key: Any, value: Any, names: Names, path: str | Path) -> Line:  # noqa: ANN401 - nodes of YAML
    said: Mapping[str, Any] = {"role": value} if isinstance(value, str) else value
    about = {"year": str(said["year"])} if "year" in said else {}
    return Line(said.get("role"), _facts(said, names, path, [kind, key]), said.get("words", {}), key, about)


def _facts(value: Mapping[str, Any], names: Names, path: str | Path, keys: Sequence[str | int] = ()) -> Facts:
    facts: dict[str, str] = {key: str(value[key]) for key in FIELDS if key in value}
    if "evaluator" in value:
        # It stands for the protocol of each data set.
        facts["protocol"] = evaluator_named(str(value["evaluator"]))
    if "metric" in facts:
        key = metric_key(facts["metric"])
        if key is None:
            where = _where(path, [*keys, "metric"])
            raise RankadjustError(f"{where}: metric '{facts['metric']}' is not known; write for example MRR")
        facts["metric"] = key
    for name in {"split", "task"} & facts.keys():
        ours = our_word(name, facts[name])
        # A split or task missing in our words may have any name, but a near miss is a typing error.
        if ours is None and (hint := did_you_mean(facts[name], shipped_mapping()["words"][name])):
            raise RankadjustError(f"{_where(path, [*keys, name])}: unknown {name} '{facts[name]}'{hint}")
        facts[name] = (ours if name == "task" else None) or facts[name]
    if "dataset" in facts:
        facts["dataset"] = find_dataset(facts["dataset"], names) or facts["dataset"]
    stated = Facts.of(GIVEN, **facts)
    return replace(stated, notes=str(value["notes"])) if "notes" in value else stated


def given_facts(given: Mapping[str, str | None], names: Names) -> dict[str, str]:
    """Return the given facts (name -> value, None if not given) in our words; names: the known data sets.

    Raises RankadjustError for an unknown data set, split, side or protocol.
    """
    facts = {name: our_word(name, text) or text for name, text in given.items() if text is not None}
    if "protocol" in facts:
        facts["protocol"] = protocol_or_evaluator(facts["protocol"])
    if "dataset" in facts:
        facts["dataset"] = find_dataset(facts["dataset"], names) or facts["dataset"]
    for name, known in (("split", PRINTED_SPLITS), ("side", SIDES), ("dataset", list(names.values()))):
        if name in facts and facts[name] not in known:
            words = [*known, *shipped_mapping()["words"].get(name, ())]
            allowed = (
                "'rankadjust datasets' lists them" if name == "dataset" else f"allowed are {', '.join(known)}"
            )
            hint = did_you_mean(facts[name], words) or f"; {allowed}"
            raise RankadjustError(f"--{name}: unknown {name_of(name)} '{facts[name]}'{hint}")
    return facts


def require_found(path: str | Path, data: Mapping[str, Any], tables: Sequence[Any]) -> None:
    """Raise a RankadjustError for a key of `columns`, `rows` or `tables` that fits nothing in the file."""
    texts = [table.grid.context for table in tables]
    for key in data.get("tables", {}):
        if not any(_means_table(key, number, above) for number, above in enumerate(texts, start=1)):
            hint = "" if str(key).isdigit() else did_you_mean(str(key), list(dict.fromkeys(chain(*texts))))
            said = f"tables: the file has no table {key}; it has {len(tables)}{hint or ''}"
            raise RankadjustError(f"{_where(path, ['tables', key])}: {said}")
    for kind in ("columns", "rows"):
        used = {line.line.key for table in tables for line in getattr(table, kind)}
        for key in (key for table in tables for key in getattr(table.stated, kind) if key not in used):
            said = f"{kind}: no table has the {kind[:-1]} {key!r}; write its text as printed, or its number"
            raise RankadjustError(f"{_where(path, [kind, key])}: {said}")


def _where(path: str | Path, keys: Sequence[str | int]) -> str:
    line = line_of(path, list(keys))
    return f"{path}:{line}" if line else f"{path}"


def fill(pattern: str, texts: Mapping[str, str], path: str | Path) -> str:
    """Return a pattern with the text for each name in braces; an unknown name raises a RankadjustError."""
    plain = {_plain(name): text for name, text in reversed(list(texts.items()))}

    def text_of(match: re.Match[str]) -> str:
        if _plain(match[1]) in plain:
            return plain[_plain(match[1])]
        hint = did_you_mean(match[1], texts) or f"; there are {', '.join(filter(None, texts))}"
        said = f"the pattern '{pattern}' names {{{match[1]}}}, which is not a column{hint}"
        raise RankadjustError(f"{path}: {said}")

    return " ".join(_BRACES.sub(text_of, pattern).split())
