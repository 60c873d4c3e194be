"""Comparison: is one model better than another, metric by metric (docs/compare.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TASK_SIDES
from rankadjust.chance.metrics import Metric, expand
from rankadjust.database.adjustments import add_coefficients
from rankadjust.database.constants import Database
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.evaluation.chance_constants import chance_constants
from rankadjust.evaluation.clusters import (
    FEW_QUERIES,
    NOT_KNOWN,
    clusters_of,
    few_queries,
    stretch,
    widening,
)
from rankadjust.evaluation.evaluate import known_queries
from rankadjust.evaluation.fit import check_fit
from rankadjust.evaluation.intervals import UnitMeans, bias_corrected, has_long_tail, skewed_p, studentised
from rankadjust.evaluation.resampling import (
    bootstrap_counts,
    jackknife,
    jackknife_variance,
    require_between,
    require_draws,
)
from rankadjust.evaluation.strata import strata_of
from rankadjust.evaluation.tasks import tasks_of
from rankadjust.evaluation.weighting import Arrangement, arrange, averages
from rankadjust.models.against import with_baseline
from rankadjust.models.means import ClusterMeans
from rankadjust.models.paired import Model, Paired, Source, paired
from rankadjust.models.sign_flips import flip_means, flip_ranks, is_exact
from rankadjust.models.verdicts import with_letters, with_verdicts

KS = (1, 3, 10)
METRICS = ("mrr", "hits_at_k", "mr", "gmr", "median_rank")
FLIPS = 10_000
# Twenty-three clusters have no more swaps, and a p of 10^-7 is small enough for any number of pairs and metrics.
_MOST_FLIPS = 10_000_000
DRAWS = 1000
LEVEL = 0.05

VALUES = pl.Schema(
    {
        "side": pl.String,
        "metric": pl.String,
        "model": pl.String,
        "runs": pl.Int64,
        "tasks": pl.Int64,
        "value": pl.Float64,
        "index": pl.Float64,
        "spread_of_runs": pl.Float64,
        "letters": pl.String,
        "best": pl.Boolean,
    }
)
DIFFERENCES = pl.Schema(
    {
        "side": pl.String,
        "metric": pl.String,
        "first": pl.String,
        "second": pl.String,
        "difference": pl.Float64,
        "difference_low": pl.Float64,
        "difference_high": pl.Float64,
        "index_difference": pl.Float64,
        "index_difference_low": pl.Float64,
        "index_difference_high": pl.Float64,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "better": pl.String,
        "error_of_tasks": pl.Float64,
        "error_of_runs": pl.Float64,
        "warning": pl.String,
    }
)
# A cluster with a larger share of the tasks decides much by itself.
_LARGE = 0.1
_FEW = 24
# From so many clusters on, two models with equal means or medians of skewed ranks are told apart in at most 7 % of the
# cases at a level of 5 % (benchmarks/clusters.csv).
_FEW_SKEWED = 300


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

    docs/compare.md explains test and intervals. Where a model has several runs its value is the mean over the runs; for
    a metric that is a function of a mean, the function of the mean over all runs; for the median and measures of
    dispersion, that of the ranks of all runs. Tied ranks are taken at their mean (realistic).

    Parameters
    ----------
    models : mapping of str to ranks, or sequence of paths
        By the name of each model a file or frame as `evaluate` takes it with the column triple; an array of ranks of
        shape (n,), in the same order of tasks in all models; a folder with a file or folder for each
        run (seed); or a list of runs, each with shape (n,). Paths are named by their last part.
    dataset : str or EvaluationSet, optional
        What to adjust the index with.
    protocol, split : str
        Names in any spelling, or aliases: 'filtered', 'testing'.
    against : str, optional
        A counting baseline (docs/methods-baselines.md) as one more model, then one model is enough; 'best' is the
        baseline with the best MRR on validation. Its ranks come from `tasks`, or else from the triples of `dataset`.
    tasks : frame, str or Path, optional
        The attributes of the tasks, as the workflow's target `tasks` writes them.
    cluster : str, optional
        What is swapped and drawn together: triple, query or relation. None means query where the queries are known and
        several triples share one, else triple. Queries are known from a column query, from the table of the tasks, from
        triples named by their labels (with tabs) or ids (with commas), and from the files of a run.
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
    >>> found = compare(ranks, metrics=["mr"], draws=0)
    >>> found.differences.select("first", "second", "difference", "p").rows()
    [('new', 'old', -1.875, 0.03125)]

    """
    require_draws(draws, seed)
    require_between("flips", flips, 1, _MOST_FLIPS)
    evaluation_set = None if dataset is None else evaluation_set_of(dataset, protocol, split, None, database)
    chosen = _chosen(metrics, against)
    found = _together(models, against, tasks, evaluation_set)
    if all(np.array_equal(model.ranks, found.models[0].ranks) for model in found.models):
        names = " and ".join(model.name for model in found.models)
        question = "; are they the same file?" if against is None else ""
        raise RankadjustError(
            f"{names} have the same rank in every task, so that there is nothing to test{question}"
        )
    asked = known_queries(found.tasks, evaluation_set, database)
    clusters = clusters_of(asked, cluster)
    swapped = clusters.ways("both", np.arange(found.tasks.height))[0]
    number = int(swapped.max()) + 1
    if number == 1:
        raise RankadjustError(
            f"all tasks are in one cluster ({clusters.kind}), so that nothing can be said about chance; "
            "another --cluster may help"
        )
    constants = _constants(chosen, found, evaluation_set)
    parts = [
        _Part(side, places, found, ways, chosen, queries=clusters.kind == "query")
        for side, places in _sides(found.tasks).items()
        if (ways := clusters.ways(side, places))[0].any()
    ]
    results = [part.results(flips, draws, seed) for part in parts]
    differences = with_verdicts(_with_index(pl.concat([each for _, each in results]), constants), LEVEL)
    values = with_letters(pl.concat([each for each, _ in results]), differences, LEVEL)
    return Comparison(
        values=_index_of_values(values, constants).select(VALUES.names()).cast(VALUES),
        differences=differences.select(DIFFERENCES.names()).cast(DIFFERENCES),
        models=[model.name for model in found.models],
        tasks=found.tasks.height,
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
    dataset, protocol, split, against, tasks, cluster, metrics, flips, draws, seed, database
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
    >>> found = compare_by({"mine": ranks}, "relation", dataset=own, against="popularity", draws=0)
    >>> found.filter(side="both").select("stratum", "second", "first_value", pl.col("second_value").round(3)).rows()
    [('r', 'popularity', 1.0, 0.611)]

    """
    require_draws(draws, seed)
    require_between("flips", flips, 1, _MOST_FLIPS)
    evaluation_set = None if dataset is None else evaluation_set_of(dataset, protocol, split, None, database)
    chosen = _chosen(metrics, against)
    found = _together(models, against, tasks, evaluation_set)
    clusters = clusters_of(known_queries(found.tasks, evaluation_set, database), cluster)
    labels, order = strata_of(found.tasks, by)
    parts = [
        _of_part(
            _Part(side, own, found, clusters.ways(side, own), chosen, queries=clusters.kind == "query"),
            *(flips, draws, seed),
        ).with_columns(stratum=pl.lit(label))
        for label in order
        for side, places in _sides(found.tasks).items()
        if (own := places[labels.eq(label).to_numpy()[places]]).size
    ]
    rows = pl.concat(parts, how="diagonal")
    return with_verdicts(rows, LEVEL).select(PARTS.names()).cast(PARTS)


def _of_part(part: "_Part", flips: int, draws: int, seed: int) -> pl.DataFrame:
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
        _frame(
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
) -> Paired:
    """Return the models on the tasks that they share, and with them the counting baseline that is asked for."""
    named = models if isinstance(models, Mapping) else names_of(_paths(models))
    if against is None:
        return paired(named, tasks)
    if tasks is None:
        if evaluation_set is None:
            raise RankadjustError(
                "a baseline's rank of each task is not known: give tasks (--tasks), or a data set whose triples "
                "are at hand"
            )
        tasks = evaluation_set.each_task()
    return with_baseline(paired(named, tasks, least=1), against, evaluation_set)


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


def _sides(tasks: pl.DataFrame) -> Mapping[str, IntArray]:
    """Return the places of each side's tasks; both sides last, where there are two or none is known."""
    sides = {side: np.flatnonzero(tasks["side"].eq(side).to_numpy()) for side in TASK_SIDES}
    present = {side: places for side, places in sides.items() if places.size}
    return present if len(present) == 1 else {**present, "both": np.arange(tasks.height)}


def _constants(
    metrics: Sequence[Metric], found: Paired, evaluation_set: EvaluationSet | None
) -> pl.DataFrame:
    """Return side, metric, expectation, optimum and index_scale of each metric."""
    known = [name for name in ("side", "triple", "num_candidates") if name in found.tasks.columns]
    frame = found.tasks.select(known)
    if "both" in frame["side"]:
        frame = frame.drop("side")
    if evaluation_set is not None:
        for model in found.models:
            for ranks in model.ranks:
                check_fit(frame.with_columns(rank=ranks), evaluation_set)
    tasks = tasks_of(frame.with_columns(rank=found.models[0].ranks[0]))
    rows = add_coefficients(chance_constants(metrics, tasks, evaluation_set))
    return rows.select("side", "metric", "expectation", "optimum", "index_scale")


@dataclass(frozen=True)
class _Estimates:
    """What is known of a model: m metrics (m,), in d bootstrap samples (m, d), and for each way with clusters left out.

    parts: for each way, where there are several, the share of each cluster in the means (m or fewer, clusters).
    spread: the standard deviation of each metric between the runs (m,), nan for one run. noise: the part of the
    variance of their mean that comes from the tasks: each run has luck of its own in them (m,).
    """

    model: Model
    values: FloatArray
    samples: FloatArray
    left_out: Sequence[FloatArray]
    parts: Sequence[FloatArray]
    spread: FloatArray
    noise: FloatArray

    @property
    def runs(self) -> int:
        """How many runs the model has."""
        return int(self.model.ranks.shape[0])


class _Part:
    """The tasks of one side, and each model's ranks of them, with the clusters that are drawn and swapped."""

    def __init__(
        self,
        side: str,
        places: IntArray,
        found: Paired,
        ways: Sequence[IntArray],
        metrics: Sequence[Metric],
        *,
        queries: bool,
    ) -> None:
        """Take the matched tasks at some places, clustered in one way or in three; queries: whether by query."""
        self.side = side
        self.places = places
        self.models = found.models
        # Those that are functions of a mean come first.
        self.of_means = [metric for metric in metrics if metric.term is not None]
        self.of_ranks = [metric for metric in metrics if metric.term is None]
        self.metrics = [*self.of_means, *self.of_ranks]
        known = found.tasks["num_candidates"].to_numpy() if "num_candidates" in found.tasks.columns else None
        self.counts = np.full(places.size, np.nan) if known is None else known[places]
        self.ways, self.units, self.queries = ways, ways[0], queries
        self.clusters = int(self.units.max()) + 1
        self.largest_share = float(np.bincount(self.units).max() / places.size)

    def results(self, flips: int, draws: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the values of the models and the differences of each pair, without index and verdicts."""
        estimates = self._estimates(draws, seed)
        differences = [
            self._difference(first, second, flips, seed) for first, second in combinations(estimates, 2)
        ]
        return self._values(estimates), pl.concat(differences)

    def values(self) -> dict[str, FloatArray]:
        """Return the metrics (m,) of each model."""
        once = np.ones((self.clusters, 1))
        return {model.name: self._function(model)(once)[:, 0] for model in self.models}

    def _estimates(self, draws: int, seed: int) -> list[_Estimates]:
        functions = [self._function(model) for model in self.models]
        strata = [np.arange(self.clusters)]
        most = max(model.ranks.size for model in self.models)
        # All models in the same samples: (models, metrics, draws).
        samples = np.concatenate(
            [
                np.empty((len(functions), len(self.metrics), 0)),
                *(
                    np.stack([function(counts) for function in functions])
                    for counts in bootstrap_counts(strata, most, draws, seed)
                ),
            ],
            axis=2,
        )
        return [
            _Estimates(
                model,
                function(np.ones((self.clusters, 1)))[:, 0],
                of_samples,
                [self._left_out(model, way) for way in self.ways],
                self._parts(model),
                *self._spread(model),
            )
            for model, function, of_samples in zip(self.models, functions, samples, strict=True)
        ]

    def _difference(self, first: _Estimates, second: _Estimates, flips: int, seed: int) -> pl.DataFrame:
        """Return a row for each metric."""
        difference, samples = first.values - second.values, first.samples - second.samples
        left_out = [one - other for one, other in zip(first.left_out, second.left_out, strict=True)]
        variances = [jackknife_variance([one]) for one in left_out]
        longer = stretch(variances)
        seeds, crossed = _of_runs(first, second, difference, variances[0] * longer**2, self.clusters)
        under_null = self._stretch_of_swaps(first, second, longer)
        p = np.fmax(
            self._p(first.model, second.model, flips, seed, under_null),
            self._skewed_p(first, second, under_null),
        )
        low, high = self._ends(first, second, left_out[0], longer, seed).T
        return _frame(
            DIFFERENCES,
            side=self.side,
            metric=[metric.key for metric in self.metrics],
            first=first.model.name,
            second=second.model.name,
            difference=difference,
            difference_low=low,
            difference_high=high,
            p=np.where(np.isnan(crossed), p, crossed),
            error_of_tasks=longer * samples.std(axis=1, ddof=1) if samples.shape[1] > 1 else np.nan,
            error_of_runs=seeds,
            warning=[
                self._warning(metric, same=bool(same))
                for metric, same in zip(self.metrics, low == high, strict=True)
            ],
        )

    def _ends(
        self, first: _Estimates, second: _Estimates, left_out: FloatArray, longer: FloatArray, seed: int
    ) -> FloatArray:
        """Return the ends of the intervals of the differences (m, 2), by the methods of `evaluate`."""
        difference, samples = first.values - second.values, first.samples - second.samples
        ends = bias_corrected(difference, samples, [left_out])
        of_cluster = np.full(len(self.metrics), widening(self.units) if self.queries else 1.0)
        # The difference of two means is the mean of the differences.
        long = [place for place in self._long(difference) if _is_mean(self.of_means[place])]
        if long and samples.shape[1]:
            of_means = self._mean_differences(first.model, second.model, [self.of_means[one] for one in long])
            strata, most = [np.arange(self.clusters)], first.model.ranks.size
            sampled = [
                of_means.mean_and_error(counts)
                for counts in bootstrap_counts(strata, most, samples.shape[1], seed)
            ]
            found = studentised(of_means, np.concatenate(sampled, axis=2))
            known = ~np.isnan(found).any(axis=1)
            ends[np.array(long)[known]], of_cluster[np.array(long)[known]] = found[known], 1.0
        moved: FloatArray = (longer * of_cluster)[:, None] * (ends - difference[:, None])
        return difference[:, None] + moved

    def _long(self, difference: FloatArray) -> list[int]:
        """Return the places of the metrics that a few bad ranks may decide, and that have a value."""
        return [
            place
            for place, metric in enumerate(self.of_means)
            if has_long_tail(metric) and not np.isnan(difference[place])
        ]

    def _mean_differences(self, first: Model, second: Model, metrics: Sequence[Metric]) -> UnitMeans:
        one, other = (ClusterMeans.of(self._arranged([model], metrics)) for model in (first, second))
        return one.against(other)

    def _skewed_p(self, first: _Estimates, second: _Estimates, longer: FloatArray) -> FloatArray:
        """Return p of metrics whose equal values do not make models exchangeable (m,), nan for the others.

        Of a mean with a long tail, Student's t without its skewness; of a metric that is not a function of a mean, from
        the bootstrap samples of the difference on either side of 0.
        """
        p = np.full(len(self.metrics), np.nan)
        difference = first.values - second.values
        if long := self._long(difference):
            metrics = [self.of_means[one] for one in long]
            p[long] = skewed_p(self._mean_differences(first.model, second.model, metrics), longer[long])
        samples = difference[:, None] + longer[:, None] * (
            first.samples - second.samples - difference[:, None]
        )
        for place in range(len(self.of_means), len(self.metrics)):
            p[place] = _share_beyond(samples[place])
        return p

    def _stretch_of_swaps(self, first: _Estimates, second: _Estimates, longer: FloatArray) -> FloatArray:
        """Return the stretch (m,) if swaps are equally likely: then the clusters' parts have the mean 0, not their own.

        Around their own mean the parts of the first way may hardly vary, and the ratio would be of any size.
        """
        if not first.parts:
            return longer
        squares = [
            ((one - other) ** 2).sum(axis=1) for one, other in zip(first.parts, second.parts, strict=True)
        ]
        return np.concatenate([stretch(squares), longer[len(self.of_means) :]])

    def _parts(self, model: Model) -> list[FloatArray]:
        if len(self.ways) == 1 or not self.of_means:
            return []
        found = (ClusterMeans.of(self._arranged([model], self.of_means, way)) for way in self.ways)
        return [one.terms / one.weights.sum(axis=1, keepdims=True) for one in found]

    def _left_out(self, model: Model, way: IntArray) -> FloatArray:
        return jackknife([np.arange(way.max() + 1)], self._function(model, way))[0]

    def _function(self, model: Model, way: IntArray | None = None) -> Callable[[FloatArray], FloatArray]:
        """Return what gives the metrics (m, d) of a model for counts (c, d) of the clusters of a way, of the first."""
        means = ClusterMeans.of(self._arranged([model], self.of_means, way)) if self.of_means else None
        of_ranks = self._arranged([model], self.of_ranks, way) if self.of_ranks else None

        def function(counts: FloatArray) -> FloatArray:
            parts = [means.values(counts)] if means else []
            parts += [averages(of_ranks, counts)] if of_ranks else []
            return np.concatenate(parts)

        return function

    def _arranged(
        self, models: Sequence[Model], metrics: Sequence[Metric], way: IntArray | None = None
    ) -> Arrangement:
        """Arrange the runs of some models as one: m models have the units m c, m c + 1, … for cluster c of a way."""
        of_task = self.units if way is None else way
        ranks = np.concatenate([model.ranks[:, self.places].ravel() for model in models])
        ends = [model.ranks if model.worst is None else model.worst for model in models]
        worst = np.concatenate([each[:, self.places].ravel() for each in ends])
        runs = [model.ranks.shape[0] for model in models]
        units = [np.tile(len(models) * of_task + place, number) for place, number in enumerate(runs)]
        return arrange(
            metrics,
            np.arange(ranks.size),
            ranks,
            np.tile(self.counts, sum(runs)),
            np.zeros(ranks.size, dtype=np.int64),
            weights=np.repeat(
                [1 / number for number in runs], [number * self.places.size for number in runs]
            ),
            units=np.concatenate(units),
            worst=None if np.array_equal(ranks, worst) else worst,
        )

    def _p(self, first: Model, second: Model, flips: int, seed: int, longer: FloatArray) -> FloatArray:
        """Return p of the metrics (m,) by swaps of the clusters of the first way."""
        parts, number = [], len(self.of_means)
        if self.of_means:
            one, other = (
                ClusterMeans.of(self._arranged([model], self.of_means)) for model in (first, second)
            )
            parts.append(flip_means(one, other, flips, seed, longer[:number]))
        if self.of_ranks:
            together = self._arranged([first, second], self.of_ranks)
            parts.append(flip_ranks(together, flips, seed, longer[number:]))
        return np.concatenate(parts)

    def _spread(self, model: Model) -> tuple[FloatArray, FloatArray]:
        """Return `spread` and `noise` of `_Estimates`."""
        runs = model.ranks.shape[0]
        if runs == 1:
            nothing = np.full(len(self.metrics), np.nan)
            return nothing, nothing
        functions = [self._function(Model(model.name, one[None])) for one in model.ranks]
        of_runs = [function(np.ones((self.clusters, 1)))[:, 0] for function in functions]
        left_out = np.stack([jackknife([np.arange(self.clusters)], function)[0] for function in functions])
        own = jackknife_variance([*(left_out - left_out.mean(axis=0))]) / (runs - 1)
        return np.std(of_runs, axis=0, ddof=1), own / runs

    def _values(self, estimates: Sequence[_Estimates]) -> pl.DataFrame:
        """Return a row for each metric and model."""
        number = len(self.metrics)
        return _frame(
            VALUES,
            side=self.side,
            metric=[metric.key for metric in self.metrics for _ in estimates],
            model=number * [one.model.name for one in estimates],
            runs=number * [one.model.ranks.shape[0] for one in estimates],
            tasks=self.places.size,
            value=np.stack([one.values for one in estimates], axis=1).ravel(),
            spread_of_runs=np.stack([one.spread for one in estimates], axis=1).ravel(),
        )

    def _warning(self, metric: Metric, *, same: bool) -> str | None:
        if same:
            return "nearly every bootstrap sample has the same difference, so that the interval says nothing"
        if self.clusters < _FEW:
            return f"the interval may be too short, since there are fewer than {_FEW} clusters"
        if self.largest_share > _LARGE:
            return (
                f"one cluster has {100 * self.largest_share:.0f} % of the tasks, and decides much by itself"
            )
        if self.queries and few_queries(self.ways):
            return FEW_QUERIES
        if self.clusters < _FEW_SKEWED and (metric.term is None or has_long_tail(metric)):
            return (
                f"with fewer than {_FEW_SKEWED} clusters, models with the same value may be told apart too often "
                "where a few tasks have very bad ranks"
            )
        return None


def _is_mean(metric: Metric) -> bool:
    return float(metric.link(np.array([2.5]))[0]) == 2.5


def _share_beyond(samples: FloatArray) -> float:
    """Return twice the share of bootstrap samples (d,) on the rarer side of 0, nan where there are none.

    Where none is beyond 0, the normal law says how far it is.
    """
    present = samples[~np.isnan(samples)]
    if present.size < 2:
        return np.nan
    least = min((present <= 0).sum(), (present >= 0).sum())
    p = min(1.0, 2 * (least + 1) / (present.size + 1))
    spread = present.std(ddof=1)
    if least or not spread:
        return float(p)
    return float(min(p, 2 * stats.norm.sf(abs(present.mean()) / spread)))


def _of_runs(
    first: _Estimates, second: _Estimates, difference: FloatArray, of_tasks: FloatArray, clusters: int
) -> tuple[FloatArray, FloatArray]:
    """Return the standard error over seeds alone, and p over runs and tasks (m,); nan unless both have several runs.

    of_tasks: the variance of the difference over the clusters. The runs of a model differ by their seeds, and by luck
    of their own in the tasks, which is in both variances and counts once. The law is Student's, with the degrees of
    freedom of Satterthwaite (docs/methods.md, "Two models").
    """
    if min(first.runs, second.runs) == 1:
        nothing = np.full(difference.shape, np.nan)
        return nothing, nothing
    each = [(one.spread**2 / one.runs, one.runs - 1) for one in (first, second)]
    of_runs, noise = each[0][0] + each[1][0], first.noise + second.noise
    variance = np.maximum(of_tasks - noise, 0.0) + of_runs
    with np.errstate(divide="ignore", invalid="ignore"):
        within = sum(part**2 / degrees for part, degrees in each)
        freedom = variance**2 / (of_tasks**2 / (clusters - 1) + within)
        p = 2 * stats.t.sf(np.abs(difference) / np.sqrt(variance), freedom)
    seeds = np.sqrt(np.maximum(of_runs - noise, 0.0))
    return seeds, np.where(variance > 0, p, np.where(difference == 0, 1.0, np.nan))


def _frame(kinds: pl.Schema, **columns: object) -> pl.DataFrame:
    """Return columns, or a value for all rows, as a frame with null for nan."""
    frame = pl.DataFrame(columns, schema={name: kinds[name] for name in columns})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


# --- index ------------------------------------------------------------------------------------


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
