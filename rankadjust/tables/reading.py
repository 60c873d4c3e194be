"""Read published tables and result files into tidy values; report every assumption and every unread cell.

The steps: `files` turns any format into grids of text; `layout` and `tokens` find the headers, labels and values of
each grid; `cells` and `values` read each number with its facts; `conventions` compares the values with each other;
`units` decides between fractions and percent. A sidecar states facts that the table does not (`sidecar`). Every cell of
a grid ends in exactly one state: value, missing, unread or label.
"""

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.words import folded
from rankadjust.counting.protocols import Benchmark, load_benchmarks
from rankadjust.data.registry import Dataset, load_registry, meanings
from rankadjust.tables.conventions import apply_conventions, refuse_repeated, tell_apart
from rankadjust.tables.files import read_grids
from rankadjust.tables.layout import Layout, Table, below_each_other, lay_out, moved_back
from rankadjust.tables.sidecar import given_facts, load_sidecar, require_found, sidecar_of, stated_about
from rankadjust.tables.tokens import DEFAULTS, FIELDS, Names
from rankadjust.tables.units import decimal_signs, settle
from rankadjust.tables.values import Reader, States, Value

VALUES = {
    **dict.fromkeys(("source", "source_url", "source_line", "year", "table"), pl.String),
    **dict.fromkeys(("dataset", "model", "split", "side", "protocol", "ties", "candidates"), pl.String),
    **dict.fromkeys(("metric", "value", "unit", "spread", "notes", "assumed", "grades"), pl.String),
    **dict.fromkeys(("dataset_as_printed", "metric_as_printed", "cell"), pl.String),
    **dict.fromkeys(("grid", "row", "column"), pl.Int64),
}
"""Columns of tidy values: workflow/schemas/tidy.schema.yaml, then the cell's text, its grid, row and column from 1."""

CELLS = {
    **dict.fromkeys(("grid", "row", "column", "line"), pl.Int64),
    **dict.fromkeys(("text", "state", "reason"), pl.String),
}
"""Columns of the account of cells; state is value, missing, unread or label."""

GRADED = ("dataset", "model", "metric", "value", "unit", "split", "side", "protocol", "task")
"""The facts in the column `grades`: printed, given by a sidecar or an option, inferred, or default."""

# How messages write the names of fields.
_WORDS = {"dataset": "data set"}


@dataclass(frozen=True)
class Reading:
    """The result of reading a file: values (columns VALUES), every cell with its state (CELLS), remarks, the tables.

    sidecar: the content of the sidecar.
    """

    path: Path
    values: pl.DataFrame
    cells: pl.DataFrame
    remarks: tuple[str, ...]
    tables: tuple[Table, ...]
    sidecar: Mapping[str, Any]

    @property
    def missing(self) -> pl.DataFrame:
        """The cells that mean 'no value', such as a dash."""
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
    r"""Return the values of a published table as tidy rows, ready for `rescore`.

    `rankadjust.tables.reading.read_tables` also returns the cells that could not be read.

    Parameters
    ----------
    path : str or Path
        Markdown, HTML, reStructuredText, LaTeX, CSV, TSV, plain text, or the JSON, JSON lines or YAML of a tool.
    sidecar : str or Path, optional
        A YAML file that states facts missing in the table; None means the sidecar beside the table, if there is one.

    Returns
    -------
    polars.DataFrame
        A row for each value: model, dataset, metric and value as text, and the other facts of the value.

    Raises
    ------
    RankadjustError
        If the file or the sidecar has a mistake.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.md")
    ...     _ = path.write_text("| Nations | MRR |\n|---|---|\n| TransE | 0.43 |\n", encoding="utf-8")
    ...     read_table(path).select("model", "dataset", "metric", "value").rows()
    [('TransE', 'Nations', 'inverse_harmonic_mean_rank', '0.43')]

    """
    return read_tables(path, sidecar).values


def read_tables(
    path: str | Path,
    sidecar: str | Path | None = None,
    registry: Mapping[str, Dataset] | None = None,
    given: Mapping[str, str | None] | None = None,
) -> Reading:
    """Read every table of a file as `read_table` does, and account for every cell.

    given: facts of all tables, by name; they win over the sidecar's (`given_facts`). registry: the data sets with their
    aliases; None means the shipped registry. The benchmarks with a constant number of candidates are always known.
    """
    with _no_collection():
        return _read_tables(
            Path(path), sidecar, _shipped_registry() if registry is None else registry, given or {}
        )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Switch the garbage collector off: the objects of a table live on, and searching them repeatedly is slow."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_tables(
    path: Path, sidecar: str | Path | None, registry: Mapping[str, Dataset], given: Mapping[str, str | None]
) -> Reading:
    names = known_names(registry)
    beside = sidecar_of(path) if sidecar is None else Path(sidecar)
    data = {**(load_sidecar(beside) if beside else {}), **given_facts(given, names)}
    tables = []
    grids = (part for grid in read_grids(path) for part in below_each_other(grid, names))
    for number, grid in enumerate(grids, start=1):
        stated = stated_about(data, number, names, beside or path, grid.context)
        stated = replace(stated, has_sidecar=beside is not None)
        placed = grid if stated.columns else moved_back(grid)
        tables.append(Table(number, placed, lay_out(placed, stated, names, path.stem), stated))
    if beside:
        require_found(beside, data, [(table.grid.context, table.stated, table.layout) for table in tables])
    read = [(table, *Reader(table, names, beside or path).read()) for table in tables]
    signs = decimal_signs(value for _, values, _ in read for value in values)
    usual_of = cache(lambda dataset: usual(dataset, names, registry))
    remarks: dict[str, None] = {}
    tidy: list[dict[str, Any]] = []
    cells: list[dict[str, Any]] = []
    is_only = len(tables) == 1
    for table, values, states in read:
        apply_conventions(values, _benchmarks())
        said = tell_apart(values)
        kept = settle(refuse_repeated(values, states), states, signs, table.layout.percent)
        own_remarks = (*table.grid.remarks, *_left_alone(table, states), *said)
        remarks |= {text if is_only else f"table {table.number}: {text}": None for text in own_remarks}
        name = path.stem if is_only else f"{path.stem}-{table.number}"
        tidy += _tidy(table, kept, {"source": path.name, "table": name}, usual_of)
        cells += _account(table, states)
    frames = pl.DataFrame(tidy, schema=VALUES), pl.DataFrame(cells, schema=CELLS)
    return Reading(path, *frames, tuple(remarks), tuple(tables), data)


@cache
def _shipped_registry() -> Mapping[str, Dataset]:
    return load_registry()


@cache
def _benchmarks() -> tuple[Benchmark, ...]:
    return tuple(load_benchmarks())


def known_names(registry: Mapping[str, Dataset]) -> Names:
    """Return our name of each data set by its names and aliases, which have no case and no punctuation.

    The benchmarks with a constant number of candidates are data sets too.
    """
    aliases = [(benchmark.dataset, benchmark.aliases) for benchmark in _benchmarks()]
    aliases += [(name, dataset.aliases) for name, dataset in registry.items()]
    names = Names()
    for name, spellings in aliases:
        for spelling in spellings:
            names.setdefault(folded(spelling), name)
    # A data set's own name wins over another's alias.
    names.update({folded(name): name for name, _ in aliases})
    return names


def usual(dataset: str | None, names: Names, registry: Mapping[str, Dataset]) -> dict[str, str]:
    """Return the usual choice for each fact that may be missing, and a remark on a data set unknown to the registry.

    An inductive data set has a test split of its own, in its second graph.
    """
    known = registry.get(dataset or "")
    is_inductive = (known is not None and known.role == "inductive") or any(
        benchmark.dataset == dataset and "inference_testing" in benchmark.tasks for benchmark in _benchmarks()
    )
    said = {name: f"{DEFAULTS[name]} by default" for name in ("split", "side", "protocol")}
    if is_inductive:
        said["split"] = "inference_testing by default"
    if dataset is not None and dataset not in names.values():
        meant = meanings(dataset, registry)
        said["dataset"] = f"which may be {' or '.join(meant)}" if meant else "none of the registry"
    return said


def _account(table: Table, states: States) -> Iterator[dict[str, Any]]:
    """Yield the records of the cells of one table."""
    for (row, column), (state, reason) in sorted(states.items()):
        place = {"grid": table.number, "row": row + 1, "column": column + 1, "line": table.grid.lines[row]}
        yield place | {"text": table.text(row, column), "state": state, "reason": reason}


def _tidy(
    table: Table,
    values: Sequence[Value],
    about: Mapping[str, str],
    usual_of: Callable[[str | None], Mapping[str, str]],
) -> Iterator[dict[str, Any]]:
    """Yield the records of the values of one table; about: the name and source of the table."""
    for value in values:
        _doubt_protocol(value, table.layout)
        row, column = value.cell
        # If rows are metrics, the line of a model is the header's line, since the header names the models.
        line = table.grid.lines[0 if table.layout.metrics == "rows" else row]
        usual = usual_of(value.facts.dataset)
        own = {
            "source_line": None if line is None else str(line),
            "model": value.model,
            "value": value.number.text,
            "unit": value.unit,
            "spread": value.number.spread,
            "notes": value.notes,
            "assumed": _assumed(value, usual),
            "grades": _grades(value, usual),
            "cell": table.text(row, column),
            "grid": table.number,
            "row": row + 1,
            "column": column + 1,
        }
        record = {**vars(value.facts), **about, **table.stated.about, **own}
        yield {name: record.get(name) for name in VALUES}


def _doubt_protocol(value: Value, layout: Layout) -> None:
    """Mark a protocol as assumed if a note in the header or the text around the table may mean another."""
    facts = value.facts
    if value.stated.protocol or "protocol" in value.assumed or (facts.protocol or "").startswith("sampled-"):
        return
    if layout.sampled:
        about = f"though the text around the table speaks of '{layout.sampled}'"
    elif facts.notes and not (facts.protocol or value.stated.notes):
        about = f"though the header has a note: {facts.notes}"
    else:
        return
    protocol = facts.protocol or f"{DEFAULTS['protocol']} by default"
    value.assumed["protocol"] = f"{protocol}, {about}"


def _assumed(value: Value, usual: Mapping[str, str]) -> str | None:
    """Return the facts of a value that the table does not state, each with its reason."""
    reasons = {name: why for name, why in usual.items() if getattr(value.facts, name) is None}
    reasons |= value.assumed
    if "dataset" in usual:
        reasons["dataset"] = f"{reasons.get('dataset', 'as printed')}, {usual['dataset']}"
    reasons |= {"model": "not named"} if value.model is None else {}
    reasons |= {"dataset": "not named"} if value.facts.dataset is None else {}
    texts = [f"{_WORDS.get(name, name)} {reasons[name]}" for name in (*FIELDS, "value") if name in reasons]
    return "; ".join(texts) or None


def _grades(value: Value, usual: Mapping[str, str]) -> str:
    """Return the source of each fact of a value, for the column `grades`: 'dataset printed; split default'."""
    inferred = {name for name, why in value.assumed.items() if not why.startswith("as printed")}
    known = vars(value.facts) | {"model": value.model, "value": value.number.text, "unit": value.unit}
    grades = []
    for name in GRADED:
        if known[name] is not None:
            source = "given" if getattr(value.stated, name, None) is not None else "printed"
            grades.append(f"{name} {'inferred' if name in inferred else source}")
        # A printed data set missing in the registry is still printed.
        elif name in usual and name != "dataset":
            grades.append(f"{name} default")
    return "; ".join(grades)


def _left_alone(table: Table, states: States) -> Iterator[str]:
    """Yield a remark for the columns and for the rows that were not read."""
    if not table.layout.metrics:
        if not any(state == "unread" for state, _ in states.values()):
            yield f"no metric found in this table: its {len(states)} cells are left alone"
        return
    columns = [
        column.name
        for column in table.layout.columns
        if column.role == "other" and column.line.role is None and column.header
    ]
    rows = [
        next(filter(None, row.labels.values()), str(row.index + 1))
        for row in table.layout.rows
        if row.kind == "other" and row.line.role is None
    ]
    for what, left in (("columns", columns), ("rows", rows)):
        if left:
            names = "', '".join(left)
            yield f"{what} without a metric: '{names}'"
