"""Comparison: is one model better than another, metric by metric (docs/compare.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from rankadjust.base.arrays import IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import SIDES, TASK_SIDES
from rankadjust.chance.metrics import Metric, expand
from rankadjust.database.arithmetic import add_coefficients
from rankadjust.database.constants import Database
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.database.known_names import SIDE, known_name
from rankadjust.evaluation.chance_constants import chance_constants
from rankadjust.evaluation.clusters import NOT_KNOWN, clusters_of
from rankadjust.evaluation.evaluate import known_queries
from rankadjust.evaluation.fit import check_fit
from rankadjust.evaluation.resampling import require_between, require_draws
from rankadjust.evaluation.strata import strata_of
from rankadjust.evaluation.tasks import tasks_of
from rankadjust.models.against import with_baseline
from rankadjust.models.paired import Paired, Source, paired
from rankadjust.models.part import DIFFERENCES, VALUES, Part, as_frame
from rankadjust.models.sign_flips import is_exact
from rankadjust.models.verdicts import with_letters, with_verdicts

KS = (1, 3, 10)
METRICS = ("mrr", "hits_at_k", "mr", "gmr", "median_rank")
FLIPS = 10_000
# Twenty-three clusters have no more swaps, and a p of 10^-7 is small enough for any number of pairs and metrics.
_MOST_FLIPS = 10_000_000
DRAWS = 1000
LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """What was found, and how.

    Attributes
    ----------
    values : polars.DataFrame
        A row for each side, metric and model. Two models share a letter in `letters` exactly if they were not told
        apart on that side by that metric; best: whether a model has the best value, or shares a letter with it.
        spread_of_runs: standard deviation of the metric between the runs, null for one run.
    differences : polars.DataFrame
        A row for each side, metric and pair of models. difference: first minus second, with its 95 % interval (BCa)
        over clusters; index_difference likewise, null without an index. p: of the sign-flip test, or over runs
        and tasks where both models have several runs; p_holm: adjusted for all pairs and metrics of the side. better:
        the name of the better model where p_holm is below 0.05, else null. error_of_tasks, error_of_runs: standard
        errors of the difference over clusters, and over the seeds of the runs alone (null unless both models have
        several).
    models : sequence of str
        Their names.
    tasks : int
        How many tasks the models share.
    cluster, clusters, largest_share : str, int, float
        The unit that goes together (triple, query, relation), how many clusters are swapped, and the share of the
        tasks in the largest. With queries on both sides, the side with fewer is swapped, and p takes the other side
        into account.
    note : str or None
        What is not known of the clusters.
    exact, flips : bool, int
        Whether all swaps were listed, and how many were looked at.
    draws, seed : int
        Of the bootstrap.

    """

    values: pl.DataFrame
    differences: pl.DataFrame
    models: Sequence[str]
    tasks: int
    cluster: str
    clusters: int
    largest_share: float
    note: str | None
    exact: bool
    flips: int
    draws: int
    seed: int


def compare(  # noqa: PLR0913 - options of the public API, by name only
    models: Mapping[str, Source | Sequence[Source]] | Sequence[str | Path],
    *,
    dataset: str | EvaluationSet | None = None,
    protocol: str = "filtered",
    split: str = "testing",
    side: str = "both",
    against: str | None = None,
    tasks: str | Path | pl.DataFrame | None = None,
    cluster: str | None = None,
    metrics: str | Sequence[str] = METRICS,
    flips: int = FLIPS,
    draws: int = DRAWS,
    seed: int = 0,
    database: Database = None,
) -> Comparison:
    """Compare at least two models by their ranks on the same tasks.

    docs/compare.md explains test and intervals. The value of a model with several runs is the mean over the runs. A
    metric that is a function of a mean, such as GMR, is the function of the mean over all runs. The median and measures
    of dispersion are computed from the ranks of all runs together. Tied ranks are taken at their mean (realistic).

    Parameters
    ----------
    models : mapping of str to ranks, or sequence of paths
        The ranks of each model by its name: a file or frame with the column triple, as `evaluate` takes it; an array of
        shape (n,), in the same order of tasks in all models; or a list of runs, each with shape (n,). A folder has a
        file or a folder for each run (seed). Paths are named by their last part.
    dataset : str or EvaluationSet, optional
        What to adjust the index with.
    protocol, split : str
        Names in any spelling, or aliases: 'filtered', 'testing'.
    side : str
        head or tail: compare this side only. Ranks without a column side are then of this side. An EvaluationSet of
        one side needs no side here.
    against : str, optional
        A counting baseline (docs/methods-baselines.md) as one more model, then one model is enough; 'best' is the
        baseline with the best MRR on validation. Its ranks come from `tasks`, or else from the triples of `dataset`.
    tasks : frame, str or Path, optional
        The attributes of the tasks, as the workflow's target `tasks` writes them.
    cluster : str, optional
        What is swapped and drawn together: triple, query or relation. None means query where the queries are known and
        several triples share one, else triple. Queries are known from a column query, from the table of the tasks or
        from the files of a run. They are also known if triples are named by their labels (with tabs) or ids (with
        commas).
    metrics : str or sequence of str
        Keys or aliases; hits_at_k and the like stand for k = 1, 3, 10.
    flips : int
        Swaps of the sign-flip test, which lists all where there are no more.
    draws : int
        Samples of the bootstrap.
    seed : int
        Of numpy's default generator.
    database : Constants, frame, str or Path, optional
        The constants to adjust with: `rankadjust.Constants`, a frame with the columns of
        `rankadjust.database.store.SCHEMA`, or the path of a database file; None means the released ones. The
        histograms of its candidates come with it.

    Returns
    -------
    Comparison
        Values and differences, metric by metric.

    Raises
    ------
    RankadjustError
        For tasks that differ, clusters that are not known, one cluster only, and models that all have the same ranks.

    Examples
    --------
    >>> ranks = {"new": [1, 2, 1, 3, 1, 2, 4, 1], "old": [2, 4, 1, 5, 3, 2, 9, 4]}
    >>> compared = compare(ranks, metrics=["mr"], draws=0)
    >>> compared.differences.select("first", "second", "difference", "p").rows()
    [('new', 'old', -1.875, 0.03125)]

    """
    require_draws(draws, seed)
    require_between("flips", flips, 1, _MOST_FLIPS)
    evaluation_set = None if dataset is None else evaluation_set_of(dataset, protocol, split, side, database)
    chosen = _chosen(metrics, against)
    matched = _together(models, against, tasks, evaluation_set, side)
    if all(np.array_equal(model.ranks, matched.models[0].ranks) for model in matched.models):
        names = " and ".join(model.name for model in matched.models)
        question = "; are they the same file?" if against is None else ""
        raise RankadjustError(
            f"{names} have the same rank in every task, so that there is nothing to test{question}"
        )
    asked = known_queries(matched.tasks, evaluation_set, database)
    clusters = clusters_of(asked, cluster)
    swapped = clusters.ways("both", np.arange(matched.tasks.height))[0]
    number = int(swapped.max()) + 1
    if number == 1:
        raise RankadjustError(
            f"all tasks are in one cluster ({clusters.kind}), so that nothing can be said about chance; "
            "another --cluster may help"
        )
    constants = _constants(chosen, matched, evaluation_set)
    most = _most(evaluation_set)
    parts = [
        Part(side, places, matched, ways, chosen, queries=clusters.kind == "query", most=most)
        for side, places in _sides(matched.tasks).items()
        if (ways := clusters.ways(side, places))[0].any()
    ]
    results = [part.results(flips, draws, seed) for part in parts]
    differences = with_verdicts(_with_index(pl.concat([each for _, each in results]), constants), LEVEL)
    values = with_letters(pl.concat([each for each, _ in results]), differences, LEVEL)
    return Comparison(
        values=_index_of_values(values, constants).select(VALUES.names()).cast(VALUES),
        differences=differences.select(DIFFERENCES.names()).cast(DIFFERENCES),
        models=[model.name for model in matched.models],
        tasks=matched.tasks.height,
        cluster=clusters.kind,
        clusters=number,
        largest_share=float(np.bincount(swapped).max() / swapped.size),
        note=NOT_KNOWN if clusters.kind == "triple" and "query" not in asked.columns else None,
        exact=is_exact(number, flips),
        flips=2**number if is_exact(number, flips) else flips,
        draws=draws,
        seed=seed,
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


def compare_by(  # noqa: PLR0913 - options of the public API, by name only
    models: Mapping[str, Source | Sequence[Source]] | Sequence[str | Path],
    by: str,
    *,
    dataset: str | EvaluationSet | None = None,
    protocol: str = "filtered",
    split: str = "testing",
    side: str = "both",
    against: str | None = None,
    tasks: str | Path | pl.DataFrame | None = None,
    cluster: str | None = None,
    metrics: str | Sequence[str] = ("mrr",),
    flips: int = FLIPS,
    draws: int = DRAWS,
    seed: int = 0,
    database: Database = None,
) -> pl.DataFrame:
    """Return where one model is better than another: `compare` for each part of the tasks.

    Parameters
    ----------
    models : mapping of str to ranks, or sequence of paths
        As `compare` takes them.
    by : str
        What the tasks of a part have in common: relation, candidates, cardinality or half_link, as for `evaluate --by`.
    dataset, protocol, split, side, against, tasks, cluster, metrics, flips, draws, seed, database
        As `compare` takes them.

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
    >>> parts = compare_by({"mine": ranks}, "relation", dataset=own, against="popularity", draws=0)
    >>> parts.filter(side="both").select("stratum", "second", "first_value", pl.col("second_value").round(3)).rows()
    [('r', 'popularity', 1.0, 0.611)]

    """
    require_draws(draws, seed)
    require_between("flips", flips, 1, _MOST_FLIPS)
    evaluation_set = None if dataset is None else evaluation_set_of(dataset, protocol, split, side, database)
    chosen = _chosen(metrics, against)
    matched = _together(models, against, tasks, evaluation_set, side)
    clusters = clusters_of(known_queries(matched.tasks, evaluation_set, database), cluster)
    labels, order = strata_of(matched.tasks, by)
    most = _most(evaluation_set)
    parts = [
        _of_part(
            Part(
                side,
                own,
                matched,
                clusters.ways(side, own),
                chosen,
                queries=clusters.kind == "query",
                most=most,
            ),
            *(flips, draws, seed),
        ).with_columns(stratum=pl.lit(label))
        for label in order
        for side, places in _sides(matched.tasks).items()
        if (own := places[labels.eq(label).to_numpy()[places]]).size
    ]
    rows = pl.concat(parts, how="diagonal")
    return with_verdicts(rows, LEVEL).select(PARTS.names()).cast(PARTS)


def _of_part(part: Part, flips: int, draws: int, seed: int) -> pl.DataFrame:
    """Return the differences of a part with the values of both models; without a test where it is one cluster."""
    if part.clusters > 1:
        values, differences = part.results(flips, draws, seed)
        by_model = {
            str(name): own["value"].to_numpy()
            for (name,), own in values.partition_by("model", as_dict=True).items()
        }
    else:
        by_model, differences = part.values(), pl.DataFrame(schema=DIFFERENCES)
    keys = [metric.key for metric in part.metrics]
    pairs = [
        as_frame(
            PARTS,
            side=part.side,
            metric=keys,
            first=first,
            second=second,
            tasks=part.places.size,
            clusters=part.clusters,
            first_value=by_model[first],
            second_value=by_model[second],
            difference=by_model[first] - by_model[second],
        )
        for first, second in combinations(by_model, 2)
    ]
    tested = differences.drop("difference", "side")
    return pl.concat(pairs).join(tested, on=["metric", "first", "second"], how="left", maintain_order="left")


def _chosen(metrics: str | Sequence[str], against: str | None) -> list[Metric]:
    """Return the metrics to compare by; a baseline, whose ranks are tied, has those that are functions of a mean."""
    named = expand([metrics] if isinstance(metrics, str) else metrics, KS)
    chosen = [metric for metric in named if metric.key != "count"]
    if against is None:
        return chosen
    means = [metric for metric in chosen if metric.term is not None]
    if chosen and not means:
        raise RankadjustError(
            f"{chosen[0].key} is not a function of a mean over the tasks, "
            "so a baseline, whose ranks are tied, has no value"
        )
    return means


def _together(
    models: Mapping[str, Source | Sequence[Source]] | Sequence[str | Path],
    against: str | None,
    tasks: str | Path | pl.DataFrame | None,
    evaluation_set: EvaluationSet | None,
    side: str,
) -> Paired:
    """Return the models on the tasks that they share, and with them the counting baseline that is asked for."""
    named = models if isinstance(models, Mapping) else names_of(_paths(models))
    side = known_name(SIDE, side, SIDES, "ranks") if evaluation_set is None else evaluation_set.side
    if against is None:
        return paired(named, tasks, side=side)
    if tasks is None:
        if evaluation_set is None:
            raise RankadjustError(
                "a baseline's rank of each task is not known: give tasks (--tasks), or a data set whose triples "
                "are at hand"
            )
        tasks = evaluation_set.each_task()
    return with_baseline(paired(named, tasks, side=side, least=1), against, evaluation_set)


def _paths(models: object) -> list[Path]:
    if isinstance(models, Sequence) and all(isinstance(model, str | Path) for model in models):
        return [Path(model) for model in models]
    raise RankadjustError(
        'models are given by name, {"A": ranks, "B": ranks}, or as a list of files that name them'
    )


def names_of(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the paths by the shortest names that distinguish them."""
    for name in (
        lambda path: path.stem,
        lambda path: path.name,
        lambda path: "/".join(path.with_suffix("").parts[-2:]),
        str,
    ):
        names = [name(path) for path in paths]
        if len(set(names)) == len(names):
            return dict(zip(names, paths, strict=True))
    twice = next(path for path in paths if paths.count(path) > 1)
    raise RankadjustError(f"{twice} is given twice; name two different models")


def _most(evaluation_set: EvaluationSet | None) -> float:
    """Return the largest number of candidates, nan where it is not known."""
    known = None if evaluation_set is None else evaluation_set.largest_count
    return np.nan if known is None else float(known)


def _sides(tasks: pl.DataFrame) -> Mapping[str, IntArray]:
    """Return the places of each side's tasks; both sides last, where there are two or none is known."""
    sides = {side: np.flatnonzero(tasks["side"].eq(side).to_numpy()) for side in TASK_SIDES}
    present = {side: places for side, places in sides.items() if places.size}
    return present if len(present) == 1 else {**present, "both": np.arange(tasks.height)}


def _constants(
    metrics: Sequence[Metric], matched: Paired, evaluation_set: EvaluationSet | None
) -> pl.DataFrame:
    """Return side, metric, expectation, optimum and index_scale of each metric."""
    known = [name for name in ("side", "triple", "num_candidates") if name in matched.tasks.columns]
    frame = matched.tasks.select(known)
    if "both" in frame["side"]:
        frame = frame.drop("side")
    if evaluation_set is not None:
        for model in matched.models:
            for ranks in model.ranks:
                check_fit(frame.with_columns(rank=ranks), evaluation_set)
    tasks = tasks_of(frame.with_columns(rank=matched.models[0].ranks[0]))
    rows = add_coefficients(chance_constants(metrics, tasks, evaluation_set))
    return rows.select("side", "metric", "expectation", "optimum", "index_scale")


def _with_index(differences: pl.DataFrame, constants: pl.DataFrame) -> pl.DataFrame:
    """Add the differences of the index: expectation and optimum depend on the tasks, not on the model."""
    scale = pl.col("index_scale")
    ends = [_times(f"difference_{end}", scale) for end in ("low", "high")]
    joined = differences.join(constants, on=["side", "metric"], how="left", maintain_order="left")
    return joined.with_columns(
        index_difference=_times("difference", scale),
        index_difference_low=pl.when(scale.is_not_null()).then(pl.min_horizontal(ends)),
        index_difference_high=pl.when(scale.is_not_null()).then(pl.max_horizontal(ends)),
    )


def _times(name: str, scale: pl.Expr) -> pl.Expr:
    """Return a column times the scale, without a minus sign before 0."""
    return (
        pl.when(pl.col(name) == 0)
        .then(pl.when(scale.is_not_null()).then(0.0))
        .otherwise(pl.col(name) * scale)
    )


def _index_of_values(values: pl.DataFrame, constants: pl.DataFrame) -> pl.DataFrame:
    joined = values.join(constants, on=["side", "metric"], how="left", maintain_order="left")
    room = pl.col("optimum") - pl.col("expectation")
    index = (pl.col("value") - pl.col("expectation")) / room
    return joined.with_columns(index=pl.when(pl.col("index_scale").is_not_null()).then(index))
