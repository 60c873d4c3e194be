"""The command full: from sampled to full ranking, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import adjusted_rows, by_metric_of, read_table
from rankadjust.cli.printing import echo, show_result

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants

_TABLE, _TYPED, _REVERSE = "a table of values", "typed values", "full ranks (--to-sampled)"
_VALUES = click.Argument(["values"], nargs=-1, required=True, metavar="VALUE...")
_SAMPLED = options.option(
    "--sampled", type=int, help="Number of negatives of each task, without the true answer."
)
_CANDIDATES, _DATASET, _SIDE = options.NUM_CANDIDATES, options.DATASET, options.SIDE
_SPLIT = options.EVALUATION[-1]
_NEGATIVES = options.option(
    "--negatives",
    type=click.Choice(["without-replacement", "with-replacement"]),
    help="How the negatives are drawn, uniformly; by default as in the benchmark, or without replacement.",
)
_LEVEL = options.option("--level", type=float, default=0.95, help="Probability that the bounds hold.")
_TO_SAMPLED = options.option(
    "--to-sampled",
    type=int,
    metavar="Q",
    help="The reverse: the values that the full ranks in the file VALUE give among Q negatives.",
)
_OF_DATABASE = (*options.OF_DATABASE, options.JSON)


def _kind_of(given: Mapping[str, Any]) -> str:
    if given["to_sampled"] is not None:
        return _REVERSE
    return _TABLE if len(given["values"]) == 1 and Path(given["values"][0]).is_file() else _TYPED


@options.command(
    *(_VALUES, _SAMPLED, _CANDIDATES),
    options.NUM_TASKS,
    *(_DATASET, options.PROTOCOL_OF_TRIPLES, _SPLIT, _SIDE, _NEGATIVES, _LEVEL),
    *(options.METRICS, *_OF_DATABASE),
)
def _of_values(
    values: tuple[str, ...],
    sampled: int | None,
    num_tasks: int | None,
    side: str | None,
    as_json: bool,
    constants: "Constants",
    **given: Any,
) -> None:
    from rankadjust.output.bounds_text import full_bounds_text
    from rankadjust.sampling.full_bounds import full_bounds

    named = by_metric_of(values)
    if sampled is None:
        raise click.UsageError("The number of sampled negatives is missing. Give --sampled.")
    given |= {"sampled": sampled, "tasks": num_tasks, "side": side or "both", "database": constants}
    bounds = full_bounds(named, **given)
    show_result(lambda: asdict(bounds), lambda: full_bounds_text(bounds), as_json)


@options.command(
    *(_VALUES, _SAMPLED, _DATASET, _SPLIT, _SIDE, _LEVEL, options.SIDECAR),
    options.output(".parquet", ".tsv", ".csv", help="For a table: write all its rows with their bounds."),
    *_OF_DATABASE,
)
def _of_table(
    values: tuple[str],
    sampled: int | None,
    level: float,
    sidecar: Path | None,
    output: Path | None,
    as_json: bool,
    constants: "Constants",
    **facts: str | None,
) -> None:
    from rankadjust.literature.full_ranking import add_full_bounds
    from rankadjust.output.bounds_text import full_table_text

    given: dict[str, Any] = {name: text for name, text in facts.items() if text is not None}
    if sampled is not None:
        given["protocol"] = f"sampled-{sampled}"
    table = read_table(Path(values[0]), constants, sidecar=sidecar, **given)
    rescored = adjusted_rows([table], constants)
    for line in table.unread:
        echo(line, err=True)
    bounded = add_full_bounds(rescored, constants, level)
    show_result(bounded.to_dicts, lambda: full_table_text(bounded), as_json, output, bounded)


@options.command(
    *(
        _VALUES,
        _TO_SAMPLED,
        _CANDIDATES,
        _DATASET,
        options.PROTOCOL_OF_TRIPLES,
        _SPLIT,
        _NEGATIVES,
        options.METRICS,
    ),
    *_OF_DATABASE,
)
def _of_ranks(
    values: tuple[str, ...],
    to_sampled: int,
    negatives: str | None,
    as_json: bool,
    constants: "Constants",
    **given: Any,
) -> None:
    from rankadjust.output.bounds_text import to_sampled_text
    from rankadjust.sampling.expected import to_sampled as expected_among

    if len(values) > 1:
        raise click.UsageError("--to-sampled takes one file of ranks.")
    given |= {"negatives": negatives or "without-replacement", "database": constants}
    expected = expected_among(Path(values[0]), sampled=to_sampled, **given)
    show_result(expected.to_dicts, lambda: to_sampled_text(expected, to_sampled), as_json)


full = options.CommandByInput(
    "full",
    _kind_of,
    {_TYPED: _of_values, _TABLE: _of_table, _REVERSE: _of_ranks},
    help="""Bound full-ranking values by those among sampled negatives.

    A VALUE is a metric and a number, such as mrr=0.784; several sharpen each other. The true value is within the bounds
    whatever the ranks are, but for the noise of the draws with the stated probability. Or VALUE is one table, as
    `rankadjust rescore` takes it: each row among sampled negatives gets the bounds that all values of its model give;
    --sampled, --dataset, --split and --side say what the table does not.
    """,
    epilog=options.examples(
        "rankadjust full --dataset GraIL-WN18RR-v2 --sampled 50 mrr=0.784 hits@10=0.901",
        "rankadjust full --num-candidates 2757 --num-tasks 20000 --sampled 50 mrr=0.784",
        "rankadjust full --to-sampled 50 ranks.csv --num-candidates 2757",
        "rankadjust full my_table.md --output my_table-full.csv",
    ),
)
