"""The command compare: the ranks of several models."""

from pathlib import Path
from typing import Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import chosen_set, of_set
from rankadjust.cli.printing import at_work, say_usual, show_result


@options.command(
    click.Argument(["models"], nargs=-1, required=True, metavar="MODEL..."),
    *(*options.OF_SET, options.SIDE_OF_RANKS, options.TASKS),
    *(options.AGAINST, options.POPULATION, options.METRICS, options.ALL),
    options.output(*(".csv", ".json"), help="Also write the differences (.csv) or all results (.json)."),
    options.JSON,
    epilog=options.examples(
        "rankadjust compare transe.parquet rotate.parquet --dataset FB15k-237",
        "rankadjust compare a.parquet --dataset UMLS --results results --against best",
    ),
)
def compare(
    models: tuple[str, ...],
    metrics: tuple[str, ...],
    everything: bool,
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Say whether one model is better than another.

    A MODEL is a file of ranks that `rankadjust evaluate` takes, with the columns triple and side, or a folder with such
    a file for each run (seed).
    """
    if printed := [model for model in models if "=" in model and not Path(model).exists()]:
        raise click.UsageError(
            f"{printed[0]}: printed values do not show which model is better; give a file of ranks for each model."
        )
    from rankadjust.models import compare as of_models
    from rankadjust.output import comparison_text as texts

    which = of_set(given)
    given |= {"metrics": metrics} if metrics else {}
    with at_work():
        dataset = chosen_set("ranks without --dataset", side=given["side"], **which)
        compared = of_models.compare(
            [Path(model) for model in models], dataset=dataset, database=which["constants"], **given
        )
    say_usual(dataset, which["protocol"], as_json)
    show_result(
        lambda: texts.for_machines(compared),
        lambda: texts.comparison(compared, everything=everything),
        *(as_json, output, compared.differences),
    )
