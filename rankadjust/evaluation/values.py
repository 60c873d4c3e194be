"""The value of every metric for each average, side and type of rank, and the bootstrap interval of micro averages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric
from rankadjust.evaluation.intervals import (
    FEW_QUERIES,
    bias_corrected,
    bootstrap_counts,
    cluster_variance,
    effective,
    few_queries,
    has_long_tail,
    in_groups,
    jackknife,
    jackknife_variance,
    lengthening,
    studentised,
)
from rankadjust.evaluation.tasks import NOT_KNOWN, Tasks
from rankadjust.evaluation.weighting import MEDIANS, RankedTasks, Weighted, macro_average, statistic

VALUES = pl.Schema(
    {
        **dict.fromkeys(("average", "side", "rank_type", "metric"), pl.String),
        "tasks": pl.Int64,
        **dict.fromkeys(("value", "value_low", "value_high"), pl.Float64),
        **dict.fromkeys(("interval", "no_value", "warning"), pl.String),
    }
)
# With fewer units intervals are too short more often than they should be (benchmarks/coverage.csv).
_FEW_UNITS = 24
_FEW_UNITS_LONG_TAIL = 1000
_EQUAL = 1e-12


def metric_values(metrics: Sequence[Metric], tasks: Tasks, draws: int, seed: int) -> pl.DataFrame:
    """Return one row of VALUES for each average, side, type of rank and metric.

    draws, seed: of the bootstrap. value is null where the metric does not exist, and no_value says why. interval names
    the method, and warning says why the interval is likely to be too short. Averages over groups and measures of
    dispersion have no interval.
    """
    drawn = {side: _drawn(metrics, tasks, side) for side in tasks.sides}
    if draws:
        # Sides whose tasks have the same units are drawn at once.
        apart = [[*drawn[side].values()] for side in tasks.sides if side in tasks.ways]
        together = [each for side in tasks.sides if side not in tasks.ways for each in drawn[side].values()]
        for group in filter(None, [*apart, together]):
            _draw(group, draws, seed)
    rows = [
        row
        for average in tasks.groups
        for side in tasks.sides
        for row in (_micro(metrics, drawn[side]) if average == "micro" else _macro(metrics, tasks, side))
    ]
    no_counts = "the number of candidates of each task is not known"
    missing = "every task has one candidate" if tasks.counts_known else no_counts
    no_mean = [metric.key for metric in metrics if metric.term is None]
    return (
        pl.DataFrame(rows, schema=VALUES, orient="row")
        .with_columns(pl.col("value").fill_nan(None))
        .with_columns(
            no_value=pl.when(pl.col("value").is_not_null())
            .then(None)
            .when(pl.col("metric").is_in(no_mean))
            .then(pl.lit("not a function of a mean over the tasks: not defined for expected ranks"))
            .otherwise(pl.lit(missing))
        )
    )


def _macro(metrics: Sequence[Metric], tasks: Tasks, side: str) -> Iterator[tuple[object, ...]]:
    groups, size = tasks.groups["macro"][tasks.sides[side]], tasks.sides[side].size
    for rank_type in tasks.ranks:
        ranked = tasks.ranked(rank_type, side)
        for metric in metrics:
            value = float(size) if metric.key == "count" else macro_average(metric, ranked, groups)
            yield "macro", side, rank_type, metric.key, size, value, None, None, None, None, None


def _drawn(metrics: Sequence[Metric], tasks: Tasks, side: str) -> dict[str, "_Drawn"]:
    """Return what to draw for each type of rank; types that are equal share it."""
    drawn: dict[str, _Drawn] = {}
    for rank_type, ranks in tasks.ranks.items():
        equal = (other for other in drawn if _are_equal(ranks, tasks.ranks[other], tasks.sides[side]))
        same = next(equal, None)
        drawn[rank_type] = (
            _Drawn(metrics, tasks, side, tasks.ranked(rank_type, side)) if same is None else drawn[same]
        )
    return drawn


def _micro(metrics: Sequence[Metric], drawn: Mapping[str, "_Drawn"]) -> Iterator[tuple[object, ...]]:
    for rank_type, each in drawn.items():
        size, values, intervals = each.places.size, each.values, each.intervals
        for metric in metrics:
            row = ("micro", each.side, rank_type, metric.key, size, values[metric.key])
            if metric.key in intervals:
                low, high, method = intervals[metric.key]
                warning = _warning(metric, each.side, each.triples, each.tasks, same=low == high)
                yield *row, low, high, method, None, warning
            else:
                yield *row, None, None, None, None, None


def _are_equal(
    own: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray], positions: IntArray
) -> bool:
    pairs = zip(own, other, strict=True)
    return all(mine is its or np.array_equal(mine[positions], its[positions]) for mine, its in pairs)


@dataclass
class _Drawn:
    """The tasks of a side with one type of rank, and what the bootstrap samples gave for them, block by block.

    samples: the metrics (m, draws of a block). sampled_means: mean and error of the metrics with a long tail.
    """

    metrics: Sequence[Metric]
    tasks: Tasks
    side: str
    ranked: RankedTasks
    samples: list[FloatArray] = field(default_factory=list)
    sampled_means: list[FloatArray] = field(default_factory=list)

    @cached_property
    def places(self) -> IntArray:
        return self.tasks.sides[self.side]

    @cached_property
    def ways(self) -> list[IntArray]:
        """The clusters of the tasks: of their queries, in one way or in three; else the units."""
        return [way[self.places] for way in self.tasks.ways.get(self.side, [self.tasks.units])]

    @cached_property
    def units_and_strata(self) -> tuple[IntArray, Sequence[IntArray]]:
        """The units that are drawn, clusters of the first way or groups of them, and their strata."""
        if self.side in self.tasks.ways:
            return in_groups(self.ways[0], [np.arange(self.ways[0].max() + 1)])
        units, strata = in_groups(self.tasks.units, self.tasks.strata)
        return units[self.places], strata

    @property
    def strata(self) -> Sequence[IntArray]:
        return self.units_and_strata[1]

    @cached_property
    def weighted(self) -> Weighted:
        chosen = [metric for metric in self.metrics if metric.term is not None or metric.key in MEDIANS]
        return Weighted(chosen, self.ranked, self.units_and_strata[0], sum(each.size for each in self.strata))

    @cached_property
    def long(self) -> list[int]:
        """The places of the metrics with a long tail that have a value."""
        means = self.weighted.means
        return [
            place
            for place, metric in enumerate(means.metrics)
            if has_long_tail(metric) and means.weights[place].any()
        ]

    @cached_property
    def own(self) -> FloatArray:
        """The metrics of all tasks (m,)."""
        return self.weighted.once()

    @cached_property
    def triples(self) -> int:
        """How many units, triples where they are known, the tasks of the side have."""
        return int(np.unique(self.tasks.units[self.places]).size)

    @cached_property
    def values(self) -> dict[str, float]:
        """All metrics by key."""
        ranked, known = self.ranked, {"count": float(self.places.size)}
        for metric in self.metrics:
            if metric.term is None and metric.key not in (*MEDIANS, "count"):
                known[metric.key] = np.nan if ranked.tied else statistic(metric, ranked.best, ranked.weights)
        return known | dict(
            zip((metric.key for metric in self.weighted.metrics), self.own.tolist(), strict=True)
        )

    def take(self, counts: FloatArray) -> None:
        """Compute the metrics of a block of samples, by how often each has each unit (units, draws of the block)."""
        self.samples.append(self.weighted.at(counts))
        if self.long:
            means = self.weighted.means.pick(self.long)
            self.sampled_means.append(means.mean_and_error(counts, self.strata))

    @cached_property
    def intervals(self) -> Mapping[str, tuple[float, float, str]]:
        """The ends of the interval of each metric that has one, and the name of its method, by its key."""
        weighted, values = self.weighted, self.own
        if not weighted.metrics or not self.samples:
            return {}
        left_out = jackknife(self.strata, weighted.at)
        samples = np.concatenate(self.samples, axis=1)
        # A sample that differs from the value by rounding alone is equal to it.
        near = np.abs(samples - values[:, None]) <= _EQUAL * np.abs(values)[:, None]
        ends = bias_corrected(values, np.where(near, values[:, None], samples), left_out)
        longer = of_studentised = np.ones(ends.shape[0])
        if self.side in self.tasks.ways:
            triples = np.unique(self.tasks.units[self.places], return_inverse=True)[1]
            variances = [self._variance(way) for way in self.ways]
            longer, of_studentised = lengthening(
                self.ways, variances, int(triples.max()) + 1, self._variance(triples)
            )
        methods = ["BCa"] * len(weighted.metrics)
        if self.long:
            means = weighted.means.pick(self.long)
            limits = np.array([self._range(metric) for metric in means.metrics])
            of_means = studentised(means, np.concatenate(self.sampled_means, axis=2), self.strata, limits)
            for place, of_mean in zip(self.long, of_means, strict=True):
                if not np.isnan(of_mean).any():
                    ends[place] = np.sort(weighted.metrics[place].link(of_mean))
                    methods[place], longer[place] = "studentised", of_studentised[place]
        for place in np.flatnonzero(longer > 1).tolist():
            moved = values[place] + longer[place] * (ends[place] - values[place])
            ends[place] = np.clip(moved, *_limits(weighted.metrics[place]))
        return {
            metric.key: (float(low), float(high), method)
            for metric, (low, high), method in zip(weighted.metrics, ends, methods, strict=True)
            if not np.isnan(low)
        }

    def _variance(self, way: IntArray) -> FloatArray:
        """Return the variance over the clusters of a way (m,): of a function of a mean that of the mean."""
        of_means = cluster_variance(self.contributions, way)
        if not self.weighted.of_ranks:
            return of_means
        units, strata = in_groups(way, [np.arange(way.max() + 1)])
        medians = Weighted(self.weighted.of_ranks, self.ranked, units)
        return np.concatenate([of_means, jackknife_variance(jackknife(strata, medians.at))])

    @cached_property
    def contributions(self) -> FloatArray:
        """What each task adds to the deviations from the means, w (f - mean) / sum w (m, n)."""
        return np.stack([_contributions(self.ranked, metric) for metric in self.weighted.means.metrics])

    def _range(self, metric: Metric) -> tuple[float, float]:
        """Return the least and the greatest that the mean of a term can be; infinite where not known."""
        if metric.term is None:
            return -np.inf, np.inf
        # The number of candidates does not matter for the best rank; two are enough for every term.
        best = float(metric.term(np.array([1.0]), np.array([2.0]))[0])
        most = self.tasks.counts.max(keepdims=True)
        worst = float(metric.term(most, most)[0])
        return (best, np.inf) if np.isnan(worst) else (min(best, worst), max(best, worst))


def _contributions(ranked: RankedTasks, metric: Metric) -> FloatArray:
    """Return what each task adds to the deviation from a mean, w (f - mean) / sum w (n,); nan without tasks."""
    term = ranked.term(metric)
    weights = np.where(np.isnan(term), 0.0, ranked.weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        term = np.nan_to_num(term)
        parts: FloatArray = weights * (term - weights @ term / weights.sum()) / weights.sum()
    return parts


def _draw(drawn: Sequence[_Drawn], draws: int, seed: int) -> None:
    """Draw samples of units that are the same for some sides and types of rank."""
    distinct = {id(each): each for each in drawn}.values()
    for counts in bootstrap_counts(drawn[0].strata, draws, seed):
        for each in distinct:
            each.take(counts)


def _limits(metric: Metric) -> tuple[float, float]:
    """Return between which numbers a metric is."""
    best = np.inf if np.isnan(metric.optimum) else metric.optimum
    return (0.0, best) if metric.increasing or best == np.inf else (best, np.inf)


def _warning(metric: Metric, side: str, units: int, tasks: Tasks, *, same: bool) -> str | None:
    """Return why the interval of a metric is likely to be too short, None where nothing says so."""
    too_short = _too_short(metric, side, units, tasks, same=same)
    if same or not tasks.by_triple or tasks.queries_known:
        return too_short
    return f"{too_short}; {NOT_KNOWN}" if too_short else f"the interval may be too short: {NOT_KNOWN}"


def _too_short(metric: Metric, side: str, units: int, tasks: Tasks, *, same: bool) -> str | None:
    if same:
        return "every bootstrap sample has the same value, so the interval says nothing"
    if side == "both" and len(tasks.sides) > 1 and not tasks.by_triple:
        return "the interval is too short if head and tail task of a triple are alike: give the column triple"
    ways = [way[tasks.sides[side]] for way in tasks.ways.get(side, [])]
    if ways and few_queries(ways):
        return FEW_QUERIES
    enough = _FEW_UNITS_LONG_TAIL if has_long_tail(metric) else _FEW_UNITS
    what = "triples" if tasks.by_triple else "tasks"
    if units >= enough and ways:
        units, what = min(int(effective(way)) for way in ways[:2]), "queries of one size"
    return (
        f"the interval may be too short, since there are fewer than {enough:,} {what}"
        if units < enough
        else None
    )
