"""Guaranteed bounds of the metrics of the full ranking, from values that are printed for sampled negatives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rankadjust.base.errors import ImpossibleValueError, RankadjustError
from rankadjust.chance.draw import Draw
from rankadjust.chance.metrics import FAMILIES, MEAN_OF_VALUE, Metric, resolve
from rankadjust.chance.typed import typed_value
from rankadjust.database.constants import Database
from rankadjust.sampling.sampled_ranks import Printed, SampledMean, tilt_together
from rankadjust.sampling.setting import WITH, WITHOUT, Asked, Setting, setting
from rankadjust.sampling.shares import LeastMeans, Rows, Tasks

Value = float | str | tuple[float, float]
"""A printed value: a number, text with the rounding of its digits, or both ends of an interval."""

METRICS = ("mrr", "mr", "hits@1", "hits@3", "hits@5", "hits@10", "ndcg", "auc")


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest value of a metric that are possible."""

    low: float
    high: float


@dataclass(frozen=True)
class FullBounds:
    """Bounds of the metrics of the full ranking, computed from values that are printed for sampled negatives.

    Attributes
    ----------
    full : dict of str to Bounds
        The bounds by the name of their metric. Whatever the ranks are, the full value is between low and high with a
        probability of at least `level`.
    values : dict of str to str
        The printed values by the name of their metric.
    sampled : int
        How many negatives each task has.
    negatives : str
        How the negatives were drawn.
    tasks : int
        How many tasks there are.
    least_candidates, most_candidates : int
        The fewest and the most candidates of a task, the true answer included.
    level : float
        The probability with which the bounds hold, at least.
    assumed : tuple of str
        All assumptions behind the bounds, in sentences.

    """

    full: dict[str, Bounds]
    values: dict[str, str]
    sampled: int
    negatives: str
    tasks: int
    least_candidates: int
    most_candidates: int
    level: float
    assumed: tuple[str, ...]


def full_bounds(  # noqa: PLR0913 - options of the public API, by name only
    values: Mapping[str, float | str],
    *,
    sampled: int,
    num_candidates: int | None = None,
    tasks: int | None = None,
    dataset: str | None = None,
    protocol: str = "filtered",
    split: str | None = None,
    side: str = "both",
    negatives: str | None = None,
    level: float = 0.95,
    metrics: Sequence[str] = (),
    database: Database = None,
) -> FullBounds:
    """Return bounds of a model's metrics in the full ranking, from values printed for sampled negatives.

    If the full rank of a task is known, the law of its sampled rank is known, too. So each printed value bounds the
    mean of a known function of the full ranks, up to rounding and the noise of the draws. A linear program finds the
    least and the greatest full value among all full ranks that respect these bounds.

    Parameters
    ----------
    values : mapping of str to number or str
        Printed values of one model by the name of their metric, such as {"mrr": "0.784"}. Text is treated as rounded
        to its digits. Each metric is a mean over the tasks, or a function of such a mean (MR, MRR, Hits@k, nDCG, AUC,
        GMR, HMR, ...).
    sampled : int
        Number of negatives of each task, without the true answer.
    num_candidates : int, optional
        Number of candidates of each task in the full ranking, the true answer included.
    tasks : int, optional
        How many ranks were averaged; the noise depends on it.
    dataset, protocol, split, side : str, optional
        Names or aliases of an evaluation set, and the protocol of the full ranking. The numbers of candidates and
        tasks come from this evaluation set. For a benchmark, it also says how the negatives are drawn.
    negatives : {"without-replacement", "with-replacement"}, optional
        How the negatives are drawn, uniformly in both cases. Default: as the benchmark draws them, or else without
        replacement.
    level : float
        The probability that all printed values are within the noise that the bounds allow for.
    metrics : sequence of str
        Metrics to bound. Default: MR, MRR, Hits@1, 3, 5, 10, nDCG, AUC and the printed metrics.
    database : Constants, str or Path, optional
        Used in place of the released database.

    Returns
    -------
    FullBounds

    Raises
    ------
    RankadjustError
        If no full ranks have the printed values at this level. If the negatives of a benchmark are not drawn
        uniformly. If the number of candidates or tasks is not known.

    Examples
    --------
    >>> found = full_bounds({"mrr": "0.784"}, sampled=50, num_candidates=2757, tasks=20_000)
    >>> mrr = found.full["mrr"]
    >>> round(mrr.low, 2), round(mrr.high, 2)
    (0.03, 0.78)

    References
    ----------
    W. Krichene and S. Rendle (2020), On Sampled Metrics for Item Recommendation, KDD.

    """
    asked = Asked(sampled, negatives, num_candidates, tasks, dataset, protocol, split, side, database)
    return bounds_in(setting(asked), values, level=level, metrics=metrics)


def bounds_in(
    known: Setting,
    values: Mapping[str, Value],
    *,
    level: float = 0.95,
    metrics: Sequence[str] = (),
) -> FullBounds:
    """Return the bounds for a completely known evaluation; the arguments are as for `full_bounds`."""
    if not values:
        raise RankadjustError("there is no printed value; give at least one, such as mrr=0.784")
    if not 0 < level < 1:
        raise RankadjustError(f"level is {level}; give a probability between 0 and 1, such as 0.95")
    printed = [_printed(name, value, known.draw) for name, value in values.items()]
    wanted = _wanted(metrics, printed, known)
    jumps = tuple(sorted({float(metric.k) for metric in wanted if metric.k is not None}))
    tasks = _tasks(tuple(known.counts), tuple(known.times), jumps)
    means = [_sampled_mean(value.metric, known.draw, tasks) for value in printed]
    surprise = float(np.log(2 * len(printed) / (1 - level)))
    tilt_together(means, surprise)
    rows = [mean.rows(value, surprise) for mean, value in zip(means, printed, strict=True)]
    full = _all_between(wanted, LeastMeans(tasks, Rows.joined(rows)))
    if full is None:
        text = " and ".join(f"{name} {value}" for name, value in values.items())
        raise ImpossibleValueError(
            f"whatever the full ranks are, they give {text} with a probability of at most {1 - level:.2g}; a value is "
            "wrong, or the negatives were drawn in another way (--negatives)"
        )
    return FullBounds(
        full=full,
        values={short_name(resolve(name)): f"{value}" for name, value in values.items()},
        sampled=known.draw.negatives,
        negatives=WITH if known.draw.replacement else WITHOUT,
        tasks=round(known.times.sum()),
        least_candidates=int(known.counts.min()),
        most_candidates=int(known.counts.max()),
        level=level,
        assumed=known.assumed,
    )


def is_function_of_mean(metric: Metric) -> bool:
    """Return whether a metric is a mean over the tasks, or a known function of such a mean.

    The linear program can use and bound only these metrics.
    """
    return metric.term is not None and metric.link in MEAN_OF_VALUE


def short_name(metric: Metric) -> str:
    """Return the name of a metric in results: mrr, hits@10."""
    family = FAMILIES[metric.family]
    name = min((family.key, *family.names[:1]), key=len)
    return name if metric.k is None else name.replace("@k", f"@{metric.k}")


def _printed(name: str, value: Value, draw: Draw) -> Printed:
    metric = resolve(name)
    if not is_function_of_mean(metric):
        raise RankadjustError(
            f"{metric.label} is not a function of a mean over the tasks, so nothing follows from it; leave it out"
        )
    if isinstance(value, tuple):
        return Printed(metric, *value)
    typed = typed_value(value, metric)
    low, high = typed.ends
    if metric.upper == np.inf:
        most = draw.negatives + 1
        if typed.value > most:
            raise ImpossibleValueError(
                f"{metric.label} among {draw.negatives} negatives is at most {most}, "
                f"so {typed.text} cannot be its value"
            )
        high = min(high, float(most))
    return Printed(metric, low, high)


def _wanted(metrics: Sequence[str], printed: Sequence[Printed], known: Setting) -> list[Metric]:
    if metrics:
        chosen = [resolve(name) for name in metrics]
    else:
        least = known.counts.min()
        chosen = [*map(resolve, METRICS), *(mean.metric for mean in printed)]
        chosen = [metric for metric in chosen if metric.least_candidates <= least]
    for metric in chosen:
        if not is_function_of_mean(metric):
            raise RankadjustError(
                f"{metric.label} has no bounds, because it is not a function of a mean over the tasks; leave it out"
            )
        if metric.least_candidates > known.counts.min():
            raise RankadjustError(f"{metric.label} has no bounds, because some tasks have one candidate")
    return list({metric.key: metric for metric in chosen}.values())


@lru_cache(maxsize=16)
def _tasks(counts: tuple[float, ...], times: tuple[float, ...], jumps: tuple[float, ...]) -> Tasks:
    # Columns at the ranks 3 and 4, 7 and 8, 15 and 16, ... make the bounds closer, by up to 0.05 %.
    doubled = 2.0 ** np.arange(1, np.ceil(np.log2(counts[-1])) + 1) - 1
    return Tasks(counts, times, tuple(sorted({*jumps, *doubled[doubled < counts[-1]]})))


# The models of a table have the same metrics and tasks.
_sampled_mean = lru_cache(maxsize=64)(SampledMean)


def _all_between(wanted: Sequence[Metric], program: LeastMeans) -> dict[str, Bounds] | None:
    """Return bounds by the name of the metric, or None if no ranks fulfil the rows."""
    found = {}
    for metric in wanted:
        term = metric.term
        assert term is not None
        least = program.least(term)
        minus_most = program.least(lambda ranks, counts, term=term: -term(ranks, counts))  # type: ignore[misc]
        if least is None or minus_most is None:
            return None
        ends = np.asarray(metric.link(np.array([least, -minus_most])))
        found[short_name(metric)] = Bounds(
            max(float(ends.min()), metric.lower), min(float(ends.max()), metric.upper)
        )
    return found
