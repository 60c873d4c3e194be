"""The command rescore: a table of results, adjusted."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415

import sys
from pathlib import Path

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli.inputs import constants_of, sidecar_of_answers, standard_input
from rankadjust.cli.options import (
    OUTPUT,
    PATH,
    Command,
    accept_option,
    ask_option,
    database_option,
    examples,
    facts_options,
    json_option,
    known_suffix,
    options_of,
    results_option,
    sidecar_option,
)
from rankadjust.cli.printing import (
    echo,
    print_json,
    say_if_histograms_are_missing,
    say_what_was_assumed,
    write,
)


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust rescore my_table.md", "rankadjust rescore results.csv --output results-adjusted.csv"
    ),
)
@click.argument("table", type=PATH)
@options_of(sidecar_option, facts_options, accept_option, ask_option)
@click.option(
    "--output",
    type=OUTPUT,
    callback=known_suffix(".md", ".parquet", ".tsv", ".csv"),
    help="Write the rows, all columns (.parquet, .tsv, .csv) or a readable table (.md).",
)
@options_of(results_option, database_option, json_option)
def rescore(
    table: Path,
    sidecar: Path | None,
    accept: bool,
    ask: bool,
    output: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Adjust every value of a table of results, each row with its status.

    TABLE is a tidy table, or a published one in any format that `rankadjust read` takes. Standard error lists the
    facts that it lacks and the value assumed for each, wrong rows, and unread cells. The exit code is 1 if nothing
    could be adjusted.
    """
    from rankadjust.literature.assumptions import accepted, assumptions, with_defaults_named
    from rankadjust.literature.rescore import rescore as adjust_rows
    from rankadjust.literature.rescore import summary
    from rankadjust.literature.result_files import read_results
    from rankadjust.literature.statuses import problems

    constants = constants_of(results, database)
    if ask:
        sidecar = sidecar_of_answers(table, sidecar, constants, given)
    table = standard_input(table)
    read_table = read_results(table, constants.registry, sidecar, given)
    if read_table.rows.is_empty():
        raise RankadjustError(f"{table}: no value was read; 'rankadjust read {table}' says why")
    rows = with_defaults_named(read_table.rows)
    rescored = adjust_rows(accepted(rows) if accept else rows, constants)
    say_what_was_assumed(assumptions(rescored))
    for line in [*read_table.unread, *problems(rescored)]:
        echo(line, err=True)
    say_if_histograms_are_missing(constants)
    if output is not None:
        write(rescored, output)
    if as_json:
        print_json(rescored.to_dicts())
    elif output is None:
        from rankadjust.output.markup import readable
        from rankadjust.output.terminal import table as aligned

        shown = readable(rescored)
        shown = shown.select(column.name for column in shown if (column != "").any())
        echo(aligned(shown.columns, list(shown.iter_rows())))
    if not as_json:
        echo("; ".join([summary(rescored), *([str(output)] if output else [])]))
    if not rescored["index"].count():
        sys.exit(1)
