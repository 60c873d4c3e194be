"""Comparison: is one model better than another, metric by metric (docs/compare.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rankadjust.base.arrays import IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.progress import progress
from rankadjust.base.vocabulary import SIDES, TASK_SIDES
from rankadjust.chance.metrics import Metric, expand, resolve
from rankadjust.database.arithmetic import add_adjusted, add_coefficients
from rankadjust.database.constants import Constants, Database
from rankadjust.database.counted_baselines import add_gain
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.database.known_names import SIDE, known_name
from rankadjust.evaluation.evaluate import chance_constants, split_of
from rankadjust.evaluation.rank_files import run_sources
from rankadjust.evaluation.spread import worth
from rankadjust.evaluation.task_attributes import check_fit, strata_of, with_queries
from rankadjust.evaluation.tasks import Clusters, population_of, tasks_of
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
        population; index_difference likewise, null without an index. p: of no difference, over tasks, or over runs and
        tasks where both models have several runs; p_holm: adjusted for all pairs and metrics of the side. better: the
        name of the better model where p_holm is below 0.05, else null. error_triples, error_queries, error_relations
        and p_triples to p_relations: the standard error and p for each population that is known. relations: how many
        relations of equal weight carry the difference. freedom: degrees of freedom of Student's law. error_of_runs:
        standard error over the seeds alone (null unless both models have several runs).
    models : sequence of str
        Their names.
    tasks : int
        How many tasks the models share.
    population, clusters, worth : str, int, float
        Which other tasks intervals and p hold for (triples, queries or relations), how many of these there are, and
        how many of one size they are worth. With queries on both sides, of the side with fewer.
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
        file or a folder for each run (seed). Paths are named by their last part.
    dataset : str or EvaluationSet, optional
        What to adjust the index with.
    protocol, split : str
        As for `rankadjust.adjust`.
    side : str
        head or tail: compare this side only. Ranks without a column side are then of this side. An EvaluationSet of
        one side needs no side here.
    against : str, optional
        A counting baseline (docs/methods-baselines.md) as one more model, then one model is enough; 'best' is the
        baseline with the best MRR on validation. Its ranks come from `tasks`, or else from the triples of `dataset`.
    tasks : frame, str or Path, optional
        The attributes of the tasks, as the workflow's target `tasks` writes them.
    population : str, optional
        Which other tasks intervals and p hold for: triples, queries or relations. None: triples where the registry says
        that the data set was split at random, relations where it was split by relation, else queries where they are
        known and triples share them. Queries and relations are known from columns of these names, from the table of
        the tasks, or if triples are named by their labels (with tabs) or ids (with commas).
    metrics : str or sequence of str
        Keys or aliases; hits_at_k and the like stand for k = 1, 3, 10. Only functions of a mean are compared: no
        medians, and no measures of dispersion.
    database : Constants, frame, str or Path, optional
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
    asked = _asked(
        models, metrics, population, dataset, protocol, split, side, against, tasks, database, evaluator
    )
    ranked = asked.matched.models
    if all(np.array_equal(model.ranks, ranked[0].ranks) for model in ranked):
        names = " and ".join(model.name for model in ranked)
        question = "; are they the same file?" if against is None else ""
        raise RankadjustError(
            f"{names} have the same rank in every task, so that there is nothing to test{question}"
        )
    height = asked.matched.tasks.height
    ways = asked.clusters[asked.population].ways("both", np.arange(height))
    number = int(ways[0].max()) + 1
    if number == 1:
        raise RankadjustError(
            f"all tasks are in one cluster ({asked.population}), so that nothing can be said about chance; "
            "another --for may help"
        )
    sides, results = _sides(asked.matched.tasks), []
    with progress("comparison", len(sides), "sides") as report:
        for name, places in sides.items():
            part = asked.part(name, places)
            results += [part.results()] if part.clusters > 1 else []
            report(1)
    constants = _constants(asked)
    differences = with_verdicts(_with_index(pl.concat([each for _, each in results]), constants))
    values = with_best(pl.concat([each for each, _ in results]), differences)
    return Comparison(
        values=_adjusted(values, constants, asked.evaluation_set).select(VALUES.names()).cast(VALUES),
        differences=differences.select(DIFFERENCES.names()).cast(DIFFERENCES),
        models=[model.name for model in ranked],
        tasks=height,
        population=asked.population,
        clusters=number,
        worth=worth(ways),
        seeds_tested=all(len(model.ranks) > 1 or model.worst is not None for model in ranked),
    )


PARTS = pl.Schema(
    {
        "stratum": pl.String,
        **dict.fromkeys(("side", "metric", "first", "second"), pl.String),
        "tasks": pl.Int64,
        "clusters": pl.Int64,
        **dict.fromkeys(("first_value", "second_value", "difference"), pl.Float64),
        **dict.fromkeys(("difference_low", "difference_high", "p", "p_holm"), pl.Float64),
        "better": pl.String,
        "warning": pl.String,
    }
)


def compare_by(
    models: Models | Sequence[str | Path],
    by: str,
    *,
    metrics: str | Sequence[str] = ("mrr",),
    **options: Any,  # noqa: ANN401 - options of compare
) -> pl.DataFrame:
    """Return where one model is better than another: `compare` for each part of the tasks.

    Parameters
    ----------
    models : mapping of str to ranks, or sequence of paths
        As `compare` takes them.
    by : str
        What the tasks of a part have in common: relation, candidates, cardinality or half_link, as for `evaluate --by`.
    metrics : str or sequence of str
        Keys or aliases.
    **options
        The other arguments of `compare`.

    Returns
    -------
    polars.DataFrame
        A row for each part, side, metric and pair of models: stratum, tasks, clusters, the values of both models, and
        difference, p and better as in `Comparison.differences`. p_holm takes all parts, metrics and pairs of a side
        into account. A part of one cluster has no p.

    Raises
    ------
    RankadjustError
        As `compare`, and where what the parts have in common is not known.

    Examples
    --------
    >>> train = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("d", "r", "a")]
    >>> own = EvaluationSet.from_triples(train, None, [("a", "r", "c"), ("b", "r", "d")])
    >>> ranks = own.each_task().select("triple", "side", rank=pl.lit(1))
    >>> parts = compare_by({"mine": ranks}, "relation", dataset=own, against="popularity")
    >>> parts.filter(side="both").select("stratum", "second", "first_value", pl.col("second_value").round(3)).rows()
    [('r', 'popularity', 1.0, 0.611)]

    """
    asked = _asked(models, metrics, **options)
    labels, order = strata_of(asked.matched.tasks, by)
    parts = [
        _of_part(asked.part(side, own)).with_columns(stratum=pl.lit(label))
        for label in order
        for side, places in _sides(asked.matched.tasks).items()
        if (own := places[labels.eq(label).to_numpy()[places]]).size
    ]
    return with_verdicts(pl.concat(parts)).select(PARTS.names()).cast(PARTS)


def _of_part(part: Part) -> pl.DataFrame:
    """Return the differences of a part with the values of both models; without a test where it is one cluster."""
    values, differences = part.results()
    for end in ("first", "second"):
        of_model = values.select("metric", pl.col("model").alias(end), pl.col("value").alias(f"{end}_value"))
        differences = differences.join(of_model, on=["metric", end], maintain_order="left")
    tested = ("difference_low", "difference_high", "p", "warning")
    return differences.with_columns(
        *(pl.when(part.clusters > 1).then(name).alias(name) for name in tested),
        tasks=pl.lit(part.places.size),
        clusters=pl.lit(part.clusters),
    )


# --- the models, on the same tasks -------------------------------------------------------------------------


class _Asked(NamedTuple):
    """Models on the tasks that they share, the metrics to compare, and the clusters for each population."""

    matched: Paired
    metrics: Sequence[Metric]
    evaluation_set: EvaluationSet | None
    population: str
    clusters: Mapping[str, Clusters]

    def part(self, side: str, places: IntArray) -> Part:
        """Return the tasks of a side at some places."""
        ways = {name: each.ways(side, places) for name, each in self.clusters.items()}
        return Part(side, places, self.matched, ways, self.population, self.metrics)


def _asked(  # noqa: PLR0913, PLR0917 - as compare
    models: Models | Sequence[str | Path],
    metrics: str | Sequence[str],
    population: str | None = None,
    dataset: str | EvaluationSet | None = None,
    protocol: str | None = None,
    split: str | None = None,
    side: str = "both",
    against: str | None = None,
    tasks: str | Path | pl.DataFrame | None = None,
    database: Database = None,
    evaluator: str | None = None,
) -> _Asked:
    """Return the models with the baseline that is asked for; arguments as of `compare`."""
    evaluation_set = (
        None if dataset is None else evaluation_set_of(dataset, protocol, split, side, database, evaluator)
    )
    named = expand([metrics] if isinstance(metrics, str) else metrics, KS)
    chosen = [metric for metric in named if metric.key != "count"]
    for metric in chosen:
        if metric.term is None:
            raise RankadjustError(
                f"{metric.key} is not a function of a mean over the tasks, so models are not compared by it; "
                "'evaluate' gives its value"
            )
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
    if against is not None:
        matched = with_baseline(matched, against, evaluation_set)
    frame = with_queries(matched.tasks, evaluation_set)
    population = population_of(frame, population, split_of(evaluation_set, database))
    return _Asked(
        matched, chosen, evaluation_set, population, tasks_of(frame.with_columns(rank=pl.lit(1.0))).clusters
    )


def names_of(paths: Sequence[str | Path]) -> dict[str, Path]:
    """Return the paths by the shortest names that distinguish them."""
    if not all(isinstance(path, str | Path) for path in paths):
        raise RankadjustError(
            'models are given by name, {"A": ranks, "B": ranks}, or as a list of files that name them'
        )
    files = [Path(path) for path in paths]
    for name in (
        lambda path: path.stem,
        lambda path: path.name,
        lambda path: "/".join(path.with_suffix("").parts[-2:]),
        str,
    ):
        names = [name(path) for path in files]
        if len(set(names)) == len(names):
            return dict(zip(names, files, strict=True))
    twice = next(path for path in files if files.count(path) > 1)
    raise RankadjustError(f"{twice} is given twice; name two different models")


def _sides(tasks: pl.DataFrame) -> Mapping[str, IntArray]:
    """Return the places of each side's tasks; both sides last, where there are two or none is known."""
    sides = {side: np.flatnonzero(tasks["side"].eq(side).to_numpy()) for side in TASK_SIDES}
    present = {side: places for side, places in sides.items() if places.size}
    return present if len(present) == 1 else {**present, "both": np.arange(tasks.height)}


# --- what chance and counting reach ------------------------------------------------------------------------


def _constants(asked: _Asked) -> pl.DataFrame:
    """Return the moments of each side and metric with the coefficients of every adjustment."""
    known = [name for name in ("side", "triple", "num_candidates") if name in asked.matched.tasks.columns]
    frame = asked.matched.tasks.select(known)
    if "both" in frame["side"]:
        frame = frame.drop("side")
    ranks = [ranks for model in asked.matched.models for ranks in model.ranks]
    if asked.evaluation_set is not None:
        for each in ranks:
            check_fit(frame.with_columns(rank=each), asked.evaluation_set)
    tasks = tasks_of(frame.with_columns(rank=ranks[0]))
    return add_coefficients(chance_constants(asked.metrics, tasks, asked.evaluation_set))


def _with_index(differences: pl.DataFrame, constants: pl.DataFrame) -> pl.DataFrame:
    """Add the differences of the index: expectation and optimum depend on the tasks, not on the model."""
    scales = constants.select("side", "metric", "index_scale")
    # 0.0 takes the sign from -0.0.
    scaled = [pl.col(f"difference{end}") * pl.col("index_scale") + 0.0 for end in ("", "_low", "_high")]
    return differences.join(scales, on=["side", "metric"], how="left", maintain_order="left").with_columns(
        index_difference=scaled[0],
        index_difference_low=pl.min_horizontal(scaled[1:]),
        index_difference_high=pl.max_horizontal(scaled[1:]),
    )


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


# --- several data sets -------------------------------------------------------------------------------------


def compare_datasets(
    datasets: Mapping[str, Models | str | Path],
    *,
    tasks: Mapping[str, str | Path | pl.DataFrame] | None = None,
    database: Database = None,
    **options: Any,  # noqa: ANN401 - options of compare
) -> dict[str, Comparison]:
    """Compare the same models on several data sets, by data set.

    p_holm is adjusted for all data sets, metrics and pairs of a side, and best and better follow from it.

    Parameters
    ----------
    datasets : mapping of str to models
        For each data set the models by name, as `compare` takes them; or a folder. The folder has a file, or a folder
        of runs, with the name of each model.
    tasks : mapping of str to frame, str or Path, optional
        The attributes of the tasks of those data sets that have a table of them.
    database : Constants, frame, str or Path, optional
        As for `rankadjust.adjust`.
    **options
        protocol, split, population and metrics as `compare` takes them.

    Returns
    -------
    dict of str to Comparison
        By data set.

    Raises
    ------
    RankadjustError
        As for `compare`, with the name of the data set; and if a data set lacks a model that another has.

    Examples
    --------
    >>> nations = {"new": [1, 2] * 201, "old": [2, 2] * 201}
    >>> compared = compare_datasets({"Nations": nations}, metrics=["mr"])
    >>> compared["Nations"].differences.select("difference", "better").rows()
    [(-0.5, 'new')]

    """
    attributes = tasks or {}
    if unknown := [name for name in attributes if name not in datasets]:
        raise RankadjustError(
            f"there are tasks of {unknown[0]}, but no models; there are {', '.join(datasets)}"
        )
    models = {
        name: models_of(Path(given)) if isinstance(given, str | Path) else given
        for name, given in datasets.items()
    }
    for name, lacks in models.items():
        for other, has in models.items():
            if missing := [model for model in has if model not in lacks]:
                raise RankadjustError(f"{name}: there is no model {missing[0]}, which {other} has")
    constants = Constants.given(database)
    comparisons = {}
    for name, of_dataset in models.items():
        try:
            comparisons[name] = compare(
                of_dataset, dataset=name, tasks=attributes.get(name), database=constants, **options
            )
        except RankadjustError as error:
            raise RankadjustError(f"{name}: {error}") from None
    together = with_verdicts(
        pl.concat(each.differences.with_columns(dataset=pl.lit(name)) for name, each in comparisons.items())
    )
    for name, each in comparisons.items():
        differences = together.filter(dataset=name).select(each.differences.columns)
        values = with_best(each.values, differences).select(each.values.columns)
        comparisons[name] = replace(each, differences=differences, values=values)
    return comparisons


def models_of(folder: Path) -> dict[str, Path]:
    """Return the models of a folder, in the order of their names: its files of ranks, and its folders of runs."""
    if not folder.is_dir():
        raise RankadjustError(
            f"{folder}: there is no such folder; it must have a file or a folder for each model"
        )
    paths: dict[str, Path] = {}
    for path in run_sources(folder, folders=True):
        if path.stem in paths:
            raise RankadjustError(f"{path}: there is another model {path.stem}: {paths[path.stem]}")
        paths[path.stem] = path
    return paths


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
