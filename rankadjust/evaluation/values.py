"""The value of every metric for each average, side and type of rank, with standard errors and intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import NORMAL_QUARTILE, Metric
from rankadjust.chance.rank_sums import mean_over_orders
from rankadjust.evaluation.spread import Spread, why_too_short
from rankadjust.evaluation.tasks import POPULATIONS, Tasks

ERRORS = tuple(f"error_{population}" for population in POPULATIONS)
VALUES = pl.Schema(
    {
        **dict.fromkeys(("average", "side", "rank_type", "metric"), pl.String),
        "tasks": pl.Int64,
        **dict.fromkeys(("value", "value_low", "value_high", *ERRORS, "freedom"), pl.Float64),
        **dict.fromkeys(("no_value", "warning"), pl.String),
    }
)
MEDIANS = ("median_rank", "inverse_median_rank")
# Half of the weight is met exactly only up to rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class RankedTasks:
    """n tasks, with an array (n,) of each of four facts.

    best, worst: every whole rank between them is equally likely. counts: numbers of candidates, nan where not
    known. weights: how much each task counts.
    """

    best: FloatArray
    worst: FloatArray
    counts: FloatArray
    weights: FloatArray

    @property
    def tied(self) -> bool:
        """Whether a task has a range of ranks, so that metrics without a term do not exist."""
        return not np.array_equal(self.best, self.worst)

    def at(self, places: IntArray) -> "RankedTasks":
        """Return some of the tasks."""
        return RankedTasks(*(each[places] for each in (self.best, self.worst, self.counts, self.weights)))

    def mean(self, metric: Metric) -> tuple[float, FloatArray]:
        """Return the mean of a metric's term, and the contribution of each task to the deviation from it (n,).

        The mean and the contributions are nan where no task counts.
        """
        term = mean_over_orders(metric, self.best, self.worst, self.counts)
        weights = np.where(np.isnan(term), 0.0, self.weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            term = np.nan_to_num(term)
            mean = weights @ term / weights.sum()
            return float(mean), weights * (term - mean) / weights.sum()

    def statistic(self, metric: Metric) -> float:
        """Return a metric: a function of a mean, a median, or a measure of dispersion; nan where it does not exist.

        >>> from rankadjust.chance.metrics import resolve
        >>> ranks = np.array([1.0, 3.0])
        >>> RankedTasks(ranks, ranks, ranks, np.ones(2)).statistic(resolve("variance"))
        1.0
        """
        if metric.term is not None:
            return float(metric.link(np.array(self.mean(metric)[0])))
        if metric.key == "count":
            return float(self.best.size)
        if self.tied:
            return np.nan
        if metric.key in MEDIANS:
            return _of_median(metric, _quantile(self.best, self.weights, 0.5))
        if metric.key == "median_absolute_deviation":
            deviations = np.abs(self.best - _quantile(self.best, self.weights, 0.5))
            return _quantile(deviations, self.weights, 0.5) / NORMAL_QUARTILE
        # Halves, like the ranks: their squares are exact, so that equal ranks have no variance at all.
        deviations = self.best - np.rint(2 * self.best.mean()) / 2
        mean, square = (self.weights @ deviations**power / self.weights.sum() for power in (1, 2))
        variance = max(float(square - mean**2), 0.0)
        return variance if metric.key == "variance" else float(np.sqrt(variance))


def ranked_tasks(tasks: Tasks, rank_type: str, side: str) -> RankedTasks:
    """Return the tasks of a side with one type of rank."""
    best, worst = tasks.ranks[rank_type]
    return RankedTasks(best, worst, tasks.counts, tasks.weights).at(tasks.sides[side])


def _of_median(metric: Metric, median: float) -> float:
    return 1 / median if metric.key == "inverse_median_rank" else median


def _quantile(values: FloatArray, weights: FloatArray, level: float) -> float:
    """Return the value with this share of the weight below it, the mean of two where the parts meet."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    sought = cumulative[-1] * min(max(level, 0.0), 1.0)
    places = np.searchsorted(cumulative, [sought * (1 - _ROUNDING), sought * (1 + _ROUNDING)])
    return float(values[order][np.minimum(places, values.size - 1)].mean())


def macro_average(metric: Metric, tasks: RankedTasks, groups: IntArray) -> float:
    """Return the mean of a metric over the groups where it exists, by the number of each task's group (n,)."""
    parts = [tasks.at(np.flatnonzero(groups == group)) for group in np.unique(groups[tasks.weights > 0])]
    of_groups = np.array([part.statistic(metric) for part in parts])
    known = of_groups[~np.isnan(of_groups)]
    return float(known.mean()) if known.size else np.nan


def metric_values(metrics: Sequence[Metric], tasks: Tasks, population: str) -> pl.DataFrame:
    """Return one row of VALUES for each average, side, type of rank and metric.

    population: one of POPULATIONS, which the intervals hold for. value is null where the metric does not exist, and
    no_value says why. Averages over groups and measures of dispersion have no interval.
    """
    rows = [
        row
        for average in tasks.groups
        for side in tasks.sides
        for rank_type in tasks.ranks
        for row in _rows(
            metrics, tasks, population, {"average": average, "side": side, "rank_type": rank_type}
        )
    ]
    no_counts = "the number of candidates of each task is not known"
    missing = "every task has one candidate" if tasks.counts_known else no_counts
    no_mean = [metric.key for metric in metrics if metric.term is None]
    return (
        pl.DataFrame(rows, schema=VALUES, orient="row")
        # An end without a limit is none.
        .with_columns(pl.when(pl.col(pl.Float64).is_finite()).then(pl.col(pl.Float64)))
        .with_columns(
            no_value=pl.when(pl.col("value").is_not_null())
            .then(None)
            .when(pl.col("metric").is_in(no_mean))
            .then(pl.lit("not a function of a mean over the tasks: not defined for expected ranks"))
            .otherwise(pl.lit(missing))
        )
    )


def _rows(
    metrics: Sequence[Metric], tasks: Tasks, population: str, about: Mapping[str, str]
) -> Iterator[Mapping[str, object]]:
    side = about["side"]
    ranked = ranked_tasks(tasks, about["rank_type"], side)
    empty = {**dict.fromkeys(VALUES), **about, "tasks": ranked.best.size}
    if about["average"] == "macro":
        groups = tasks.groups["macro"][tasks.sides[side]]
        for metric in metrics:
            value = float(groups.size) if metric.key == "count" else macro_average(metric, ranked, groups)
            yield empty | {"metric": metric.key, "value": value}
        return
    ways = {name: tasks.ways(name, side) for name in tasks.clusters}
    triples = ways["triples"][0]
    for metric in metrics:
        value = ranked.statistic(metric)
        row = empty | {"metric": metric.key, "value": value}
        if not np.isnan(value) and (metric.term is not None or metric.key in MEDIANS):
            if metric.term is None:
                ends, freedom = _around_median(metric, ranked, ways[population], triples)
            else:
                mean, contributions = ranked.mean(metric)
                spreads = {name: Spread.of(contributions[None], way, triples) for name, way in ways.items()}
                ends = np.clip(spreads[population].ends(np.array([mean]))[0], *_range(metric, ranked.counts))
                with np.errstate(divide="ignore"):
                    ends = metric.link(ends)
                freedom = spreads[population].freedom[0]
                row |= {
                    f"error_{name}": abs(slope(metric, mean)) * each.error[0]
                    for name, each in spreads.items()
                }
            row |= {"value_low": min(ends), "value_high": max(ends), "freedom": freedom}
            if row["value_low"] == row["value_high"]:
                row["warning"] = "the interval has no length, so it says nothing"
            elif side == "both" and len(tasks.sides) > 1 and not tasks.by_triple:
                row["warning"] = (
                    "the interval is too short if head and tail task of a triple are alike: give the column triple"
                )
            else:
                clusters = population if tasks.by_triple else "tasks"
                row["warning"] = why_too_short(metric, ways[population], clusters)
        yield row


def slope(metric: Metric, mean: float) -> float:
    """Return the derivative of a metric by the mean of its term."""
    step = 1e-6 * max(abs(mean), 1e-3)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        above, below = metric.link(np.array([mean + step, mean - step]))
    return float((above - below) / (2 * step))


def _around_median(
    metric: Metric, ranked: RankedTasks, ways: Sequence[IntArray], triples: IntArray
) -> tuple[FloatArray, float]:
    """Return the interval of a median, and its degrees of freedom.

    Its ends are the ranks at the ends of the interval of the share below it (Woodruff 1952).
    """
    median, total = _quantile(ranked.best, ranked.weights, 0.5), ranked.weights.sum()
    below = (ranked.best < median) + (ranked.best == median) / 2
    share = float(ranked.weights @ below / total)
    spread = Spread.of((ranked.weights * (below - share) / total)[None], ways, triples)
    half = np.diff(spread.ends(np.array([share]))[0])[0] / 2
    ends = [_of_median(metric, _quantile(ranked.best, ranked.weights, 0.5 + sign * half)) for sign in (-1, 1)]
    return np.array(ends), float(spread.freedom[0])


def _range(metric: Metric, counts: FloatArray) -> tuple[float, float]:
    """Return the least and the greatest that the mean of a term can be; infinite where not known."""
    assert metric.term is not None
    # The number of candidates does not matter for the best rank; two are enough for every term.
    best = float(metric.term(np.array([1.0]), np.array([2.0]))[0])
    most = counts.max(keepdims=True)
    # A rank without end stands for the worst where the number of candidates is not known.
    worst = float(metric.term(np.where(np.isnan(most), np.inf, most), most)[0])
    return min(best, worst), max(best, np.inf if np.isnan(worst) else worst)
