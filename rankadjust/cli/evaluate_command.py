"""The command evaluate: the ranks or scores of a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankadjust.base.errors import RankadjustError
from rankadjust.cli import options
from rankadjust.cli.inputs import require_times
from rankadjust.cli.printing import say_if_histograms_are_missing, say_usual, show_result

if TYPE_CHECKING:
    import polars as pl

    from rankadjust.database.constants import Constants

_ALONE, _PARTS = "ranks without --dataset", "parts of the tasks (--by)"
_RANKS = click.Argument(["ranks"], type=options.PATH)
_TASKS = options.option(
    "--tasks",
    type=options.PATH,
    help="Facts about each task: the file that the workflow's target tasks writes, or the test file (text with tabs).",
)
_LAYOUT = (
    options.option(
        "--beyond",
        type=int,
        metavar="K",
        help="Only the K best answers were kept: ranks inf, 0, -1, MISS or nothing are beyond them. Prints the bounds.",
    ),
    options.option(
        "--known",
        type=options.PATH,
        multiple=True,
        help="Known triples, for a file of the best answers of AnyBURL or PyClause (may be repeated).",
    ),
)
_EVERY_KIND = (
    options.METRICS,
    options.POPULATION,
    options.ALL,
    options.output(
        *(".parquet", ".tsv", ".csv", ".json", ".md", ".tex"),
        help="Also write all rows (.parquet, .tsv, .csv, .json), or the printed rows as a table (.md, .tex).",
    ),
    options.JSON,
)


def _kind_of(given: Mapping[str, Any]) -> str:
    if given["triples"] is not None:
        return options.OWN
    if given["by"] is not None:
        return _PARTS
    if given["dataset"] is None and given["results"] is not None:
        raise RankadjustError("--results needs --dataset: name the data set that these ranks belong to")
    return _ALONE if given["dataset"] is None else "ranks of a data set"


def _evaluate(
    ranks: Path,
    tasks: Path | None,
    metrics: tuple[str, ...],
    *,
    columns: str | None = None,
    constants: "Constants | None" = None,
    **given: Any,
) -> None:
    from rankadjust.chance.metrics import FAMILIES
    from rankadjust.evaluation.evaluate import evaluate as evaluate_ranks
    from rankadjust.output.adjusted_text import FIRST_METRICS

    shown = {name: given.pop(name) for name in ("everything", "output", "as_json")}
    if constants is not None:
        require_times(given["scores"], constants, given["dataset"])
        given["database"] = constants
    given["columns"] = tuple(columns.split(",")) if columns else ()
    judged = ranks if tasks is None else _with_attributes(ranks, tasks, given)
    usual = tuple(FAMILIES) if any(shown.values()) else FIRST_METRICS
    result = evaluate_ranks(judged, metrics=metrics or usual, **given)
    if constants is not None:
        say_if_histograms_are_missing(constants)
        say_usual(constants, given, as_json=shown["as_json"])
    _show(result, **shown)


def _evaluate_parts(ranks: Path, by: str, metrics: tuple[str, ...], **given: Any) -> None:
    from rankadjust.evaluation.evaluate import METRICS, evaluate_by

    shown = {name: given.pop(name) for name in ("everything", "output", "as_json")}
    _show(evaluate_by(ranks, by, metrics=metrics or METRICS, **given), **shown, by=by)


def _show(
    result: "pl.DataFrame", *, output: Path | None, everything: bool, as_json: bool, by: str | None = None
) -> None:
    """Print an evaluation, of parts of the tasks if `by` names them, and write it to a file if one was given."""
    from rankadjust.output.evaluation_text import (
        evaluation,
        evaluation_table,
        every_number,
        main_rows,
        of_parts,
    )

    shown = result if everything else main_rows(result)
    in_words = every_number if everything else evaluation
    named = shown if by is None else shown.rename({"stratum": by})
    show_result(
        result.to_dicts,
        lambda: in_words(shown) if by is None else of_parts(shown, by),
        *(as_json, output, result, lambda: evaluation_table(named)),
    )


def _with_attributes(ranks: Path, tasks: Path, given: Mapping[str, Any]) -> "pl.DataFrame":
    from rankadjust.evaluation.rank_columns import Layout
    from rankadjust.evaluation.rank_files import tasks_from
    from rankadjust.evaluation.task_attributes import with_attributes

    layout = Layout(given["columns"], given["beyond"], given["num_candidates"], given["known"])
    return with_attributes(tasks_from(ranks, layout=layout), tasks)


_OF_DATASET = (options.DATASET, *options.EVALUATION, *options.OF_DATABASE)
_OF_OWN = (_RANKS, options.AGAINST, _TASKS, options.NUM_CANDIDATES, *_LAYOUT, *_EVERY_KIND)
_OF_RANKS = (*_OF_OWN, options.COLUMNS, options.SIDE_OF_RANKS)
evaluate = options.CommandByInput(
    "evaluate",
    _kind_of,
    {
        options.OWN: options.command(*_OF_OWN, *options.TRIPLES)(_evaluate),
        "ranks of a data set": options.command(*_OF_RANKS, *_OF_DATASET, options.SCORES)(_evaluate),
        _ALONE: options.command(*_OF_RANKS)(_evaluate),
        _PARTS: options.command(*(_RANKS, options.BY, _TASKS, *_EVERY_KIND, options.NUM_CANDIDATES))(
            _evaluate_parts
        ),
    },
    help="""Compute and adjust every metric of a model's ranks or scores.

    RANKS is a table (.parquet, .csv, .tsv) with the columns rank (or optimistic and pessimistic) and optionally
    side, triple and num_candidates; or scores: an .npz file with scores, target and mask.
    """,
    epilog=options.examples(
        "rankadjust evaluate ranks.parquet --dataset FB15k-237",
        "rankadjust evaluate ranks.csv --triples train.tsv valid.tsv test.tsv",
        "rankadjust evaluate ranks.csv --num-candidates 501",
    ),
)
