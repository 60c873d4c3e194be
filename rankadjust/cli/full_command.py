"""The command full: from sampled to full ranking, and back."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415, PLR0913, PLR0917

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.cli.inputs import FULL_TABLE, TO_SAMPLED, by_metric_of, constants_of, is_given, require_effect
from rankadjust.cli.options import (
    OUTPUT,
    Command,
    Given,
    database_option,
    examples,
    json_option,
    known_suffix,
    options_of,
    protocol_option,
    results_option,
    sidecar_option,
)
from rankadjust.cli.printing import echo, say_what_was_assumed, show_result, write

if TYPE_CHECKING:
    import polars as pl

    from rankadjust.database.constants import Constants


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust full --dataset GraIL-WN18RR-v2 --sampled 50 mrr=0.784 hits@10=0.901",
        "rankadjust full --num-candidates 2757 --tasks 20000 --sampled 50 mrr=0.784 --against mrr=0.75",
        "rankadjust full --to-sampled 50 ranks.csv --num-candidates 2757",
        "rankadjust full my_table.md --output my_table-full.csv",
    ),
)
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@click.option("--sampled", type=int, help="Number of negatives of each task, without the true answer.")
@click.option(
    "--num-candidates", type=int, help="Candidates of each task in the full ranking, true answer included."
)
@click.option(
    "--num-entities", type=int, help="The same, for a full ranking that leaves out no known answer."
)
@click.option("--tasks", type=int, help="How many ranks were averaged.")
@click.option(
    "--dataset", help="Take the numbers of candidates and tasks, and the way to draw, from this set."
)
@options_of(protocol_option)
@click.option("--split", help="The split that was evaluated; by default the benchmark's, or testing.")
@click.option("--side", default="both", show_default=True, help="head, tail or both.")
@click.option(
    "--negatives",
    type=click.Choice(["without-replacement", "with-replacement"]),
    help="How the negatives are drawn, uniformly; by default as in the benchmark, or without replacement.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Probability that the bounds hold."
)
@click.option("--without-noise", is_flag=True, help="Take the printed values as the expected ones.")
@click.option(
    "--against", multiple=True, help="A printed value of a second model: is the first model better?"
)
@click.option("--metric", "metrics", multiple=True, help="Bound only this metric (may be repeated).")
@click.option(
    "--to-sampled",
    type=int,
    metavar="Q",
    help="The reverse: the values that the full ranks in the file VALUE give among Q negatives.",
)
@options_of(sidecar_option)
@click.option(
    "--output",
    type=OUTPUT,
    callback=known_suffix(".parquet", ".tsv", ".csv"),
    help="For a table: write all its rows with their bounds.",
)
@options_of(results_option, database_option, json_option)
@click.pass_context
def full(
    context: click.Context,
    /,
    values: tuple[str, ...],
    sampled: int | None,
    against: tuple[str, ...],
    to_sampled: int | None,
    without_noise: bool,
    sidecar: Path | None,
    output: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - of the evaluation and of the bounds, handed on
) -> None:
    """Bound the metrics of the full ranking by values printed among sampled negatives.

    A VALUE is a metric and a number, such as mrr=0.784; several sharpen each other. The true value is within the bounds
    whatever the ranks are, but for the noise of the draws with the stated probability. Or VALUE is one table, as
    `rankadjust rescore` takes it: each row among sampled negatives gets the bounds that all values of its model give;
    --sampled, --dataset, --split and --side say what the table does not.
    """
    from rankadjust.output import bounds_text as texts

    if options["dataset"] is not None or results or database:
        options["database"] = constants_of(results, database)
    is_table = len(values) == 1 and to_sampled is None and Path(values[0]).is_file()
    if (sidecar or output) and not is_table:
        raise click.UsageError("--sidecar and --output need a table of values; leave them out.")
    if is_table:
        require_effect(context, FULL_TABLE)
        given = {name: options[name] for name in ("dataset", "split", "side") if is_given(context, name)}
        if sampled is not None:
            given["protocol"] = f"sampled-{sampled}"
        _full_table(
            Path(values[0]),
            sidecar,
            given,
            options["level"],
            output,
            constants_of(results, database),
            as_json,
        )
        return
    if to_sampled is not None:
        require_effect(context, TO_SAMPLED)
        expected = _to_sampled(values, to_sampled, options)
        show_result(expected.to_dicts, lambda: texts.to_sampled_text(expected, to_sampled), as_json)
        return
    second = "--against takes the values of a second model"
    named = by_metric_of(values, second)
    if sampled is None:
        raise click.UsageError("The number of sampled negatives is missing. Give --sampled.")
    options |= {"sampled": sampled, "noise": not without_noise}
    if against:
        from rankadjust.sampling.bounds import full_difference

        pair = full_difference(named, by_metric_of(against, second), **options)
        show_result(lambda: asdict(pair), lambda: texts.full_difference_text(pair), as_json)
    else:
        from rankadjust.sampling.bounds import full_bounds

        bounds = full_bounds(named, **options)
        show_result(lambda: asdict(bounds), lambda: texts.full_bounds_text(bounds), as_json)


def _full_table(
    table: Path,
    sidecar: Path | None,
    given: Given,
    level: float,
    output: Path | None,
    constants: "Constants",
    as_json: bool,
) -> None:
    from rankadjust.literature.assumptions import assumptions, with_defaults_named
    from rankadjust.literature.full_ranking import add_full_bounds
    from rankadjust.literature.rescore import rescore
    from rankadjust.literature.result_files import read_results
    from rankadjust.output.bounds_text import full_table_text

    results = read_results(table, constants.registry, sidecar, given)
    rescored = rescore(with_defaults_named(results.rows), constants)
    say_what_was_assumed(assumptions(rescored))
    for line in results.unread:
        echo(line, err=True)
    bounded = add_full_bounds(rescored, constants, level)
    if output is not None:
        write(bounded, output)
    show_result(bounded.to_dicts, lambda: full_table_text(bounded), as_json)


def _to_sampled(values: Sequence[str], sampled: int, options: dict[str, Any]) -> "pl.DataFrame":
    from rankadjust.sampling.expected import to_sampled as expected

    if len(values) > 1:
        raise click.UsageError("--to-sampled takes one file of ranks.")
    names = ("num_candidates", "dataset", "protocol", "split", "metrics", "database")
    known = {name: options[name] for name in names if name in options}
    return expected(
        Path(values[0]), sampled=sampled, negatives=options["negatives"] or "without-replacement", **known
    )
