"""Published tables and result files as people have them into tidy values, with all that was assumed or not read.

A file goes through these steps: its format into grids of text (files), the rows and columns of each grid into headers,
labels and values (layout, tokens), cells into numbers with all that is said of them (cells, values), values against
each other (conventions), numbers into fractions or percent (series, units). A sidecar states what the table cannot say
(sidecar). Every cell of a grid ends in exactly one state: value, missing, unread or label.
"""

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.counting.protocols import Benchmark, load_benchmarks
from rankadjust.data.registry import Dataset, load_registry
from rankadjust.tables.conventions import apply_conventions, refuse_repeated, tell_apart
from rankadjust.tables.files import read_grids
from rankadjust.tables.layout import Table, lay_out
from rankadjust.tables.series import decimal_signs, settle
from rankadjust.tables.sidecar import load_sidecar, require_found, sidecar_of, stated_about
from rankadjust.tables.tokens import DEFAULTS, FIELDS, Names, folded
from rankadjust.tables.values import Reader, States, Value

VALUES = {
    **dict.fromkeys(("source", "source_url", "source_line", "year", "table"), pl.String),
    **dict.fromkeys(("dataset", "model", "split", "side", "protocol", "ties", "candidates"), pl.String),
    **dict.fromkeys(("metric", "value", "unit", "spread", "notes", "assumed"), pl.String),
    **dict.fromkeys(("dataset_as_printed", "metric_as_printed", "cell"), pl.String),
    "grid": pl.Int64,
    "row": pl.Int64,
    "column": pl.Int64,
}
"""Columns of tidy values: those of workflow/schemas/tidy.schema.yaml, the cell's text, its grid, row, column from 1."""

CELLS = {
    "grid": pl.Int64,
    "row": pl.Int64,
    "column": pl.Int64,
    "line": pl.Int64,
    "text": pl.String,
    "state": pl.String,
    "reason": pl.String,
}
"""Columns of the account of cells; state is value, missing, unread or label."""

# The words for what is assumed, and the fields for which the usual is taken without a word.
_WORDS = {"dataset": "data set"}
_BY_DEFAULT = ("split", "side", "protocol")


@dataclass(frozen=True)
class Reading:
    """What was read of a file: values (columns VALUES), every cell with its state (CELLS), remarks, the tables.

    sidecar: what the sidecar says, as it was read.
    """

    path: Path
    values: pl.DataFrame
    cells: pl.DataFrame
    remarks: tuple[str, ...]
    tables: tuple[Table, ...]
    sidecar: Mapping[str, Any]

    @property
    def missing(self) -> pl.DataFrame:
        """The cells that stand for 'no value'."""
        return self.cells.filter(pl.col("state") == "missing")

    @property
    def unread(self) -> pl.DataFrame:
        """The cells that should hold a value and could not be read, with the reason."""
        return self.cells.filter(pl.col("state") == "unread")

    @property
    def balance(self) -> str:
        """One line that accounts for every cell."""
        counts = Counter(self.cells["state"].to_list())
        return (
            f"{self.cells.height} cells = {counts['value']} with values + {counts['missing']} missing + "
            f"{counts['unread']} unread + {counts['label']} labels; {self.values.height} values"
        )


def read_table(path: str | Path, sidecar: str | Path | None = None) -> pl.DataFrame:
    """Return the values of a published table as tidy rows (columns VALUES), ready for `rescore`.

    path: Markdown, HTML, reStructuredText, LaTeX, CSV, TSV, plain text, or the JSON, JSON lines or YAML of a tool.
    sidecar: a YAML file that states what the table does not; None takes the one that stands beside the table, if any.
    `read_tables` returns also what could not be read. Raises RankadjustError where file or sidecar are wrong.
    """
    return read_tables(path, sidecar).values


def read_tables(
    path: str | Path, sidecar: str | Path | None = None, registry: Mapping[str, Dataset] | None = None
) -> Reading:
    """Read every table of a file as `read_table` does, and account for every cell.

    registry: the data sets with their aliases; None means the shipped one. The benchmarks with a constant number of
    candidates are known in any case.
    """
    with _no_collection():
        return _read_tables(Path(path), sidecar, _shipped_registry() if registry is None else registry)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Switch the garbage collector off: what is made of a table stays, and to look at it again and again is slow."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_tables(path: Path, sidecar: str | Path | None, registry: Mapping[str, Dataset]) -> Reading:
    names = dataset_names(registry, _benchmarks())
    beside = sidecar_of(path) if sidecar is None else Path(sidecar)
    data = load_sidecar(beside) if beside else {}
    tables = []
    for number, grid in enumerate(read_grids(path), start=1):
        stated = stated_about(data, number, names, beside or path)
        tables.append(Table(number, grid, lay_out(grid, stated, names, path.stem), stated))
    if beside:
        found = set().union(*(table.layout.stated_lines for table in tables))
        require_found(beside, data, [table.stated for table in tables], found)
    read = [Reader(table, names, beside or path).read() for table in tables]
    signs = decimal_signs(value for values, _ in read for value in values)
    kept, remarks = [], []
    for table, (values, states) in zip(tables, read, strict=True):
        apply_conventions(values, _benchmarks())
        said = tell_apart(values)
        own = settle(refuse_repeated(values, states), states, len(table.grid.rows), signs)
        kept.append(own)
        prefix = "" if len(tables) == 1 else f"table {table.number}: "
        told = (*table.grid.remarks, *_left_alone(table), *said, *_silent(own))
        remarks += [f"{prefix}{text}" for text in told]
    single, known = len(tables) == 1, set(names.values())
    frames = [
        _tidy(table, values, path, known, registry, single=single)
        for table, values in zip(tables, kept, strict=True)
    ]
    frame = _frame(frames, VALUES)
    remarks += _about_datasets(frame["dataset"].drop_nulls().unique(maintain_order=True), names, registry)
    cells = [_account(table, states) for table, (_, states) in zip(tables, read, strict=True)]
    remarks = list(dict.fromkeys(remarks))
    return Reading(path, frame, _frame(cells, CELLS), tuple(remarks), tuple(tables), data)


def _frame(tables: Sequence[Mapping[str, Sequence[Any]]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Return the columns of several tables, one below the other: one frame, however many tables a log has."""
    columns = {name: [cell for table in tables for cell in table[name]] for name in schema}
    return pl.DataFrame(columns, schema=schema)


@cache
def _shipped_registry() -> Mapping[str, Dataset]:
    return load_registry()


@cache
def _benchmarks() -> tuple[Benchmark, ...]:
    return tuple(load_benchmarks())


def dataset_names(registry: Mapping[str, Dataset], benchmarks: Iterable[Benchmark]) -> Names:
    """Return the names and aliases of data sets without case and punctuation, each with our name."""
    aliases = [
        *((benchmark.dataset, benchmark.aliases) for benchmark in benchmarks),
        *((name, dataset.aliases) for name, dataset in registry.items()),
    ]
    names = Names()
    for name, spellings in aliases:
        for spelling in spellings:
            names.setdefault(folded(spelling), name)
    # A data set's own name wins over an alias of another.
    names.update({folded(name): name for name, _ in aliases})
    return names


def usual(field: str, dataset: str | None, registry: Mapping[str, Dataset]) -> str:
    """Return what is usual for split, side or protocol where nothing says it: an inductive set has its own test."""
    known = registry.get(dataset or "")
    is_inductive = (known is not None and known.role == "inductive") or any(
        benchmark.dataset == dataset and "inference_testing" in benchmark.tasks for benchmark in _benchmarks()
    )
    return "inference_testing" if field == "split" and is_inductive else DEFAULTS[field]


def _account(table: Table, states: States) -> dict[str, list[Any]]:
    places = sorted(states)
    lines, rows = table.grid.lines, table.grid.rows
    return {
        "grid": [table.number] * len(places),
        "row": [row + 1 for row, _ in places],
        "column": [column + 1 for _, column in places],
        "line": [lines[row] for row, _ in places],
        "text": [rows[row][column] for row, column in places],
        "state": [states[place][0] for place in places],
        "reason": [states[place][1] for place in places],
    }


def _tidy(
    table: Table,
    values: Sequence[Value],
    path: Path,
    known: Set[str],
    registry: Mapping[str, Dataset],
    *,
    single: bool,
) -> dict[str, list[Any]]:
    """Return the values of one table as columns of tidy rows."""
    about = {"source": path.name, **table.stated.about}
    # Where the rows are metrics, a model stands in a column: its line is that of the header.
    lines = [table.grid.lines[0 if table.layout.metrics == "rows" else value.cell[0]] for value in values]
    usual_of: dict[tuple[str, str | None], str] = {}
    columns: dict[str, Any] = {
        **{name: [about.get(name)] * len(values) for name in ("source", "source_url", "year")},
        "source_line": [None if line is None else str(line) for line in lines],
        "table": [path.stem if single else f"{path.stem}-{table.number}"] * len(values),
        "model": [value.model for value in values],
        "value": [value.number.text for value in values],
        "unit": [value.unit for value in values],
        "spread": [value.spread or value.number.spread for value in values],
        "notes": ["; ".join(filter(None, (value.facts.notes, *value.notes))) or None for value in values],
        "assumed": [_assumed(value, usual_of, known, registry) for value in values],
        "cell": [table.text(*value.cell) for value in values],
        "grid": [table.number] * len(values),
        "row": [value.cell[0] + 1 for value in values],
        "column": [value.cell[1] + 1 for value in values],
    }
    return {
        name: columns.get(name) or [getattr(value.facts, name, None) for value in values] for name in VALUES
    }


def _assumed(
    value: Value,
    usual_of: dict[tuple[str, str | None], str],
    known: Set[str],
    registry: Mapping[str, Dataset],
) -> str | None:
    """Return what is known of a value that the table does not say, each with its reason."""
    reasons = dict(value.assumed)
    for name in _BY_DEFAULT:
        if getattr(value.facts, name) is None and name not in reasons:
            place = name, value.facts.dataset
            if place not in usual_of:
                usual_of[place] = usual(*place, registry)
            reasons[name] = f"{usual_of[place]} by default"
    if value.model is None:
        reasons["model"] = "not named"
    if value.facts.dataset is None:
        reasons["dataset"] = "not named"
    elif value.facts.dataset not in known:
        reasons.setdefault("dataset", "as printed, none of the registry")
    texts = [f"{_WORDS.get(name, name)} {reasons[name]}" for name in (*FIELDS, "value") if name in reasons]
    return "; ".join(texts) or None


def _left_alone(table: Table) -> Iterator[str]:
    """Yield what columns and rows were left alone."""
    if not table.layout.metrics:
        cells = len(table.grid.rows) * table.grid.width
        yield f"no metric found in this table: its {cells} cells are left alone"
        return
    columns: dict[int, str] = {}
    others = []
    seen = None
    for row in table.layout.rows:
        if row.columns is not seen:
            seen = row.columns
            columns |= {
                column.index: column.name
                for column in seen
                if column.role == "other" and column.line.role is None and column.header
            }
        if row.kind == "other" and row.line.role is None:
            others.append(next((text for text in row.labels.values() if text), str(row.index + 1)))
    for what, left in (("columns", list(columns.values())), ("rows", others)):
        if left:
            names = "', '".join(left)
            yield f"{what} that are no metric: '{names}'"


def _silent(values: Sequence[Value]) -> Iterator[str]:
    """Yield which names the table does not say."""
    unnamed = {
        "data set": sum(value.facts.dataset is None for value in values),
        "model": sum(value.model is None for value in values),
    }
    for what, count in unnamed.items():
        if count:
            yield f"{count} of {len(values)} values have no {what}; state it in a sidecar"


def _about_datasets(found: Iterable[str], names: Names, registry: Mapping[str, Dataset]) -> Iterator[str]:
    """Yield which data sets are not known, with those that an ambiguous name may mean."""
    known = set(names.values())
    ambiguous = {name: set(map(folded, dataset.ambiguous_aliases)) for name, dataset in registry.items()}
    for name in found:
        meant = [own for own, spellings in ambiguous.items() if folded(name) in spellings]
        if meant:
            yield f"'{name}' may be {' or '.join(meant)}; state which in a sidecar"
        elif name not in known:
            yield f"'{name}' is no data set of the registry"
