"""Evaluation: from the ranks or scores of a model to its metrics, adjusted for chance (docs/evaluate.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TASK_SIDES
from rankadjust.chance.metrics import FAMILIES, Metric, expand
from rankadjust.chance.moments import Moments, metric_moments
from rankadjust.chance.terms import mean_and_variance
from rankadjust.database.adjustments import add_adjusted, add_coefficients
from rankadjust.database.evaluation_sets import (
    CANDIDATES,
    EvaluationSet,
    beside_database,
    find_evaluation_set,
    load_candidates,
)
from rankadjust.evaluation.rank_files import TIED, tasks_from
from rankadjust.evaluation.resampling import bootstrap_counts
from rankadjust.evaluation.weighting import Arrangement, arrange, averages

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

KS = (1, 3, 5, 10)
DRAWS = 1000
# The ends of a 95 % interval.
_QUANTILES = (0.025, 0.975)

RESULT = pl.Schema(
    {
        "average": pl.String,
        "side": pl.String,
        "rank_type": pl.String,
        "metric": pl.String,
        "tasks": pl.Int64,
        "value": pl.Float64,
        "value_low": pl.Float64,
        "value_high": pl.Float64,
        "expectation": pl.Float64,
        "ratio": pl.Float64,
        "index": pl.Float64,
        "index_low": pl.Float64,
        "index_high": pl.Float64,
        "z": pl.Float64,
        "z_random_scorer": pl.Float64,
        "log10_p": pl.Float64,
        "reason": pl.String,
    }
)
_MOMENTS = {
    "average": pl.String,
    "side": pl.String,
    "metric": pl.String,
    "expectation": pl.Float64,
    "variance": pl.Float64,
    "variance_random_scorer": pl.Float64,
    "reason": pl.String,
}


@dataclass(frozen=True)
class _Tasks:
    """Tasks as arrays (n,).

    sides: positions of the tasks of each side; kinds: ranks by their type; counts: nan where not known; groups: what
    each average goes over (micro: one group of all tasks; macro: the user's); units and strata: of the bootstrap.
    """

    sides: Mapping[str, IntArray]
    kinds: Mapping[str, FloatArray]
    counts: FloatArray
    weights: FloatArray
    groups: Mapping[str, IntArray]
    units: IntArray
    strata: Sequence[IntArray]

    @property
    def weighted(self) -> bool:
        """Whether some tasks weigh more than others."""
        return bool((self.weights != self.weights[0]).any())


@dataclass(frozen=True)
class _Part:
    """What one row for each metric is computed from."""

    average: str
    side: str
    rank_type: str
    tasks: Arrangement


def evaluate(  # noqa: PLR0913 - options of the public API, by name only
    ranks: str | Path | pl.DataFrame | ArrayLike,
    *,
    num_candidates: ArrayLike | None = None,
    dataset: str | None = None,
    protocol: str = "filtered",
    split: str = "testing",
    database: pl.DataFrame | str | Path | None = None,
    candidates: pl.DataFrame | str | Path | None = None,
    metrics: Sequence[str] = tuple(FAMILIES),
    draws: int = DRAWS,
    seed: int = 0,
) -> pl.DataFrame:
    """Return every metric of a model's ranks for each side and type of rank, adjusted for chance.

    ranks: a file (Parquet, CSV, TSV) or a folder of them, or a frame, with the columns rank (or optimistic and
        pessimistic, whose mean is the realistic rank) and optionally side (head, tail), triple, num_candidates,
        weight and group; an .npz file or a folder with scores (`rankadjust.evaluation.scores.read_scores`); or a
        list of ranks.
    num_candidates: of each task, the true answer included, or one number for all; in place of a column.
    dataset, protocol, split: whose constants of the database to adjust with. Without a data set the expectation and
        variance are computed from num_candidates, where they are known; z_random_scorer needs the database.
    database: a frame or a file as `load_database` takes it. candidates: histograms of the candidates, likewise; None
        means the file candidates.parquet beside the database, if there is one.
    metrics: keys or aliases; hits_at_k and the like stand for k = 1, 3, 5, 10.
    draws: bootstrap samples of the 95 % percentile intervals (0: none), of triples where the column triple is given,
        otherwise of tasks within each side. seed: of numpy's default generator.

    The result has the columns of RESULT, one row for each average (micro: over tasks; macro: over groups, where there
    are groups), side (head, tail, both), rank_type (given; or optimistic, realistic, pessimistic) and metric. value
    is a fraction, or a rank; value_low to value_high and index_low to index_high are the bootstrap intervals, with
    expectation and variance held fixed. What does not exist is null, and reason says why.

    Raises RankadjustError for ranks or names that are wrong, and for ranks that do not fit the evaluation set.
    docs/methods.md, "Adjustments", defines ratio, index and z.

    >>> result = evaluate([2, 1, 4], num_candidates=10, metrics=["mrr", "hits@1", "hits@3"], draws=0)
    >>> for row in result.select("metric", "value", "expectation", "index").rows():
    ...     print(row[0], *(round(number, 4) for number in row[1:]))
    inverse_harmonic_mean_rank 0.5833 0.2929 0.4107
    hits_at_1 0.3333 0.1 0.2593
    hits_at_3 0.6667 0.3 0.5238
    """
    frame = tasks_from(ranks, num_candidates)
    chosen = expand(metrics, KS)
    if draws < 0:
        raise RankadjustError(f"draws is {draws}; it must be 0 or more")
    evaluation_set = None
    if dataset is not None:
        evaluation_set = find_evaluation_set(database, dataset, protocol, split)
        _check_fit(frame, evaluation_set, _largest_counts(evaluation_set, database, candidates))
    tasks = _arrays(frame)
    moments = pl.DataFrame(
        [
            (average, side, metric.key, *_moments(metric, average, side, tasks, evaluation_set))
            for average in tasks.groups
            for side in tasks.sides
            for metric in chosen
        ],
        schema=_MOMENTS,
        orient="row",
    )
    values = _values(chosen, tasks, draws, seed)
    rows = values.join(
        add_coefficients(moments), on=["average", "side", "metric"], how="left", maintain_order="left"
    )
    return (
        add_adjusted(rows)
        .with_columns(reason=pl.coalesce("no_value", "reason"))
        .select(RESULT.names())
        .cast(RESULT)
    )


def _arrays(frame: pl.DataFrame) -> _Tasks:
    number = frame.height
    everything = np.arange(number)
    sides = {"both": everything}
    if "side" in frame.columns:
        found = {side: frame["side"].eq(side).arg_true().to_numpy().astype(np.int64) for side in TASK_SIDES}
        present = {side: positions for side, positions in found.items() if positions.size}
        sides = present | (sides if len(present) > 1 else {})
    if "triple" in frame.columns:
        units = _codes(frame["triple"])
        strata = [np.arange(units.max() + 1)]
    else:
        units = everything
        strata = [positions for side, positions in sides.items() if side != "both"] or [everything]
    groups = {"micro": np.zeros_like(everything)}
    if "group" in frame.columns:
        groups["macro"] = _codes(frame["group"])
    return _Tasks(
        sides=sides,
        kinds=_kinds(frame),
        counts=_column(frame, "num_candidates", np.nan),
        weights=_column(frame, "weight", 1.0),
        groups=groups,
        units=units,
        strata=strata,
    )


def _codes(column: pl.Series) -> IntArray:
    return (column.rank("dense") - 1).cast(pl.Int64).to_numpy()


def _column(frame: pl.DataFrame, name: str, default: float) -> FloatArray:
    return frame[name].to_numpy() if name in frame.columns else np.full(frame.height, default)


def _kinds(frame: pl.DataFrame) -> Mapping[str, FloatArray]:
    kinds = {"given": frame["rank"].to_numpy()} if "rank" in frame.columns else {}
    if {*TIED} <= {*frame.columns}:
        optimistic, pessimistic = (frame[name].to_numpy() for name in TIED)
        kinds |= {
            "optimistic": optimistic,
            "realistic": (optimistic + pessimistic) / 2,
            "pessimistic": pessimistic,
        }
    return kinds


# --- values and their intervals -----------------------------------------------------------------------------


def _parts(metrics: Sequence[Metric], tasks: _Tasks) -> Iterator[_Part]:
    """Yield what is to be computed; where nothing is tied, the types of rank share one arrangement."""
    for average, groups in tasks.groups.items():
        for side, positions in tasks.sides.items():
            arranged: list[tuple[FloatArray, Arrangement]] = []
            for rank_type, ranks in tasks.kinds.items():
                own = ranks[positions]
                found = next((known for other, known in arranged if np.array_equal(own, other)), None)
                if found is None:
                    found = arrange(metrics, positions, ranks, tasks.counts, groups)
                    arranged.append((own, found))
                yield _Part(average, side, rank_type, found)


def _values(metrics: Sequence[Metric], tasks: _Tasks, draws: int, seed: int) -> pl.DataFrame:
    """Return value, value_low and value_high for each part and metric, and why there is none (no_value)."""
    measured = [metric for metric in metrics if metric.key != "count"]
    parts = list(_parts(measured, tasks))
    distinct = {id(part.tasks): part.tasks for part in parts}
    samples: dict[int, list[FloatArray]] = {key: [] for key in distinct}
    for counts in bootstrap_counts(tasks.units, tasks.strata, draws, seed):
        weights = counts * tasks.weights[:, None]
        for key, arrangement in distinct.items():
            samples[key].append(averages(arrangement, weights))
    rows = []
    for part in parts:
        value = averages(part.tasks, tasks.weights[:, None])[:, 0]
        known = dict(zip((metric.key for metric in measured), value, strict=True))
        ends = dict(zip(known, _intervals(samples[id(part.tasks)], len(measured)), strict=True))
        size = tasks.sides[part.side].size
        rows += [
            (part.average, part.side, part.rank_type, metric.key, size, known[metric.key], *ends[metric.key])
            if metric.key in known
            else (part.average, part.side, part.rank_type, metric.key, size, float(size), np.nan, np.nan)
            for metric in metrics
        ]
    names = ("average", "side", "rank_type", "metric", "tasks", "value", "value_low", "value_high")
    frame = pl.DataFrame(rows, schema={name: RESULT[name] for name in names}, orient="row")
    unknown = "the number of candidates of each task is not known"
    reason = unknown if np.isnan(tasks.counts).any() else "every task has one candidate"
    return frame.with_columns(pl.col("value", "value_low", "value_high").fill_nan(None)).with_columns(
        no_value=pl.when(pl.col("value").is_null()).then(pl.lit(reason))
    )


def _intervals(samples: Sequence[FloatArray], metrics: int) -> FloatArray:
    """Return the ends (m, 2) of the percentile intervals; a sample without a value does not count."""
    if not samples:
        return np.full((metrics, 2), np.nan)
    ends = np.full((metrics, 2), np.nan)
    for number, values in enumerate(np.concatenate(samples, axis=1)):
        present = values[~np.isnan(values)]
        if present.size:
            ends[number] = np.quantile(present, _QUANTILES)
    return ends


# --- what chance gives --------------------------------------------------------------------------------------


def _moments(
    metric: Metric, average: str, side: str, tasks: _Tasks, evaluation_set: EvaluationSet | None
) -> tuple[float | None, float | None, float | None, str | None]:
    """Return expectation, variance and variance_random_scorer of a metric, and why they are missing."""
    known = not np.isnan(tasks.counts).any()
    if evaluation_set is not None and average == "micro" and not tasks.weighted:
        return _from_database(metric, side, evaluation_set)
    if known:
        found = _computed(metric, average, side, tasks)
        return found.expectation, found.variance, None, found.reason
    if evaluation_set is None:
        return None, None, None, "neither num_candidates nor a data set is given: nothing to adjust with"
    what = "averages over groups" if average == "macro" else "weighted tasks"
    return None, None, None, f"the database has no constants for {what}; give num_candidates"


def _from_database(
    metric: Metric, side: str, evaluation_set: EvaluationSet
) -> tuple[float | None, float | None, float | None, str | None]:
    rows = evaluation_set.constants.filter(pl.col("side") == side, pl.col("metric") == metric.key)
    if rows.is_empty():
        why = f"{metric.key} of {side} is not in the database" if metric.has_moments else _NO_MOMENTS
        return None, None, None, why
    row = rows.row(0, named=True)
    return row["expectation"], row["variance"], row["variance_random_scorer"], row["reason"]


_NO_MOMENTS = "no exact moments are known for this metric"


def _computed(metric: Metric, average: str, side: str, tasks: _Tasks) -> Moments:
    """Return the moments of a metric under the independent null, from the candidates of each task."""
    positions = tasks.sides[side]
    counts, weights = tasks.counts[positions], tasks.weights[positions]
    if average == "micro" and not tasks.weighted:
        return metric_moments(metric, *np.unique(counts, return_counts=True))
    if metric.additive:
        return _of_weighted_mean(metric, counts, weights, tasks.groups[average][positions])
    if not metric.has_moments:
        return Moments(None, None, "none", _NO_MOMENTS)
    what = "averages over groups" if average == "macro" else "weighted tasks"
    return Moments(None, None, "none", f"not a mean over the tasks: no exact moments for {what}")


def _of_weighted_mean(metric: Metric, counts: FloatArray, weights: FloatArray, groups: IntArray) -> Moments:
    """Return the moments of the mean over groups of sum w f(r) / sum w: exact, since the tasks are independent."""
    counted = (weights > 0) & (counts > (metric.family == "auc"))
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


# --- do the ranks belong to the evaluation set? -------------------------------------------------------------


def _largest_counts(
    evaluation_set: EvaluationSet,
    database: pl.DataFrame | str | Path | None,
    candidates: pl.DataFrame | str | Path | None,
) -> Mapping[str, int]:
    """Return the largest number of candidates of each side: of the histogram, or else the number of entities."""
    entities = evaluation_set.constants.group_by("side").agg(pl.col("entities").max()).drop_nulls()
    largest: dict[str, int] = dict(entities.iter_rows())
    if candidates is None and not isinstance(database, pl.DataFrame):
        beside = beside_database(database, CANDIDATES)
        candidates = beside if beside.exists() else None
    if candidates is not None:
        histogram = candidates if isinstance(candidates, pl.DataFrame) else load_candidates(candidates)
        largest |= _of_histogram(histogram, evaluation_set)
    return largest


def _of_histogram(histogram: pl.DataFrame, evaluation_set: EvaluationSet) -> Mapping[str, int]:
    chosen = histogram.filter(
        pl.col("dataset") == evaluation_set.dataset,
        pl.col("protocol") == evaluation_set.protocol,
        pl.col("split") == evaluation_set.split,
    )
    sides = dict(chosen.group_by("side").agg(pl.col("num_candidates").max()).iter_rows())
    return sides | ({"both": max(sides.values())} if sides else {})


def _check_fit(frame: pl.DataFrame, evaluation_set: EvaluationSet, largest: Mapping[str, int]) -> None:
    """Raise RankadjustError where the tasks cannot be those of the evaluation set."""
    by_side = {"both": frame}
    if "side" in frame.columns:
        by_side = {side: frame.filter(pl.col("side") == side) for side in TASK_SIDES}
        by_side = {side: rows for side, rows in by_side.items() if rows.height}
    for side, rows in by_side.items():
        constants = evaluation_set.constants.filter(pl.col("side") == side)
        if constants.is_empty():
            has = ", ".join(evaluation_set.constants["side"].unique().sort().to_list())
            raise RankadjustError(f"{evaluation_set} has no tasks of side {side}, only of {has}")
        known = constants["tasks"].drop_nulls().unique().to_list()
        if known and rows.height not in known:
            hint = "" if side != "both" else "; if these are ranks of one side, add the column side"
            raise RankadjustError(
                f"{evaluation_set} has {known[0]:,} tasks of side {side}, but there are {rows.height:,} ranks: "
                f"another data set, protocol or split?{hint}"
            )
        _check_ranks(rows, side, evaluation_set, largest.get(side))
        _check_counts(rows, side, evaluation_set, constants)


def _check_ranks(rows: pl.DataFrame, side: str, evaluation_set: EvaluationSet, most: int | None) -> None:
    worst = max(rows[name].to_numpy().max() for name in ("rank", *TIED) if name in rows.columns)
    if most is not None and worst > most:
        raise RankadjustError(
            f"a rank of side {side} is {worst:,.10g}, but {evaluation_set} has at most {most:,} candidates there: "
            "another data set, protocol or split?"
        )


def _check_counts(
    rows: pl.DataFrame, side: str, evaluation_set: EvaluationSet, constants: pl.DataFrame
) -> None:
    mean_rank = constants.filter(pl.col("metric") == "arithmetic_mean_rank")["expectation"].drop_nulls()
    if "num_candidates" not in rows.columns or mean_rank.is_empty():
        return
    # The expected mean rank is half of (mean N + 1).
    expected, given = 2 * mean_rank[0] - 1, rows["num_candidates"].to_numpy().mean()
    if abs(given - expected) > 1e-9 * expected:
        raise RankadjustError(
            f"the mean of num_candidates of side {side} is {given:,.10g}, but {evaluation_set} has {expected:,.10g}: "
            "another data set, protocol or split?"
        )
