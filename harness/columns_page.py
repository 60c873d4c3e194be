"""docs/columns.md: every column of the database, made of their descriptions for the deposit (`make api`)."""

from pathlib import Path
from typing import Any

import polars as pl

from harness.tables import write_tables
from rankadjust.base.io import shipped
from rankadjust.base.schemas import read_yaml
from rankadjust.output import deposit

_OF_SPLITS = {
    "distinct_triples_": "different triples of a split, with a column for each split",
    "triples_": "lines of a split, with a column for each split",
}


def columns_tables() -> dict[str, str]:
    """Return a section for each table in Markdown."""
    tables: dict[str, dict[str, Any]] = read_yaml(Path(deposit.__file__).parent / "columns.yaml")
    known: dict[str, str] = {}
    sections = (_section(name, each, known) for name, each in tables.items())
    return {"columns": "".join(sections).strip("\n") + "\n"}


def _section(name: str, table: dict[str, Any], known: dict[str, str]) -> str:
    """Return a table of the columns that no table above describes in the same words; known: those, made longer here."""
    said = {column: about["description"] for column, about in table["columns"].items()}
    new = {column: text for column, text in said.items() if known.get(column) != text}
    known |= said
    *keys, last = table["key"]
    key = f"{', '.join(keys)} and {last}" if keys else last
    title = f"\n## {name}\n\n{' '.join(table['description'].split())} A row is identified by {key}.\n"
    # A table without a column of its own has only some of those above.
    same = [column for column in said if column not in new]
    if not new:
        same = pl.read_csv(shipped(f"resources/database/{name}"), n_rows=0).columns
    if same:
        title += f"\nColumns as above: {', '.join(f'`{column}`' for column in same)}.\n"
    # The columns of single splits differ in the name of the split alone.
    rows: dict[str, str] = {}
    for column, text in new.items():
        start = next((start for start in _OF_SPLITS if column.startswith(start)), None)
        rows[column if start is None else f"{start}…"] = text if start is None else _OF_SPLITS[start]
    listed = "".join(f"| `{column}` | {text} |\n" for column, text in rows.items())
    return title + (f"\n| column | content |\n|---|---|\n{listed}" if rows else "")


if __name__ == "__main__":
    write_tables("columns.md", columns_tables())
