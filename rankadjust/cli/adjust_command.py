"""The command adjust: one printed number."""
# It imports what it needs when it runs: it starts at once.
# ruff: noqa: PLC0415

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import constants_of, named_values, require_times
from rankadjust.cli.printing import echo, print_json, say_if_histograms_are_missing, say_if_times_are_ignored

_OPTIONS = (
    click.Argument(["values"], nargs=-1, required=True, metavar="VALUE..."),
    options.dataset("Data set, by name or alias.", required=True),
    options.SIDE,
    options.option(
        "--against",
        help="Compare values with this counting baseline (popularity, redundancy, rules), not the best one.",
    ),
    *(options.EVALUATION_PROTOCOL, options.EVALUATION_SPLIT, options.SCORES),
    options.flag(
        "--all",
        "everything",
        help="Print every number: ratio, each z, and the values that rounding leaves open.",
    ),
    *(options.RESULTS, options.DATABASE, options.JSON),
)


def _kind_of(given: Mapping[str, Any]) -> str:
    has_names = all("=" in value or value == "%" for value in given["values"])
    return "values that name their metric" if has_names else "numbers"


def _adjust(
    values: tuple[str, ...],
    results: Path | None,
    database: Path | None,
    as_json: bool,
    everything: bool,
    metric: str | None = None,
    **evaluation: str | None,
) -> None:
    from rankadjust.evaluation.one_value import adjust as adjust_value

    named = named_values(values, metric)
    dataset, against = str(evaluation["dataset"]), evaluation["against"]
    constants = constants_of(results, database)
    require_times(evaluation["scores"], constants, dataset)
    settings: dict[str, Any] = {**evaluation, "database": constants}
    adjusted_values = [adjust_value(text, metric=name, **settings) for name, text in named]
    say_if_histograms_are_missing(constants)
    say_if_times_are_ignored(constants, adjusted_values[0].dataset, adjusted_values[0].protocol)
    if as_json:
        print_json([asdict(adjusted) for adjusted in adjusted_values])
        return
    from rankadjust.output.adjusted_text import adjusted_values as in_words

    rows = [asdict(each) | {"text": text} for each, (_, text) in zip(adjusted_values, named, strict=True)]
    echo(in_words(rows, everything=everything, against=against))


adjust = options.CommandByInput(
    "adjust",
    _kind_of,
    {
        "numbers": options.command(*_OPTIONS[:2], options.ONE_METRIC, *_OPTIONS[2:])(_adjust),
        "values that name their metric": options.command(*_OPTIONS)(_adjust),
    },
    help="""Adjust printed values for chance, and compare them with counting training triples.

    A VALUE is a number as printed (0.338, 33.8%, 0,338), or a metric and a number (mrr=0.338). Its digits say how
    far it may have been rounded, and the index gets the same interval.
    """,
    epilog=options.examples(
        "rankadjust adjust --dataset FB15k-237 --metric mrr 0.338",
        "rankadjust adjust --dataset FB15k-237 mrr=0.338 hits@10=53.3%",
    ),
)
