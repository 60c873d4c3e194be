"""p of the metrics of tasks, from their own numbers of candidates or the histogram of their evaluation set."""

import numpy as np
import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.chance.tails import ChanceTails
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.database.histograms import NO_HISTOGRAM
from rankadjust.evaluation.tasks import Tasks


def add_p_values(rows: pl.DataFrame, tasks: Tasks, evaluation_set: EvaluationSet | None) -> pl.DataFrame:
    """Add log10_p_independent to rows with average, side, metric and value, and reason_p where it is null.

    The value is known to all its digits, so it is not rounded first.
    """
    tails = {
        (average, side): _tails(average, side, tasks, evaluation_set)
        for average in tasks.groups
        for side in tasks.sides
    }
    key = ["average", "side", "metric"]
    parts = [
        _with_p(
            part,
            str(group[2]),
            tails[str(group[0]), str(group[1])],
            _why_not(str(group[0]), tasks, evaluation_set),
        )
        for group, part in rows.group_by(key, maintain_order=True)
    ]
    return rows.join(pl.concat(parts), on=[*key, "rank_type"], how="left", maintain_order="left")


def _with_p(part: pl.DataFrame, key: str, tails: ChanceTails | None, reason: str | None) -> pl.DataFrame:
    logs, metric = np.full(part.height, np.nan), resolve(key)
    if tails is not None:
        logs, reason = tails.log10_p(metric, part["value"].to_numpy()), tails.why_not(metric)
    return part.select(
        "average",
        "side",
        "metric",
        "rank_type",
        log10_p_independent=pl.Series(logs, dtype=pl.Float64).fill_nan(None),
        reason_p=pl.lit(reason, dtype=pl.String),
    )


def _tails(average: str, side: str, tasks: Tasks, evaluation_set: EvaluationSet | None) -> ChanceTails | None:
    if average != "micro" or tasks.weighted:
        return None
    if tasks.counts_known:
        return ChanceTails(*tasks.histograms[side])
    if evaluation_set is None:
        return None
    return evaluation_set.of_side(side).tails


def _why_not(average: str, tasks: Tasks, evaluation_set: EvaluationSet | None) -> str:
    if average != "micro":
        return "no p for averages over groups"
    if tasks.weighted:
        return "no p for weighted tasks"
    return NO_HISTOGRAM if evaluation_set is None else evaluation_set.histograms.missing
