"""The command check: what cannot be true of a table."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.inputs import (
    adjusted_rows,
    by_metric_of,
    chosen_set,
    nothing_read,
    numbers_read,
    read_table,
)
from rankadjust.cli.printing import number_of, say_usual, show_result

if TYPE_CHECKING:
    import polars as pl

    from rankadjust.database.constants import Constants
    from rankadjust.public_set import EvaluationSet


@options.command(
    click.Argument(["tables"], nargs=-1, required=True, type=options.PATH, metavar="TABLE | VALUE..."),
    *(*options.OF_SET, options.SIDE, *options.OF_TABLE, options.SIDECAR, options.ACCEPT, options.ASK),
    options.JSON,
    epilog=options.examples(
        "rankadjust check resources/published/conve.csv",
        "rankadjust check --dataset FB15k-237 mrr=0.338 hits@1=0.241 hits@10=0.533",
    ),
)
def check(tables: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Report printed values that contradict each other or are copied.

    A TABLE is a tidy table, or any table that `rankadjust read` takes. VALUEs are the metrics of one model, such as
    mrr=0.338 hits@10=0.533, and --dataset finds more mistakes in them. Cells that cannot be read are reported, too.
    docs/statuses.md explains each finding. The exit code is 1 if anything is reported, or if nothing was read.
    """
    of_table = ("sidecar", "accept", "ask", "model", "task")
    if any("=" in table.name for table in tables) and not any(table.exists() for table in tables):
        options.refuse("typed values", *of_table)
        which = {name: value for name, value in given.items() if name not in of_table}
        _check_values(by_metric_of([str(value) for value in tables]), as_json, which)
    options.refuse("a table", "triples", "columns")
    _check_tables(
        tables,
        as_json,
        **{name: value for name, value in given.items() if name not in ("triples", "columns")},
    )


def _check_tables(
    tables: tuple[Path, ...], as_json: bool, constants: "Constants", accept: bool, **given: Any
) -> NoReturn:
    if given["sidecar"] is not None and len(tables) > 1:
        raise RankadjustError("--sidecar describes one table, so check one table at a time")
    import polars as pl

    from rankadjust.base.frames import filled
    from rankadjust.literature.assumptions import assumptions
    from rankadjust.literature.contradictions import check as find_contradictions
    from rankadjust.literature.statuses import problems
    from rankadjust.literature.tidy import where_of
    from rankadjust.output.reading_text import unread_cells

    read = [read_table(table, constants, **given) for table in tables]
    rescored = adjusted_rows(read, constants, accept=accept)
    flagged = find_contradictions(rescored, constants)
    empty = [
        nothing_read(table) for table, result in zip(tables, read, strict=True) if result.rows.is_empty()
    ]
    unread = [line for result in read for line in unread_cells(result.reading)]
    # A value that is impossible by itself is reported as a wrong row.
    shown = flagged.filter(pl.col("status") != "value_impossible")
    model = pl.col("model").fill_null("") if "model" in shown.columns else pl.lit("")
    severity = pl.col("severity").str.replace_all("_", " ")
    found = shown.select(filled("{}: {}: {}: {}", where_of(shown), model, severity, "message"))
    lines = [*empty, *unread, *problems(rescored), *found.to_series()]
    worth = "" if lines else ". What that is worth: docs/checking.md"
    first = f"{numbers_read(read)}: {len(lines) or 'nothing'} to look at{worth}"
    _report(lines, rescored.height, flagged, assumptions(rescored).to_dicts(), as_json, first)


def _check_values(by_metric: dict[str, str], as_json: bool, which: dict[str, Any]) -> NoReturn:
    from rankadjust.counting.evaluators import as_evaluator_prints
    from rankadjust.public_set import EvaluationSet

    tasks = chosen_set("values without --dataset", **which)
    if tasks is None:
        options.refuse("values without --dataset", "side")
        # More candidates and tasks than any data set has: what is impossible here is impossible everywhere.
        tasks = EvaluationSet.constant(candidates=2**40, tasks=10**9)
    else:
        say_usual(tasks, which["protocol"], as_json)
    if which["evaluator"] is not None:
        meant = {name: as_evaluator_prints(which["evaluator"], name) for name in by_metric}
        for name, (_, added) in meant.items():
            if added:
                raise RankadjustError(
                    f"{which['evaluator']} counts ranks from 0, so add {added:.0f} to its {name}, and give "
                    "--protocol and --side in place of --evaluator"
                )
        by_metric = {meant[name][0]: text for name, text in by_metric.items()}
    flagged = tasks.check(by_metric)
    found = flagged.select("severity", "message").iter_rows()
    lines = [f"{severity.replace('_', ' ')}: {message}" for severity, message in found]
    if _is_impossible(flagged):
        others = [one.protocol for one in tasks.under_others() if not _is_impossible(one.check(by_metric))]
        lines[-1] += f"; all values are possible under {' and '.join(others[:3])}" if others else ""
    missed = "" if lines or as_json else _wrong_digits(tasks, by_metric)
    first = f"{number_of(len(by_metric), 'value')}: {len(lines) or 'nothing'} to look at{missed}"
    _report(lines, len(by_metric), flagged, [], as_json, first)


def _is_impossible(flagged: "pl.DataFrame") -> bool:
    return "impossible" in flagged["severity"]


def _wrong_digits(tasks: "EvaluationSet", by_metric: Mapping[str, str]) -> str:
    """Return a sentence that says how much it is worth that nothing was found: how many wrong digits would be."""
    import polars as pl

    wrong = [
        {**by_metric, metric: f"{text[: digit.start()]}{other}{text[digit.end() :]}"}
        for metric, text in by_metric.items()
        # Not the zero before a decimal point.
        for digit in re.finditer(r"(?!^0[.,])\d", text)
        for other in set("0123456789") - {digit[0]}
    ]
    rows = [(f"{place}", *value) for place, values in enumerate(wrong) for value in values.items()]
    found = tasks.check(pl.DataFrame(rows, schema=["model", "metric", "value"], orient="row"))
    # These models differ in one value each, and that is left out.
    noticed = found.filter(pl.col("bound") != "differs")["model"].n_unique()
    return f". A wrong digit would be found in {noticed} of {len(wrong)} cases"


def _report(
    lines: Sequence[str],
    values: int,
    flagged: "pl.DataFrame",
    assumed: Sequence[Any],
    as_json: bool,
    first: str,
) -> NoReturn:
    from rankadjust.output.terminal import sentences

    found = {"values": values, "assumed": assumed, "reported": lines, "contradictions": flagged.to_dicts()}
    width = get_terminal_size().columns if sys.stdout.isatty() else 80
    show_result(lambda: found, lambda: sentences(first, *lines, width=width), as_json)
    sys.exit(1 if lines else 0)
