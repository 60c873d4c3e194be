"""How well tables of the literature are read: 3,516 known values of 134 tables, in eight fields.

tests/unit/tables/test_acceptance.py measures it. Published and read values are paired by the fields that agree: first
the pairs that agree in all eight fields, then in fewer and fewer.
"""

import csv
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankadjust.base.words import folded, our_word
from rankadjust.data.registry import load_registry
from rankadjust.tables.facts import DEFAULTS, reasons_in
from rankadjust.tables.formats.cell_text import label
from rankadjust.tables.headers import metric_key
from rankadjust.tables.reading import known_names, read_tables

FIELDS = ("dataset", "model", "metric", "value", "unit", "side", "split", "protocol")
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


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plain(name: str | None) -> str:
    """Letters and digits of a name, Greek letters by their English names, so that 'ψ' and 'psi' are the same."""
    spelled = "".join(
        unicodedata.name(character).split()[-1] if "GREEK" in unicodedata.name(character, "") else character
        for character in _ADDED.sub("", label(name or ""))
    )
    return folded(spelled)


class Corpus:
    """The published tables, and the known values of each table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = rows_of(folder / "tables" / "INDEX.csv")
        self.names = known_names(load_registry())
        self.aliases = {
            folded(row["as_printed"]): row["canonical"] for row in rows_of(folder / "aliases_datasets.csv")
        }
        self.known: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows_of(folder / "published.csv"):
            self.known[row["table_id"]].append(self._published(row))

    def read(self, table: Mapping[str, str], sidecar: Path) -> list[dict[str, Any]]:
        """Return what is read of a table with a sidecar."""
        values = read_tables(self.folder / "tables" / table["file"], sidecar).values
        return [self._read(row) for row in values.iter_rows(named=True)]

    def dataset(self, name: str | None) -> str:
        """Return our name of a data set, or that of the collection."""
        canonical = self.aliases.get(folded(name or ""), name or "")
        return self.names.get(folded(name or "")) or self.names.get(folded(canonical)) or canonical

    def _published(self, row: Mapping[str, str]) -> dict[str, Any]:
        said = {
            name: our_word(name, row[name] or DEFAULTS[name]) or row[name]
            for name in ("split", "side", "protocol")
        }
        # Of 50 candidates one is the true answer; where a source does not say what it did, nothing is to be read.
        candidates = row["candidates"]
        if said["protocol"].startswith("sampled") and candidates.isdigit():
            said["protocol"] = f"sampled-{int(candidates) - 1}"
        elif "unknown" in said["protocol"]:
            said["protocol"] = None
        elif row["dataset"] == "tgbl-wiki-v2" and candidates == "all":
            said["protocol"] = "sampled-999"
        metric = metric_key(row["metric"])
        return {
            "dataset": self.dataset(row["dataset"]),
            "model": plain(row["model"]),
            "metric": metric,
            "value": float(re.match(r"[-+.\deE]+", row["value_as_printed"].replace(",", "")).group()),
            # The collection calls an index between fractions a fraction.
            "unit": "index" if metric.endswith("_index") else row["unit"],
            **said,
        }

    def _read(self, row: Mapping[str, Any]) -> dict[str, Any]:
        said = {name: row[name] or DEFAULTS[name] for name in ("split", "side", "protocol")}
        return {
            "dataset": self.dataset(row["dataset"]),
            "model": plain(row["model"]),
            "metric": row["metric"],
            "value": float(row["value"]),
            "unit": row["unit"],
            **said,
            "assumed": {*reasons_in(row["assumed"])},
            "place": f"row {row['row']}, column {row['column']}, {row['cell']!r}",
        }


def pairs(
    known: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield published values with the read ones that are most like them."""
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


def scores(folder: Path, sidecars: Path | None, empty: Path) -> tuple[Counter[str], list[str]]:
    """Return counts of values that are known, right in each field, in all, extra; and the silent errors.

    sidecars: the folder of sidecars, None to read without any; empty: an empty file.
    """
    corpus = Corpus(folder)
    counts: Counter[str] = Counter()
    silent = []
    for table in corpus.tables:
        sidecar = empty if sidecars is None else sidecars / f"{table['table_id']}.yaml"
        known = corpus.known[table["table_id"]]
        found = corpus.read(table, sidecar if sidecar.exists() else empty)
        matched = list(pairs(known, found))
        counts.update(known=len(known), extra=len(found) - len(matched))
        for published, read in matched:
            right = {name: published[name] is None or published[name] == read[name] for name in FIELDS}
            counts.update({name: int(is_right) for name, is_right in right.items()})
            counts["all"] += all(right.values())
            silent += [
                f"{table['table_id']}, {read['place']}: {name} is {published[name]}, read as {read[name]}"
                for name, is_right in right.items()
                if not is_right and name not in read["assumed"]
            ]
    return counts, silent
