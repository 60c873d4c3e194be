"""Comparison: is one model better than another, metric by metric (docs/compare.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SIDES
from rankadjust.chance.metrics import Metric, expand, resolve
from rankadjust.database.arithmetic import add_adjusted, add_coefficients
from rankadjust.database.constants import Database
from rankadjust.database.counted_baselines import add_gain
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.database.known_names import SIDE, known_name
from rankadjust.evaluation.evaluate import chance_constants, population_for, with_remarks
from rankadjust.evaluation.spread import worth
from rankadjust.evaluation.task_attributes import check_fit, with_queries
from rankadjust.evaluation.tasks import tasks_of
from rankadjust.models.paired import Paired, Source, paired, with_baseline
from rankadjust.models.part import DIFFERENCES, VALUES, Part

KS = (1, 3, 10)
METRICS = ("mrr", "hits@10")
LEVEL = 0.05

Models = Mapping[str, Source | Sequence[Source]]


@dataclass(frozen=True)
class Comparison:
    """The values of the compared models, their differences, and how both were found.

    Attributes
    ----------
    values : polars.DataFrame
        A row for each side, metric and model, with expectation, index, baseline, baseline_value and gain where they are
        known. best: whether a model has the best value, or was not told apart from the best. spread_of_runs: standard
        deviation of the metric between the runs, null for one run.
    differences : polars.DataFrame
        A row for each side, metric and pair of models. difference: first minus second, with its 95 % interval for the
        population. p: of no difference, over tasks, or over runs and tasks where both models have several runs;
        p_holm: adjusted for all pairs and metrics of the side. better: the name of the better model where p_holm is
        below 0.05, else null. error_triples, error_queries, error_relations and p_triples to p_relations: the
        standard error and p for each population that is known. relations: how many relations of equal weight carry
        the difference. freedom: degrees of freedom of Student's law.
    models : sequence of str
        The names of the models.
    tasks : int
        How many tasks the models share.
    population, clusters, worth : str, int, float
        The population of intervals and p (triples, queries or relations), how many clusters there are, and how many
        clusters of equal size would give as much evidence. With queries on both sides, of the side with fewer.
    seeds_tested : bool
        Whether every model that has seeds has several runs.

    """

    values: pl.DataFrame
    differences: pl.DataFrame
    models: Sequence[str]
    tasks: int
    population: str
    clusters: int
    worth: float
    seeds_tested: bool


def compare(  # noqa: PLR0913 - options of the public API, by name only
    models: Models | Sequence[str | Path],
    *,
    dataset: str | EvaluationSet | None = None,
    protocol: str | None = None,
    split: str | None = None,
    side: str = "both",
    against: str | None = None,
    tasks: str | Path | pl.DataFrame | None = None,
    population: str | None = None,
    metrics: str | Sequence[str] = METRICS,
    database: Database = None,
    evaluator: str | None = None,
) -> Comparison:
    """Compare at least two models by their ranks on the same tasks.

    docs/compare.md explains test and intervals. The value of a model with several runs is the mean over the runs. A
    metric that is a function of a mean, such as GMR, is the function of the mean over all runs. Tied ranks are taken at
    their mean (realistic).

    Parameters
    ----------
    models : mapping of str to ranks, or sequence of paths
        The ranks of each model by its name: a file or frame with the column triple, as `evaluate` takes it; an array of
        shape (n,), in the same order of tasks in all models; or a list of runs, each with shape (n,). A folder has a
        file for each run (seed). Paths are named by their last part.
    dataset : str or EvaluationSet, optional
        The data set whose constants adjust the values.
    protocol, split : str
        As for `rankadjust.adjust`.
    side : str
        head or tail: compare this side only. Ranks without a column side are then of this side. An EvaluationSet of
        one side needs no side here.
    against : str, optional
        A counting baseline (docs/methods-baselines.md) to compare with, so that one model is enough. 'best' is the
        baseline with the best MRR on validation. Its ranks come from `tasks`, or else from the triples of `dataset`.
    tasks : frame, str or Path, optional
        The attributes of the tasks, as the workflow's target `tasks` writes them.
    population : str, optional
        Which other tasks intervals and p hold for: triples, queries or relations. By default triples if the registry
        says that the data set was split at random, relations if it was split by relation, and else queries if they are
        known and triples share them. Queries and relations are known from columns of these names, from the table of
        the tasks, or if triples are named by their labels (with tabs) or ids (with commas).
    metrics : str or sequence of str
        Keys or aliases; hits_at_k and the like stand for k = 1, 3, 10. Only functions of a mean are compared: no
        medians, and no measures of dispersion.
    database : Constants, str or Path, optional
        As for `rankadjust.adjust`.
    evaluator : str, optional
        As for `rankadjust.adjust`.

    Returns
    -------
    Comparison
        Values and differences, metric by metric.

    Raises
    ------
    RankadjustError
        For tasks that differ, an unknown population, a single cluster, and models that all have the same ranks.

    Examples
    --------
    >>> ranks = {"new": [1, 2, 1, 3, 1, 2, 4, 1], "old": [2, 4, 1, 5, 3, 2, 9, 4]}
    >>> compared = compare(ranks, metrics=["mr"])
    >>> compared.differences.select("first", "second", "difference", pl.col("p").round(3)).rows()
    [('new', 'old', -1.875, 0.005)]

    """
    evaluation_set = (
        None if dataset is None else evaluation_set_of(dataset, protocol, split, side, database, evaluator)
    )
    chosen = _means(metrics)
    matched = _matched(models, side, against, tasks, evaluation_set)
    frame = with_queries(matched.tasks, evaluation_set)
    population, unknown = population_for(frame, population, evaluation_set, database)
    frame = frame.drop("side") if "both" in frame["side"] else frame
    ranked = matched.models
    if all(np.array_equal(model.ranks, ranked[0].ranks) for model in ranked):
        names = " and ".join(model.name for model in ranked)
        question = "; are they the same file?" if against is None else ""
        raise RankadjustError(
            f"{names} have the same rank in every task, so there is nothing to test{question}"
        )
    shared = tasks_of(frame.with_columns(rank=pl.lit(1.0)))
    ways = shared.ways(population, [*shared.sides][-1])
    number = int(ways[0].max()) + 1
    if number == 1:
        raise RankadjustError(
            f"all tasks are in one cluster ({population}), so nothing can be said about others; try another "
            "population (--for)"
        )
    results = []
    for name in shared.sides:
        part = Part(name, shared, ranked, population, chosen)
        results += [part.results()] if part.clusters > 1 else []
    if evaluation_set is not None:
        for each in (ranks for model in ranked for ranks in model.ranks):
            check_fit(frame.with_columns(rank=each), evaluation_set)
    constants = add_coefficients(chance_constants(chosen, shared, evaluation_set))
    differences = with_verdicts(pl.concat([each for _, each in results]))
    differences = differences.with_columns(
        warning=with_remarks(pl.col("warning"), pl.lit(unknown, pl.String))
    )
    values = with_best(pl.concat([each for each, _ in results]), differences)
    return Comparison(
        values=_adjusted(values, constants, evaluation_set).select(VALUES.names()).cast(VALUES),
        differences=differences.select(DIFFERENCES.names()).cast(DIFFERENCES),
        models=[model.name for model in ranked],
        tasks=frame.height,
        population=population,
        clusters=number,
        worth=worth(ways),
        seeds_tested=all(len(model.ranks) > 1 or model.worst is not None for model in ranked),
    )


# --- the models, on the same tasks -------------------------------------------------------------------------


def _means(metrics: str | Sequence[str]) -> Sequence[Metric]:
    """Return the named metrics; RankadjustError for one that is not a function of a mean over the tasks."""
    named = expand([metrics] if isinstance(metrics, str) else metrics, KS)
    chosen = [metric for metric in named if metric.key != "count"]
    for metric in chosen:
        if metric.term is None:
            raise RankadjustError(
                f"{metric.key} is not a function of a mean over the tasks, so models are not compared by it; "
                "'evaluate' gives its value"
            )
    return chosen


def _matched(
    models: Models | Sequence[str | Path],
    side: str,
    against: str | None,
    tasks: str | Path | pl.DataFrame | None,
    evaluation_set: EvaluationSet | None,
) -> Paired:
    """Return the models on the tasks that they share, with the baseline that is asked for."""
    by_name = models if isinstance(models, Mapping) else names_of(models)
    side = known_name(SIDE, side, SIDES, "ranks") if evaluation_set is None else evaluation_set.side
    if against is not None and tasks is None:
        if evaluation_set is None:
            raise RankadjustError(
                "a baseline's rank of each task is not known: give tasks (--tasks), or a data set whose triples "
                "are at hand"
            )
        tasks = evaluation_set.each_task()
    matched = paired(by_name, tasks, side=side, least=2 if against is None else 1)
    return matched if against is None else with_baseline(matched, against, evaluation_set)


def names_of(paths: Sequence[str | Path]) -> dict[str, Path]:
    """Return the paths by the shortest names that distinguish them."""
    if not all(isinstance(path, str | Path) for path in paths):
        raise RankadjustError(
            'models are given by name, {"A": ranks, "B": ranks}, or as a list of files that name them'
        )
    files = [Path(path) for path in paths]
    for names in ([path.stem for path in files], [str(path) for path in files]):
        if len(set(names)) == len(names):
            return dict(zip(names, files, strict=True))
    twice = next(path for path in files if files.count(path) > 1)
    raise RankadjustError(f"{twice} is given twice; name two different models")


# --- what chance and counting reach ------------------------------------------------------------------------


def _adjusted(
    values: pl.DataFrame, constants: pl.DataFrame, evaluation_set: EvaluationSet | None
) -> pl.DataFrame:
    """Add expectation, index, and the best counting baseline with its gain to the values of models."""
    nothing = dict.fromkeys(("value_low", "value_high"), pl.lit(None, pl.Float64))
    rows = add_adjusted(
        values.join(constants, on=["side", "metric"], how="left", maintain_order="left").with_columns(
            **nothing
        )
    )
    if evaluation_set is None:
        unknown = {name: pl.lit(None, VALUES[name]) for name in ("baseline", "baseline_value", "gain")}
        return rows.with_columns(**unknown)
    names = {name: pl.lit(getattr(evaluation_set, name)) for name in ("dataset", "protocol", "split")}
    metrics = rows["metric"].unique(maintain_order=True).to_list()
    return add_gain(rows.with_columns(**names), evaluation_set.counted(metrics))


# --- several tests at once ---------------------------------------------------------------------------------


def with_verdicts(differences: pl.DataFrame) -> pl.DataFrame:
    """Add p_holm and better to rows with side, metric, first, second, difference and p.

    p_holm: p adjusted for all rows of its side (Holm 1979), null without a p. better: the better model of a
    pair where p_holm is below LEVEL, else null.
    """
    rising = [key for key in differences["metric"].unique() if resolve(key).increasing]
    first_is_better = (pl.col("difference") > 0) == pl.col("metric").is_in(rising)
    # The smallest p is multiplied by the number of tests, the next by one less, and so on, never falling.
    scaled = pl.col("p") * (pl.col("p").count() - pl.col("p").cum_count() + 1)
    return (
        differences.with_row_index("_row")
        .sort("p", "_row", nulls_last=True)
        .with_columns(p_holm=scaled.cum_max().clip(upper_bound=1).over("side"))
        .with_columns(
            better=pl.when(pl.col("p_holm") < LEVEL).then(
                pl.when(first_is_better).then("first").otherwise("second")
            )
        )
        .sort("_row")
        .drop("_row")
    )


def with_best(values: pl.DataFrame, differences: pl.DataFrame) -> pl.DataFrame:
    """Add best to rows with side, metric, model and value: the best value, or not told apart from the best one."""
    parts = []
    for (side, key), part in values.group_by(["side", "metric"], maintain_order=True):
        ordered = part.drop_nulls("value").sort("value", descending=resolve(str(key)).increasing)
        top = ordered["model"].item(0) if ordered.height else ""
        apart = differences.filter(pl.col("p_holm") < LEVEL, side=side, metric=key)
        worse = {*apart.filter(first=top)["second"], *apart.filter(second=top)["first"]}
        known = pl.col("value").is_not_null()
        parts.append(part.with_columns(best=known & ~pl.col("model").is_in(sorted(worse))))
    return pl.concat(parts)
