"""The command adjust: one printed number."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import chosen_set, named_values
from rankadjust.cli.printing import show_result

if TYPE_CHECKING:
    from rankadjust.public_set import EvaluationSet

# What needs the number of tasks, which a number of candidates does not say.
_OF_TASKS = ("z", "z_low", "z_high", "z_random_scorer", "p_random_scorer", "draws_reaching", "tasks")


@options.command(
    click.Argument(["values"], nargs=-1, required=True, metavar="VALUE..."),
    *(*options.OF_SET, options.SIDE, options.NUM_CANDIDATES, options.NUM_TASKS),
    *(options.SCORES, options.AGAINST, options.ALL, options.JSON),
    epilog=options.examples(
        "rankadjust adjust --dataset FB15k-237 mrr=0.338",
        "rankadjust adjust --dataset FB15k-237 mrr=0.338 hits@10=53.3%",
        "rankadjust adjust --triples train.tsv valid.tsv test.tsv mrr=0.338",
        "rankadjust adjust --num-candidates 501 mrr=0.338",
    ),
)
def adjust(
    values: tuple[str, ...],
    num_candidates: int | None,
    num_tasks: int | None,
    scores: str | None,
    against: str | None,
    everything: bool,
    as_json: bool,
    **which: Any,
) -> None:
    """Adjust printed values for chance, and compare with counting.

    A VALUE is a metric and a number as printed, such as mrr=0.338 or hits@10=53.3%. Write all printed digits, because
    they say how far the number was rounded. The output puts the value beside chance and beside counting, the best
    scorer that only counts training triples.
    """
    from rankadjust.evaluation.one_value import adjust as adjust_value
    from rankadjust.output.adjusted_text import adjusted_values

    named = named_values(values)
    tasks = chosen_set("values without --dataset", **which)
    if tasks is None:
        options.refuse("values without --dataset", "side", "scores", "against")
        tasks = _constant(named, num_candidates, num_tasks)
    else:
        options.refuse("values on a data set", "num_candidates", "num_tasks")
    known = {"scores": scores, "against": against, "evaluator": which["evaluator"]}
    found = [adjust_value(text, dataset=tasks, metric=name, **known) for name, text in named]
    if num_candidates is not None and num_tasks is None:
        unknown: dict[str, Any] = dict.fromkeys(_OF_TASKS)
        why = "z needs the number of tasks (--num-tasks)"
        found = [replace(each, **unknown, reason=why, reason_random_scorer=None) for each in found]
    rows = [asdict(each) | {"text": text} for each, (_, text) in zip(found, named, strict=True)]
    show_result(
        lambda: [asdict(each) for each in found],
        lambda: adjusted_values(rows, everything=everything, against=against),
        as_json,
    )


def _constant(
    named: list[tuple[str, str]], num_candidates: int | None, num_tasks: int | None
) -> "EvaluationSet":
    from rankadjust.chance.metrics import resolve
    from rankadjust.public_set import EvaluationSet

    if num_candidates is None:
        raise click.UsageError("Give --dataset, --triples, or the --num-candidates of every task.")
    if num_tasks is None and (of_all := [name for name, _ in named if not resolve(name).additive]):
        raise click.UsageError(
            f"{of_all[0]} is not a mean over tasks, so it depends on their number; give --num-tasks, too."
        )
    return EvaluationSet.constant(candidates=num_candidates, tasks=1 if num_tasks is None else num_tasks)
