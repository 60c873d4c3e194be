"""Variance of a metric under the random_scorer null: every candidate triple has one score, drawn on its own.

Scores are independent and identically distributed. Each rank is then uniform on 1..N, so that expectations are those
of the independent null, but tasks that share a query or a triple are correlated. For a mean M = (1/n) sum f(r_i),
with v(N) = Var f(r) for r uniform on 1..N and C(a, b) the covariance of two ranks that share nothing but the score
of the true triple,

    n^2 Var M =   sum over tasks                        v(N)
                + pairs of tasks with the same query    v(N) / (N + 1)    they share their negatives
                + pairs of tasks of a repeated triple   v(N)              they have the same rank
                + 2 * head and tail task of a triple    C(a, b)           they share the score of the truth

(pairs are ordered, each counts once in every line). In temporal data a model may give a triple one score at every
time (`per_time`) or one score for all times (`static`): the formula is the same, but tasks share
queries and triples in another way. docs/methods-random-scorer.md derives the terms, and says where they hold and which
effects they leave out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankadjust.base.arrays import ByContent, FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TASK_SIDES
from rankadjust.chance.metrics import Metric
from rankadjust.chance.terms import covariance_sums, has_covariance, mean_and_variance
from rankadjust.counting.protocols import Protocol, get_protocol

NULLS_SCHEMA = {
    **dict.fromkeys(("split", "side", "metric"), pl.String),
    "variance_random_scorer": pl.Float64,
    "reason_random_scorer": pl.String,
    "variance_static_scorer": pl.Float64,
    "reason_static_scorer": pl.String,
}


_UNKNOWN_WITHOUT_TIMES = (
    "under a filter that looks at times the tasks of one query share only part of their candidates: "
    "the variance of a scorer that does not see times is not derived"
)
_UNKNOWN_OF_FACTS = "the tasks of one fact share its score, and how many candidates these have is not counted"


def nulls_table(
    histogram: pl.DataFrame, pairs: pl.DataFrame, protocol: str | Protocol, metrics: Sequence[Metric]
) -> pl.DataFrame:
    """Return the variances under the random_scorer null for each split and side (head, tail, both).

    histogram and pairs: as `count_candidates` makes them. The result has one row per split, side and metric in
    that order, as `moments_table` has: split, side, metric, variance_random_scorer (of a scorer that gives a triple
    a new score at every time; null where it is not known), reason_random_scorer (why it is not), and the same of
    a scorer that does not see times: variance_static_scorer, reason_static_scorer. The two are equal without times.
    """
    protocol = get_protocol(protocol) if isinstance(protocol, str) else protocol
    rows = []
    for split in histogram["split"].unique(maintain_order=True):
        tasks = histogram.filter(pl.col("split") == split)
        triples = pairs.filter(pl.col("split") == split)
        timeless = without_times(tasks), without_times(triples)
        has_times = not (timeless[0].equals(tasks) and timeless[1].equals(triples))
        for side in dict.fromkeys([*tasks["side"], "both"]):
            of_side = _Tasks.of(tasks, triples, side)
            static_side = _Tasks.of(*timeless, side) if has_times else of_side
            variances = _variances_of(metrics, of_side, protocol)
            static = _variances_of(metrics, static_side, protocol) if has_times else variances
            for metric, variance, of_static in zip(metrics, variances, static, strict=True):
                rows.append((split, side, metric.key, *variance, *of_static))
    return pl.DataFrame(rows, schema=NULLS_SCHEMA, orient="row")


def without_times(counts: pl.DataFrame) -> pl.DataFrame:
    """Return a histogram or pairs as a model sees them that has one score of a triple for all times.

    The pairs of tasks whatever their times (static_shared_pairs, ...) take the place of those at the same time. Counts
    without such columns belong to data without times, and come back unchanged.
    """
    prefix = "static_"
    names = [name for name in counts.columns if name.startswith(prefix)]
    return counts.with_columns(pl.col(name).alias(name.removeprefix(prefix)) for name in names)


@dataclass(frozen=True, eq=False)
class _Tasks(ByContent):
    """The ranked tasks of a side, which all metrics share: for each number of candidates (k,) how many and which.

    is_tail: the side of each. pairs: columns of the table of pairs (m,), where both sides are ranked. unknown: why
    nobody knows which tasks share what, None where it is known.
    """

    counts: FloatArray
    tasks: FloatArray
    shared: FloatArray
    repeated: FloatArray
    is_tail: NDArray[np.bool_]
    pairs: Sequence[FloatArray]
    unknown: str | None

    @classmethod
    def of(cls, histogram: pl.DataFrame, pairs: pl.DataFrame, side: str) -> "_Tasks":
        """Take counts of one split; side: head, tail or both."""
        part = histogram.filter(pl.col("tasks") > 0, (pl.col("side") == side) | pl.lit(side == "both"))
        names = ("num_candidates", "tasks", "shared_pairs", "repeated_pairs")
        counts, tasks, shared, repeated = _columns(part, *names)
        has_pairs = pairs.height > 0 and part["side"].n_unique() > 1
        return cls(
            counts=counts,
            tasks=tasks,
            shared=shared,
            repeated=repeated,
            is_tail=(part["side"] == "tail").to_numpy(),
            pairs=_columns(pairs, "head_candidates", "tail_candidates", "linked_pairs") if has_pairs else [],
            unknown=_UNKNOWN_WITHOUT_TIMES
            if histogram["shared_pairs"].null_count()
            else None
            if side != "both" or part["side"].is_in(TASK_SIDES).all()
            else _UNKNOWN_OF_FACTS,
        )


_Variance = tuple[float | None, str | None]
"""A variance, or None and the reason why there is none."""


def _variances_of(metrics: Sequence[Metric], tasks: _Tasks, protocol: Protocol) -> list[_Variance]:
    reasons = {metric: _why_unknown(metric, protocol) for metric in metrics}
    known = tuple(metric for metric, reason in reasons.items() if reason is None)
    found = _of_terms(known, tasks, protocol.sides == "shared", protocol.negatives is None)
    variances = dict(zip(known, found, strict=True))
    return [variances.get(metric, (None, reasons[metric])) for metric in metrics]


# Protocols of a data set often have the same tasks.
@lru_cache(maxsize=1024)
def _of_terms(
    metrics: tuple[Metric, ...], tasks: _Tasks, shared_truth: bool, shared_negatives: bool
) -> list[_Variance]:
    """Return the variances.

    shared_truth: whether both tasks of a triple share its score. shared_negatives: whether the tasks of a query have
    the same negatives.
    """
    if tasks.unknown is not None:
        return [(None, tasks.unknown)] * len(metrics)
    if (tasks.counts < 1).any():
        return [(None, "some tasks have no candidates")] * len(metrics)
    # What pairs of tasks add that share the score of the truth, but no negatives.
    of_pairs = np.zeros(len(metrics))
    times = tasks.tasks
    if shared_negatives:
        times = times + (tasks.shared - tasks.repeated) / (tasks.counts + 1) + tasks.repeated
    else:
        # Each task draws negatives of its own: the two of a repeated triple share the score of the truth only.
        of_pairs += covariance_sums(metrics, tasks.counts, tasks.counts, tasks.repeated)
    if tasks.is_tail.any() and not tasks.is_tail.all() and shared_truth:
        if not tasks.pairs:
            raise RankadjustError("both sides are ranked, but the table of pairs has no rows for this split")
        of_pairs += 2 * np.array(covariance_sums(metrics, *tasks.pairs))
    found: list[_Variance] = []
    for metric, covariances in zip(metrics, of_pairs, strict=True):
        counted = tasks.counts >= metric.least_candidates
        if counted.any():
            _, variance = mean_and_variance(metric, tasks.counts[counted])
            total = float(times[counted] @ variance) + covariances
            found.append((float(total) / float(tasks.tasks[counted].sum()) ** 2, None))
        else:
            least = metric.least_candidates
            found.append((None, "there are no tasks" if least == 1 else "no task has two candidates"))
    return found


def _why_unknown(metric: Metric, protocol: Protocol) -> str | None:
    """Return why a metric has no variance under a protocol, None where it has."""
    if not metric.additive:
        return "not a mean over the tasks: its variance under a random scorer is not derived"
    if not has_covariance(metric):
        return "how two tasks of a triple covary by this term is not derived"
    if protocol.drawn != "without-replacement":
        return "how tasks share negatives that are drawn again is not known"
    if protocol.counting == "exclusive":
        return "the true answer is not counted, so that ranks are not uniform on 1..N"
    if protocol.filter in ("none", "graph") and protocol.negatives is None:
        return "without a filter true triples are negatives of other tasks: that covariance is not derived"
    return None


def _columns(frame: pl.DataFrame, *names: str) -> list[FloatArray]:
    return [frame[name].cast(pl.Float64).to_numpy() for name in names]
