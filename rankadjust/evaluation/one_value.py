"""One printed value, adjusted with the constants of the database, and p under a random scorer by draws."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from rankadjust.base.errors import ImpossibleValueError, RankadjustError
from rankadjust.chance.drawn_scorer import DRAWS, FAR, MOST_TASKS, draws_reaching
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.chance.typed import Typed, typed_value
from rankadjust.counting.evaluators import as_evaluator_prints
from rankadjust.database.arithmetic import adjusted, stated_scores
from rankadjust.database.constants import Database
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.database.store import APPROXIMATE


@dataclass(frozen=True)
class Adjusted:
    """A value of a metric with its adjustments; a share is a fraction. Missing adjustments are None.

    Attributes
    ----------
    status : str
        ok; or bounded, where the constants are known within bounds only: then expectation and index are the middle of
        their bounds, index_low to index_high and z_low to z_high allow for rounding and bounds together, and z is
        None; or approximate, where nobody counted the candidates and there are about as many as documented entities.
    value, value_low, value_high : float
        The value, and the ends of the interval that rounds to it.
    expectation, expectation_low, expectation_high : float
        Of the metric under chance; the ends where the status is bounded.
    optimum : float
        The value of a perfect ranking.
    ratio, index, index_low, index_high, z, z_low, z_high : float
        The adjusted values, and their ends over the values that are printed alike. z is in standard deviations of
        independent random ranks.
    z_random_scorer : float
        z in standard deviations of a random scorer. scores_used: per_time or static, for temporal data.
    p_random_scorer, draws_reaching : float, int
        Of at most 2,500 tasks, where z_random_scorer is within 10: in how many of 10,000 draws a random scorer is at
        least as good as the worst of the values that are printed alike, and p = (1 + draws_reaching) / 10,001.
    baseline, baseline_value : str, float
        The counting baseline that the value is compared with, and the baseline's value.
    gain, gain_low, gain_high : float
        (value - baseline_value) / (optimum - baseline_value), and its ends over the values that are printed alike.
    tasks : int
        How many ranks the metric is computed from.
    reason, reason_random_scorer, reason_gain : str
        Why something, z_random_scorer or the gain is None, or which scorer was taken because nobody said.
    dataset, protocol, split, side, metric : str
        The evaluation set, and the key of the metric.

    """

    status: str
    value: float
    value_low: float | None
    value_high: float | None
    expectation: float
    expectation_low: float | None
    expectation_high: float | None
    optimum: float
    ratio: float | None
    index: float | None
    index_low: float | None
    index_high: float | None
    z: float | None
    z_low: float | None
    z_high: float | None
    z_random_scorer: float | None
    scores_used: str | None
    p_random_scorer: float | None
    draws_reaching: int | None
    tasks: int | None
    reason: str | None
    reason_random_scorer: str | None
    baseline: str | None
    baseline_value: float | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    reason_gain: str | None
    dataset: str
    protocol: str
    split: str
    side: str
    metric: str


def adjust(  # noqa: PLR0913 - options of the public API, by name only
    value: float | str,
    *,
    dataset: str | EvaluationSet,
    metric: str,
    protocol: str | None = None,
    split: str | None = None,
    side: str | None = None,
    scores: str | None = None,
    against: str | None = None,
    database: Database = None,
    evaluator: str | None = None,
) -> Adjusted:
    """Return the ratio, index and z of a printed value, and its expectation under chance.

    docs/methods.md, "Adjustments", defines the results.

    Parameters
    ----------
    value : float or str
        A fraction or a rank. Pass text, because its digits give the rounding interval, which a number has lost: "0.338"
        stands for [0.3375, 0.3385], and so do "33.8%" and "0,338". A spread ("0.338 ± 0.002") is ignored. "1,234" is
        1234, but 1.234 for a metric that cannot exceed 1.
    dataset : str or EvaluationSet
        The name or alias of a data set, or an evaluation set, which has a protocol, a split and a side, too.
    metric : str
        A key or an alias, such as 'mrr' or 'hits@10'.
    protocol, split, side : str
        Names in any spelling, or aliases; side is head, tail or both. None means the usual evaluation of the data set,
        which most published values follow (config/usual.csv).
    scores : str, optional
        For temporal data, per_time if the model scores a triple anew at each time, or static if it scores a triple once
        for all times. None takes whichever varies more, for z_random_scorer.
    against : str, optional
        The counting baseline for the gain (docs/methods-baselines.md). None means the best, chosen on validation.
    database : Constants, str or Path, optional
        The constants to adjust with, or the path of a database file; None means the release. The histograms of the
        candidates come with the constants, because p needs them.
    evaluator : str, optional
        The code that computed the value, such as 'ULTRA'. It stands for protocol, split and side, and says what its
        names of metrics mean.

    Returns
    -------
    Adjusted
        Value, expectation, ratio, index and z with their intervals, and the reasons why any is None.

    Raises
    ------
    ImpossibleValueError
        For a value that the metric, or any ranking of these candidates, cannot have.
    RankadjustError
        For a value that is not a number, for unknown names, and if the database has no constants.

    Examples
    --------
    >>> value = adjust("0.4304", dataset="nations", metric="mrr")
    >>> round(value.index, 4), round(value.index_low, 4), round(value.index_high, 4)
    (0.0747, 0.0746, 0.0747)
    >>> round(value.z, 2), round(value.z_random_scorer, 2)
    (3.41, 2.59)

    """
    name, added = (metric, 0.0) if evaluator is None else as_evaluator_prints(evaluator, metric)
    wanted = resolve(name)
    given = typed_value(value, wanted, added)
    evaluation_set = evaluation_set_of(dataset, protocol, split, side, database, evaluator)
    return _adjusted(given, wanted, stated_scores(scores), against, evaluation_set)


def _adjusted(
    value: Typed, metric: Metric, scores: str | None, against: str | None, evaluation_set: EvaluationSet
) -> Adjusted:
    row = dict(_constants(evaluation_set, metric, against))
    why = evaluation_set.histograms.why_impossible
    limit = why(evaluation_set.evaluation, metric, *value.ends)
    if limit is not None:
        others = evaluation_set.under_others()
        fitting = [one.protocol for one in others if why(one.evaluation, metric, *value.ends) is None]
        fits = f"; it can be under {' and '.join(fitting[:3])}" if fitting else ""
        raise ImpossibleValueError(f"{limit}, so {value.text} cannot be its value{fits}")
    row |= {"value": value.value, "value_low": value.low, "value_high": value.high, "scores": scores}
    row["status"] = "bounded" if row["expectation"] is None and row["expectation_low"] is not None else "ok"
    row["status"] = "approximate" if row["method"] == APPROXIMATE else row["status"]
    row = adjusted(row)
    if row["baseline"] is not None and row["gain"] is None:
        row["reason_gain"] = f"{row['baseline']} is perfect already, so nothing can be gained"
    worst = value.ends[0 if metric.increasing else 1]
    if row["expectation"] is None:
        hint = "; give --num-candidates in place of --dataset" if evaluation_set.tasks is None else ""
        raise RankadjustError(
            f"{metric.label} has no expectation for {evaluation_set}: {row['reason']}{hint}"
        )
    reached = _reaching_draws(row, worst, metric, evaluation_set)
    row |= {
        "draws_reaching": reached,
        "p_random_scorer": None if reached is None else (1 + reached) / (1 + DRAWS),
    }
    return Adjusted(**{name: row[name] for name in Adjusted.__dataclass_fields__})


# A script adjusts many values of one set: to look these up takes longer than everything else.
@lru_cache(maxsize=64)
def _constants(evaluation_set: EvaluationSet, metric: Metric, against: str | None) -> Mapping[str, Any]:
    """Return the constants of a metric, and baseline, baseline_value and reason_gain."""
    row = evaluation_set.row(metric)
    if row is None:
        raise RankadjustError(evaluation_set.why_absent(metric))
    compared = evaluation_set.compared(metric, against)
    return row | dict(zip(("baseline", "baseline_value", "reason_gain"), compared, strict=True))


def _reaching_draws(
    row: Mapping[str, Any], value: float, metric: Metric, evaluation_set: EvaluationSet
) -> int | None:
    """Return in how many draws a random scorer is at least as good, None without need to draw, or without counts.

    row: tasks, z_random_scorer, scores_used, variance_random_scorer and variance_static_scorer.
    """
    z, tasks, is_static = row["z_random_scorer"], row["tasks"], row["scores_used"] == "static"
    if tasks is None or tasks > MOST_TASKS or z is None or abs(z) >= FAR:
        return None
    shared = "static_shared_pairs" if is_static else "shared_pairs"
    *names, side = evaluation_set.evaluation
    counts = evaluation_set.histograms.counts(*names).filter(
        (pl.col("tasks") > 0) & ((pl.col("side") == side) | pl.lit(side == "both"))
    )
    if not counts.height or shared not in counts.columns or counts[shared].null_count():
        return None
    rows = counts.select("side", "num_candidates", "tasks", shared).rows()
    variance = row["variance_static_scorer" if is_static else "variance_random_scorer"]
    return draws_reaching(tuple(rows), metric, value, variance**0.5)
