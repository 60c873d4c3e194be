"""A part of the tasks, such as one side: the value of each model there, and how sure each difference is."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric
from rankadjust.evaluation.intervals import (
    FEW_QUERIES,
    bias_corrected,
    bootstrap_counts,
    clustered_error,
    effective,
    few_queries,
    has_long_tail,
    jackknife,
    jackknife_variance,
    lengthening,
    stretch,
    studentised,
)
from rankadjust.evaluation.weighting import RankedTasks, UnitMeans, Weighted
from rankadjust.models.p_values import (
    Runs,
    error_of_seeds,
    flip_means,
    flip_ranks,
    p_of_equal_means,
    p_of_samples,
    p_over_runs_and_tasks,
    range_of_term,
    skewed_p,
)
from rankadjust.models.paired import Model, Paired

VALUES = pl.Schema(
    {
        **dict.fromkeys(("side", "metric", "model"), pl.String),
        **dict.fromkeys(("runs", "tasks"), pl.Int64),
        **dict.fromkeys(("value", "index", "spread_of_runs"), pl.Float64),
        "letters": pl.String,
        "best": pl.Boolean,
    }
)
DIFFERENCES = pl.Schema(
    {
        **dict.fromkeys(("side", "metric", "first", "second"), pl.String),
        **dict.fromkeys(("difference", "difference_low", "difference_high"), pl.Float64),
        **dict.fromkeys(("index_difference", "index_difference_low", "index_difference_high"), pl.Float64),
        **dict.fromkeys(("p", "p_holm"), pl.Float64),
        "better": pl.String,
        **dict.fromkeys(("error_of_tasks", "error_of_runs"), pl.Float64),
        "warning": pl.String,
    }
)
# A cluster with a larger share of the tasks decides much by itself.
_LARGE = 0.1
_FEW = 24
# From so many clusters on, two models with equal means or medians of skewed ranks are told apart in at most 7 % of the
# cases at a level of 5 % (docs/compare.md).
_FEW_SKEWED = 300


@dataclass(frozen=True)
class _Estimates:
    """What is known of a model: m metrics (m,), in d bootstrap samples (m, d), and for each way with clusters left out.

    means: the metrics before their links, such as the mean of the logarithms for GMR: p is about them, since a
    difference of exponentials is skewed where runs differ much. left_out: the same with clusters of each way left out;
    triples_left_out: with triples left out, where clusters are queries. terms: of each task, the mean over the runs, of
    the metrics that are functions of a mean. runs, runs_of_means: how the runs differ in metrics and in means.
    """

    model: Model
    values: FloatArray
    samples: FloatArray
    means: FloatArray
    left_out: Sequence[FloatArray]
    triples_left_out: FloatArray | None
    terms: FloatArray
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
        counts = (
            matched.tasks["num_candidates"].to_numpy() if "num_candidates" in matched.tasks.columns else None
        )
        self.counts = np.full(places.size, np.nan) if counts is None else counts[places]
        self.most = most if counts is None else float(self.counts.max())
        self.ways, self.units, self.queries = ways, ways[0], queries
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
        return {model.name: self._weighted(model).once() for model in self.models}

    def _ranked(self, models: Sequence[Model]) -> RankedTasks:
        """Return the tasks of all runs of some models; each model counts as much as the others."""
        best = [model.ranks[:, self.places] for model in models]
        worst = [
            each if model.worst is None else model.worst[:, self.places]
            for model, each in zip(models, best, strict=True)
        ]
        # Sums of whole numbers are exact: one model's runs weigh 1.
        weights = [np.full(each.size, 1.0 if len(models) == 1 else 1 / each.shape[0]) for each in best]
        counts = [np.tile(self.counts, each.shape[0]) for each in best]
        flat = [[each.ravel() for each in ranks] for ranks in (best, worst)]
        return RankedTasks(*(np.concatenate(arrays) for arrays in (*flat, counts, weights)))

    def _weighted(self, model: Model, way: IntArray | None = None) -> Weighted:
        """Return the metrics of a model as functions of how often each cluster of a way counts."""
        units = np.tile(self.units if way is None else way, model.ranks.shape[0])
        return Weighted(self.metrics, self._ranked([model]), units)

    def _left_out(self, model: Model, way: IntArray) -> FloatArray:
        return jackknife([np.arange(way.max() + 1)], self._weighted(model, way).before_links)[0]

    def _estimates(self, draws: int, seed: int) -> list[_Estimates]:
        weighted = [self._weighted(model) for model in self.models]
        # All models in the same samples: (models, metrics, draws).
        samples = np.concatenate(
            [
                np.empty((len(weighted), len(self.metrics), 0)),
                *(
                    np.stack([each.at(counts) for each in weighted])
                    for counts in bootstrap_counts([np.arange(self.clusters)], draws, seed)
                ),
            ],
            axis=2,
        )
        return [
            _Estimates(
                model,
                each.once(),
                of_samples,
                each.before_links(np.ones((self.clusters, 1)))[:, 0],
                [self._left_out(model, way) for way in self.ways],
                self._left_out(model, self.triple) if self.queries else None,
                self._terms(model),
                *self._runs(model),
            )
            for model, each, of_samples in zip(self.models, weighted, samples, strict=True)
        ]

    def _terms(self, model: Model) -> FloatArray:
        """Return the term of each task, the mean over the runs, of the metrics that are functions of a mean (m, n)."""
        ranked, runs = self._ranked([model]), model.ranks.shape[0]
        terms = [ranked.term(metric).reshape(runs, -1).mean(axis=0) for metric in self.of_means]
        return np.array(terms).reshape(-1, self.places.size)

    def _runs(self, model: Model) -> tuple[Runs, Runs]:
        """Return how the runs of a model differ in the metrics, and in these before their links."""
        runs = [self._weighted(Model(model.name, ranks[None])) for ranks in model.ranks]
        means = [each.before_links(np.ones((self.clusters, 1))) for each in runs]
        left_out = [jackknife([np.arange(self.clusters)], each.before_links)[0] for each in runs]
        linked = ([runs[0].linked(of_run) for of_run in each] for each in (means, left_out))
        return Runs.of(*linked), Runs.of(means, left_out)

    def _difference(self, first: _Estimates, second: _Estimates, flips: int, seed: int) -> pl.DataFrame:
        """Return a row for each metric."""
        samples = first.samples - second.samples
        variances = [
            jackknife_variance([own - other])
            for own, other in zip(first.left_out, second.left_out, strict=True)
        ]
        longer = stretch(variances)
        crossed = p_over_runs_and_tasks(
            first.means - second.means,
            variances[0] * longer**2,
            self.clusters,
            [first.runs_of_means, second.runs_of_means],
        )
        of_means = self._weighted(first.model).means.minus(self._weighted(second.model).means)
        under_null = self._stretch_of_swaps(first, second, longer)
        p = np.fmax(
            self._p_of_swaps(first.model, second.model, of_means, flips, seed, under_null),
            self._p_of_equal_values(first, second, of_means, under_null),
        )
        low, high = self._ends(first, second, of_means, variances, seed).T
        two_runs = _warning_of_runs([first.runs, second.runs])
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
            error_of_runs=error_of_seeds([first.runs, second.runs]),
            warning=[
                "; ".join(filter(None, [self._warning(metric, same=bool(same)), two_runs])) or None
                for metric, same in zip(self.metrics, low == high, strict=True)
            ],
        )

    def _ends(
        self,
        first: _Estimates,
        second: _Estimates,
        of_means: UnitMeans,
        variances: Sequence[FloatArray],
        seed: int,
    ) -> FloatArray:
        """Return the ends of the intervals of the differences (m, 2), by the methods of `evaluate`."""
        difference, samples = first.values - second.values, first.samples - second.samples
        linked = self._weighted(first.model).linked
        left_out = linked(first.left_out[0]) - linked(second.left_out[0])
        ends = bias_corrected(difference, samples, [left_out])
        longer = of_studentised = stretch(variances)
        if first.triples_left_out is not None and second.triples_left_out is not None:
            of_triples = jackknife_variance([first.triples_left_out - second.triples_left_out])
            longer, of_studentised = lengthening(self.ways, variances, int(self.triple.max()) + 1, of_triples)
        # The difference of two means is the mean of the differences.
        long = [place for place in self._long(difference) if self.of_means[place].additive]
        if long and samples.shape[1]:
            means, strata = of_means.pick(long), [np.arange(self.clusters)]
            sampled = [
                means.mean_and_error(counts, strata)
                for counts in bootstrap_counts(strata, samples.shape[1], seed)
            ]
            of_mean = studentised(means, np.concatenate(sampled, axis=2), strata)
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

    def _stretch_of_swaps(self, first: _Estimates, second: _Estimates, longer: FloatArray) -> FloatArray:
        """Return the stretch (m,) if swaps are equally likely: then the clusters' parts have the mean 0, not their own.

        Around their own mean the parts of the first way may hardly vary, and the ratio would be of any size.
        """
        differences = np.nan_to_num(first.terms - second.terms)
        of_all, of_first = (clustered_error(differences, ways) for ways in (self.ways, self.ways[:1]))
        ratio = np.divide(of_all, of_first, out=np.ones_like(of_all), where=of_first > 0)
        return np.concatenate([ratio, longer[len(self.of_means) :]])

    def _p_of_swaps(
        self, first: Model, second: Model, of_means: UnitMeans, flips: int, seed: int, longer: FloatArray
    ) -> FloatArray:
        """Return p of the metrics (m,) by swaps of the clusters of the first way."""
        number = len(self.of_means)
        p = flip_means(of_means, flips, seed, longer[:number]) if number else np.empty(0)
        if not self.of_ranks:
            return p
        units = [
            np.tile(2 * self.units + place, model.ranks.shape[0])
            for place, model in enumerate((first, second))
        ]
        both = Weighted(self.of_ranks, self._ranked([first, second]), np.concatenate(units))
        return np.concatenate([p, flip_ranks(both.at, self.clusters, flips, seed, longer[number:])])

    def _p_of_equal_values(
        self, first: _Estimates, second: _Estimates, of_means: UnitMeans, longer: FloatArray
    ) -> FloatArray:
        """Return p of metrics whose equal values do not make models exchangeable (m,), nan for the others.

        Of a mean with a long tail, Student's t without its skewness, or the p that needs no law of the ranks where that
        is smaller; of the median, from the bootstrap samples of the difference on either side of 0.
        """
        p = np.full(len(self.metrics), np.nan)
        difference = first.values - second.values
        for place in self._long(difference):
            own = np.nan_to_num(first.terms[place] - second.terms[place])
            without_law = p_of_equal_means(own / range_of_term(self.metrics[place], self.most), self.ways[:2])
            p[place] = np.fmin(skewed_p(of_means.pick([place]), longer[[place]])[0], without_law)
        samples = first.samples - second.samples
        for place in range(len(self.of_means), len(self.metrics)):
            p[place] = p_of_samples(difference[place] + longer[place] * (samples[place] - difference[place]))
        return p

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


def _warning_of_runs(models: Sequence[Runs]) -> str | None:
    """Return what may be wrong with p of models that have two runs, None for one run and for more."""
    if min(each.number for each in models) != 2:
        return None
    return "with two runs, equally good models are told apart too often if seeds matter for one of them alone"


def as_frame(kinds: pl.Schema, **columns: object) -> pl.DataFrame:
    """Return columns, or a value for all rows, as a frame with null for nan."""
    frame = pl.DataFrame(columns, schema={name: kinds[name] for name in columns})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))
