"""Which facts of printed values are read without help, and whether wrong facts are marked.

tests/unit/tables/test_acceptance.py measures it, in half a minute of one core. A corpus is a folder with files/ and
truth/*.csv; a row of truth is a value with its file and eight fields; a field is empty where the source does not state
it. Counted are the values of the truth:

right: all eight fields are right. marked: some are wrong, and each of these has another grade than printed. silent: a
wrong field is graded as printed. named: no such value was read, but an unread cell holds it. lost: nothing names it.
wrong_ok: a field that decides the index is wrong, and `rescore` adjusted the value as usable. right_ok: none is wrong,
and it did. extra: values that were read and are not in the truth.
"""

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.table_reading import FIELDS, pairs, plain, rows_of
from rankadjust.base.errors import RankadjustError
from rankadjust.base.words import folded, our_word
from rankadjust.data.registry import load_registry
from rankadjust.database.constants import Constants
from rankadjust.literature.rescore import rescore
from rankadjust.literature.result_files import read_results
from rankadjust.literature.statuses import USABLE
from rankadjust.tables.facts import DEFAULTS, reasons_in
from rankadjust.tables.headers import Names, metric_key
from rankadjust.tables.reading import known_names

COUNTS = ("known", "right", "marked", "silent", "named", "lost", "right_ok", "wrong_ok", "extra")
# The fields that decide which constants a value is adjusted with, and which number it is.
DECISIVE = ("dataset", "metric", "value", "unit", "side", "split", "protocol")
_NUMBER = re.compile(r"\d*\.?\d+(?:[eE][-+]?\d+)?")


def truth_of(corpus: Path, names: Names) -> dict[str, list[dict[str, Any]]]:
    """Return the known values of each file in the words of the library; a field is None if no source states it."""
    known: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted((corpus / "truth").glob("*.csv")):
        for row in rows_of(path):
            known[row["file"]].append(_known(row, names))
    return known


def _known(row: Mapping[str, str], names: Names) -> dict[str, Any]:
    said = {name: our_word(name, row[name]) or row[name] or None for name in ("split", "side", "protocol")}
    metric = metric_key(row["metric"]) or row["metric"]
    return {
        "dataset": dataset(row["dataset"], names),
        "model": plain(row["model"]) or None,
        "metric": metric,
        "value": float(row["value"].replace(",", "")),
        # We call the unit of all that is adjusted but z an index.
        "unit": "index" if row["unit"] == "ratio" else row["unit"] or None,
        **said,
    }


def dataset(name: str | None, names: Names) -> str | None:
    """Return our name of a data set, or how it is spelled without case and punctuation."""
    return names.get(folded(name or ""), folded(name or "")) or None


def read(
    path: Path, sidecar: Path, names: Names, constants: Constants
) -> tuple[list[dict[str, Any]], list[float]]:
    """Return the values of a file with status and doubtful fields, and the numbers in its unread cells."""
    try:
        found = read_results(path, constants.registry, sidecar)
    except RankadjustError:
        return [], []
    if found.reading is None:
        return [], []
    statuses = [] if found.rows.is_empty() else rescore(found.rows, constants)["status"].to_list()
    values = [
        _read(row, status, names)
        for row, status in zip(found.rows.iter_rows(named=True), statuses, strict=True)
    ]
    unread = [float(number) for text in found.reading.unread["text"] for number in _NUMBER.findall(text)]
    return values, unread


def _read(row: Mapping[str, Any], status: str, names: Names) -> dict[str, Any]:
    return {
        "dataset": dataset(row["dataset"], names),
        "model": plain(row["model"]) or None,
        "metric": row["metric"],
        "value": float(row["value"]),
        "unit": row["unit"],
        **{name: row[name] or DEFAULTS[name] for name in ("split", "side", "protocol")},
        "doubtful": {*reasons_in(row["assumed"])},
        "status": status,
        "place": f"row {row['row']}, column {row['column']}, {row['cell']!r}",
    }


def outcomes(
    known: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]], unread: Sequence[float]
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any] | None, list[str]]]:
    """Yield what became of each known value: outcome, the value, what was read of it, and its wrong fields."""
    matched = list(pairs(known, found))
    for value, own in matched:
        wrong = [name for name in FIELDS if value[name] is not None and value[name] != own[name]]
        silent = not own["doubtful"].issuperset(wrong)
        yield "right" if not wrong else "silent" if silent else "marked", value, own, wrong
    taken = {id(value) for value, _ in matched}
    left = Counter(unread)
    for value in known:
        if id(value) not in taken:
            is_named = left[value["value"]] > 0
            left[value["value"]] -= is_named
            yield "named" if is_named else "lost", value, None, []


def measure(corpus: Path, sidecars: Path | None) -> Iterator[tuple[str, Counter[str], list[str]]]:
    """Yield each file of the truth with its counts (COUNTS) and a line for each value that is not right."""
    names = known_names(load_registry())
    constants = Constants.from_files()
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.yaml"
        empty.write_text("")
        for name, known in truth_of(corpus, names).items():
            beside = (sidecars or Path(folder)) / Path(name).with_suffix(".yaml").name
            sidecar = beside if beside.exists() else empty
            found, unread = read(corpus / "files" / name, sidecar, names, constants)
            counts: Counter[str] = Counter(known=len(known), extra=len(found))
            lines = []
            for outcome, value, own, wrong in outcomes(known, found, unread):
                is_usable = own is not None and own["status"] in USABLE
                decisive = bool(set(wrong) & set(DECISIVE))
                counts.update(
                    {outcome: 1, "right_ok": is_usable and not decisive, "wrong_ok": is_usable and decisive}
                )
                counts["extra"] -= own is not None
                if outcome != "right":
                    lines.append(_line(name, outcome, value, own, wrong))
            yield name, counts, lines


def _line(
    name: str, outcome: str, value: dict[str, Any], own: dict[str, Any] | None, wrong: list[str]
) -> str:
    if own is None:
        told = ", ".join(str(value[field]) for field in FIELDS)
        return f"{name}: {outcome}: {told}"
    told = "; ".join(f"{field} is {value[field]}, read as {own[field]}" for field in wrong)
    return f"{name}, {own['place']}: {outcome} ({own['status']}): {told}"
