"""The value of every metric for each side and type of rank, with standard errors and intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.metrics import Metric, metric_value
from rankadjust.chance.rank_sums import mean_over_orders
from rankadjust.evaluation.spread import Spread, why_too_short
from rankadjust.evaluation.tasks import POPULATIONS, Tasks

ERRORS = tuple(f"error_{population}" for population in POPULATIONS)
VALUES = pl.Schema(
    {
        **dict.fromkeys(("side", "rank_type", "metric"), pl.String),
        "tasks": pl.Int64,
        **dict.fromkeys(("value", "value_low", "value_high", *ERRORS, "freedom"), pl.Float64),
        **dict.fromkeys(("no_value", "warning"), pl.String),
    }
)


@dataclass(frozen=True)
class RankedTasks:
    """n tasks, with an array (n,) of each of three facts.

    best, worst: every whole rank between them is equally likely. counts: numbers of candidates, nan where not known.
    """

    best: FloatArray
    worst: FloatArray
    counts: FloatArray

    def mean(self, metric: Metric) -> tuple[float, FloatArray]:
        """Return the mean of a metric's term, and the contribution of each task to the deviation from it (n,).

        The mean and the contributions are nan where no task counts.
        """
        term = mean_over_orders(metric, self.best, self.worst, self.counts)
        counted = (~np.isnan(term)).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            term = np.nan_to_num(term)
            mean = counted @ term / counted.sum()
            return float(mean), counted * (term - mean) / counted.sum()

    def statistic(self, metric: Metric) -> float:
        """Return a metric: a function of a mean, a median, or a measure of dispersion; nan where it does not exist.

        >>> from rankadjust.chance.metrics import resolve
        >>> ranks = np.array([1.0, 3.0])
        >>> RankedTasks(ranks, ranks, ranks).statistic(resolve("variance"))
        1.0
        """
        if metric.term is not None:
            return float(metric.link(np.array(self.mean(metric)[0])))
        # Where a task has a range of ranks, no other metric but the number of tasks exists.
        exists = metric.key == "count" or np.array_equal(self.best, self.worst)
        return float(metric_value(metric, self.best)) if exists else np.nan


def ranked_tasks(tasks: Tasks, rank_type: str, side: str) -> RankedTasks:
    """Return the tasks of a side with one type of rank."""
    places = tasks.sides[side]
    return RankedTasks(*(each[places] for each in (*tasks.ranks[rank_type], tasks.counts)))


def metric_values(metrics: Sequence[Metric], tasks: Tasks, population: str) -> pl.DataFrame:
    """Return one row of VALUES for each side, type of rank and metric.

    population: one of POPULATIONS, which the intervals hold for. value is null where the metric does not exist, and
    no_value says why. Medians and measures of dispersion have no interval.
    """
    rows = [
        row
        for side in tasks.sides
        for rank_type in tasks.ranks
        for row in _rows(metrics, tasks, population, side, rank_type)
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
            .then(pl.lit("expected ranks need a function of a mean over the tasks, which this is not"))
            .otherwise(pl.lit(missing))
        )
    )


def _rows(
    metrics: Sequence[Metric], tasks: Tasks, population: str, side: str, rank_type: str
) -> Iterator[dict[str, object]]:
    ranked = ranked_tasks(tasks, rank_type, side)
    empty = {**dict.fromkeys(VALUES), "side": side, "rank_type": rank_type, "tasks": ranked.best.size}
    ways = {name: tasks.ways(name, side) for name in tasks.clusters}
    triples = ways["triples"][0]
    for metric in metrics:
        value = ranked.statistic(metric)
        row = empty | {"metric": metric.key, "value": value}
        if not np.isnan(value) and metric.term is not None:
            mean, contributions = ranked.mean(metric)
            spreads = {name: Spread.of(contributions[None], way, triples) for name, way in ways.items()}
            ends = np.clip(spreads[population].ends(np.array([mean]))[0], *_range(metric, ranked.counts))
            with np.errstate(divide="ignore"):
                ends = metric.link(ends)
            row |= {
                f"error_{name}": abs(slope(metric, mean)) * each.error[0] for name, each in spreads.items()
            }
            row |= {
                "value_low": min(ends),
                "value_high": max(ends),
                "freedom": spreads[population].freedom[0],
            }
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


def _range(metric: Metric, counts: FloatArray) -> tuple[float, float]:
    """Return the least and the greatest that the mean of a term can be; infinite where not known."""
    assert metric.term is not None
    # The number of candidates does not matter for the best rank; two are enough for every term.
    best = float(metric.term(np.array([1.0]), np.array([2.0]))[0])
    most = counts.max(keepdims=True)
    # A rank without end stands for the worst where the number of candidates is not known.
    worst = float(metric.term(np.where(np.isnan(most), np.inf, most), most)[0])
    return min(best, worst), max(best, np.inf if np.isnan(worst) else worst)
