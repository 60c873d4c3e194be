"""The command read: what is read of a table."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.inputs import read_table
from rankadjust.cli.printing import echo, number_of, print_json, write

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants
    from rankadjust.tables.reading import Reading


@options.command(
    click.Argument(["table"], type=options.PATH),
    *(options.SIDECAR, *options.FACTS, options.ASK),
    options.output(
        names=["--write-sidecar"], help="Write the shortest sidecar that states what was assumed."
    ),
    options.output(
        ".csv", ".tsv", ".parquet", names=["--tidy"], help="Write the values that were read as a tidy table."
    ),
    options.ALL,
    *(options.RESULTS, options.JSON),
    epilog=options.examples(
        "rankadjust read my_table.md --write-sidecar my_table.yaml",
        "rankadjust read results.json --tidy values.csv",
    ),
)
def read(
    table: Path,
    constants: "Constants",
    write_sidecar: Path | None,
    tidy: Path | None,
    everything: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Say how a table is read: values, assumed facts, unread cells.

    TABLE is Markdown, HTML, LaTeX, reStructuredText, CSV, TSV, plain text, or the JSON or YAML that a tool writes. The
    exit code is 1 if nothing was read.
    """
    found = read_table(table, constants, **given)
    reading = found.reading
    values = found.rows if reading is None else reading.values
    if as_json:
        account = {"unread": [], "missing": [], "remarks": []} if reading is None else _account(reading)
        print_json({"values": values.to_dicts(), **account})
    elif reading is None:
        echo(f"{table.name}: a tidy table of {number_of(values.height, 'value')}, taken as it is")
    else:
        from rankadjust.output.reading_text import describe

        echo(describe(reading, everything=everything).rstrip("\n"))
    if tidy is not None:
        write(values.drop("file", "file_line") if reading is None else values, tidy)
    if write_sidecar:
        if reading is None:
            raise RankadjustError(f"{table}: a tidy table has no sidecar, because its columns hold the facts")
        from rankadjust.base.io import require_free, write_text
        from rankadjust.output.reading_text import draft_sidecar
        from rankadjust.tables.sidecar import sidecar_of

        require_free(write_sidecar, filter(None, [sidecar_of(table)]))
        write_text(draft_sidecar(reading), write_sidecar)
    if values.is_empty():
        sys.exit(1)


def _account(reading: "Reading") -> dict[str, Any]:
    return {
        "unread": reading.unread.to_dicts(),
        "missing": reading.cells.filter(state="missing").to_dicts(),
        "remarks": list(reading.remarks),
    }
