"""The command rescore: a table of results, adjusted."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.inputs import adjusted_rows, nothing_read, numbers_read, read_table
from rankadjust.cli.printing import echo, print_json, write

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants


@options.command(
    click.Argument(["table"], type=options.PATH),
    *(options.SIDECAR, *options.FACTS, options.ACCEPT, options.ASK),
    options.output(
        *(".md", ".parquet", ".tsv", ".csv"),
        help="Write the rows with all columns (.parquet, .tsv, .csv), or a readable table (.md).",
    ),
    *(options.RESULTS, options.JSON),
    epilog=options.examples(
        "rankadjust rescore resources/published/conve.csv",
        "rankadjust rescore results.csv --output results-adjusted.csv",
    ),
)
def rescore(
    table: Path, constants: "Constants", accept: bool, output: Path | None, as_json: bool, **given: Any
) -> None:
    """Adjust every value of a table, and give each a status.

    TABLE is a tidy table, or any table that `rankadjust read` takes. Standard error lists wrong rows, unread cells and
    facts that were assumed because the table lacks them. The exit code is 1 if nothing could be adjusted.
    """
    from rankadjust.literature.rescore import summary
    from rankadjust.literature.statuses import problems
    from rankadjust.output.reading_text import unread_cells

    read = read_table(table, constants, **given)
    if read.rows.is_empty():
        raise RankadjustError(nothing_read(table))
    rescored = adjusted_rows([read], constants, accept=accept)
    for line in [*unread_cells(read.reading), *problems(rescored)]:
        echo(line, err=True)
    if output is not None:
        from rankadjust.output.markup import readable

        write(rescored, output, for_paper=lambda: readable(rescored))
    if as_json:
        print_json(rescored.to_dicts())
    elif output is None:
        from rankadjust.output.adjusted_text import rescored_text

        echo(numbers_read([read]))
        echo(rescored_text(rescored))
    if not as_json:
        echo("; ".join([summary(rescored), *([str(output)] if output else [])]))
    if not rescored["index"].count():
        sys.exit(1)
