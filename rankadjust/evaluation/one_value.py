"""One printed value, adjusted with the constants of the database."""

from dataclasses import dataclass

import polars as pl

from rankadjust.base.errors import ImpossibleValueError, RankadjustError
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.chance.typed import Typed, typed_value
from rankadjust.database.adjustments import add_adjusted, is_bounded, stated_scores
from rankadjust.database.constants import Candidates, Database
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.database.histograms import add_p


@dataclass(frozen=True)
class Adjusted:
    """A value of a metric and what chance makes of it; a share is a fraction. What does not exist is None.

    value_low and value_high: the values that are printed like this one; index_low and index_high: their index.
    log10_p_independent: log10 of the probability that independent random ranks are at least as good as the worst of
    the values that are printed alike; reason_p: why it is None.
    status: ok; or bounded, where the constants are known within bounds only: then expectation_low and expectation_high
    are those of the expectation, which is their middle, index that of the middle, index_low to index_high and z_low to
    z_high what rounding and bounds allow together, and z None. Otherwise the four bounds are None.
    tasks: how many ranks the metric is computed from. reason: why something is None; reason_random_scorer: why
    z_random_scorer is None, or which scorer was taken because nobody said. scores_used: per_time or static for
    temporal data, None where the two are the same.
    """

    status: str
    value: float
    value_low: float | None
    value_high: float | None
    expectation: float
    expectation_low: float | None
    expectation_high: float | None
    ratio: float | None
    index: float | None
    index_low: float | None
    index_high: float | None
    z: float | None
    z_low: float | None
    z_high: float | None
    z_random_scorer: float | None
    scores_used: str | None
    log10_p_independent: float | None
    tasks: int | None
    reason: str | None
    reason_random_scorer: str | None
    reason_p: str | None
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
    protocol: str = "filtered",
    split: str = "testing",
    side: str = "both",
    scores: str | None = None,
    database: Database = None,
    candidates: Candidates = None,
) -> Adjusted:
    """Return the ratio, index and z of a metric's value, and what chance gives.

    value: a fraction or a rank. Text keeps the printed digits, which give the rounding interval: "0.338" stands for
        [0.3375, 0.3385], and so do "33.8%" and "0,338"; a number has none. rankadjust.base.printed tells what is
        read as a number; a spread ("0.338 ± 0.002") is left out of account. "1,234" is 1234, but 1.234 for a metric
        that cannot exceed 1.
    dataset, metric: names or aliases. protocol, split, side: of the evaluation (side: head, tail or both).
    scores: for temporal data, whether the model scores a triple anew at every time (per_time) or once for all times
        (static); None: the random scorer of the two that varies more is taken for z_random_scorer.
    database: a frame or a file as `load_database` takes it; None means the released one. candidates: histograms of the
        candidates, likewise; None means the file candidates.parquet beside the database, if there is one. p needs them.

    Raises RankadjustError for a value that is no number or impossible for the metric, for unknown names, and where
    the database has no constants. docs/methods.md, "Adjustments", defines the results.

    >>> from rankadjust.database.store import assemble
    >>> constants = {
    ...     "dataset": "Nations", "protocol": "filtered", "split": "testing", "side": "both",
    ...     "metric": "inverse_harmonic_mean_rank", "entities": 14, "tasks": 402,
    ...     "expectation": 0.3844414082699486, "variance": 1.8117984421965722e-04,
    ...     "variance_random_scorer": 3.15e-04, "method": "closed form", "reason": None,
    ... }
    >>> nations = assemble([pl.DataFrame(constants)])
    >>> found = adjust("0.4304", dataset="nations", metric="mrr", database=nations)
    >>> round(found.index, 4), round(found.index_low, 4), round(found.index_high, 4)
    (0.0747, 0.0746, 0.0747)
    >>> round(found.z, 2), round(found.z_random_scorer, 2)
    (3.41, 2.59)
    """
    wanted = resolve(metric)
    given = typed_value(value, wanted)
    evaluation_set = evaluation_set_of(dataset, protocol, split, side, database, candidates)
    return _adjusted(given, wanted, stated_scores(scores), evaluation_set)


def _adjusted(value: Typed, metric: Metric, scores: str | None, evaluation_set: EvaluationSet) -> Adjusted:
    rows = evaluation_set.moments([metric.key])
    if rows.is_empty():
        raise RankadjustError(evaluation_set.why_absent(metric))
    limit = evaluation_set.why_impossible(metric, *value.ends)
    if limit is not None:
        raise ImpossibleValueError(f"{limit}, so {value.text} cannot be its value")
    status = pl.when(is_bounded()).then(pl.lit("bounded")).otherwise(pl.lit("ok"))
    adjusted = add_adjusted(
        rows.with_columns(
            status=status,
            value=pl.lit(value.value, dtype=pl.Float64),
            value_low=pl.lit(value.low, dtype=pl.Float64),
            value_high=pl.lit(value.high, dtype=pl.Float64),
            scores=pl.lit(scores, dtype=pl.String),
        )
    )
    row = add_p(adjusted, evaluation_set.histograms).row(0, named=True)
    if row["expectation"] is None:
        raise RankadjustError(f"{metric.key} has no expectation for {evaluation_set}: {row['reason']}")
    return Adjusted(**{name: row[name] for name in Adjusted.__dataclass_fields__})
