"""The command compare: the ranks of several models."""
# It imports what it needs when it runs: it starts at once.
# ruff: noqa: ANN401, PLC0415

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError, installed_by
from rankadjust.cli import options
from rankadjust.cli.printing import show_result, write

if TYPE_CHECKING:
    import polars as pl

    from rankadjust.database.constants import Constants

_ALONE, _BY_OR_AGAINST = "ranks without --dataset", "--by and --against"
_SEVERAL, _OF_DATASET = "several data sets", "ranks on a data set"
_MODELS = click.Argument(["models"], nargs=-1, metavar="[MODEL]...")
_DATASETS = options.option(
    *("--dataset", "datasets"),
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
    options.flag("--all", "everything", help="Compare by every metric, and print every side and number."),
    options.output(
        *(".md", ".tex", ".csv", ".json"),
        help="Also write a table for a paper (.md, .tex), the differences (.csv) or everything (.json).",
    ),
    options.JSON,
)
_FIGURE = options.output(
    ".svg",
    name="--figure",
    help="Also draw the share of tasks with a rank of at most k, for every k, beside chance: .svg.",
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
    if len(datasets) > 1 or len(given["tasks"]) > 1:
        raise click.UsageError(
            "Several data sets are given as --dataset NAME=FOLDER, each with its own models."
        )
    if given["by"] is not None or given["against"] is not None:
        return _BY_OR_AGAINST
    return _OF_DATASET if datasets else _ALONE


def compare_ranks(
    models: tuple[str, ...],
    *,
    datasets: Sequence[str] = (),
    tasks: Sequence[str] = (),
    by: str | None = None,
    figure: Path | None = None,
    constants: "Constants | None" = None,
    **given: Any,
) -> None:
    """Compare models on one data set, or without one, and show what was found."""
    shown, known = _shown_and_known(given)
    known |= {
        "dataset": datasets[0] if datasets else None,
        "tasks": Path(tasks[0]) if tasks else None,
        "database": constants,
    }
    paths = [Path(model) for model in models]
    if by is None:
        _compare(paths, known, shown)
    else:
        _compare_by(paths, by, known, shown)
    if figure is not None:
        _draw(models, figure, known)


def _compare(models: Sequence[Path], known: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    from rankadjust.models.compare import compare as compare_models
    from rankadjust.output.comparison_text import comparison, for_machines, paper_table

    compared = compare_models(models, **known)
    text = comparison(compared, everything=shown["everything"])
    _show(text, for_machines(compared), paper_table(compared), compared.differences, **shown)


def _compare_by(models: Sequence[Path], by: str, known: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    from rankadjust.models.compare import compare_by
    from rankadjust.output.comparison_text import comparison_by, paper_table_by

    compared = compare_by(models, by, **known)
    text = comparison_by(compared, by, everything=shown["everything"])
    _show(text, compared.to_dicts(), paper_table_by(compared, by), compared, **shown)


def _compare_datasets(
    models: tuple[str, ...],  # noqa: ARG001 - none: each data set brings its own
    datasets: Sequence[str],
    tasks: Sequence[str],
    constants: "Constants",
    **given: Any,
) -> None:
    from rankadjust.models.compare import compare_datasets
    from rankadjust.output.comparison_text import comparisons, for_machines, of_datasets, paper_table

    folders, attributes = _by_dataset(datasets, "--dataset"), _by_dataset(tasks, "--tasks")
    shown, known = _shown_and_known(given)
    compared = compare_datasets(folders, tasks=attributes, database=constants, **known)
    _show(
        comparisons(compared, everything=shown["everything"]),
        {name: for_machines(of_dataset) for name, of_dataset in compared.items()},
        of_datasets({name: paper_table(of_dataset) for name, of_dataset in compared.items()}, "data set"),
        of_datasets({name: of_dataset.differences for name, of_dataset in compared.items()}, "dataset"),
        **shown,
    )


def _shown_and_known(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what says how to show a comparison, and the settings: by MRR and Hits@10 where nobody chose metrics."""
    shown = {name: given[name] for name in ("everything", "output", "as_json")}
    known = {name: value for name, value in given.items() if name not in shown}
    if not known["metrics"]:
        del known["metrics"]
    return shown, known if shown["everything"] else {"metrics": ("mrr", "hits@10"), **known}


def _show(
    text: str,
    everything_: object,
    for_paper: "pl.DataFrame",
    rows: "pl.DataFrame",
    *,
    output: Path | None,
    as_json: bool,
    everything: bool,  # noqa: ARG001 - the text has it already
) -> None:
    if output is not None:
        write(rows, output, lambda: everything_, lambda: for_paper)
    show_result(lambda: everything_, lambda: text, as_json)


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


def _draw(models: Sequence[str], path: Path, known: Mapping[str, Any]) -> None:
    from rankadjust.base.io import write_text
    from rankadjust.database.evaluation_set import EvaluationSet
    from rankadjust.models.compare import names_of
    from rankadjust.models.paired import paired, rank_curves

    try:
        from rankadjust.output.pictures import rank_curve_chart, svg_picture
    except ModuleNotFoundError as error:
        raise RankadjustError(f"--figure needs the module {error.name}; {installed_by('workflow')}") from None
    side = known["side"]
    pairs = paired(names_of([Path(model) for model in models]), known["tasks"], side)
    counts = None
    if known["dataset"] is not None and "num_candidates" not in pairs.tasks.columns:
        sides = pairs.tasks["side"].unique().to_list()
        side = sides[0] if len(sides) == 1 else "both"
        evaluation = (known["dataset"], known["protocol"], known["split"], side)
        counts = EvaluationSet.of(known["database"], *evaluation).candidate_counts
    both = (None, None) if counts is None else (counts.counts, counts.tasks)
    write_text(svg_picture(rank_curve_chart(rank_curves(pairs, *both)).to_dict()), path)


_OF_ONE = (
    _MODELS,
    _DATASETS,
    options.EVALUATION_PROTOCOL,
    options.EVALUATION_SPLIT,
    *_COMMON,
    *options.OF_DATABASE,
)
compare = options.CommandByInput(
    "compare",
    _kind_of,
    {
        _OF_DATASET: options.command(*_OF_ONE, options.SIDE, _FIGURE)(compare_ranks),
        _ALONE: options.command(_MODELS, _DATASETS, *_COMMON, options.SIDE, _FIGURE)(compare_ranks),
        _BY_OR_AGAINST: options.command(*_OF_ONE, options.SIDE, options.AGAINST, options.BY)(compare_ranks),
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
