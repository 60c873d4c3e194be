"""docs/columns.md: every column of the database, made of their descriptions for the deposit (`make api`)."""

import sys
from pathlib import Path
from typing import Any

from rankadjust.base.schemas import read_yaml
from rankadjust.output import deposit

_HEAD = """\
# The columns of the database

<!-- Made of rankadjust/output/columns.yaml: make api. A test compares the two. -->

Which columns does the database have, and what is in them? [use-the-database.md](use-the-database.md) shows how to
read the files. Every row of `adjustments.parquet` is for one data set, protocol, split, side and metric, and N is
the number of candidates of a task.
"""


def columns_page() -> str:
    """Return the page as Markdown."""
    tables: dict[str, dict[str, Any]] = read_yaml(Path(deposit.__file__).parent / "columns.yaml")
    return _HEAD + "".join(_section(name, table, list(tables.values())) for name, table in tables.items())


def _section(name: str, table: dict[str, Any], tables: list[dict[str, Any]]) -> str:
    title = f"\n## {name}\n\n{' '.join(table['description'].split())} The key of a row: {', '.join(table['key'])}.\n"
    first = next(one for one in tables if one["columns"] == table["columns"])
    if first is not table:
        return title
    rows = (f"| `{column}` | {said['description']} |\n" for column, said in table["columns"].items())
    return f"{title}\n| column | content |\n|---|---|\n{''.join(rows)}"


if __name__ == "__main__":
    sys.stdout.write(columns_page())
