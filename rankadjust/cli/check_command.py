"""The command check: what cannot be true of a table."""
# It imports what it needs when it runs: it starts at once.
# ruff: noqa: PLC0415

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.inputs import (
    adjusted_rows,
    by_metric_of,
    constants_of,
    nothing_read,
    numbers_read,
    read_table,
)
from rankadjust.cli.printing import echo, number_of, print_json

if TYPE_CHECKING:
    import polars as pl

_TABLES, _TYPED, _ALONE = "a table", "typed values", "values without --dataset"
_SOURCES = click.Argument(["tables"], nargs=-1, required=True, type=options.PATH, metavar="TABLE | VALUE...")
_OF_DATABASE = (options.RESULTS, options.DATABASE, options.JSON)


def _kind_of(given: Mapping[str, Any]) -> str:
    tables = given["tables"]
    is_typed = any("=" in table.name for table in tables) and not any(table.exists() for table in tables)
    return _TABLES if not is_typed else _ALONE if given["dataset"] is None else _TYPED


@options.command(_SOURCES, options.SIDECAR, *options.FACTS, options.ACCEPT, options.ASK, *_OF_DATABASE)
def _check_tables(
    tables: tuple[Path, ...],
    sidecar: Path | None,
    accept: bool,
    ask: bool,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    if sidecar is not None and len(tables) > 1:
        raise RankadjustError("--sidecar is about one table; check each table that needs one by itself")
    from rankadjust.literature.assumptions import assumptions
    from rankadjust.literature.contradictions import check as find_contradictions
    from rankadjust.literature.statuses import problems

    constants = constants_of(results, database)
    read = [read_table(table, sidecar, ask, constants, given) for table in tables]
    rescored = adjusted_rows(read, constants, accept=accept)
    flagged = find_contradictions(rescored, constants)
    empty = [
        nothing_read(table) for table, result in zip(tables, read, strict=True) if result.rows.is_empty()
    ]
    unread = [line for result in read for line in result.unread]
    lines = [*empty, *unread, *problems(rescored), *_lines(flagged)]
    assumed = assumptions(rescored).to_dicts()
    _report(lines, rescored.height, flagged, assumed, as_json, numbers_read(read))


@options.command(
    *(_SOURCES, options.DATASET_FACT, options.SPLIT_FACT, options.SIDE_FACT, options.PROTOCOL_FACT),
    *_OF_DATABASE,
)
def _check_values(
    tables: tuple[Path, ...],
    dataset: str,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    by_metric = by_metric_of([str(value) for value in tables])
    from rankadjust.public_set import EvaluationSet

    chosen = {name: text for name, text in given.items() if text is not None}
    flagged = EvaluationSet.of(constants_of(results, database), dataset, **chosen).check(by_metric)
    _report_values(by_metric, flagged, as_json)


@options.command(_SOURCES, options.JSON)
def _check_values_of_any_set(tables: tuple[Path, ...], as_json: bool) -> None:
    by_metric = by_metric_of([str(value) for value in tables])
    from rankadjust.public_set import EvaluationSet

    # More candidates and tasks than any data set has: what is impossible here is impossible everywhere.
    _report_values(by_metric, EvaluationSet.constant(candidates=2**40, tasks=10**9).check(by_metric), as_json)


def _report_values(by_metric: Mapping[str, str], flagged: "pl.DataFrame", as_json: bool) -> NoReturn:
    lines = [
        f"{severity.replace('_', ' ')}: {message}"
        for severity, message in flagged.select("severity", "message").iter_rows()
    ]
    _report(lines, len(by_metric), flagged, [], as_json)


check = options.CommandByInput(
    "check",
    _kind_of,
    {_TABLES: _check_tables, _TYPED: _check_values, _ALONE: _check_values_of_any_set},
    help="""Report printed metrics of a model that contradict each other, copied rows, and unread cells.

    A contradiction is impossible, or possible with tied ranks only, or suspicious: docs/checking.md.
    A TABLE is a tidy table, or a published one in any format that `rankadjust read` takes. Standard error lists the
    facts that it lacks, and the value assumed for each. VALUEs are the metrics of one model on one data set, whose
    numbers of candidates find more (--dataset).
    The exit code is 1 if anything is reported, or nothing was read.
    """,
    epilog=options.examples(
        "rankadjust check my_table.md",
        "rankadjust check --dataset FB15k-237 mrr=0.338 hits@1=0.241 hits@10=0.533",
    ),
)


def _report(
    lines: Sequence[str],
    values: int,
    flagged: "pl.DataFrame",
    assumed: Sequence[Any],
    as_json: bool,
    looked_at: str | None = None,
) -> NoReturn:
    if as_json:
        found = {
            "values": values,
            "assumed": assumed,
            "reported": lines,
            "contradictions": flagged.to_dicts(),
        }
        print_json(found)
    else:
        for line in lines:
            echo(line)
        echo(f"{looked_at or number_of(values, 'value')}: {len(lines) or 'nothing'} to look at")
    sys.exit(1 if lines else 0)


def _lines(flagged: "pl.DataFrame") -> list[str]:
    import polars as pl

    from rankadjust.base.frames import filled
    from rankadjust.literature.tidy import where_of

    # A value that is impossible by itself is reported as a wrong row.
    shown = flagged.filter(pl.col("status") != "value_impossible")
    model = pl.col("model").fill_null("") if "model" in shown.columns else pl.lit("")
    severity = pl.col("severity").str.replace_all("_", " ")
    lines = shown.select(filled("{}: {}: {}: {}", where_of(shown), model, severity, "message"))
    return lines.to_series().to_list()
