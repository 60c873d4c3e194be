"""Evaluation: from the ranks or scores of a model to its metrics, adjusted for chance (docs/evaluate.md)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from rankadjust.base.errors import RankadjustError
from rankadjust.base.frames import filled
from rankadjust.base.vocabulary import SIDES, TIED
from rankadjust.chance.metrics import FAMILIES, Metric, expand, resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.database.arithmetic import add_adjusted, add_coefficients, stated_scores
from rankadjust.database.constants import Constants, Database
from rankadjust.database.counted_baselines import GAIN, add_gain, why_no_gain
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.database.known_names import SIDE, known_name
from rankadjust.evaluation.rank_columns import Layout
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.evaluation.spread import Spread, worth
from rankadjust.evaluation.task_attributes import check_fit, on_side, with_queries
from rankadjust.evaluation.tasks import POPULATIONS, Tasks, population_of, remarks_on, tasks_of
from rankadjust.evaluation.values import ERRORS, RankedTasks, metric_values, ranked_tasks, slope

KS = (1, 3, 5, 10)
AGAINST = (*GAIN, "difference", "difference_low", "difference_high")
RESULT = pl.Schema(
    {
        **dict.fromkeys(("side", "rank_type", "metric"), pl.String),
        "tasks": pl.Int64,
        **dict.fromkeys(("value", "value_low", "value_high"), pl.Float64),
        "population": pl.String,
        **dict.fromkeys((*ERRORS, "freedom", "relations"), pl.Float64),
        **dict.fromkeys(("expectation", "ratio", "index", "index_low", "index_high", "z"), pl.Float64),
        "z_random_scorer": pl.Float64,
        "scores_used": pl.String,
        **GAIN,
        **dict.fromkeys(("difference", "difference_low", "difference_high"), pl.Float64),
        **dict.fromkeys(("reason", "reason_random_scorer", "warning"), pl.String),
    }
)
# Where a baseline is so near the optimum, the gain magnifies noise.
_NEAR_OPTIMUM = 0.9


def evaluate(  # noqa: PLR0913 - options of the public API, by name only
    ranks: str | Path | pl.DataFrame | ArrayLike,
    *,
    num_candidates: ArrayLike | None = None,
    columns: Sequence[str] = (),
    beyond: int | None = None,
    known: Sequence[str | Path] = (),
    dataset: str | EvaluationSet | None = None,
    protocol: str | None = None,
    split: str | None = None,
    side: str = "both",
    scores: str | None = None,
    against: str | None = None,
    database: Database = None,
    metrics: str | Sequence[str] = tuple(FAMILIES),
    population: str | None = None,
    evaluator: str | None = None,
) -> pl.DataFrame:
    """Return every metric of a model's ranks for each side and type of rank, adjusted for chance.

    docs/methods-intervals.md explains ties and intervals; docs/methods.md, "Adjustments", defines ratio, index and z.

    Parameters
    ----------
    ranks : file, frame, mapping, or array of shape (n,) or (n, columns)
        A table (Parquet, CSV, TSV, a frame), or ranks alone; or scores, as an .npz file or a mapping of arrays
        (`rankadjust.evaluation.score_files.read_scores`). A table has the column rank, or optimistic and pessimistic,
        the ends of what ties allow, or rank_head and rank_tail. The columns side (head, tail), triple and
        num_candidates are optional.
    num_candidates : int or array of shape (n,), optional
        How many candidates each task has, the true answer included, in place of a column.
    columns : sequence of str, optional
        The names of the columns of an array of shape (n, columns), or of a text without a header.
    beyond : int, optional
        How many answers were kept for each task, if ranks beyond them are inf, 0, -1, MISS or empty. The result then
        only has the rows with optimistic and pessimistic ranks, which are the bounds of every metric.
    known : sequence of str or Path, optional
        The files of training, validation and test triples. They are needed if the ranks are a file of the best answers
        to each query (AnyBURL, PyClause), because other known answers in it do not count.
    dataset : str or EvaluationSet, optional
        The data set whose constants adjust the values. Without it expectation and variance are computed from
        num_candidates, but there is no z_random_scorer, which needs the database.
    protocol, split : str
        As for `rankadjust.adjust`.
    side : str
        head or tail: evaluate this side only. Ranks without a column side are then of this side. An EvaluationSet of
        one side needs no side here.
    scores : str, optional
        As for `rankadjust.adjust`.
    against : str, optional
        A counting baseline (docs/methods-baselines.md), or 'best', which is the best on validation, and the default if
        a baseline is known. The columns from baseline to difference_high are about this baseline.
    database : Constants, str or Path, optional
        As for `rankadjust.adjust`.
    metrics : str or sequence of str
        Keys or aliases; hits_at_k and the like stand for k = 1, 3, 5, 10.
    population : str, optional
        Which other tasks the intervals hold for: triples (other test triples of this split), queries or relations. By
        default these are triples if the registry says that the data set was split at random, relations if it was split
        by relation, and else queries if they are known and triples share them (docs/methods-intervals.md).
    evaluator : str, optional
        As for `rankadjust.adjust`.

    Returns
    -------
    polars.DataFrame
        A row for each side (head, tail, both), rank_type (given; or optimistic, realistic, pessimistic, expected) and
        metric. value is a fraction or a rank. value_low to value_high and index_low to index_high are 95 % intervals
        for the population, with expectation and variance held fixed; error_triples, error_queries and error_relations
        are the standard errors for each population that is known, freedom the degrees of freedom, and relations how
        many relations of equal size they count like. Medians and measures of dispersion have none. difference is the
        value minus that of the baseline, on the same triples where the baseline's rank of each is known; else the
        baseline is held fixed. A number that does not exist is null, and reason and reason_random_scorer say why.
        warning says whether intervals are likely to be too short, whether tasks seem to be in the table twice, and
        whether many tasks have one candidate only.

    Raises
    ------
    RankadjustError
        For ranks or names that are wrong, and for ranks that do not fit the evaluation set.

    Examples
    --------
    >>> result = evaluate([2, 1, 4], num_candidates=10, metrics=["mrr", "hits@1", "hits@3"])
    >>> for row in result.select("metric", "value", "expectation", "index").rows():
    ...     print(row[0], *(round(number, 4) for number in row[1:]))
    inverse_harmonic_mean_rank 0.5833 0.2929 0.4107
    hits_at_1 0.3333 0.1 0.2593
    hits_at_3 0.6667 0.3 0.5238

    """
    chosen = expand([metrics] if isinstance(metrics, str) else metrics, KS)
    evaluation_set = None
    if dataset is not None:
        evaluation_set = evaluation_set_of(dataset, protocol, split, side, database, evaluator)
        side = evaluation_set.side
    elif against is not None:
        raise RankadjustError(
            "what a baseline reaches depends on the data set, so give dataset (--dataset), too"
        )
    most = None if evaluation_set is None else evaluation_set.largest_count
    layout = Layout(columns, beyond, most, known)
    frame = tasks_from(ranks, num_candidates, layout=layout)
    frame = on_side(frame, known_name(SIDE, side, SIDES, "ranks"))
    if evaluation_set is not None:
        check_fit(frame, evaluation_set)
    frame = with_queries(frame, evaluation_set)
    tasks = tasks_of(frame)
    population, unknown = population_for(frame, population, evaluation_set, database)
    stated = stated_scores(scores)
    constants = add_coefficients(chance_constants(chosen, tasks, evaluation_set))
    rows = metric_values(chosen, tasks, population).join(
        constants, on=["side", "metric"], how="left", maintain_order="left"
    )
    adjusted = add_adjusted(rows.with_columns(scores=pl.lit(stated, pl.String)))
    if layout.bounds:
        adjusted = adjusted.filter(pl.col("rank_type").is_in(TIED))
    carry = worth(tasks.ways("relations", [*tasks.sides][-1])) if "relations" in tasks.clusters else None
    remarks = [pl.lit(remark, pl.String) for remark in (*remarks_on(frame), unknown)]
    return (
        _with_baseline(adjusted, against, evaluation_set, frame, tasks, population)
        .with_columns(
            population=pl.lit(population),
            relations=pl.lit(carry, pl.Float64),
            reason=pl.coalesce("no_value", "reason"),
            warning=with_remarks(pl.col("warning"), *remarks),
        )
        .select(RESULT.names())
        .cast(RESULT)
    )


def population_for(
    frame: pl.DataFrame, asked: str | None, evaluation_set: EvaluationSet | None, database: Database
) -> tuple[str, str | None]:
    """Return the population of `population_of`, and a warning where nobody chose it or says how the data were split."""
    known = {} if evaluation_set is None else Constants.given(database).registry
    entry = None if evaluation_set is None else known.get(evaluation_set.dataset)
    population = population_of(frame, asked, None if entry is None else entry.split)
    if entry is None or asked is not None or entry.split != "unknown":
        return population, None
    unclear = f"so its triples may not stand for {POPULATIONS[population]}"
    return population, f"nobody says how {entry.name} was split, {unclear}"


def _with_baseline(
    rows: pl.DataFrame,
    against: str | None,
    evaluation_set: EvaluationSet | None,
    frame: pl.DataFrame,
    tasks: Tasks,
    population: str,
) -> pl.DataFrame:
    """Add AGAINST: what the values are against a baseline; null where nobody asked and none is known."""
    nothing = rows.with_columns(pl.lit(None, RESULT[name]).alias(name) for name in AGAINST)
    if evaluation_set is None:
        return nothing
    with_moments = [key for key in rows["metric"].unique(maintain_order=True) if resolve(key).has_moments]
    known = evaluation_set.counted(with_moments)
    names = {name: pl.lit(getattr(evaluation_set, name)) for name in ("dataset", "protocol", "split")}
    named = evaluation_set.known_baseline("best" if against is None else against) if known.height else None
    found = add_gain(rows.with_columns(**names), known, named)
    if found["baseline"].is_null().all():
        if against is None:
            return nothing
        key = next(iter(with_moments), rows["metric"][0])
        raise RankadjustError(f"{evaluation_set}: {why_no_gain(known, evaluation_set.split, key)}")
    differences = [_difference(row, frame, tasks, population) for row in found.iter_rows(named=True)]
    room = pl.col("optimum") - pl.col("baseline_value")
    ends = [pl.when(pl.col("gain").is_not_null()).then(pl.col(name) / room) for name in AGAINST[-2:]]
    known_differences = pl.DataFrame(differences, schema={name: RESULT[name] for name in AGAINST[-3:]})
    return found.with_columns(known_differences).with_columns(
        gain_low=pl.min_horizontal(ends),
        gain_high=pl.max_horizontal(ends),
        warning=with_remarks(pl.col("warning"), magnified()),
    )


def magnified() -> pl.Expr:
    """Return a warning about a share of 1 where counting alone nearly reaches 1, null elsewhere; needs GAIN."""
    text = "counting alone reaches {} of 1, so the gain magnifies noise; look at the difference instead"
    reached = pl.col("baseline_value")
    return pl.when(reached.is_between(_NEAR_OPTIMUM, 1), pl.col("gain").is_not_null()).then(
        filled(text, reached.round(3))
    )


def _difference(
    row: Mapping[str, Any], frame: pl.DataFrame, tasks: Tasks, population: str
) -> dict[str, float | None]:
    """Return the difference of a value to the baseline: paired by task where the baseline's ranks are known."""
    metric, reached, side = resolve(row["metric"]), row["baseline_value"], row["side"]
    if row["value"] is None or reached is None:
        return dict.fromkeys(AGAINST[-3:])
    ends = [None if row[end] is None else row[end] - reached for end in ("value_low", "value_high")]
    tied = [f"{row['baseline']}_{end}" for end in TIED]
    if metric.term is not None and None not in ends and {*tied} <= {*frame.columns}:
        best, worst = (frame[name].to_numpy()[tasks.sides[side]] for name in tied)
        own = ranked_tasks(tasks, row["rank_type"], side)
        counted = RankedTasks(best, worst, own.counts)
        parts = [slope(metric, mean) * each for mean, each in (own.mean(metric), counted.mean(metric))]
        triples = tasks.ways("triples", side)[0]
        spread = Spread.of((parts[0] - parts[1])[None], tasks.ways(population, side), triples)
        ends = spread.ends(np.array([row["value"] - reached]))[0].tolist()
    return dict(zip(AGAINST[-3:], [row["value"] - reached, *ends], strict=True))


def with_remarks(*remarks: pl.Expr) -> pl.Expr:
    """Return remarks as one text, null where there is none."""
    return pl.concat_str(*remarks, separator="; ", ignore_nulls=True).replace("", None)


# --- what chance gives ---------------------------------------------------------------------------------------

_ONE_LIST = "there is no z, because all tasks share one list of negatives, so ranks depend on each other"
_NOT_COUNTED = "z of a random scorer needs the data set, because it says which tasks share a query"
# Moments of a metric under the null models, null where they are not known, and why.
_CHANCE = pl.Schema(
    {
        **dict.fromkeys(("side", "metric"), pl.String),
        **dict.fromkeys(("expectation", "variance"), pl.Float64),
        **dict.fromkeys(("variance_random_scorer", "variance_static_scorer"), pl.Float64),
        **dict.fromkeys(("reason", "reason_random_scorer", "reason_static_scorer"), pl.String),
    }
)


def chance_constants(
    metrics: Sequence[Metric], tasks: Tasks, evaluation_set: EvaluationSet | None
) -> pl.DataFrame:
    """Return one row for each side and metric: its moments under chance, and why some are missing."""
    rows = [
        {**_chance(metric, side, tasks, evaluation_set), "side": side, "metric": metric.key}
        for side in tasks.sides
        for metric in metrics
    ]
    return pl.DataFrame(rows, schema=_CHANCE)


def _chance(metric: Metric, side: str, tasks: Tasks, evaluation_set: EvaluationSet | None) -> dict[str, Any]:
    if evaluation_set is not None:
        of_side = evaluation_set.of_side(side)
        if (row := of_side.row(metric)) is not None:
            return {name: row.get(name) for name in _CHANCE}
        absent = f"{metric.label} of {of_side} is not in the database"
        return {"reason": absent if metric.has_moments else "no exact moments are known for this metric"}
    if not tasks.counts_known:
        return {"reason": "nothing says what chance reaches; give num_candidates or a data set"}
    counts = tasks.counts[tasks.sides[side]]
    found = metric_moments(metric, *np.unique(counts, return_counts=True))
    known = {"expectation": found.expectation, "reason": found.reason, "reason_static_scorer": _NOT_COUNTED}
    if not tasks.one_list:
        return known | {"variance": found.variance, "reason_random_scorer": _NOT_COUNTED}
    return known | {"reason": found.reason or _ONE_LIST, "reason_random_scorer": _ONE_LIST}
