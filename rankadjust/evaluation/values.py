"""The value of every metric for each average, side and type of rank, and the bootstrap interval of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric, Term
from rankadjust.evaluation.clusters import FEW_QUERIES, NOT_KNOWN, effective, few_queries, lengthening
from rankadjust.evaluation.intervals import UnitMeans, bias_corrected, has_long_tail, studentised
from rankadjust.evaluation.resampling import bootstrap_counts, in_groups, jackknife, jackknife_variance
from rankadjust.evaluation.tasks import Tasks
from rankadjust.evaluation.weighting import Arrangement, arrange, averages, sums_over_units

VALUES = pl.Schema(
    {
        "average": pl.String,
        "side": pl.String,
        "rank_type": pl.String,
        "metric": pl.String,
        "tasks": pl.Int64,
        "value": pl.Float64,
        "value_low": pl.Float64,
        "value_high": pl.Float64,
        "interval": pl.String,
        "no_value": pl.String,
        "warning": pl.String,
    }
)
# With fewer units intervals are too short more often than they should be (benchmarks/coverage.csv).
_FEW_UNITS = 24
_FEW_UNITS_LONG_TAIL = 1000


@dataclass(frozen=True)
class _Part:
    """The ranks of one type that one average of one side goes over; `drawn` is a position in a list."""

    average: str
    side: str
    rank_type: str
    drawn: int


@dataclass(frozen=True)
class _Drawn:
    """Tasks of a side, arranged by the units that are drawn together.

    ways: the clusters of the tasks (`rankadjust.evaluation.clusters`). units: the clusters of the first way, or groups
    of them: they are drawn. arranged: returns the arrangement by units or clusters. strata: of the units.
    """

    ways: Sequence[IntArray]
    units: IntArray
    arranged: Callable[[IntArray], Arrangement]
    strata: Sequence[IntArray]


@dataclass
class _Resampled:
    """What one arrangement gives for all tasks and, block by block, in the bootstrap samples.

    values: the metrics (m,). means: the k means that are studentised; mean_of: which of them a metric is a function of,
    by the metric's key. samples: the metrics (m, draws of a block). sampled_means: as `UnitMeans.mean_and_error` gives
    them.
    """

    drawn: _Drawn
    arrangement: Arrangement
    values: FloatArray
    means: UnitMeans
    mean_of: Mapping[str, int]
    samples: list[FloatArray] = field(default_factory=list)
    sampled_means: list[FloatArray] = field(default_factory=list)


def metric_values(metrics: Sequence[Metric], tasks: Tasks, draws: int, seed: int) -> pl.DataFrame:
    """Return one row of VALUES for each average, side, type of rank and metric.

    draws, seed: of the bootstrap. value is null where the metric does not exist, and no_value says why. interval names
    the method, and warning says why the interval is likely to be too short.
    """
    parts, drawn = _parts([metric for metric in metrics if metric.key != "count"], tasks)
    resampled = _resample(drawn, tasks, draws, seed)
    values = [dict(zip(_keys(each), each.values.tolist(), strict=True)) for each in resampled]
    side_of = {part.drawn: part.side for part in parts}
    intervals = [_intervals(each, side_of[number], tasks) for number, each in enumerate(resampled)]
    units = {
        side: int(np.count_nonzero(np.bincount(tasks.units[positions])))
        for side, positions in tasks.sides.items()
    }
    rows: list[tuple[object, ...]] = []
    for part in parts:
        size = tasks.sides[part.side].size
        # The number of tasks is the same in every bootstrap sample: it has no interval.
        known = values[part.drawn] | {"count": float(size)}
        for metric in metrics:
            row = (part.average, part.side, part.rank_type, metric.key, size, known[metric.key])
            if metric.key in intervals[part.drawn]:
                (low, high), method = intervals[part.drawn][metric.key]
                warning = _warning(metric, part.side, units[part.side], tasks, same=low == high)
                rows.append((*row, low, high, method, None, warning))
            else:
                rows.append((*row, None, None, None, None, None))
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


def _parts(metrics: Sequence[Metric], tasks: Tasks) -> tuple[list[_Part], list[_Drawn]]:
    """Return the values to compute, and the draws for them; equal types of rank share their draws."""
    parts: list[_Part] = []
    drawn: list[_Drawn] = []
    alike = in_groups(tasks.units, tasks.strata)
    by_side = {side: _in_groups(tasks.ways[side][0]) if side in tasks.ways else alike for side in tasks.sides}
    for average, groups in tasks.groups.items():
        for side, positions in tasks.sides.items():
            ways = tasks.ways.get(side, [tasks.units])
            units, strata = by_side[side]
            arranged: list[tuple[tuple[FloatArray, FloatArray], int]] = []
            for rank_type, (best, worst) in tasks.ranks.items():
                number = next(
                    (known for other, known in arranged if _are_equal((best, worst), other, positions)), None
                )
                if number is None:
                    number = len(drawn)
                    tied = None if _are_equal((best,), (worst,), positions) else worst
                    arranged_by = partial(
                        arrange, metrics, positions, best, tasks.counts, groups, tasks.weights, worst=tied
                    )
                    drawn.append(_Drawn(ways, units, arranged_by, strata))
                    arranged.append(((best, worst), number))
                parts.append(_Part(average, side, rank_type, number))
    return parts, drawn


def _in_groups(clusters: IntArray) -> tuple[IntArray, Sequence[IntArray]]:
    return in_groups(clusters, [np.arange(clusters.max() + 1)])


def _are_equal(own: Sequence[FloatArray], other: Sequence[FloatArray], positions: IntArray) -> bool:
    pairs = zip(own, other, strict=True)
    return all(mine is its or np.array_equal(mine[positions], its[positions]) for mine, its in pairs)


def _resample(drawn: Sequence[_Drawn], tasks: Tasks, draws: int, seed: int) -> list[_Resampled]:
    resampled = [_once(each, tasks) for each in drawn]
    # What is drawn in the same way is drawn once.
    alike: dict[int, list[_Resampled]] = {}
    for each in resampled:
        alike.setdefault(id(each.drawn.units), []).append(each)
    for group in alike.values():
        # Groups of units are fewer than tasks, and so are ranks.
        runs = max(each.arrangement.in_run.shape[0] for each in group)
        is_grouped = group[0].drawn.units is not group[0].drawn.ways[0]
        for counts in bootstrap_counts(
            group[0].drawn.strata, runs if is_grouped else tasks.units.size, draws, seed
        ):
            for each in group:
                each.samples.append(averages(each.arrangement, counts))
                if each.mean_of:
                    each.sampled_means.append(each.means.mean_and_error(counts))
    return resampled


def _once(drawn: _Drawn, tasks: Tasks) -> _Resampled:
    """Return the values of all tasks, each cluster counting once."""
    arrangement = drawn.arranged(drawn.units)
    values = averages(arrangement, np.ones((arrangement.in_run.shape[1], 1)))[:, 0]
    return _Resampled(drawn, arrangement, values, *_unit_means(arrangement, drawn.strata, tasks))


def _unit_means(
    arrangement: Arrangement, strata: Sequence[IntArray], tasks: Tasks
) -> tuple[UnitMeans, Mapping[str, int]]:
    """Return the means that metrics with a long tail are functions of (MR and IMR share one), and which is whose.

    There are none where the metrics are averages over several groups.
    """
    means: list[tuple[FloatArray, FloatArray, float, float]] = []
    mean_of: dict[str, int] = {}
    number_of: dict[str | int, int] = {}
    for metric in arrangement.metrics:
        if arrangement.starts.size > 1 or metric.term is None or not has_long_tail(metric):
            continue
        mean = arrangement.row.get(metric.key, metric.key)
        if mean not in number_of:
            terms, weights = sums_over_units(arrangement, metric)
            if not weights.any():
                continue
            number_of[mean] = len(means)
            means.append((terms, weights, *_range(metric.term, tasks)))
        mean_of[metric.key] = number_of[mean]
    terms_, weights_, lowest, highest = zip(*means, strict=True) if means else ((), (), (), ())
    return UnitMeans(
        np.array(terms_), np.array(weights_), np.array(lowest), np.array(highest), strata
    ), mean_of


def _range(term: Term, tasks: Tasks) -> tuple[float, float]:
    """Return the least and the greatest that the mean of a term can be; infinite where not known."""
    # The number of candidates does not matter for the best rank; two are enough for every term.
    best = float(term(np.array([1.0]), np.array([2.0]))[0])
    most = tasks.counts.max(keepdims=True)
    worst = float(term(most, most)[0])
    return (best, np.inf) if np.isnan(worst) else (min(best, worst), max(best, worst))


def _keys(resampled: _Resampled) -> list[str]:
    return [metric.key for metric in resampled.arrangement.metrics]


def _variance_over(drawn: _Drawn, way: IntArray) -> FloatArray:
    """Return the variance of the metrics (m,) over the clusters of a way, of a function of a mean that of the mean."""
    arrangement = drawn.arranged(way)
    variances = np.full(len(arrangement.metrics), np.nan)
    means = [arrangement.starts.size == 1 and metric.term is not None for metric in arrangement.metrics]
    for number, metric in enumerate(arrangement.metrics):
        if not means[number]:
            continue
        terms, weights = sums_over_units(arrangement, metric)
        if weights.any():
            variances[number] = ((terms - weights * (terms.sum() / weights.sum())) ** 2).sum()
    if not all(means):
        units, strata = _in_groups(way)
        by_parts = jackknife_variance(jackknife(strata, partial(averages, drawn.arranged(units))))
        variances = np.where(means, variances, by_parts)
    return variances


def _limits(metric: Metric) -> tuple[float, float]:
    """Return between which numbers a metric is."""
    best = np.inf if np.isnan(metric.optimum) else metric.optimum
    return (0.0, best) if metric.increasing or best == np.inf else (best, np.inf)


def _intervals(
    resampled: _Resampled, side: str, tasks: Tasks
) -> Mapping[str, tuple[tuple[float, float], str]]:
    """Return the ends of the interval of each metric that has one, by its key, and the name of the method."""
    if not resampled.samples:
        return {}
    arrangement, drawn = resampled.arrangement, resampled.drawn
    left_out = jackknife(drawn.strata, partial(averages, arrangement))
    ends = bias_corrected(resampled.values, np.concatenate(resampled.samples, axis=1), left_out)
    longer = of_studentised = np.ones(ends.shape[0])
    if side in tasks.ways:
        own = tasks.sides[side]
        variances = [_variance_over(drawn, way) for way in drawn.ways]
        of_triples, triples = _variance_over(drawn, tasks.units), np.unique(tasks.units[own]).size
        longer, of_studentised = lengthening([way[own] for way in drawn.ways], variances, triples, of_triples)
    methods = dict.fromkeys(_keys(resampled), "BCa")
    if resampled.mean_of:
        of_means = studentised(resampled.means, np.concatenate(resampled.sampled_means, axis=2))
        for number, metric in enumerate(arrangement.metrics):
            of_mean = of_means[resampled.mean_of[metric.key]] if metric.key in resampled.mean_of else None
            if of_mean is not None and not np.isnan(of_mean).any():
                ends[number] = np.sort(metric.link(of_mean))
                methods[metric.key] = "studentised"
                longer[number] = of_studentised[number]
    for number, metric in enumerate(arrangement.metrics):
        if longer[number] > 1:
            value = resampled.values[number]
            ends[number] = np.clip(value + longer[number] * (ends[number] - value), *_limits(metric))
    return {
        key: ((float(low), float(high)), methods[key])
        for key, (low, high) in zip(methods, ends, strict=True)
        if not np.isnan(low)
    }


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
    if metric.key in ("variance", "standard_deviation"):
        return "the interval of a dispersion of ranks is usually too short"
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
