"""Read result files of tools into grids: JSON, JSON lines and YAML of PyKEEN, LibKGE, wandb, MLflow and others.

Nested keys become paths (metrics.both.realistic.hits_at_10). Each record becomes a row, and each path a column: one
record makes a table of one row, a list of records, or a file with a record on each line, a table of several.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import yaml

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.formats.grid import MAX_COLUMNS, Grid, make_grid

# Former traces of LibKGE list Hits@1, Hits@2, … up to the largest k under one key; only these k are kept.
_LISTED_HITS = re.compile(r"(.*\bhits_at_)k((?:_[a-z]+)*)")
_KEPT = (1, 3, 5, 10, 20, 50, 100)


def json_grids(text: str) -> list[Grid]:
    """Return the records of a JSON text, or of a text with one record on each line, as tables."""
    return _read(text, load_json, "JSON")


def yaml_grids(text: str) -> list[Grid]:
    """Return the records of a YAML text as tables; in LibKGE's trace, each line is a record."""
    return _read(text, _load_yaml, "YAML")


def _read(text: str, load: Callable[[str], Any], name: str) -> list[Grid]:
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    # A JSON text of one line is a file of its own, a YAML text of one line in braces a short trace.
    is_listed = len(lines) > (name == "JSON") and all(line.startswith("{") for _, line in lines)
    loaded = []
    for first, part in lines if is_listed else [(1, text)]:
        try:
            loaded.append(load(part))
        except (json.JSONDecodeError, yaml.YAMLError) as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else getattr(error, "lineno", 0)
            where = f"line {first + line - 1}: " if line else ""
            said = getattr(error, "msg", None) or getattr(error, "problem", error)
            raise RankadjustError(f"{where}not valid {name} ({said})") from None
    return _records(loaded, [number for number, _ in lines]) if is_listed else _grids(loaded[0])


def load_json(text: str) -> Any:  # noqa: ANN401 - any data
    """Return JSON with its numbers as they are written: 0.350 has three digits."""
    return json.loads(text, parse_float=str, parse_int=str)


def _load_yaml(text: str) -> Any:  # noqa: ANN401 - any data
    return yaml.load(text, getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def _grids(data: Any) -> list[Grid]:  # noqa: ANN401 - any data
    """Return the tables of some data: its own record, and each list of records under one of its keys."""
    if isinstance(data, list):
        return _records(data)
    if not isinstance(data, Mapping):
        return []
    if card := list(_of_card(data)):
        return _records(card)
    own = {key: value for key, value in data.items() if not _listed(data, key)}
    parts: list[Sequence[Any]] = [[own], *(_listed(data, key) for key in data)]
    return [grid for part in parts for grid in _records(part)]


def _of_card(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the results in a model card of Hugging Face: model-index, results, dataset, metrics with type and value."""
    for model in _listed(data, "model-index"):
        for result in _listed(model, "results"):
            dataset = result.get("dataset")
            named = dataset if isinstance(dataset, Mapping) else {"name": dataset}
            about = {"model": model.get("name"), "dataset": named.get("name"), "split": named.get("split")}
            for metric in _listed(result, "metrics"):
                yield about | {"metric": metric.get("type"), "value": metric.get("value")}


def _listed(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the records that are listed under a key, empty if anything else is."""
    entries = data.get(key)
    is_list = isinstance(entries, list) and all(isinstance(entry, Mapping) for entry in entries)
    return entries if is_list and entries else []


def _records(records: Sequence[Any], lines: Sequence[int] = ()) -> list[Grid]:
    """Return a list of records as one table; other entries of the list are left out."""
    numbers: Sequence[int | None] = lines or [None] * len(records)
    # One path more than a table's most columns is enough to refuse it; aliases of YAML may make billions of paths.
    flat = [
        (dict(islice(paths_of(entry), MAX_COLUMNS + 1)), line)
        for entry, line in zip(records, numbers, strict=True)
        if isinstance(entry, Mapping)
    ]
    columns = list(dict.fromkeys(path for record, _ in flat for path in record))
    if not columns:
        return []
    rows = [columns, *([record.get(path, "") for path in columns] for record, _ in flat)]
    # JSON can spell half characters (lone surrogates), which no file can hold.
    rows = [[cell.encode("utf-8", "replace").decode() for cell in row] for row in rows]
    return [make_grid(rows, header_rows=1, lines=[flat[0][1], *(line for _, line in flat)])]


def paths_of(data: Any, above: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any data
    """Yield path and text of every value of a record; lists, such as losses by epoch, are left out."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from paths_of(value, f"{above}.{key}" if above else str(key))
    elif not isinstance(data, list):
        yield above, "" if data is None else str(data)
    elif listed := _LISTED_HITS.fullmatch(above):
        yield from ((f"{listed[1]}{k}{listed[2]}", str(data[k - 1])) for k in _KEPT if k <= len(data))
