"""The command adjust: one printed number."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import named_values, require_times
from rankadjust.cli.printing import echo, print_json, say_if_histograms_are_missing, say_if_times_are_ignored

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants

_OF_SET, _ALONE = "values on a data set", "values without --dataset"
_COMMON = (
    click.Argument(["values"], nargs=-1, required=True, metavar="VALUE..."),
    *(options.ALL, options.JSON),
)
_EVALUATION = (options.DATASET, options.SIDE, *options.EVALUATION, options.SCORES, *options.OF_DATABASE)


def _kind_of(given: Mapping[str, Any]) -> str:
    if given["triples"] is not None:
        return options.OWN
    if given["dataset"] is None and given["num_candidates"] is None:
        raise click.UsageError(
            "Give --dataset or --triples, or --num-candidates where every task has as many."
        )
    return _ALONE if given["dataset"] is None else _OF_SET


def _adjust(
    values: tuple[str, ...],
    dataset: Any,
    against: str | None,
    constants: "Constants | None" = None,
    **given: Any,
) -> None:
    from rankadjust.evaluation.one_value import adjust as adjust_value

    named = named_values(values)
    shown = {name: given.pop(name) for name in ("everything", "as_json")}
    if constants is not None:
        require_times(given["scores"], constants, dataset)
    known = {"dataset": dataset, "against": against, "database": constants, **given}
    found = [adjust_value(text, metric=name, **known) for name, text in named]
    if constants is not None:
        say_if_histograms_are_missing(constants)
        say_if_times_are_ignored(constants, found[0].dataset, found[0].protocol)
    _show(named, found, against=against, **shown)


def _adjust_constant(
    values: tuple[str, ...], num_candidates: int, num_tasks: int | None, **shown: Any
) -> None:
    from rankadjust.chance.metrics import resolve
    from rankadjust.database.evaluation_set import EvaluationSet
    from rankadjust.evaluation.one_value import adjust as adjust_value

    tasks = EvaluationSet.constant(candidates=num_candidates, tasks=1 if num_tasks is None else num_tasks)
    named = named_values(values)
    if num_tasks is None and (of_all := [name for name, _ in named if not resolve(name).additive]):
        raise click.UsageError(f"{of_all[0]} is not a mean over tasks: give --num-tasks, too.")
    found = [adjust_value(text, metric=name, dataset=tasks) for name, text in named]
    if num_tasks is None:
        unknown: dict[str, Any] = dict.fromkeys(
            ("z", "z_low", "z_high", "z_random_scorer", "p_random_scorer", "draws_reaching", "tasks")
        )
        why = "z needs the number of tasks (--num-tasks)"
        found = [replace(each, **unknown, reason=why, reason_random_scorer=None) for each in found]
    _show(named, found, **shown)


def _show(
    named: list[tuple[str, str]],
    found: list[Any],
    *,
    as_json: bool,
    everything: bool,
    against: str | None = None,
) -> None:
    from rankadjust.output.adjusted_text import adjusted_values

    if as_json:
        print_json([asdict(each) for each in found])
    else:
        rows = [asdict(each) | {"text": text} for each, (_, text) in zip(found, named, strict=True)]
        echo(adjusted_values(rows, everything=everything, against=against))


adjust = options.CommandByInput(
    "adjust",
    _kind_of,
    {
        options.OWN: options.command(*_COMMON, *options.TRIPLES, options.AGAINST)(_adjust),
        _OF_SET: options.command(*_COMMON, *_EVALUATION, options.AGAINST)(_adjust),
        _ALONE: options.command(*_COMMON, options.NUM_CANDIDATES, options.NUM_TASKS)(_adjust_constant),
    },
    help="""Adjust printed values for chance, beside what counting reaches.

    A VALUE is a metric and a number as printed (mrr=0.338, hits@10=53.3%). Its digits say how far it may have been
    rounded, and the index gets the same interval.
    """,
    epilog=options.examples(
        "rankadjust adjust --dataset FB15k-237 mrr=0.338",
        "rankadjust adjust --dataset FB15k-237 mrr=0.338 hits@10=53.3%",
        "rankadjust adjust --triples train.tsv valid.tsv test.tsv mrr=0.338",
        "rankadjust adjust --num-candidates 501 mrr=0.338",
    ),
)
