"""The commands that list what there is: datasets, protocols, metrics, show."""
# Each imports what it needs when it runs: it starts at once.
# ruff: noqa: PLC0415

import textwrap
from typing import TYPE_CHECKING

import click

from rankadjust.cli import options
from rankadjust.cli.printing import echo, print_json, show_result

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants


@options.command(
    *(click.Argument(["dataset"]), options.EVALUATION_PROTOCOL, options.EVALUATION_SPLIT),
    *(*options.OF_DATABASE, options.JSON),
)
def show(dataset: str, protocol: str, split: str, constants: "Constants", as_json: bool) -> None:
    """Show the counts of a data set and how many candidates its tasks have."""
    from rankadjust.database.overview import overview
    from rankadjust.output.terminal import overview_text

    shown = overview(dataset, protocol, split, constants)
    show_result(lambda: shown, lambda: overview_text(shown), as_json)


@options.command(*options.OF_DATABASE, options.JSON)
def datasets(constants: "Constants", as_json: bool) -> None:
    """List the data sets that are registered or in the database."""
    from rankadjust.database.overview import known_datasets
    from rankadjust.output.terminal import table

    rows = known_datasets(constants)
    names = ("name", "kind", "protocols", "aliases")
    lists = [[*row[:2], *(text.split(", ") if text else [] for text in row[2:])] for row in rows]
    header = ("data set", "kind", "in the database", "also called")
    show_result(
        lambda: [dict(zip(names, row, strict=True)) for row in lists],
        lambda: table(header, rows, left=4),
        as_json,
    )


@options.command(options.JSON)
def protocols(as_json: bool) -> None:
    """List the named evaluation protocols."""
    from rankadjust.counting.protocols import load_protocols
    from rankadjust.output.terminal import SAMPLED, SAMPLED_DESCRIPTION

    rows = {name: protocol.description for name, protocol in load_protocols().items()}
    rows[SAMPLED] = SAMPLED_DESCRIPTION
    if as_json:
        print_json([{"name": name, "description": description} for name, description in rows.items()])
        return
    width = max(map(len, rows)) + 2
    for name, description in rows.items():
        echo(textwrap.fill(description, 90, initial_indent=name.ljust(width), subsequent_indent=width * " "))


@options.command(options.JSON)
def metrics(as_json: bool) -> None:
    """List the metrics: their names, the range of their values, and which direction is better."""
    from rankadjust.output.terminal import metric_rows, table

    rows = metric_rows()
    header = ("metric", "also called", "range", "better", "adjusted")
    shown = [
        (
            row["name"],
            ", ".join(row["aliases"]),
            f"{row['lower']:g} to {'any' if row['upper'] is None else format(row['upper'], 'g')}",
            row["better"] or "",
            "yes" if row["adjusted"] else "no",
        )
        for row in rows
    ]
    note = "k is any whole number, as in hits@10; the range is given for k = 10."
    show_result(lambda: rows, lambda: f"{table(header, shown, left=len(header))}\n{note}", as_json)
