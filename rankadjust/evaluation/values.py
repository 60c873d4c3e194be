"""The value of every metric for each average, side and type of rank, and the bootstrap interval of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankadjust.chance.metrics import Metric
from rankadjust.evaluation.resampling import bootstrap_counts
from rankadjust.evaluation.tasks import Tasks
from rankadjust.evaluation.weighting import Arrangement, arrange, averages

FloatArray = NDArray[np.float64]

# The ends of a 95 % interval.
_QUANTILES = (0.025, 0.975)

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
        "no_value": pl.String,
    }
)


@dataclass(frozen=True)
class _Part:
    """The ranks of one type that one average of one side goes over; `arrangement` is a position in a list."""

    average: str
    side: str
    rank_type: str
    arrangement: int


def metric_values(metrics: Sequence[Metric], tasks: Tasks, draws: int, seed: int) -> pl.DataFrame:
    """Return one row of VALUES for each average, side, type of rank and metric.

    draws, seed: of the bootstrap. value is null where the metric does not exist, and no_value says why.
    """
    parts, arrangements = _parts([metric for metric in metrics if metric.key != "count"], tasks)
    samples = _samples(arrangements, tasks, draws, seed)
    measured = [
        np.column_stack([averages(arrangement, tasks.weights[:, None]), _intervals(drawn)])
        for arrangement, drawn in zip(arrangements, samples, strict=True)
    ]
    rows = []
    for part in parts:
        size = tasks.sides[part.side].size
        arrangement = arrangements[part.arrangement]
        keys = [metric.key for metric in arrangement.metrics]
        found = dict(zip(keys, measured[part.arrangement].tolist(), strict=True))
        # The number of tasks is the same in every bootstrap sample: it has no interval.
        found["count"] = [float(size), np.nan, np.nan]
        rows += [
            (part.average, part.side, part.rank_type, metric.key, size, *found[metric.key], None)
            for metric in metrics
        ]
    missing = "every task has one candidate"
    if not tasks.counts_known:
        missing = "the number of candidates of each task is not known"
    return (
        pl.DataFrame(rows, schema=VALUES, orient="row")
        .with_columns(pl.col("value", "value_low", "value_high").fill_nan(None))
        .with_columns(no_value=pl.when(pl.col("value").is_null()).then(pl.lit(missing)))
    )


def _parts(metrics: Sequence[Metric], tasks: Tasks) -> tuple[list[_Part], list[Arrangement]]:
    """Return what is to be computed, and the arrangements; types of rank that are equal throughout share one."""
    parts: list[_Part] = []
    arrangements: list[Arrangement] = []
    for average, groups in tasks.groups.items():
        for side, positions in tasks.sides.items():
            arranged: list[tuple[FloatArray, int]] = []
            for rank_type, ranks in tasks.ranks.items():
                own = ranks[positions]
                number = next((known for other, known in arranged if np.array_equal(own, other)), None)
                if number is None:
                    number = len(arrangements)
                    arrangements.append(arrange(metrics, positions, ranks, tasks.counts, groups))
                    arranged.append((own, number))
                parts.append(_Part(average, side, rank_type, number))
    return parts, arrangements


def _samples(arrangements: Sequence[Arrangement], tasks: Tasks, draws: int, seed: int) -> list[FloatArray]:
    """Return the metrics (m, draws) of each arrangement in every bootstrap sample."""
    samples = [[np.empty((len(arrangement.metrics), 0))] for arrangement in arrangements]
    for counts in bootstrap_counts(tasks.units, tasks.strata, draws, seed):
        weights = counts * tasks.weights[:, None]
        for blocks, arrangement in zip(samples, arrangements, strict=True):
            blocks.append(averages(arrangement, weights))
    return [np.concatenate(blocks, axis=1) for blocks in samples]


def _intervals(samples: FloatArray) -> FloatArray:
    """Return the ends (m, 2) of the percentile intervals of samples (m, draws); those without a value do not count."""
    ends = np.full((samples.shape[0], 2), np.nan)
    for number, values in enumerate(samples):
        present = values[~np.isnan(values)]
        if present.size:
            ends[number] = np.quantile(present, _QUANTILES)
    return ends
