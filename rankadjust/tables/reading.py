"""Published tables as people have them into tidy values, with everything that was assumed or could not be read.

A file goes through these steps: its format into grids of text (tables), the rows and columns of each grid into headers,
labels and values (layout, headers), cells into numbers with all that is said of them (cells, values), numbers into
fractions or percent (series, units). A sidecar states what the table cannot say (sidecar).
Every cell of a grid ends in exactly one state: value, missing, unread or label.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.counting.protocols import Benchmark, load_benchmarks
from rankadjust.data.registry import Dataset, load_registry
from rankadjust.tables.conventions import apply_conventions
from rankadjust.tables.files import read_grids
from rankadjust.tables.formats.grid import Grid
from rankadjust.tables.headers import Names, folded
from rankadjust.tables.layout import Table, lay_out
from rankadjust.tables.series import settle
from rankadjust.tables.sidecar import load_sidecar, require_found, sidecar_of, stated_about
from rankadjust.tables.values import States, Value, read_values
from rankadjust.tables.variants import tell_apart

VALUES = {
    **dict.fromkeys(("source", "source_url", "source_line", "year", "table"), pl.String),
    **dict.fromkeys(("dataset", "model", "split", "side", "protocol", "candidates"), pl.String),
    **dict.fromkeys(("metric", "value", "unit", "spread", "notes"), pl.String),
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

_ASSUMED = {"split": "testing", "side": "both", "protocol": "filtered"}


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

    path: Markdown, HTML, reStructuredText, LaTeX, CSV, TSV or plain text. sidecar: a YAML file that states what the
    table does not; None takes the one that stands beside the table, if any.
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
    path = Path(path)
    registry = _shipped_registry() if registry is None else registry
    names = dataset_names(registry, _benchmarks())
    beside = sidecar_of(path) if sidecar is None else Path(sidecar)
    data = load_sidecar(beside) if beside else {}
    grids = read_grids(path)
    tables, frames, cells, remarks = [], [], [], []
    for number, grid in enumerate(grids, start=1):
        stated = stated_about(data, number, names, beside or path)
        layout = lay_out(grid, stated, names, path.stem)
        table = Table(number, grid, layout, stated)
        values, states, said = _read(table, names, path, beside or path, single=len(grids) == 1)
        tables.append(table)
        frames.append(values)
        cells.append(states)
        prefix = "" if len(grids) == 1 else f"table {number}: "
        remarks += [f"{prefix}{remark}" for remark in (*grid.remarks, *layout.remarks, *said)]
    if beside:
        found = set().union(*(table.layout.stated_lines for table in tables))
        require_found(beside, data, [table.stated for table in tables], found)
    values = pl.concat(frames, how="vertical")
    remarks += _about_datasets(values["dataset"].drop_nulls().unique(maintain_order=True), names, registry)
    return Reading(
        path,
        values,
        pl.concat(cells, how="vertical"),
        tuple(dict.fromkeys(remarks)),
        tuple(tables),
        data,
    )


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
    names: dict[str, str] = {}
    for name, spellings in aliases:
        for spelling in spellings:
            names.setdefault(folded(spelling), name)
    # A data set's own name wins over an alias of another.
    return names | {folded(name): name for name, _ in aliases}


def _read(
    table: Table, names: Names, path: Path, sidecar: Path, *, single: bool
) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """Return values, account of cells and remarks of one table."""
    values, states = read_values(table, names, sidecar)
    remarks = _about_labels(table)
    if table.layout.metrics:
        values, settled = settle(values, states, len(table.grid.rows))
        remarks += [
            *settled,
            *apply_conventions(values, _benchmarks()),
            *tell_apart(values),
            *_about_facts(values),
        ]
    about = {"source": path.name, **table.stated.about}
    about["table"] = path.stem if single else f"{path.stem}-{table.number}"
    rows = [_tidy_row(value, about, table) for value in values]
    return (
        pl.DataFrame(rows, schema=VALUES, orient="row"),
        _account(table.number, table.grid, states),
        remarks,
    )


def _account(number: int, grid: Grid, states: States) -> pl.DataFrame:
    rows = [
        (number, row + 1, column + 1, grid.lines[row], grid.rows[row][column], *state)
        for (row, column), state in sorted(states.items())
    ]
    return pl.DataFrame(rows, schema=CELLS, orient="row")


def _tidy_row(value: Value, about: Mapping[str, str], table: Table) -> tuple[Any, ...]:
    facts = value.facts
    # Where the rows are metrics, a model stands in a column: its line is that of the header.
    line = table.grid.lines[0 if table.layout.metrics == "rows" else value.cell[0]]
    row: dict[str, Any] = {
        "source": about["source"],
        "source_url": about.get("source_url"),
        "source_line": None if line is None else str(line),
        "year": about.get("year"),
        "table": about["table"],
        "dataset": facts.dataset,
        "model": facts.model,
        "split": facts.split,
        "side": facts.side,
        "protocol": facts.protocol,
        "candidates": facts.candidates,
        "metric": facts.metric,
        "value": value.number.text,
        "unit": value.unit,
        "spread": value.spread or value.number.spread,
        "notes": "; ".join([*filter(None, [facts.notes]), *value.notes]) or None,
        "dataset_as_printed": facts.dataset_as_printed,
        "metric_as_printed": facts.metric_as_printed,
        "cell": table.text(*value.cell),
        "grid": table.number,
        "row": value.cell[0] + 1,
        "column": value.cell[1] + 1,
    }
    return tuple(row[name] for name in VALUES)


def _about_labels(table: Table) -> list[str]:
    """Return what columns and rows were left alone."""
    if not table.layout.metrics:
        cells = len(table.grid.rows) * table.grid.width
        return [f"no metric found in this table: its {cells} cells are left alone"]
    columns = {
        column.index: column
        for row in table.layout.rows
        for column in row.columns
        if column.role == "other" and column.line.role is None and column.header
    }
    rows = [row for row in table.layout.rows if row.kind == "other" and row.line.role is None]
    remarks = []
    if columns:
        names = ", ".join(f"'{column.name}'" for column in columns.values())
        remarks.append(f"columns that are no metric: {names}")
    if rows:
        names = ", ".join(
            f"'{next((text for text in row.labels.values() if text), row.index + 1)}'" for row in rows
        )
        remarks.append(f"rows that are no metric: {names}")
    return remarks


def _about_datasets(found: Iterable[str], names: Names, registry: Mapping[str, Dataset]) -> list[str]:
    """Return which data sets are not known, with those that an ambiguous name may mean."""
    known = set(names.values())
    remarks = []
    for name in found:
        meant = [own for own, dataset in registry.items() if folded(name) in _ambiguous(dataset)]
        if meant:
            remarks.append(f"'{name}' may be {' or '.join(meant)}; state which in a sidecar")
        elif name not in known:
            remarks.append(f"'{name}' is no data set of the registry")
    return remarks


def _ambiguous(dataset: Dataset) -> set[str]:
    return set(map(folded, dataset.ambiguous_aliases))


def _about_facts(values: Sequence[Value]) -> list[str]:
    """Return what the table does not say about its values."""
    if not values:
        return []
    remarks = []
    for name, words in (("dataset", "data set"), ("model", "model")):
        silent = sum(getattr(value.facts, name) is None for value in values)
        if silent:
            remarks.append(f"{silent} of {len(values)} values have no {words}; state it in a sidecar")
    assumed = []
    for name, usual in _ASSUMED.items():
        silent = sum(getattr(value.facts, name) is None for value in values)
        if silent:
            assumed.append(f"{name} {usual}" + ("" if silent == len(values) else f" ({silent} values)"))
    if assumed:
        remarks.append(f"not stated, and taken as usual where values are adjusted: {', '.join(assumed)}")
    notes = dict.fromkeys(value.facts.notes for value in values if value.facts.notes)
    return [*remarks, *(f"kept in the notes: {note}" for note in notes)]
