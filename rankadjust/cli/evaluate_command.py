"""The command evaluate: the ranks or scores of a model."""
# A command has a parameter for each of its options, and imports inside the function: it starts at once.
# ruff: noqa: PLC0415, PLR0913, PLR0917

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli.compare_command import compare_by_parts, show_comparison
from rankadjust.cli.inputs import (
    EVERY_ROW,
    NO_SAMPLES,
    PARTS,
    PARTS_AGAINST,
    RANKS_ALONE,
    constants_of,
    require_effect,
    require_times,
)
from rankadjust.cli.options import (
    OUTPUT,
    PATH,
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
    scores_option,
    split_option,
)
from rankadjust.cli.printing import say_if_histograms_are_missing, show_result, write

if TYPE_CHECKING:
    import polars as pl


@click.command(
    cls=Command,
    epilog=examples(
        "rankadjust evaluate ranks.parquet --dataset FB15k-237",
        "rankadjust evaluate ranks.csv --num-candidates 501",
    ),
)
@click.argument("ranks", type=PATH)
@click.option("--dataset", help="Adjust with the database's constants for this data set.")
@options_of(protocol_option, split_option, scores_option)
@click.option(
    "--side",
    default="both",
    show_default=True,
    help="head or tail: ranks without a column side are of this side; of a table with both, only this side is read.",
)
@options_of(by_option, against_option)
@click.option(
    "--tasks",
    type=PATH,
    help="Facts about each task: the file that the workflow's target tasks writes, or the test file (text with tabs).",
)
@click.option("--num-candidates", type=int, help="Candidates of every task, the true answer included.")
@click.option("--metric", "metrics", multiple=True, help="Only this metric (may be repeated).")
@click.option("--draws", type=int, default=1000, show_default=True, help="Bootstrap samples.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--all", "everything", is_flag=True, help="Print every side, type of rank and average.")
@click.option(
    "--output",
    type=OUTPUT,
    callback=known_suffix(".parquet", ".tsv", ".csv", ".json", ".md", ".tex"),
    help="Also write all rows (.parquet, .tsv, .csv, .json), or the printed rows as a table (.md, .tex).",
)
@options_of(results_option, database_option, json_option)
@click.pass_context
def evaluate(
    context: click.Context,
    /,
    ranks: Path,
    dataset: str | None,
    scores: str | None,
    side: str,
    by: str | None,
    against: str | None,
    tasks: Path | None,
    num_candidates: int | None,
    metrics: tuple[str, ...],
    everything: bool,
    output: Path | None,
    results: Path | None,
    database: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - of the evaluation and of the bootstrap, handed on
) -> None:
    """Compute and adjust every metric of a model's ranks or scores.

    RANKS is a table (.parquet, .csv, .tsv) or a folder of them, with the columns rank (or optimistic and
    pessimistic) and optionally side, triple, num_candidates, weight and group; or scores: an .npz file with
    scores, target and mask, or a folder with scores.npy, target.npy and mask.npy or filter.npz.
    """
    from rankadjust.chance.metrics import FAMILIES
    from rankadjust.evaluation.evaluate import evaluate as evaluate_ranks

    if as_json and (output is None or output.suffix not in (".md", ".tex")):
        require_effect(context, EVERY_ROW)
    if options["draws"] == 0:
        require_effect(context, NO_SAMPLES)
    if by is not None and against is not None:
        require_effect(context, PARTS_AGAINST)
        options |= {"dataset": dataset, "side": side, "against": against, "tasks": tasks}
        options |= {"database": constants_of(results, database)} | ({"metrics": metrics} if metrics else {})
        show_comparison(compare_by_parts([str(ranks)], by, options, everything), output, as_json=as_json)
        return
    if by is not None:
        require_effect(context, PARTS)
        from rankadjust.evaluation.evaluate import METRICS, evaluate_by

        sampled = {name: options[name] for name in ("draws", "seed")}
        metrics = metrics or METRICS
        of_parts = evaluate_by(
            ranks, by, tasks=tasks, num_candidates=num_candidates, metrics=metrics, **sampled
        )
        _show_evaluation(of_parts, output, everything, as_json, by)
        return
    if dataset is None:
        if results is not None:
            raise RankadjustError("--results needs --dataset: name the data set that these ranks belong to")
        require_effect(context, RANKS_ALONE)
    constants = constants_of(results, database, dataset)
    if dataset is not None:
        require_times(context, constants, dataset)
    result = evaluate_ranks(
        ranks if tasks is None else _with_attributes(ranks, tasks),
        num_candidates=num_candidates,
        dataset=dataset,
        side=side,
        scores=scores,
        against=against,
        database=constants,
        metrics=metrics or tuple(FAMILIES),
        **options,
    )
    if dataset is not None:
        say_if_histograms_are_missing(constants)
    _show_evaluation(result, output, everything, as_json)


def _show_evaluation(
    result: "pl.DataFrame", output: Path | None, everything: bool, as_json: bool, by: str | None = None
) -> None:
    """Print an evaluation, of parts of the tasks if `by` names them, and write it to a file if one was given."""
    from rankadjust.output.terminal import evaluation, evaluation_table, main_rows, strata

    shown = result if everything else main_rows(result)
    if output is not None:
        named = shown if by is None else shown.rename({"stratum": by})
        write(result, output, result.to_dicts, lambda: evaluation_table(named))
    show_result(result.to_dicts, lambda: evaluation(shown) if by is None else strata(shown, by), as_json)


def _with_attributes(ranks: Path, tasks: Path) -> "pl.DataFrame":
    from rankadjust.evaluation.rank_files import tasks_from
    from rankadjust.evaluation.task_attributes import with_attributes

    return with_attributes(tasks_from(ranks), tasks)
