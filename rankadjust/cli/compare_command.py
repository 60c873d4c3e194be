"""The command compare: the ranks of several models."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.printing import say_usual, show_result

if TYPE_CHECKING:
    from rankadjust.database.constants import Constants

_ALONE, _SEVERAL, _OF_DATASET = "ranks without --dataset", "several data sets", "ranks on a data set"
_MODELS = click.Argument(["models"], nargs=-1, metavar="[MODEL]...")
_DATASETS = options.option(
    *("-d", "--dataset", "datasets"),
    multiple=True,
    help="Adjust with the database's constants for this data set; NAME=FOLDER, repeated, compares several.",
)
_COMMON = (
    options.option(
        "--tasks",
        multiple=True,
        help="Facts about each task: the file that the workflow's target tasks writes, or the test file (text with "
        "tabs); of several data sets NAME=FILE each.",
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
    models, datasets = given["models"], given["datasets"]
    if given["results"] is not None and not datasets:
        raise RankadjustError("--results needs --dataset: name the data set that these models were tested on")
    if any("=" in dataset for dataset in datasets):
        if models:
            raise click.UsageError("--dataset NAME=FOLDER brings its own models; leave MODEL out.")
        return _SEVERAL
    if not models:
        raise click.UsageError("No models are given. Give files of ranks, or --dataset NAME=FOLDER.")
    if printed := [model for model in models if "=" in model and not Path(model).exists()]:
        raise click.UsageError(
            f"{printed[0]}: printed values cannot say which model is better; give the files of ranks of both models."
        )
    if given["triples"] is not None:
        return options.OWN
    if len(datasets) > 1 or len(given["tasks"]) > 1:
        raise click.UsageError(
            "Several data sets are given as --dataset NAME=FOLDER, each with its own models."
        )
    is_plain = not datasets and given["by"] is None and given["against"] is None
    return _ALONE if is_plain else _OF_DATASET


def _compare_ranks(
    models: tuple[str, ...],
    everything: bool,
    *,
    datasets: Sequence[str] = (),
    dataset: Any = None,
    tasks: Sequence[str] = (),
    by: str | None = None,
    constants: "Constants | None" = None,
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare models on one data set, or without one, and show what was found."""
    from rankadjust.models import compare as of_models
    from rankadjust.output import comparison_text as texts

    paths = [Path(model) for model in models]
    known = _settings(given, everything) | {
        "dataset": datasets[0] if datasets else dataset,
        "tasks": Path(tasks[0]) if tasks else None,
        "database": constants,
    }
    if constants is not None and datasets:
        say_usual(constants, known, as_json=as_json)
    if by is None:
        compared = of_models.compare(paths, **known)
        show_result(
            lambda: texts.for_machines(compared),
            lambda: texts.comparison(compared, everything=everything),
            *(as_json, output, compared.differences, lambda: texts.paper_table(compared)),
        )
    else:
        parts = of_models.compare_by(paths, by, **known)
        show_result(
            parts.to_dicts,
            lambda: texts.comparison_by(parts, by, everything=everything),
            *(as_json, output, parts, lambda: texts.paper_table_by(parts, by)),
        )


def _compare_datasets(
    models: tuple[str, ...],  # noqa: ARG001 - none: each data set brings its own
    everything: bool,
    *,
    datasets: Sequence[str],
    tasks: Sequence[str],
    constants: "Constants",
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    from rankadjust.models.compare import compare_datasets
    from rankadjust.output.comparison_text import comparisons, for_machines, of_datasets, paper_table

    folders, attributes = _by_dataset(datasets, "--dataset"), _by_dataset(tasks, "--tasks")
    known = _settings(given, everything)
    compared = compare_datasets(folders, tasks=attributes, database=constants, **known)
    differences = {name: of_dataset.differences for name, of_dataset in compared.items()}
    show_result(
        lambda: {name: for_machines(of_dataset) for name, of_dataset in compared.items()},
        lambda: comparisons(compared, everything=everything),
        *(as_json, output, of_datasets(differences, "dataset")),
        lambda: of_datasets({name: paper_table(each) for name, each in compared.items()}, "data set"),
    )


def _settings(given: Mapping[str, Any], everything: bool) -> dict[str, Any]:
    """Return settings; where nobody chose metrics, with MRR and Hits@10, or without any to take all."""
    chosen = {name: value for name, value in given.items() if name != "metrics" or value}
    return chosen if everything else {"metrics": ("mrr", "hits@10"), **chosen}


def _by_dataset(given: Sequence[str], option: str) -> dict[str, Path]:
    """Return the paths of NAME=PATH by name."""
    paths: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not (equals and name and path):
            raise click.UsageError(
                f"{option} {text}: of several data sets each needs its path, as {option} NAME=PATH."
            )
        if name in paths:
            raise click.UsageError(f"{option}: {name} is given twice.")
        paths[name] = Path(path)
    return paths


_OF_ONE = (_MODELS, _DATASETS, *options.EVALUATION, *_COMMON, *options.OF_DATABASE)
compare = options.CommandByInput(
    "compare",
    _kind_of,
    {
        options.OWN: options.command(_MODELS, *_COMMON, *options.TRIPLES, options.AGAINST, options.BY)(
            _compare_ranks
        ),
        _OF_DATASET: options.command(*_OF_ONE, options.SIDE_OF_RANKS, options.AGAINST, options.BY)(
            _compare_ranks
        ),
        _ALONE: options.command(_MODELS, _DATASETS, *_COMMON, options.SIDE_OF_RANKS)(_compare_ranks),
        _SEVERAL: options.command(*_OF_ONE)(_compare_datasets),
    },
    help="""Say whether one model is better than another.

    A MODEL is a file of ranks as `rankadjust evaluate` takes it, with the columns triple and side, or a folder with one
    such file for each run (seed). Or, with --dataset NAME=FOLDER, no MODEL is named: each folder has such a file or
    folder for each model, with the same names in all.
    """,
    epilog=options.examples(
        "rankadjust compare transe.parquet rotate.parquet --dataset FB15k-237",
        "rankadjust compare transe.parquet --dataset FB15k-237 --results results --against popularity",
        "rankadjust compare --dataset FB15k-237=fb15k-237/ --dataset WN18RR=wn18rr/",
    ),
)
