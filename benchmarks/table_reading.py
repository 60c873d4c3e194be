"""How many of the values that are known to be in tables are read right, and whether wrong facts are marked.

tests/unit/tables/test_acceptance.py measures it. A collection is a folder with files/ and truth/*.csv, or with tables/
and published.csv; a row of truth is a value with its file and eight fields; a field is empty where the source does not
state it. Published and read values are paired by the fields that agree: first those that agree in all eight fields,
then in fewer and fewer. Counted are the values of the truth:

right: all eight fields are right. marked: some are wrong, and each of these has another grade than printed. silent: a
wrong field is graded as printed. named: no such value was read, but the account lists its cell. lost: nothing names it.
wrong_ok: a field that decides the index is wrong, and `rescore` adjusted the value as usable. right_ok: none is wrong,
and it did. extra: values that were read and are not in the truth.
"""

import csv
import re
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.base.words import folded, our_word
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.literature.rescore import rescore
from rankadjust.literature.result_files import read_results
from rankadjust.literature.statuses import USABLE
from rankadjust.tables.facts import DEFAULTS, reasons_in
from rankadjust.tables.formats.cell_text import label
from rankadjust.tables.headers import Names, metric_key
from rankadjust.tables.reading import known_names

EVALUATION = ("side", "split", "protocol")
FIELDS = ("dataset", "model", "metric", "value", "unit", *EVALUATION)
PASSES = (
    FIELDS,
    ("dataset", "model", "metric", "value", "split", "side"),
    ("dataset", "model", "metric", "value"),
    ("model", "metric", "value"),
    ("dataset", "metric", "value"),
    ("metric", "value"),
    ("value",),
)
# Printed once for several tables: what the collection of published values adds to a name in square brackets.
_ADDED = re.compile(r"\[[^]]*\]$")
_NUMBER = re.compile(r"\d*\.?\d+(?:[eE][-+]?\d+)?")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plain(name: str | None) -> str | None:
    """Letters and digits of a name, Greek letters by their English names, so that 'ψ' and 'psi' are the same."""
    spelled = "".join(
        unicodedata.name(character).split()[-1] if "GREEK" in unicodedata.name(character, "") else character
        for character in _ADDED.sub("", label(name or ""))
    )
    return folded(spelled) or None


def truth_of(folder: Path, names: Names) -> dict[Path, list[dict[str, Any]]]:
    """Return the known values of each file in the words of the library; a field is None if no source states it."""
    if (folder / "published.csv").exists():
        files = {row["table_id"]: row["file"] for row in rows_of(folder / "tables" / "INDEX.csv")}
        rows = [
            _published(row) | {"file": f"tables/{files[row['table_id']]}"}
            for row in rows_of(folder / "published.csv")
            if row["table_id"] in files
        ]
    else:
        truth = sorted((folder / "truth").glob("*.csv"))
        rows = [row | {"file": f"files/{row['file']}"} for path in truth for row in rows_of(path)]
    known: dict[Path, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        metric = metric_key(row["metric"]) or row["metric"]
        # We call the unit of all that is adjusted but z an index.
        is_index = row["unit"] == "ratio" or metric.endswith("_index")
        value = {
            "dataset": _dataset(row["dataset"], names),
            "model": plain(row["model"]),
            "metric": metric,
            "value": float(row["value"].replace(",", "")),
            "unit": "index" if is_index else row["unit"] or None,
        }
        said = {name: our_word(name, row[name]) or row[name] or None for name in EVALUATION}
        known[folder / row["file"]].append(value | said)
    return known


def _published(row: Mapping[str, str]) -> dict[str, str]:
    """Return a row of the published values as truth has it: what no source states is the usual choice."""
    protocol, candidates = row["protocol"] or DEFAULTS["protocol"], row["candidates"]
    # Of 50 candidates one is the true answer; where a source does not say what it did, nothing is to be read.
    if protocol.startswith("sampled") and candidates.isdigit():
        protocol = f"sampled-{int(candidates) - 1}"
    elif "unknown" in protocol:
        protocol = ""
    elif row["dataset"] == "tgbl-wiki-v2" and candidates == "all":
        protocol = "sampled-999"
    value = re.sub(r"[^-+.,\deE].*", "", row["value_as_printed"])
    usual = {name: row[name] or DEFAULTS[name] for name in ("side", "split")}
    return {**row, **usual, "protocol": protocol, "value": value}


def _dataset(name: str | None, names: Names) -> str | None:
    """Return our name of a data set, or how it is spelled without case and punctuation."""
    return names.get(folded(name or ""), folded(name or "")) or None


def read(
    path: Path, sidecar: Path, names: Names, constants: Constants
) -> tuple[list[dict[str, Any]], list[float]]:
    """Return the values of a file with status and doubtful fields, and the numbers in cells that were not read."""
    try:
        found = read_results(path, constants.registry, sidecar)
    except RankadjustError:
        return [], []
    if found.reading is None:
        return [], []
    statuses = [] if found.rows.is_empty() else rescore(found.rows, constants)["status"].to_list()
    values = [
        {
            "dataset": _dataset(row["dataset"], names),
            "model": plain(row["model"]),
            "metric": row["metric"],
            "value": float(row["value"]),
            "unit": row["unit"],
            **{name: row[name] or DEFAULTS[name] for name in EVALUATION},
            "doubtful": {*reasons_in(row["assumed"])},
            "usable": status in USABLE,
            "place": f"row {row['row']}, column {row['column']}, {row['cell']!r}",
        }
        for row, status in zip(found.rows.iter_rows(named=True), statuses, strict=True)
    ]
    unread = found.reading.cells.drop_nulls("reason")["text"]
    return values, [float(number) for text in unread for number in _NUMBER.findall(text)]


def pairs(
    known: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Yield each known value with the read one that is most like it, None where none is left."""
    known, found = list(known), list(found)
    for fields in PASSES:
        waiting: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
        for value in found:
            waiting[tuple(value[name] for name in fields)].append(value)
        left, taken = [], set()
        for value in known:
            same = waiting[tuple(value[name] for name in fields)]
            if same:
                taken.add(id(same[0]))
                yield value, same.pop(0)
            else:
                left.append(value)
        known, found = left, [value for value in found if id(value) not in taken]
    yield from ((value, None) for value in known)


def measure(folder: Path, sidecars: Path | None) -> Iterator[tuple[str, Counter[str], list[str]]]:
    """Yield each file with its counts and a line for each value that is not right; sidecars: None to read without."""
    names = known_names(load_registry())
    aliases = folder / "aliases_datasets.csv"
    for row in rows_of(aliases) if aliases.exists() else ():
        names.setdefault(folded(row["as_printed"]), _dataset(row["canonical"], names) or "")
    constants = Constants.from_files()
    with tempfile.TemporaryDirectory() as scratch:
        empty = Path(scratch) / "empty.yaml"
        empty.write_text("")
        for path, known in truth_of(folder, names).items():
            sidecar = (sidecars or Path(scratch)) / path.with_suffix(".yaml").name
            found, unread = read(path, sidecar if sidecar.exists() else empty, names, constants)
            counts: Counter[str] = Counter(known=len(known), extra=len(found))
            left, lines = Counter(unread), []
            for value, own in pairs(known, found):
                told = ", ".join(str(value[name]) for name in FIELDS)
                if own is None:
                    outcome = "named" if left[value["value"]] > 0 else "lost"
                    left[value["value"]] -= outcome == "named"
                else:
                    wrong = {name for name in FIELDS if value[name] is not None and value[name] != own[name]}
                    outcome = "right" if not wrong else "marked" if wrong <= own["doubtful"] else "silent"
                    # The model alone decides neither constants nor number.
                    ok = "wrong_ok" if wrong - {"model"} else "right_ok"
                    counts.update({ok: int(own["usable"]), "extra": -1})
                    told = f"{own['place']}: {', '.join(sorted(wrong))}: {told}"
                counts[outcome] += 1
                if outcome != "right":
                    lines.append(f"{path.name}, {outcome}: {told}")
            yield path.name, counts, lines
