"""The command evaluate: the ranks or scores of a model."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from rankadjust.cli import options
from rankadjust.cli.inputs import chosen_set, of_set
from rankadjust.cli.printing import at_work, say_usual, show_result


@options.command(
    click.Argument(["ranks"], type=options.PATH),
    *(*options.OF_SET, options.SIDE_OF_RANKS, options.NUM_CANDIDATES, options.TASKS),
    options.option(
        "--beyond",
        type=int,
        metavar="K",
        help="How many answers were kept (K). A rank inf, 0, -1, MISS or empty is beyond K, so values are bounds.",
    ),
    options.option(
        "--known",
        type=options.PATH,
        multiple=True,
        help="A file of known triples, for a list of answers of AnyBURL or PyClause; repeat it for several.",
    ),
    *(options.SCORES, options.AGAINST, options.POPULATION, options.METRICS, options.ALL),
    options.output(
        *(".parquet", ".tsv", ".csv", ".json"), help="Also write all rows (.parquet, .tsv, .csv, .json)."
    ),
    options.JSON,
    epilog=options.examples(
        "rankadjust evaluate ranks.parquet --dataset FB15k-237",
        "rankadjust evaluate ranks.csv --triples train.tsv valid.tsv test.tsv",
        "rankadjust evaluate ranks.csv --num-candidates 501",
    ),
)
def evaluate(
    ranks: Path,
    *,
    tasks: Path | None,
    metrics: tuple[str, ...],
    everything: bool,
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compute and adjust every metric of a model's ranks or scores.

    RANKS is a table (.parquet, .csv, .tsv) with the column rank (or optimistic and pessimistic), and side, triple and
    num_candidates if you know them. Or it is an .npz file with the arrays scores, target and, if you filter, mask.
    """
    from rankadjust.chance.metrics import FAMILIES
    from rankadjust.evaluation.evaluate import evaluate as evaluate_ranks
    from rankadjust.evaluation.rank_columns import Layout
    from rankadjust.evaluation.rank_files import tasks_from
    from rankadjust.evaluation.task_attributes import with_attributes
    from rankadjust.output import evaluation_text as texts
    from rankadjust.output.adjusted_text import FIRST_METRICS

    which = of_set(given)
    if which["dataset"] is None and which["triples"] is None:
        options.refuse("ranks without --dataset", "scores")
    # Of own triples these are the columns of their files.
    columns = () if which["triples"] or not which["columns"] else tuple(which["columns"].split(","))
    usual = tuple(FAMILIES) if everything or as_json or output else FIRST_METRICS
    with at_work():
        dataset = chosen_set("ranks without --dataset", side=given["side"], **which)
        judged: Any = ranks
        if tasks is not None:
            layout = Layout(columns, given["beyond"], given["num_candidates"], given["known"])
            judged = with_attributes(tasks_from(ranks, layout=layout), tasks)
        known = {"columns": columns, "dataset": dataset, "database": which["constants"]}
        result = evaluate_ranks(judged, metrics=metrics or usual, **known, **given)
    say_usual(dataset, which["protocol"], as_json)
    shown = result if everything else texts.main_rows(result)
    in_words = partial(texts.evaluation, shown, everything=everything)
    show_result(result.to_dicts, in_words, as_json, output, result)
