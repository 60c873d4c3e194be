"""The command check: what cannot be true of a table."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli.inputs import (
    VALUES,
    by_metric_of,
    constants_of,
    require_effect,
    sidecar_of_answers,
    standard_input,
)
from rankadjust.cli.options import (
    PATH,
    Command,
    Given,
    accept_option,
    ask_option,
    database_option,
    examples,
    facts_options,
    json_option,
    options_of,
    results_option,
    sidecar_option,
)
from rankadjust.cli.printing import echo, number_of, print_json, say_what_was_assumed

if TYPE_CHECKING:
    import polars as pl


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust check my_table.md",
        "rankadjust check --dataset FB15k-237 mrr=0.338 hits@1=0.241 hits@10=0.533",
    ),
)
@click.argument("tables", nargs=-1, required=True, type=PATH, metavar="TABLE | VALUE...")
@options_of(
    sidecar_option, facts_options, accept_option, ask_option, results_option, database_option, json_option
)
def check(
    tables: tuple[Path, ...],
    sidecar: Path | None,
    accept: bool,
    ask: bool,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Report printed metrics of a model that contradict each other, copied rows, and unread cells.

    A contradiction is impossible, or possible with tied ranks only, or suspicious: docs/literature.md, "Consistency".
    A TABLE is a tidy table, or a published one in any format that `rankadjust read` takes. Standard error lists the
    facts that it lacks, and the value assumed for each. VALUEs are the metrics of one model on one data set.
    The exit code is 1 if anything is reported, or nothing was read.
    """
    if any("=" in table.name for table in tables) and not any(table.exists() for table in tables):
        require_effect(click.get_current_context(), VALUES)
        _check_values([str(table) for table in tables], given, results, database, as_json)
    if sidecar is not None and len(tables) > 1:
        raise RankadjustError("--sidecar is about one table; check each table that needs one by itself")
    import polars as pl

    from rankadjust.literature.assumptions import accepted, assumptions, with_defaults_named
    from rankadjust.literature.contradictions import check as find_contradictions
    from rankadjust.literature.rescore import rescore
    from rankadjust.literature.result_files import read_results
    from rankadjust.literature.statuses import problems

    constants = constants_of(results, database)
    for table in tables if ask else ():
        sidecar_of_answers(table, sidecar, constants, given)
    tables = tuple(map(standard_input, tables))
    read_tables = [read_results(table, constants.registry, sidecar, given) for table in tables]
    rows = pl.concat([with_defaults_named(result.rows) for result in read_tables], how="diagonal")
    rows = accepted(rows) if accept else rows
    rescored = rescore(rows, constants)
    assumed = assumptions(rescored)
    say_what_was_assumed(assumed)
    flagged = find_contradictions(rescored, constants)
    unread = [line for result in read_tables for line in result.unread]
    empty = [
        f"{table}: no value was read; 'rankadjust read {table}' says why"
        for table, result in zip(tables, read_tables, strict=True)
        if result.rows.is_empty()
    ]
    _report_check(
        [*empty, *unread, *problems(rescored), *_flags(flagged)], rescored.height, flagged, assumed, as_json
    )


def _check_values(
    values: Sequence[str], given: Given, results: Path | None, database: Path | None, as_json: bool
) -> NoReturn:
    """Report typed metrics of one model that contradict each other, and end the command."""
    if (dataset := given["dataset"]) is None:
        raise click.UsageError(
            "Give --dataset: which values are possible together depends on its candidates."
        )
    chosen = {name: text for name in ("split", "side", "protocol") if (text := given[name]) is not None}
    by_metric = by_metric_of(values, "leave one of the two out")
    from rankadjust.public_set import EvaluationSet

    constants = constants_of(results, database)
    flagged = EvaluationSet.of(constants, dataset, **chosen).check(by_metric)
    lines = [_flag(*row) for row in flagged.select("severity", "message").iter_rows()]
    _report_check(lines, len(by_metric), flagged, None, as_json)


def _report_check(
    lines: Sequence[str], values: int, flagged: "pl.DataFrame", assumed: "pl.DataFrame | None", as_json: bool
) -> NoReturn:
    if as_json:
        print_json(
            {
                "values": values,
                "assumed": [] if assumed is None else assumed.to_dicts(),
                "reported": lines,
                "contradictions": flagged.to_dicts(),
            }
        )
        sys.exit(1 if lines else 0)
    for line in lines:
        echo(line)
    echo(f"{number_of(values, 'value')}: {len(lines) or 'nothing'} to look at")
    sys.exit(1 if lines else 0)


def _flag(severity: str, message: str) -> str:
    return f"{severity.replace('_', ' ')}: {message}"


def _flags(flagged: "pl.DataFrame") -> list[str]:
    import polars as pl

    from rankadjust.base.frames import filled
    from rankadjust.literature.tidy import where_of

    # A value that is impossible by itself is reported as a wrong row.
    shown = flagged.filter(pl.col("status") != "value_impossible")
    model = pl.col("model").fill_null("") if "model" in shown.columns else pl.lit("")
    severity = pl.col("severity").str.replace_all("_", " ")
    lines = shown.select(filled("{}: {}: {}: {}", where_of(shown), model, severity, "message"))
    return lines.to_series().to_list()
