"""What chance gives for the tasks that are evaluated: constants of the database, or computed from the candidates."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric
from rankadjust.chance.moments import Moments, metric_moments
from rankadjust.chance.terms import mean_and_variance
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.evaluation.tasks import Tasks

_NO_MOMENTS = "no exact moments are known for this metric"
_NOT_COUNTED = "z of a random scorer needs the data set: num_candidates do not say which tasks share a query"


@dataclass(frozen=True)
class Chance:
    """Moments of one metric under the null models; None where they are not known, and reason says why."""

    expectation: float | None = None
    variance: float | None = None
    variance_random_scorer: float | None = None
    variance_static_scorer: float | None = None
    reason: str | None = None
    reason_random_scorer: str | None = None
    reason_static_scorer: str | None = None


_SCHEMA = dict.fromkeys(("average", "side", "metric"), pl.String()) | {
    field.name: pl.String() if field.name.startswith("reason") else pl.Float64() for field in fields(Chance)
}


def chance_constants(
    metrics: Sequence[Metric], tasks: Tasks, evaluation_set: EvaluationSet | None
) -> pl.DataFrame:
    """Return one row for each average, side and metric, with the fields of `Chance`."""
    rows = [
        {"average": average, "side": side, "metric": metric.key}
        | asdict(_chance(metric, average, side, tasks, evaluation_set))
        for average in tasks.groups
        for side in tasks.sides
        for metric in metrics
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _chance(
    metric: Metric, average: str, side: str, tasks: Tasks, evaluation_set: EvaluationSet | None
) -> Chance:
    if evaluation_set is not None and average == "micro" and not tasks.weighted:
        return _of_set(metric, evaluation_set.of_side(side))
    if tasks.counts_known:
        computed = _of_candidates(metric, average, side, tasks)
        return Chance(
            computed.expectation,
            computed.variance,
            reason=computed.reason,
            reason_random_scorer=_NOT_COUNTED,
            reason_static_scorer=_NOT_COUNTED,
        )
    if evaluation_set is None:
        return Chance(reason="neither num_candidates nor a data set is given: nothing to adjust with")
    what = _averaged(average)
    return Chance(reason=f"the database has no constants for {what}; give num_candidates")


def _of_set(metric: Metric, evaluation_set: EvaluationSet) -> Chance:
    row = evaluation_set.row(metric)
    if row is None:
        missing = f"{metric.label} of {evaluation_set.side} is not in the database"
        return Chance(reason=missing if metric.has_moments else _NO_MOMENTS)
    return Chance(**{field.name: row[field.name] for field in fields(Chance)})


def _of_candidates(metric: Metric, average: str, side: str, tasks: Tasks) -> Moments:
    """Return the moments under the independent null, from the number of candidates of each task."""
    if average == "micro" and not tasks.weighted:
        return metric_moments(metric, *tasks.histograms[side])
    if metric.additive:
        positions = tasks.sides[side]
        counts, weights = tasks.counts[positions], tasks.weights[positions]
        return _of_weighted_mean(metric, counts, weights, tasks.groups[average][positions])
    if not metric.has_moments:
        return Moments(None, None, "none", _NO_MOMENTS)
    reason = f"not a mean over the tasks: no exact moments for {_averaged(average)}"
    return Moments(None, None, "none", reason)


def _of_weighted_mean(metric: Metric, counts: FloatArray, weights: FloatArray, groups: IntArray) -> Moments:
    """Return the moments of the mean over groups of sum w f(r) / sum w: exact, since the tasks are independent."""
    counted = (weights > 0) & (counts >= metric.least_candidates)
    if not counted.any():
        return Moments(None, None, "none", "there are no tasks that count")
    counts, weights, groups = counts[counted], weights[counted], groups[counted]
    distinct, place = np.unique(counts, return_inverse=True)
    mean, variance = (moment[place] for moment in mean_and_variance(metric, distinct))
    total = np.bincount(groups, weights)
    present = total > 0
    expectations = np.bincount(groups, weights * mean)[present] / total[present]
    variances = np.bincount(groups, weights**2 * variance)[present] / total[present] ** 2
    number = expectations.size
    return Moments(float(expectations.mean()), float(variances.sum() / number**2), "weighted mean")


def _averaged(average: str) -> str:
    return "averages over groups" if average == "macro" else "weighted tasks"
