"""The command adjust: one printed number."""
# It imports what it needs when it runs: it starts at once.
# ruff: noqa: PLC0415

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import constants_of, named_values, require_times
from rankadjust.cli.printing import echo, print_json, say_if_histograms_are_missing, say_if_times_are_ignored

if TYPE_CHECKING:
    from rankadjust.evaluation.one_value import Adjusted

_VALUES = click.Argument(["values"], nargs=-1, required=True, metavar="VALUE...")
_OPTIONS = (
    _VALUES,
    options.dataset("Data set, by name or alias."),
    options.SIDE,
    options.option(
        "--against",
        help="Compare values with this counting baseline (popularity, redundancy, rules), not the best one.",
    ),
    *(options.EVALUATION_PROTOCOL, options.EVALUATION_SPLIT, options.SCORES),
    (
        _EVERYTHING := options.flag(
            "--all",
            "everything",
            help="Print every number: ratio, each z, and the values that rounding leaves open.",
        )
    ),
    *(options.RESULTS, options.DATABASE, options.JSON),
)
_CANDIDATES = options.option(
    "--num-candidates",
    type=int,
    help="In place of a data set: candidates of every task, the true answer included.",
)
_ALONE = ", without --dataset"
_TASKS = options.option("--num-tasks", type=int, help="With --num-candidates: how many tasks; z needs it.")


def _kind_of(given: Mapping[str, Any]) -> str:
    if given["dataset"] is None and given["num_candidates"] is None:
        raise click.UsageError("Give --dataset, or --num-candidates where every task has as many.")
    has_names = all("=" in value or value == "%" for value in given["values"])
    kind = "values that name their metric" if has_names else "numbers"
    return kind if given["dataset"] is not None else f"{kind}{_ALONE}"


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
    _show(named, adjusted_values, as_json, everything, against)


def _show(
    named: Sequence[tuple[str, str]],
    adjusted_values: "Sequence[Adjusted]",
    as_json: bool,
    everything: bool,
    against: str | None = None,
) -> None:
    if as_json:
        print_json([asdict(adjusted) for adjusted in adjusted_values])
        return
    from rankadjust.output.adjusted_text import adjusted_values as in_words

    rows = [asdict(each) | {"text": text} for each, (_, text) in zip(adjusted_values, named, strict=True)]
    echo(in_words(rows, everything=everything, against=against))


def _adjust_constant(
    values: tuple[str, ...],
    num_candidates: int,
    num_tasks: int | None,
    as_json: bool,
    everything: bool,
    metric: str | None = None,
) -> None:
    from rankadjust.chance.metrics import resolve
    from rankadjust.database.evaluation_set import EvaluationSet
    from rankadjust.evaluation.one_value import adjust as adjust_value

    tasks = EvaluationSet.constant(candidates=num_candidates, tasks=1 if num_tasks is None else num_tasks)
    named = named_values(values, metric)
    if num_tasks is None and (of_all := [name for name, _ in named if not resolve(name).additive]):
        raise click.UsageError(f"{of_all[0]} is not a mean over tasks: give --num-tasks, too.")
    adjusted_values = [adjust_value(text, metric=name, dataset=tasks) for name, text in named]
    if num_tasks is None:
        unknown: dict[str, Any] = dict.fromkeys(
            ("z", "z_low", "z_high", "z_random_scorer", "p_random_scorer", "draws_reaching", "tasks")
        )
        why = "z needs the number of tasks (--num-tasks)"
        adjusted_values = [
            replace(each, **unknown, reason=why, reason_random_scorer=None) for each in adjusted_values
        ]
    _show(named, adjusted_values, as_json, everything)


_OF_CONSTANT = (_VALUES, _CANDIDATES, _TASKS, _EVERYTHING, options.JSON)
adjust = options.CommandByInput(
    "adjust",
    _kind_of,
    {
        "numbers": options.command(*_OPTIONS[:2], options.ONE_METRIC, *_OPTIONS[2:])(_adjust),
        "values that name their metric": options.command(*_OPTIONS)(_adjust),
        f"numbers{_ALONE}": options.command(*_OF_CONSTANT, options.ONE_METRIC)(_adjust_constant),
        f"values that name their metric{_ALONE}": options.command(*_OF_CONSTANT)(_adjust_constant),
    },
    help="""Adjust printed values for chance, and compare them with counting training triples.

    A VALUE is a number as printed (0.338, 33.8%, 0,338), or a metric and a number (mrr=0.338). Its digits say how
    far it may have been rounded, and the index gets the same interval.
    """,
    epilog=options.examples(
        "rankadjust adjust --dataset FB15k-237 --metric mrr 0.338",
        "rankadjust adjust --dataset FB15k-237 mrr=0.338 hits@10=53.3%",
        "rankadjust adjust --num-candidates 501 mrr=0.338",
    ),
)
