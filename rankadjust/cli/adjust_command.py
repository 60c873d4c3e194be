"""The command adjust: one printed number."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415, PLR0913, PLR0917

from dataclasses import asdict
from pathlib import Path

import click

from rankadjust.cli.inputs import NAMED, constants_of, named_values, require_effect, require_times
from rankadjust.cli.options import (
    Command,
    database_option,
    examples,
    json_option,
    options_of,
    protocol_option,
    results_option,
    scores_option,
    split_option,
)
from rankadjust.cli.printing import echo, print_json, say_if_histograms_are_missing, say_if_times_are_ignored


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust adjust --dataset FB15k-237 --metric mrr 0.338",
        "rankadjust adjust --dataset FB15k-237 mrr=0.338 hits@10=53.3%",
    ),
)
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@click.option("--dataset", required=True, help="Data set, by name or alias.")
@click.option("--metric", help="Metric of the values, such as mrr or hits@10.")
@click.option("--side", default="both", show_default=True, help="head, tail or both.")
@click.option(
    "--against",
    help="Compare values with this counting baseline (popularity, redundancy, rules), not the best one.",
)
@options_of(protocol_option, split_option, scores_option, results_option, database_option, json_option)
@click.pass_context
def adjust(
    context: click.Context,
    /,
    values: tuple[str, ...],
    dataset: str,
    metric: str | None,
    side: str,
    against: str | None,
    protocol: str,
    split: str,
    scores: str | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
) -> None:
    """Adjust printed values for chance, and compare them with counting training triples.

    A VALUE is a number as printed (0.338, 33.8%, 0,338), or a metric and a number (mrr=0.338). Its digits say how
    far it may have been rounded, and the index gets the same interval.
    """
    from rankadjust.evaluation.one_value import adjust as adjust_value

    named = named_values(values, metric)
    if all("=" in value or value == "%" for value in values):
        require_effect(context, NAMED)
    constants = constants_of(results, database, dataset)
    require_times(context, constants, dataset)
    adjusted_values = [
        adjust_value(
            text,
            dataset=dataset,
            metric=name,
            protocol=protocol,
            split=split,
            side=side,
            scores=scores,
            against=against,
            database=constants,
        )
        for name, text in named
    ]
    say_if_histograms_are_missing(constants)
    say_if_times_are_ignored(constants, adjusted_values[0].dataset, adjusted_values[0].protocol)
    if as_json:
        print_json([asdict(adjusted) for adjusted in adjusted_values])
        return
    from rankadjust.output.one_value_text import adjusted_value

    texts = [
        adjusted_value(adjusted, text, against)
        for adjusted, (_, text) in zip(adjusted_values, named, strict=True)
    ]
    echo("\n\n".join(texts))
