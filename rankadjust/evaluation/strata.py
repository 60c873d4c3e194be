"""Evaluation part by part: by relation, number of candidates, cardinality or half-link (docs/compare.md).

Every part has the expectation, index and z of its own tasks. The parts add up: the mean of an additive metric over all
tasks is that over the parts, weighted with their tasks, and so are expectations and, with squared weights, variances.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.evaluation.evaluate import DRAWS, RESULT, evaluate
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.evaluation.task_attributes import with_attributes

STRATA = ("relation", "candidates", "cardinality", "half_link")
METRICS = ("mrr", "hits@10")
_BINS = 5


def evaluate_by(
    ranks: str | Path | pl.DataFrame | ArrayLike,
    by: str,
    *,
    tasks: str | Path | pl.DataFrame | None = None,
    num_candidates: ArrayLike | None = None,
    metrics: str | Sequence[str] = METRICS,
    draws: int = DRAWS,
    seed: int = 0,
) -> pl.DataFrame:
    """Return every metric of each part of the tasks, adjusted for chance by the candidates of this part.

    ranks, num_candidates, metrics, draws, seed: as `evaluate` takes them. by: relation, candidates (five ranges of the
    number of candidates, with about as many tasks each), cardinality or half_link. tasks: a table of the tasks as the
    workflow's target `tasks` writes it, for facts that the ranks do not have.

    The result has the column stratum and the columns of `RESULT`, one row for each part, average, side, type of rank
    and metric, the parts in the order of their names (candidates: of their numbers). z_random_scorer is null, since
    pairs of tasks that share a query are not counted part by part.
    Raises RankadjustError for an unknown `by`, and where it or the numbers of candidates are not known.
    """
    frame = tasks_from(ranks, num_candidates)
    if tasks is not None:
        frame = with_attributes(frame, tasks)
    require_known(frame, "num_candidates")
    labels, order = strata_of(frame, by)
    two_sided = "side" in frame.columns and frame["side"].n_unique() > 1
    parts = []
    for label in order:
        part = evaluate(frame.filter(labels == label), metrics=metrics, draws=draws, seed=seed)
        if two_sided and "both" not in part["side"]:
            # All its tasks are of one side: both sides together are the same tasks.
            part = pl.concat([part, part.with_columns(side=pl.lit("both"))])
        parts.append(part.select(pl.lit(label, pl.String).alias("stratum"), *RESULT.names()))
    return pl.concat(parts)


def strata_of(tasks: pl.DataFrame, by: str) -> tuple[pl.Series, list[str]]:
    """Return for each task the part that it is in, by its name, and the names in order; errors as `evaluate_by`."""
    name = by.strip().casefold().replace("-", "_")
    if name not in STRATA:
        hint = did_you_mean(name, STRATA) or f"; there are {', '.join(STRATA)}"
        raise RankadjustError(f"tasks are not told apart by '{by}'{hint}")
    if name == "candidates":
        require_known(tasks, "num_candidates")
        return _ranges(tasks["num_candidates"].to_numpy())
    require_known(tasks, name)
    return tasks[name], tasks[name].unique().sort().to_list()


def require_known(tasks: pl.DataFrame, column: str) -> None:
    """Raise RankadjustError where tasks lack a column."""
    if column not in tasks.columns:
        raise RankadjustError(
            f"the {column.replace('_', ' ')} of each task is not known: give --tasks with the file that the "
            f"workflow's target tasks writes, or a column {column}"
        )


def _ranges(counts: FloatArray) -> tuple[pl.Series, list[str]]:
    """Return for each task the range of numbers of candidates that it is in, as text, and the ranges in order."""
    ends = np.unique(np.quantile(counts, np.arange(1, _BINS + 1) / _BINS, method="inverted_cdf"))
    place = np.searchsorted(ends, counts)
    texts = []
    for number in range(ends.size):
        inside = counts[place == number]
        low, high = f"{inside.min():,.0f}", f"{inside.max():,.0f}"
        texts.append(low if low == high else f"{low} to {high}")
    return pl.Series([texts[number] for number in place], dtype=pl.String), texts
