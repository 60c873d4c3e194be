"""Read published tables and result files into tidy values; report every assumption and every unread cell.

The steps: `files` turns any format into grids of text; `layout` finds header, columns and rows of each grid,
and the facts around it (`columns`, `headers`); `cells` decides each cell, with the values compared. A sidecar
states facts that the table does not (`sidecar`). Every cell of a grid ends in exactly one state: value, missing, unread
or label. `rankadjust.output.reading_text` says it in words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.words import folded
from rankadjust.counting.evaluators import usual_evaluation
from rankadjust.counting.protocols import Benchmark, load_benchmarks
from rankadjust.data.registry import Dataset, load_registry, meanings
from rankadjust.tables.cells import Reader, Value, settle
from rankadjust.tables.facts import (
    DEFAULT,
    FIELDS,
    GRADED,
    INFERRED,
    PRINTED,
    Fact,
    reasons_text,
    sources_text,
)
from rankadjust.tables.files import read_grids
from rankadjust.tables.headers import Names
from rankadjust.tables.layout import Table, lay_out
from rankadjust.tables.sidecar import given_facts, load_sidecar, require_found, sidecar_of, stated_about

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


@dataclass(frozen=True)
class Reading:
    """The result of reading a file: values (columns VALUES), every cell with its state (CELLS), remarks, the tables.

    facts: of each value, its facts by name, None for a fact that nothing names. sidecar: the content of the sidecar.
    """

    path: Path
    values: pl.DataFrame
    cells: pl.DataFrame
    remarks: tuple[str, ...]
    tables: tuple[Table, ...]
    facts: Sequence[Mapping[str, Fact | None]]
    sidecar: Mapping[str, Any]

    @property
    def missing(self) -> pl.DataFrame:
        """The cells that mean 'no value', such as a dash."""
        return self.cells.filter(pl.col("state") == "missing")

    @property
    def unread(self) -> pl.DataFrame:
        """The cells that should hold a value and could not be read, with the reason."""
        return self.cells.filter(pl.col("state") == "unread")


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
    path, given = Path(path), given or {}
    registry = _shipped_registry() if registry is None else registry
    names = known_names(registry)
    beside = sidecar_of(path) if sidecar is None else Path(sidecar)
    data = {**(load_sidecar(beside) if beside else {}), **given_facts(given, names)}
    tables = []
    for number, grid in enumerate(read_grids(path), start=1):
        stated = stated_about(data, number, names, beside or path, grid.context)
        tables.append(lay_out(number, grid, stated, names, path.stem))
    if beside:
        require_found(beside, data, tables)
    read = [(table, *Reader(table, names, beside or path).read()) for table in tables]
    has_commas = any(value.number.decimal_comma for _, values, _ in read for value in values)
    usual_of = cache(lambda dataset: usual(dataset, names, registry))
    remarks: dict[str, None] = {}
    tidy: list[dict[str, Any]] = []
    facts: list[Mapping[str, Fact | None]] = []
    cells: list[dict[str, Any]] = []
    is_only = len(tables) == 1
    for table, values, states in read:
        place = "" if is_only else f"table {table.number}: "
        remarks |= {f"{place}{remark}": None for remark in table.grid.remarks}
        name = path.stem if is_only else f"{path.stem}-{table.number}"
        for value in settle(table, values, states, _benchmarks(), has_commas=has_commas):
            known = _known(value, *usual_of(value.facts["dataset"]))
            facts.append(known)
            tidy.append(_record(table, value, known, {"source": path.name, "table": name}))
        for (row, column), (state, reason) in sorted(states.items()):
            line, text = table.grid.lines[row], table.text(row, column)
            cells.append(
                dict(zip(CELLS, (table.number, row + 1, column + 1, line, text, state, reason), strict=True))
            )
    frames = pl.DataFrame(tidy, schema=VALUES), pl.DataFrame(cells, schema=CELLS)
    return Reading(path, *frames, tuple(remarks), tuple(tables), facts, data)


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


def usual(
    dataset: str | None, names: Names, registry: Mapping[str, Dataset]
) -> tuple[dict[str, Fact | None], str | None]:
    """Return the usual choice for each fact that may be missing, and a remark on a data set unknown to the registry.

    An inductive data set has a test split of its own, in its second graph.
    """
    known, meant = registry.get(dataset or ""), usual_evaluation(dataset or "")
    split = "inference_testing" if known is not None and known.role == "inductive" else "testing"
    defaults = {"split": meant.split or split, "side": meant.side or "both", "protocol": meant.protocol}
    said: dict[str, Fact | None] = {n: Fact(defaults[n], DEFAULT) for n in ("split", "side", "protocol")}
    if dataset is None or dataset in names.values():
        return said, None
    others = meanings(dataset, registry)
    return said, f"which may be {' or '.join(others)}" if others else "none of the registry"


def _known(value: Value, usual: Mapping[str, Fact | None], remark: str | None) -> Mapping[str, Fact | None]:
    """Return the facts of a value by name, None for a fact that nothing names; usual: what fills the gaps."""
    known: dict[str, Fact | None] = {**usual, **dict(value.facts.stated())}
    known |= {"dataset": value.facts.dataset, "model": value.model, "unit": value.unit}
    known["value"] = Fact(value.number.text, INFERRED if value.doubt else PRINTED, value.doubt)
    dataset = known["dataset"]
    if dataset and remark:
        known["dataset"] = replace(dataset, reason=", ".join(filter(None, (dataset.reason, remark))))
    return known


def _record(
    table: Table, value: Value, known: Mapping[str, Fact | None], about: Mapping[str, str]
) -> dict[str, Any]:
    """Return the tidy row of a value; about: the name and source of the table."""
    row, column = value.cell
    # If rows are metrics, the line of a model is the header's line, since the header names the models.
    line = table.grid.lines[0 if table.metrics == "rows" else row]
    words = {
        name: fact.value if (fact := known.get(name)) and fact.source != DEFAULT else None for name in FIELDS
    }
    bracket = value.number.bracket
    notes = (value.facts.notes, bracket and f"in brackets: {bracket}")
    own = {
        "source_line": None if line is None else str(line),
        "value": value.number.text,
        "spread": value.number.spread,
        "notes": "; ".join(filter(None, notes)) or None,
        "assumed": reasons_text({name: known[name] for name in GRADED if name in known}),
        "grades": sources_text(known),
        "dataset_as_printed": (fact := known["dataset"]) and fact.printed,
        "metric_as_printed": (fact := known["metric"]) and fact.printed,
        "cell": table.text(row, column),
        "grid": table.number,
        "row": row + 1,
        "column": column + 1,
    }
    lines = {**table.columns[column].line.about, **table.rows[row].line.about}
    record = {**words, **about, **table.stated.about, **lines, **own}
    return {name: record.get(name) for name in VALUES}
