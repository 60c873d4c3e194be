"""Evaluation: from the ranks or scores of a model to its metrics, adjusted for chance (docs/evaluate.md)."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from numpy.typing import ArrayLike

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SIDES
from rankadjust.chance.metrics import FAMILIES, expand, resolve
from rankadjust.database.arithmetic import add_adjusted, add_coefficients, stated_scores
from rankadjust.database.constants import Constants, Database
from rankadjust.database.counted_baselines import GAIN, add_gain, why_no_gain
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.database.known_names import SIDE, known_name
from rankadjust.evaluation.chance_constants import chance_constants
from rankadjust.evaluation.drawn_p import add_drawn_p
from rankadjust.evaluation.fit import check_fit, on_side
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.evaluation.resampling import require_draws
from rankadjust.evaluation.task_attributes import with_queries
from rankadjust.evaluation.tasks import remarks_on, require_both_sides_alike, tasks_of
from rankadjust.evaluation.values import metric_values

KS = (1, 3, 5, 10)
DRAWS = 1000

RESULT = pl.Schema(
    {
        "average": pl.String,
        "side": pl.String,
        "rank_type": pl.String,
        "metric": pl.String,
        "tasks": pl.Int64,
        "value": pl.Float64,
        "value_low": pl.Float64,
        "value_high": pl.Float64,
        "interval": pl.String,
        "expectation": pl.Float64,
        "ratio": pl.Float64,
        "index": pl.Float64,
        "index_low": pl.Float64,
        "index_high": pl.Float64,
        "z": pl.Float64,
        "z_random_scorer": pl.Float64,
        "scores_used": pl.String,
        "p_random_scorer": pl.Float64,
        "reason": pl.String,
        "reason_random_scorer": pl.String,
        "warning": pl.String,
    }
)


def evaluate(  # noqa: PLR0913 - options of the public API, by name only
    ranks: str | Path | pl.DataFrame | ArrayLike,
    *,
    num_candidates: ArrayLike | None = None,
    dataset: str | EvaluationSet | None = None,
    protocol: str = "filtered",
    split: str = "testing",
    side: str = "both",
    scores: str | None = None,
    against: str | None = None,
    database: Database = None,
    metrics: str | Sequence[str] = tuple(FAMILIES),
    draws: int = DRAWS,
    seed: int = 0,
) -> pl.DataFrame:
    """Return every metric of a model's ranks for each side and type of rank, adjusted for chance.

    docs/methods-intervals.md explains ties and intervals; docs/methods.md, "Adjustments", defines ratio, index and z.

    Parameters
    ----------
    ranks : file, folder, frame or array of shape (n,)
        A table (Parquet, CSV, TSV, a frame), a folder of tables, or ranks alone; or scores, as an .npz file or a folder
        (`rankadjust.evaluation.scores.read_scores`). A table has the column rank, or optimistic and pessimistic, the
        ends of what ties allow. The columns side (head, tail), triple, num_candidates, weight and group are optional.
    num_candidates : int or array of shape (n,), optional
        Candidates of each task, the true answer included; in place of a column.
    dataset : str or EvaluationSet, optional
        Whose constants to adjust with. Without it expectation and variance are computed from num_candidates, where
        they are known; z_random_scorer needs the database.
    protocol, split : str
        Names in any spelling, or aliases: 'filtered', 'testing'.
    side : str
        head or tail: evaluate this side only. Ranks without a column side are then of this side. An EvaluationSet of
        one side needs no side here.
    scores : str, optional
        Of temporal data: per_time or static, as for `rankadjust.adjust`.
    against : str, optional
        A counting baseline (docs/methods-baselines.md), or 'best', the best one on validation: adds baseline,
        baseline_value, gain, gain_low and gain_high, of unweighted micro averages. It needs `dataset`.
    database : Constants, frame, str or Path, optional
        The constants to adjust with: `rankadjust.Constants`, a frame with the columns of
        `rankadjust.database.store.SCHEMA`, or the path of a database file; None means the released ones. The
        histograms of its candidates come with it.
    metrics : str or sequence of str
        Keys or aliases; hits_at_k and the like stand for k = 1, 3, 5, 10.
    draws : int
        Bootstrap samples of the 95 % intervals (0: none): of queries where they are known and triples share them
        (docs/methods-intervals.md, "Queries"), of triples where the column triple is given, otherwise of tasks
        within each side.
    seed : int
        Of numpy's default generator.

    Returns
    -------
    polars.DataFrame
        A row for each average (micro: over tasks; macro: over groups, where there are groups), side (head, tail,
        both), rank_type (given; or optimistic, realistic, pessimistic, expected) and metric. value is a fraction or a
        rank. value_low to value_high and index_low to index_high are bootstrap intervals, with expectation and variance
        held fixed; interval names their method (studentised or BCa). p_random_scorer is drawn as `rankadjust.adjust`
        draws it, for micro averages. A number that does not exist is null, and reason and reason_random_scorer say why.
        warning says whether intervals are likely to be too short, whether tasks seem to be in the table twice, and
        whether many tasks have one candidate only.

    Raises
    ------
    RankadjustError
        For ranks or names that are wrong, and for ranks that do not fit the evaluation set.

    Examples
    --------
    >>> result = evaluate([2, 1, 4], num_candidates=10, metrics=["mrr", "hits@1", "hits@3"], draws=0)
    >>> for row in result.select("metric", "value", "expectation", "index").rows():
    ...     print(row[0], *(round(number, 4) for number in row[1:]))
    inverse_harmonic_mean_rank 0.5833 0.2929 0.4107
    hits_at_1 0.3333 0.1 0.2593
    hits_at_3 0.6667 0.3 0.5238

    """
    frame = tasks_from(ranks, num_candidates)
    chosen = expand([metrics] if isinstance(metrics, str) else metrics, KS)
    require_draws(draws, seed)
    evaluation_set = None
    if dataset is not None:
        evaluation_set = evaluation_set_of(dataset, protocol, split, side, database)
        side = evaluation_set.side
    frame = on_side(frame, known_name(SIDE, side, SIDES, "ranks"))
    if evaluation_set is not None:
        check_fit(frame, evaluation_set)
    tasks = tasks_of(known_queries(frame, evaluation_set, database))
    if evaluation_set is not None and tasks.by_triple:
        require_both_sides_alike(tasks, frame["triple"])
    stated = stated_scores(scores)
    constants = add_coefficients(chance_constants(chosen, tasks, evaluation_set))
    rows = metric_values(chosen, tasks, draws, seed).join(
        constants, on=["average", "side", "metric"], how="left", maintain_order="left"
    )
    adjusted = add_adjusted(rows.with_columns(scores=pl.lit(stated, pl.String)))
    columns = RESULT
    if against is not None:
        adjusted = _with_gain(adjusted, against, evaluation_set, weighted=tasks.weighted)
        columns = pl.Schema([*RESULT.items(), *GAIN.items()])
    return (
        add_drawn_p(adjusted, evaluation_set)
        .with_columns(
            reason=pl.coalesce("no_value", "reason"),
            warning=_with_remarks("warning", remarks_on(tasks, fits=evaluation_set is not None)),
        )
        .select(columns.names())
        .cast(columns)
    )


def known_queries(
    tasks: pl.DataFrame, evaluation_set: EvaluationSet | None, database: Database
) -> pl.DataFrame:
    """Return tasks with their queries, where these follow from the names of the triples or from the files of a run."""
    if evaluation_set is None:
        return with_queries(tasks)
    file = Constants.given(database).file
    return with_queries(tasks, file, evaluation_set.dataset, evaluation_set.split)


def _with_gain(
    rows: pl.DataFrame, against: str, evaluation_set: EvaluationSet | None, *, weighted: bool
) -> pl.DataFrame:
    """Hold the values of averages over all tasks against a baseline."""
    if evaluation_set is None:
        raise RankadjustError(
            "what a baseline reaches depends on the data set: give dataset (--dataset), too"
        )
    known = evaluation_set.counted([key for key in rows["metric"].unique() if resolve(key).has_moments])
    if known.is_empty():
        raise RankadjustError(f"{evaluation_set}: {why_no_gain(known, evaluation_set.split, '')}")
    names = {name: pl.lit(getattr(evaluation_set, name)) for name in ("dataset", "protocol", "split")}
    with_gain = add_gain(rows.with_columns(**names), known, evaluation_set.known_baseline(against))
    if with_gain["baseline"].is_null().all():
        key = next((key for key in rows["metric"] if resolve(key).has_moments), rows["metric"][0])
        raise RankadjustError(f"{evaluation_set}: {why_no_gain(known, evaluation_set.split, key)}")
    counts = (pl.col("average") == "micro") & pl.lit(not weighted)
    return with_gain.with_columns(pl.when(counts).then(pl.col(name)).alias(name) for name in GAIN)


def _with_remarks(warning: str, remarks: Sequence[str]) -> pl.Expr:
    """Return a column of warnings with remarks on the tasks added."""
    return pl.concat_str(pl.col(warning), *map(pl.lit, remarks), separator="; ", ignore_nulls=True).replace(
        "", None
    )
