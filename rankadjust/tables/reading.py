"""Read published tables and result files into tidy values; report every assumption and every unread cell.

The steps: `files` turns any format into grids of text; `layout` finds header, columns and rows of each grid,
and the facts around it (`columns`, `headers`); `cells` decides each cell, with the values compared. A sidecar
states facts that the table does not (`sidecar`). Every cell of a grid ends in exactly one state: value, missing, unread
or label. `rankadjust.output.reading_text` says it in words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from rankadjust.base.words import folded
from rankadjust.counting.protocols import load_benchmarks
from rankadjust.data.registry import Dataset, load_registry
from rankadjust.tables.cells import Reader, Value, settle
from rankadjust.tables.facts import DEFAULT, FIELDS, GRADED, Fact, reasons_joined, sources_text
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
    registry = load_registry() if registry is None else registry
    names = known_names(registry)
    beside = sidecar_of(path) if sidecar is None else Path(sidecar)
    data = {**(load_sidecar(beside) if beside else {}), **given_facts(given, names)}
    tables = []
    for number, grid in enumerate(read_grids(path), start=1):
        stated = stated_about(data, number, names, beside or path, grid.context)
        tables.append(lay_out(number, grid, stated, names, path.stem))
    if beside:
        require_found(beside, data, tables)
    read = [(table, Reader(table, names, registry, beside or path).read()) for table in tables]
    values = [[value for value in cells.values() if isinstance(value, Value)] for _, cells in read]
    has_commas = any(value.number.decimal_comma for own in values for value in own)
    remarks: dict[str, None] = {}
    tidy: list[dict[str, Any]] = []
    facts: list[Mapping[str, Fact | None]] = []
    account: list[tuple[Any, ...]] = []
    is_only = len(tables) == 1
    for (table, cells), own in zip(read, values, strict=True):
        settle(own, table.percent, has_commas=has_commas)
        place = "" if is_only else f"table {table.number}: "
        remarks |= {f"{place}{remark}": None for remark in table.grid.remarks}
        about = {"source": path.name, "table": path.stem if is_only else f"{path.stem}-{table.number}"}
        for value in (value for value in own if not value.unread):
            facts.append(value.by_name)
            tidy.append(_record(table, value, facts[-1], about))
        for (row, column), cell in cells.items():
            line, text = table.grid.lines[row], table.grid.rows[row][column]
            state = cell.state if isinstance(cell, Value) else cell
            account.append((table.number, row + 1, column + 1, line, text, *state))
    frames = pl.DataFrame(tidy, schema=VALUES), pl.DataFrame(account, schema=CELLS, orient="row")
    return Reading(path, *frames, tuple(remarks), tuple(tables), facts, data)


def known_names(registry: Mapping[str, Dataset]) -> Names:
    """Return our name of each data set by its names and aliases, which have no case and no punctuation.

    The benchmarks with a constant number of candidates are data sets too.
    """
    aliases = [(benchmark.dataset, benchmark.aliases) for benchmark in load_benchmarks()]
    aliases += [(name, dataset.aliases) for name, dataset in registry.items()]
    names = Names()
    for name, spellings in aliases:
        for spelling in spellings:
            names.setdefault(folded(spelling), name)
    # A data set's own name wins over another's alias.
    names.update({folded(name): name for name, _ in aliases})
    return names


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
        "assumed": reasons_joined(
            {name: fact.why if (fact := known[name]) else "not named" for name in GRADED if name in known}
        ),
        "grades": sources_text(known),
        "dataset_as_printed": (fact := known["dataset"]) and fact.printed,
        "metric_as_printed": (fact := known["metric"])
        and (fact.printed or table.columns[column].name or None),
        "cell": table.grid.rows[row][column],
        "grid": table.number,
        "row": row + 1,
        "column": column + 1,
    }
    lines = {**table.columns[column].line.about, **table.rows[row].line.about}
    record = {**words, **about, **table.stated.about, **lines, **own}
    return {name: record.get(name) for name in VALUES}
