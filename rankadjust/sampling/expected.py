"""The reverse of the bounds: compute exactly which metrics to expect among sampled negatives, from full ranks."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TIED
from rankadjust.chance.draw import Draw
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.database.constants import Database
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.sampling.full_bounds import METRICS, short_name
from rankadjust.sampling.setting import NEGATIVES, WITH, candidates_of

RANK = "rank"


def to_sampled(  # noqa: PLR0913 - options of the public API, by name only
    ranks: str | Path | pl.DataFrame | ArrayLike,
    *,
    sampled: int,
    num_candidates: ArrayLike | None = None,
    dataset: str | None = None,
    protocol: str = "filtered",
    split: str | None = None,
    negatives: str = "without-replacement",
    metrics: Sequence[str] = (),
    database: Database = None,
) -> pl.DataFrame:
    """Return expectation and standard deviation of metrics among uniformly sampled negatives, from full ranks.

    Parameters
    ----------
    ranks : file, folder, polars.DataFrame or array, shape (n,)
        The full rank of each task, as `rankadjust.evaluate` takes them; every task counts once.
    sampled : int
        Number of negatives of each task.
    num_candidates : int or array, shape (n,), optional
        Number of candidates of each task, the true answer included; needed if the ranks do not come with it.
    dataset, protocol, split : str, optional
        An evaluation set that gives the number of candidates, if all its tasks have the same number.
    negatives : {"without-replacement", "with-replacement"}
        How the negatives are drawn.
    metrics : sequence of str
        Metrics that are means over the tasks. Default: MRR, MR, Hits@1, 3, 5, 10, nDCG and AUC.
    database : Constants, str or Path, optional
        Used in place of the released database.

    Returns
    -------
    polars.DataFrame
        A row for each rank type and metric. rank_type is rank, or optimistic and pessimistic if scores were tied. full
        is the value of the full ranking, expectation and standard_deviation are of the sampled one.

    Raises
    ------
    RankadjustError
        If a rank is not a whole number (the mean of tied ranks: give the optimistic and the pessimistic rank instead),
        or if the number of candidates is not known.

    Examples
    --------
    >>> found = to_sampled([1, 3, 20], sampled=5, num_candidates=20, metrics=["hits@1"])
    >>> [round(found[name][0], 4) for name in ("full", "expectation", "standard_deviation")]
    [0.3333, 0.5107, 0.1663]

    """
    if sampled < 1:
        raise RankadjustError(f"sampled is {sampled}; give a whole number from 1 on")
    if negatives not in NEGATIVES:
        raise RankadjustError(f"negatives is '{negatives}'; write {' or '.join(NEGATIVES)}")
    tasks = tasks_from(ranks, num_candidates)
    if "num_candidates" not in tasks.columns:
        if dataset is None:
            raise RankadjustError(
                "among how many candidates? Give --num-candidates, or a column num_candidates"
            )
        count = candidates_of(dataset, protocol, split, database)
        tasks = tasks_from(tasks, count)
    wanted = [_additive(name) for name in metrics or METRICS]
    draw = Draw(sampled, negatives == WITH)
    types = TIED if TIED[0] in tasks.columns else (RANK,)
    return pl.concat(_rows(tasks, kind, wanted, draw) for kind in types)


def _additive(name: str) -> Metric:
    metric = resolve(name)
    if not metric.additive:
        raise RankadjustError(
            f"{metric.label} is not a mean over the tasks: its expectation is not known exactly"
        )
    return metric


def _rows(tasks: pl.DataFrame, kind: str, metrics: Sequence[Metric], draw: Draw) -> pl.DataFrame:
    distinct = tasks.group_by(pl.col(kind).alias("rank"), pl.col("num_candidates")).agg(
        pl.len().cast(pl.Float64).alias("times")
    )
    distinct = distinct.sort("rank", "num_candidates")
    ranks, counts, times = (distinct[name].to_numpy() for name in distinct.columns)
    if np.any(ranks != np.floor(ranks)):
        raise RankadjustError(
            f"a rank is {ranks[ranks != np.floor(ranks)][0]}, the mean of tied ones, which says too little: give the "
            "columns optimistic and pessimistic"
        )
    if not draw.replacement and counts.min() <= draw.negatives:
        raise RankadjustError(
            f"a task has {counts.min():,.0f} candidates: {draw.negatives} negatives cannot be drawn, none twice"
        )
    places = np.arange(1.0, draw.negatives + 2)
    among = np.full_like(places, draw.negatives + 1)
    terms = np.stack([_term(metric, places, among) for metric in metrics], axis=1)
    first, second = np.hsplit(draw.means(ranks, counts, np.hstack([terms, terms**2])), 2)
    number = times.sum()
    with np.errstate(invalid="ignore"):
        full = np.stack([_term(metric, ranks, counts) for metric in metrics], axis=1)
    return pl.DataFrame(
        {
            "rank_type": [kind] * len(metrics),
            "metric": [short_name(metric) for metric in metrics],
            "full": times @ full / number,
            "expectation": times @ first / number,
            "standard_deviation": np.sqrt(np.maximum(times @ (second - first**2), 0.0)) / number,
        }
    )


def _term(metric: Metric, ranks: FloatArray, counts: FloatArray) -> FloatArray:
    assert metric.term is not None
    return np.asarray(metric.term(ranks, counts), dtype=np.float64)
