"""A part of the tasks, such as one side: the value of each model there, and how sure each difference is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from scipy.special import ndtr

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric
from rankadjust.chance.ties import mean_over_orders
from rankadjust.evaluation.clusters import FEW_QUERIES, effective, few_queries, lengthening, stretch
from rankadjust.evaluation.intervals import UnitMeans, bias_corrected, has_long_tail, skewed_p, studentised
from rankadjust.evaluation.resampling import bootstrap_counts, jackknife, jackknife_variance
from rankadjust.evaluation.weighting import Arrangement, arrange, averages
from rankadjust.models.equal_means import p_of_terms, range_of_term
from rankadjust.models.means import ClusterMeans
from rankadjust.models.paired import Model, Paired
from rankadjust.models.runs import Runs, error_of_seeds, p_over_runs_and_tasks, warning_of
from rankadjust.models.sign_flips import flip_means, flip_ranks

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
# cases at a level of 5 %.
_FEW_SKEWED = 300


@dataclass(frozen=True)
class _Estimates:
    """What is known of a model: m metrics (m,), in d bootstrap samples (m, d), and for each way with clusters left out.

    triples_left_out: the same with triples left out, where clusters are queries.
    parts: for each way, where there are several, the share of each cluster in the means (m or fewer, clusters). means:
    the metrics before the link, the mean of the logarithms for GMR: p is about them, since a difference of exponentials
    is skewed where runs differ much. runs, runs_of_means: how the runs differ in both.
    """

    model: Model
    values: FloatArray
    samples: FloatArray
    left_out: Sequence[FloatArray]
    triples_left_out: FloatArray | None
    parts: Sequence[FloatArray]
    means: FloatArray
    runs: Runs
    runs_of_means: Runs


class Part:
    """The tasks of one side, and each model's ranks of them, with the clusters that are drawn and swapped."""

    def __init__(
        self,
        side: str,
        places: IntArray,
        matched: Paired,
        ways: Sequence[IntArray],
        metrics: Sequence[Metric],
        *,
        queries: bool,
        most: float = np.nan,
    ) -> None:
        """Take the matched tasks at some places, clustered in one way or in three.

        queries: whether by query. most: the largest number of candidates, where the tasks do not say.
        """
        self.side = side
        self.places = places
        self.models = matched.models
        # Those that are functions of a mean come first.
        self.of_means = [metric for metric in metrics if metric.term is not None]
        self.of_ranks = [metric for metric in metrics if metric.term is None]
        self.metrics = [*self.of_means, *self.of_ranks]
        known = (
            matched.tasks["num_candidates"].to_numpy() if "num_candidates" in matched.tasks.columns else None
        )
        self.counts = np.full(places.size, np.nan) if known is None else known[places]
        self.most = most if known is None else float(self.counts.max())
        self.ways, self.units, self.queries = ways, ways[0], queries
        # Of each task; needed where clusters are queries.
        self.triple = matched.tasks["triple"][places].rank("dense").cast(pl.Int64).to_numpy() - 1
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
        return {model.name: self._linked(self._function(model)(once))[:, 0] for model in self.models}

    def _estimates(self, draws: int, seed: int) -> list[_Estimates]:
        functions = [self._function(model) for model in self.models]
        strata = [np.arange(self.clusters)]
        most = max(model.ranks.size for model in self.models)
        # All models in the same samples: (models, metrics, draws).
        samples = np.concatenate(
            [
                np.empty((len(functions), len(self.metrics), 0)),
                *(
                    np.stack([self._linked(function(counts)) for function in functions])
                    for counts in bootstrap_counts(strata, most, draws, seed)
                ),
            ],
            axis=2,
        )
        return [
            _Estimates(
                model,
                self._linked(means := function(np.ones((self.clusters, 1))))[:, 0],
                of_samples,
                [self._left_out(model, way) for way in self.ways],
                self._left_out(model, self.triple) if self.queries else None,
                self._parts(model),
                means[:, 0],
                *self._runs(model),
            )
            for model, function, of_samples in zip(self.models, functions, samples, strict=True)
        ]

    def _difference(self, first: _Estimates, second: _Estimates, flips: int, seed: int) -> pl.DataFrame:
        """Return a row for each metric."""
        samples = first.samples - second.samples
        variances = [
            jackknife_variance([own - other])
            for own, other in zip(first.left_out, second.left_out, strict=True)
        ]
        longer = stretch(variances)
        runs = [first.runs, second.runs]
        crossed = p_over_runs_and_tasks(
            first.means - second.means,
            variances[0] * longer**2,
            self.clusters,
            [first.runs_of_means, second.runs_of_means],
        )
        under_null = self._stretch_of_swaps(first, second, longer)
        p = np.fmax(
            self._p(first.model, second.model, flips, seed, under_null),
            self._skewed_p(first, second, under_null),
        )
        low, high = self._ends(first, second, variances, seed).T
        of_runs = warning_of(runs)
        return as_frame(
            DIFFERENCES,
            side=self.side,
            metric=[metric.key for metric in self.metrics],
            first=first.model.name,
            second=second.model.name,
            difference=first.values - second.values,
            difference_low=low,
            difference_high=high,
            p=np.where(np.isnan(crossed), p, crossed),
            error_of_tasks=longer * samples.std(axis=1, ddof=1) if samples.shape[1] > 1 else np.nan,
            error_of_runs=error_of_seeds(runs),
            warning=[
                "; ".join(filter(None, [self._warning(metric, same=bool(same)), of_runs])) or None
                for metric, same in zip(self.metrics, low == high, strict=True)
            ],
        )

    def _longer(
        self, first: _Estimates, second: _Estimates, variances: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return how much longer intervals are than those over the clusters of the first way: BCa, studentised (m,)."""
        if first.triples_left_out is None or second.triples_left_out is None:
            return (longer := stretch(variances)), longer
        of_triples = jackknife_variance([first.triples_left_out - second.triples_left_out])
        return lengthening(self.ways, variances, int(self.triple.max()) + 1, of_triples)

    def _ends(
        self, first: _Estimates, second: _Estimates, variances: Sequence[FloatArray], seed: int
    ) -> FloatArray:
        """Return the ends of the intervals of the differences (m, 2), by the methods of `evaluate`."""
        difference, samples = first.values - second.values, first.samples - second.samples
        left_out = self._linked(first.left_out[0]) - self._linked(second.left_out[0])
        ends = bias_corrected(difference, samples, [left_out])
        longer, of_studentised = self._longer(first, second, variances)
        # The difference of two means is the mean of the differences.
        long = [place for place in self._long(difference) if _is_mean(self.of_means[place])]
        if long and samples.shape[1]:
            of_means = self._mean_differences(
                first.model, second.model, [self.of_means[place] for place in long]
            )
            strata, most = [np.arange(self.clusters)], first.model.ranks.size
            sampled = [
                of_means.mean_and_error(counts)
                for counts in bootstrap_counts(strata, most, samples.shape[1], seed)
            ]
            of_mean = studentised(of_means, np.concatenate(sampled, axis=2))
            known = ~np.isnan(of_mean).any(axis=1)
            places = np.array(long)[known]
            longer[places], ends[places] = of_studentised[places], of_mean[known]
        moved: FloatArray = longer[:, None] * (ends - difference[:, None])
        return difference[:, None] + moved

    def _long(self, difference: FloatArray) -> list[int]:
        """Return the places of the metrics that a few bad ranks may decide, and that have a value."""
        return [
            place
            for place, metric in enumerate(self.of_means)
            if has_long_tail(metric) and not np.isnan(difference[place])
        ]

    def _mean_differences(self, first: Model, second: Model, metrics: Sequence[Metric]) -> UnitMeans:
        own, other = (ClusterMeans.of(self._arranged([model], metrics)) for model in (first, second))
        return own.against(other)

    def _skewed_p(self, first: _Estimates, second: _Estimates, longer: FloatArray) -> FloatArray:
        """Return p of metrics whose equal values do not make models exchangeable (m,), nan for the others.

        Of a mean with a long tail, Student's t without its skewness, or the p that needs no law of the ranks where that
        is smaller; of a metric that is not a function of a mean, from the bootstrap samples of the difference on either
        side of 0.
        """
        p = np.full(len(self.metrics), np.nan)
        difference = first.values - second.values
        if long := self._long(difference):
            metrics = [self.of_means[place] for place in long]
            skewed = skewed_p(self._mean_differences(first.model, second.model, metrics), longer[long])
            p[long] = np.fmin(
                skewed, [self._equal_means_p(first.model, second.model, each) for each in metrics]
            )
        samples = difference[:, None] + longer[:, None] * (
            first.samples - second.samples - difference[:, None]
        )
        for place in range(len(self.of_means), len(self.metrics)):
            p[place] = _share_beyond(samples[place])
        return p

    def _equal_means_p(self, first: Model, second: Model, metric: Metric) -> float:
        """Return p of equal means, nan where the number of candidates is not known."""
        own, other = (self._terms(model, metric) for model in (first, second))
        differences = np.nan_to_num(own - other) / range_of_term(metric, self.most)
        return np.nan if np.isnan(differences).any() else p_of_terms(differences, self.ways[:2])

    def _terms(self, model: Model, metric: Metric) -> FloatArray:
        """Return the term of each task (n,), the mean over the runs."""
        best = model.ranks[:, self.places]
        worst = best if model.worst is None else model.worst[:, self.places]
        counts = np.tile(self.counts, best.shape[0])
        expected = mean_over_orders(metric, best.ravel(), worst.ravel(), counts)
        mean: FloatArray = expected.reshape(best.shape).mean(axis=0)
        return mean

    def _stretch_of_swaps(self, first: _Estimates, second: _Estimates, longer: FloatArray) -> FloatArray:
        """Return the stretch (m,) if swaps are equally likely: then the clusters' parts have the mean 0, not their own.

        Around their own mean the parts of the first way may hardly vary, and the ratio would be of any size.
        """
        if not first.parts:
            return longer
        squares = [
            ((own - other) ** 2).sum(axis=1) for own, other in zip(first.parts, second.parts, strict=True)
        ]
        return np.concatenate([stretch(squares), longer[len(self.of_means) :]])

    def _parts(self, model: Model) -> list[FloatArray]:
        if len(self.ways) == 1 or not self.of_means:
            return []
        of_ways = (ClusterMeans.of(self._arranged([model], self.of_means, way)) for way in self.ways)
        return [means.terms / means.weights.sum(axis=1, keepdims=True) for means in of_ways]

    def _left_out(self, model: Model, way: IntArray) -> FloatArray:
        return jackknife([np.arange(way.max() + 1)], self._function(model, way))[0]

    def _function(self, model: Model, way: IntArray | None = None) -> Callable[[FloatArray], FloatArray]:
        """Return what gives the metrics (m, d), before their links, for counts (c, d) of the clusters of a way."""
        means = ClusterMeans.of(self._arranged([model], self.of_means, way)) if self.of_means else None
        of_ranks = self._arranged([model], self.of_ranks, way) if self.of_ranks else None

        def function(counts: FloatArray) -> FloatArray:
            parts = [means.means(counts)] if means else []
            parts += [averages(of_ranks, counts)] if of_ranks else []
            return np.concatenate(parts)

        return function

    def _linked(self, means: FloatArray) -> FloatArray:
        """Return the metrics whose values before the links are (m, d)."""
        return np.stack([metric.link(mean) for metric, mean in zip(self.metrics, means, strict=True)])

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
            own, other = (
                ClusterMeans.of(self._arranged([model], self.of_means)) for model in (first, second)
            )
            parts.append(flip_means(own, other, flips, seed, longer[:number]))
        if self.of_ranks:
            together = self._arranged([first, second], self.of_ranks)
            parts.append(flip_ranks(together, flips, seed, longer[number:]))
        return np.concatenate(parts)

    def _runs(self, model: Model) -> tuple[Runs, Runs]:
        """Return how the runs of a model differ in the metrics, and in these before their links."""
        functions = [self._function(Model(model.name, ranks[None])) for ranks in model.ranks]
        means = [function(np.ones((self.clusters, 1))) for function in functions]
        left_out = [jackknife([np.arange(self.clusters)], function)[0] for function in functions]
        linked = Runs.of(*([self._linked(of_run) for of_run in each] for each in (means, left_out)))
        return linked, Runs.of(means, left_out)

    def _values(self, estimates: Sequence[_Estimates]) -> pl.DataFrame:
        """Return a row for each metric and model."""
        number = len(self.metrics)
        return as_frame(
            VALUES,
            side=self.side,
            metric=[metric.key for metric in self.metrics for _ in estimates],
            model=number * [estimate.model.name for estimate in estimates],
            runs=number * [estimate.runs.number for estimate in estimates],
            tasks=self.places.size,
            value=np.stack([estimate.values for estimate in estimates], axis=1).ravel(),
            spread_of_runs=np.stack([estimate.runs.spread for estimate in estimates], axis=1).ravel(),
        )

    def _warning(self, metric: Metric, *, same: bool) -> str | None:
        if same:
            return "nearly every bootstrap sample has the same difference, so the interval says nothing"
        if self.clusters < _FEW:
            return f"the interval may be too short, since there are fewer than {_FEW} clusters"
        if self.largest_share > _LARGE:
            return (
                f"one cluster has {100 * self.largest_share:.0f} % of the tasks, and decides much by itself"
            )
        if self.queries and few_queries(self.ways):
            return FEW_QUERIES
        worth = min(effective(way) for way in self.ways[:2])
        if worth < _FEW_SKEWED and (metric.term is None or has_long_tail(metric)):
            size = "" if self.clusters < _FEW_SKEWED else " of one size"
            return (
                f"with fewer than {_FEW_SKEWED} clusters{size}, models with the same value may be told apart too often "
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
    return float(min(p, 2 * ndtr(-abs(present.mean()) / spread)))


def as_frame(kinds: pl.Schema, **columns: object) -> pl.DataFrame:
    """Return columns, or a value for all rows, as a frame with null for nan."""
    frame = pl.DataFrame(columns, schema={name: kinds[name] for name in columns})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))
