"""The command compare: the ranks of several models."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.printing import say_usual, show_result

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants

_ALONE, _OF_DATASET = "ranks without --dataset", "ranks on a data set"
_MODELS = click.Argument(["models"], nargs=-1, metavar="[MODEL]...")
_COMMON = (
    options.option(
        "--tasks",
        type=options.PATH,
        help="Facts about each task: the file that the workflow's target tasks writes, or the test file (text with "
        "tabs).",
    ),
    *(options.POPULATION, options.METRICS),
    options.ALL,
    options.output(
        *(".md", ".tex", ".csv", ".json"),
        help="Also write a table for a paper (.md, .tex), the differences (.csv) or everything (.json).",
    ),
    options.JSON,
)


def _kind_of(given: Mapping[str, Any]) -> str:
    models, dataset = given["models"], given["dataset"]
    if given["results"] is not None and dataset is None:
        raise RankadjustError("--results needs --dataset: name the data set that these models were tested on")
    if not models:
        raise click.UsageError("No models are given. Give files of ranks.")
    if printed := [model for model in models if "=" in model and not Path(model).exists()]:
        raise click.UsageError(
            f"{printed[0]}: printed values cannot say which model is better; give the files of ranks of both models."
        )
    if given["triples"] is not None:
        return options.OWN
    return _ALONE if dataset is None and given["against"] is None else _OF_DATASET


def _compare_ranks(
    models: tuple[str, ...],
    everything: bool,
    *,
    constants: "Constants | None" = None,
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare models on one data set, or without one, and show what was found."""
    from rankadjust.models import compare as of_models
    from rankadjust.output import comparison_text as texts

    # Where nobody chose metrics: MRR and Hits@10.
    known = {name: value for name, value in given.items() if name != "metrics" or value}
    known["database"] = constants
    if constants is not None and known.get("dataset") is not None:
        say_usual(constants, known, as_json=as_json)
    compared = of_models.compare([Path(model) for model in models], **known)
    show_result(
        lambda: texts.for_machines(compared),
        lambda: texts.comparison(compared, everything=everything),
        *(as_json, output, compared.differences, lambda: texts.paper_table(compared)),
    )


_OF_ONE = (_MODELS, options.DATASET, *options.EVALUATION, *_COMMON, *options.OF_DATABASE)
compare = options.CommandByInput(
    "compare",
    _kind_of,
    {
        options.OWN: options.command(_MODELS, *_COMMON, *options.TRIPLES, options.AGAINST)(_compare_ranks),
        _OF_DATASET: options.command(*_OF_ONE, options.SIDE_OF_RANKS, options.AGAINST)(_compare_ranks),
        _ALONE: options.command(_MODELS, *_COMMON, options.SIDE_OF_RANKS)(_compare_ranks),
    },
    help="""Say whether one model is better than another.

    A MODEL is a file of ranks as `rankadjust evaluate` takes it, with the columns triple and side, or a folder with one
    such file for each run (seed).
    """,
    epilog=options.examples(
        "rankadjust compare transe.parquet rotate.parquet --dataset FB15k-237",
        "rankadjust compare transe.parquet --dataset FB15k-237 --results results --against popularity",
    ),
)
