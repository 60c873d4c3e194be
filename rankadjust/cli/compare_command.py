"""The command compare: the ranks of several models."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415, PLR0913, PLR0917

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rankadjust.base.errors import RankadjustError, installed_by
from rankadjust.cli.inputs import (
    BY_OR_AGAINST,
    EVERY_ROW,
    RANKS_ALONE,
    SEVERAL,
    constants_of,
    require_effect,
)
from rankadjust.cli.options import (
    OUTPUT,
    Command,
    against_option,
    by_option,
    database_option,
    examples,
    json_option,
    known_suffix,
    options_of,
    protocol_option,
    results_option,
    split_option,
)
from rankadjust.cli.printing import show_result, write

if TYPE_CHECKING:
    import polars as pl

    from rankadjust.database.constants import Constants


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust compare transe.parquet rotate.parquet --dataset FB15k-237",
        "rankadjust compare transe.parquet --dataset FB15k-237 --results results --against popularity",
        "rankadjust compare --dataset FB15k-237=fb15k-237/ --dataset WN18RR=wn18rr/",
    ),
)
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--dataset",
    "datasets",
    multiple=True,
    help="Adjust with the database's constants for this data set; NAME=FOLDER, repeated, compares several.",
)
@options_of(protocol_option, split_option)
@click.option("--side", default="both", show_default=True, help="head, tail or both.")
@options_of(against_option, by_option)
@click.option(
    "--tasks",
    multiple=True,
    help="Facts about each task: the file that the workflow's target tasks writes, or the test file (text with tabs); "
    "of several data sets NAME=FILE each.",
)
@click.option(
    "--cluster",
    type=click.Choice(["triple", "query", "relation"]),
    help="The tasks that are swapped together; by default query where triples are known to share queries, else triple.",
)
@click.option("--metric", "metrics", multiple=True, help="Only this metric (may be repeated).")
@click.option("--flips", type=int, default=10_000, show_default=True, help="Random swaps of the test.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Bootstrap samples.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of swaps and bootstrap.")
@click.option("--all", "everything", is_flag=True, help="Print every side.")
@click.option(
    "--output",
    type=OUTPUT,
    callback=known_suffix(".md", ".tex", ".csv", ".json"),
    help="Also write a table for a paper (.md, .tex), the differences (.csv) or everything (.json).",
)
@click.option(
    "--figure",
    type=OUTPUT,
    callback=known_suffix(".svg"),
    help="Also draw the share of tasks with a rank of at most k, for every k, beside chance: .svg.",
)
@options_of(results_option, database_option, json_option)
@click.pass_context
def compare(
    context: click.Context,
    /,
    models: tuple[str, ...],
    datasets: tuple[str, ...],
    tasks: tuple[str, ...],
    side: str,
    against: str | None,
    by: str | None,
    metrics: tuple[str, ...],
    everything: bool,
    output: Path | None,
    figure: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - of the test and of the data set, handed on
) -> None:
    """Say whether one model is better than another.

    A MODEL is a file of ranks as `rankadjust evaluate` takes it, with the columns triple and side, or a folder with one
    such file for each run (seed). Or, with --dataset NAME=FOLDER, no MODEL is named: each folder has such a file or
    folder for each model, with the same names in all.
    """
    if results is not None and not datasets:
        raise RankadjustError("--results needs --dataset: name the data set that these models were tested on")
    kind = _kind_of_comparison(models, datasets)
    if kind is not None:
        require_effect(context, kind)
    if by is not None or against is not None:
        require_effect(context, BY_OR_AGAINST)
    if as_json:
        require_effect(context, EVERY_ROW)
    about = {name: options[name] for name in ("protocol", "split")}
    about["database"] = constants_of(results, database)
    test = {name: options[name] for name in ("cluster", "flips", "draws", "seed")}
    test |= {"metrics": metrics} if metrics else {}
    if kind == SEVERAL:
        compared = _compare_datasets(datasets, tasks, about | test, everything)
    elif len(datasets) > 1 or len(tasks) > 1:
        raise click.UsageError(
            "Several data sets are given as --dataset NAME=FOLDER, each with its own models."
        )
    else:
        known = about | {"dataset": datasets[0] if datasets else None, "side": side}
        attributes = Path(tasks[0]) if tasks else None
        known_of_tasks = known | test | {"tasks": attributes, "against": against}
        if by is not None:
            compared = compare_by_parts(models, by, known_of_tasks, everything)
        else:
            compared = _compare_ranks(models, known_of_tasks, everything)
        if figure is not None:
            _draw(models, attributes, figure, **known)
    show_comparison(compared, output, as_json=as_json)


def _kind_of_comparison(models: Sequence[str], datasets: Sequence[str]) -> str | None:
    if any("=" in given for given in datasets):
        if models:
            raise click.UsageError("--dataset NAME=FOLDER brings its own models; leave MODEL out.")
        return SEVERAL
    if not models:
        raise click.UsageError("No models are given. Give files of ranks, or --dataset NAME=FOLDER.")
    if printed := [model for model in models if "=" in model and not Path(model).exists()]:
        raise click.UsageError(
            f"{printed[0]}: printed values cannot say which model is better; give the files of ranks of both models."
        )
    return None if datasets else RANKS_ALONE


class Found(NamedTuple):
    """A comparison in four forms: text for the terminal, all results for JSON, a table for a paper, and rows."""

    text: str
    everything: object
    for_paper: "pl.DataFrame"
    rows: "pl.DataFrame"


def show_comparison(compared: Found, output: Path | None, *, as_json: bool) -> None:
    """Print a comparison, and write it to a file if the user gave one."""
    if output is not None:
        write(compared.rows, output, lambda: compared.everything, lambda: compared.for_paper)
    show_result(lambda: compared.everything, lambda: compared.text, as_json)


def _compare_ranks(models: Sequence[str], options: dict[str, Any], everything: bool) -> Found:
    from rankadjust.models.compare import compare as compare_models
    from rankadjust.output.comparison_text import comparison, for_machines, paper_table

    compared = compare_models([Path(model) for model in models], **options)
    text = comparison(compared, every_side=everything)
    return Found(text, for_machines(compared), paper_table(compared), compared.differences)


def compare_by_parts(models: Sequence[str], by: str, options: dict[str, Any], everything: bool) -> Found:
    """Return a comparison part by part."""
    from rankadjust.models.compare import compare_by
    from rankadjust.output.comparison_text import comparison_by, paper_table_by

    compared = compare_by([Path(model) for model in models], by, **options)
    text = comparison_by(compared, by, every_side=everything)
    return Found(text, compared.to_dicts(), paper_table_by(compared, by), compared)


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


def _compare_datasets(
    datasets: Sequence[str], tasks: Sequence[str], options: dict[str, Any], everything: bool
) -> Found:
    from rankadjust.models.compare import compare_datasets
    from rankadjust.output.comparison_text import comparisons, for_machines, of_datasets, paper_table

    folders, attributes = _by_dataset(datasets, "--dataset"), _by_dataset(tasks, "--tasks")
    compared = compare_datasets(folders, tasks=attributes, **options)
    return Found(
        comparisons(compared, every_side=everything),
        {name: for_machines(of_dataset) for name, of_dataset in compared.items()},
        of_datasets({name: paper_table(of_dataset) for name, of_dataset in compared.items()}, "data set"),
        of_datasets({name: of_dataset.differences for name, of_dataset in compared.items()}, "dataset"),
    )


def _draw(
    models: Sequence[str],
    tasks: Path | None,
    path: Path,
    *,
    dataset: str | None,
    protocol: str,
    split: str,
    side: str,
    database: "Constants",
) -> None:
    from rankadjust.base.io import write_text
    from rankadjust.database.evaluation_set import EvaluationSet
    from rankadjust.models.compare import names_of
    from rankadjust.models.paired import paired, rank_curves

    try:
        from rankadjust.output.pictures import rank_curve_chart, svg_picture
    except ModuleNotFoundError as error:
        raise RankadjustError(f"--figure needs the module {error.name}; {installed_by('workflow')}") from None
    pairs = paired(names_of([Path(model) for model in models]), tasks, side)
    known = None
    if dataset is not None and "num_candidates" not in pairs.tasks.columns:
        sides = pairs.tasks["side"].unique().to_list()
        side = sides[0] if len(sides) == 1 else "both"
        known = EvaluationSet.of(database, dataset, protocol, split, side).candidate_counts
    counts, number = (None, None) if known is None else (known.counts, known.tasks)
    write_text(svg_picture(rank_curve_chart(rank_curves(pairs, counts, number)).to_dict()), path)
