"""The command read: what is read of a table."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415, PLR0913, PLR0917

import sys
from pathlib import Path

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli.inputs import constants_of, sidecar_of_answers, standard_input
from rankadjust.cli.options import (
    OUTPUT,
    PATH,
    Command,
    ask_option,
    database_option,
    examples,
    facts_options,
    json_option,
    known_suffix,
    options_of,
    require_output_free,
    results_option,
    sidecar_option,
)
from rankadjust.cli.printing import echo, number_of, print_json, write


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust read my_table.md --write-sidecar my_table.yaml",
        "rankadjust read results.json --tidy values.csv",
    ),
)
@click.argument("table", type=PATH)
@options_of(sidecar_option, facts_options, ask_option)
@click.option("--write-sidecar", type=OUTPUT, help="Write the shortest sidecar that states what was assumed.")
@click.option(
    "--tidy",
    type=OUTPUT,
    callback=known_suffix(".csv", ".tsv", ".parquet"),
    help="Write the values that were read, a row for each.",
)
@click.option("--output", type=OUTPUT, help="Write the table with its index beside each value.")
@click.option("--all", "everything", is_flag=True, help="Show every value, and every reason of unread cells.")
@options_of(results_option, database_option, json_option)
def read(
    table: Path,
    sidecar: Path | None,
    ask: bool,
    write_sidecar: Path | None,
    tidy: Path | None,
    output: Path | None,
    results: Path | None,
    database: Path | None,
    everything: bool,
    as_json: bool,
    **given: str | None,
) -> None:
    """Read a table of results, and say in ten lines what was read, what was assumed, and what was not read.

    TABLE is Markdown, HTML, LaTeX, reStructuredText, CSV, TSV, plain text, or the JSON or YAML that a tool writes. The
    exit code is 1 if nothing was read.
    """
    from rankadjust.literature.result_files import read_results

    constants = constants_of(results, database)
    if ask:
        sidecar = sidecar_of_answers(table, sidecar, constants, given)
    table = standard_input(table)
    read_table = read_results(table, constants.registry, sidecar, given)
    reading = read_table.reading
    if as_json:
        unread = [] if reading is None else reading.unread.to_dicts()
        missing = [] if reading is None else reading.missing.to_dicts()
        remarks = [] if reading is None else list(reading.remarks)
        values = read_table.rows if reading is None else reading.values
        print_json({"values": values.to_dicts(), "unread": unread, "missing": missing, "remarks": remarks})
    elif reading is None:
        echo(f"{table.name}: a tidy table of {number_of(read_table.rows.height, 'value')}, taken as it is")
    else:
        from rankadjust.tables.account import describe

        echo(describe(reading, everything=everything), nl=False)
    if tidy is not None:
        write(read_table.rows.drop("file", "file_line") if reading is None else reading.values, tidy)
    if reading is None and (write_sidecar or output):
        raise RankadjustError(f"{table}: a tidy table has no sidecar and no layout; adjust it with 'rescore'")
    if write_sidecar is not None and reading is not None:
        from rankadjust.base.io import write_text
        from rankadjust.tables.account import draft_sidecar

        write_text(draft_sidecar(reading), write_sidecar)
    if output is not None and reading is not None:
        from rankadjust.literature.rescore import rescore
        from rankadjust.output.markup import adjusted_tables, write_adjusted

        for number, adjusted in enumerate(
            adjusted_tables(reading, rescore(reading.values, constants)), start=1
        ):
            many = len(reading.tables) > 1
            place = output.with_stem(f"{output.stem}-{number}") if many else output
            require_output_free(click.get_current_context(), place)
            write_adjusted(adjusted, place)
    if read_table.rows.is_empty():
        sys.exit(1)
