"""The command full: bounds of the full ranking."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import by_metric_of
from rankadjust.cli.printing import show_result

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants


@options.command(
    click.Argument(["values"], nargs=-1, required=True, metavar="VALUE..."),
    options.option(
        "--sampled",
        type=int,
        required=True,
        help="How many negatives each task has, without the true answer.",
    ),
    *(options.NUM_CANDIDATES, options.NUM_TASKS, options.DATASET),
    options.option(
        "--protocol",
        default="filtered",
        help="The protocol of the full ranking ('rankadjust protocols' lists them).",
    ),
    *(options.EVALUATION[-1], options.SIDE),
    options.option(
        "--negatives",
        type=click.Choice(["without-replacement", "with-replacement"]),
        help="How negatives are drawn. The default is the benchmark's own way, or else without replacement.",
    ),
    options.option("--level", type=float, default=0.95, help="The probability with which the bounds hold."),
    *(options.METRICS, options.RESULTS, options.JSON),
    epilog=options.examples(
        "rankadjust full --dataset GraIL-WN18RR-v2 --sampled 50 mrr=0.784",
        "rankadjust full --num-candidates 2757 --num-tasks 882 --sampled 50 mrr=0.784",
    ),
)
def full(
    values: tuple[str, ...],
    num_tasks: int | None,
    side: str | None,
    as_json: bool,
    constants: "Constants",
    **given: Any,
) -> None:
    """Bound the full ranking by values among sampled negatives.

    A VALUE is a metric and a number, such as mrr=0.784, and several values give narrower bounds. Whatever the ranks
    are, the full value is within the bounds with the probability --level, which is over the draws of negatives.
    """
    from rankadjust.output.bounds_text import full_bounds_text
    from rankadjust.sampling.full_bounds import full_bounds

    named = by_metric_of(values)
    bounds = full_bounds(named, tasks=num_tasks, side=side or "both", database=constants, **given)
    show_result(lambda: asdict(bounds), lambda: full_bounds_text(bounds), as_json)
