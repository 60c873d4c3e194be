"""Clusters: tasks that may do well or badly together, and their effect on errors (docs/methods-compare.md).

The two tasks of a triple go together, and so do triples that share a query. A triple has a query on either side: on
both sides together the tasks are clustered in two ways at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import special

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.errors import RankadjustError

CLUSTERS = ("triple", "query", "relation")
# From so many queries on, worth so many of one size, intervals hold the truth as often as they should.
_ENOUGH, _ENOUGH_OF_ONE_SIZE = 100, 24
# Clusters of hardly more than a triple say nothing of how alike their triples are.
_LEAST_ROOM = 1e-3
FEW_QUERIES = (
    f"the interval may be too short, since there are fewer than {_ENOUGH} queries, or a few large ones"
)
NOT_KNOWN = (
    "it is not known which triples share a query, so they are taken as independent (give --tasks, or labels with "
    "tabs in the column triple)"
)


@dataclass(frozen=True)
class Clusters:
    """kind: triple, query or relation. of_side: the number of each task's cluster (n,) by side, or of both sides."""

    kind: str
    of_side: Mapping[str, IntArray]

    def ways(self, side: str, places: IntArray) -> list[IntArray]:
        """Return the cluster of each of some tasks of a side, from 0 on, in one way or in three.

        Of three, the tasks of a cluster may go together in the first way, the one with the fewest clusters, and in the
        second; those of one cluster of the third are together in both.
        """
        chosen = [self.of_side[side]] if side in self.of_side else [*self.of_side.values()]
        ways = sorted((_renumbered(clusters[places]) for clusters in chosen), key=np.max)
        if len(ways) == 1:
            return ways
        meet = _renumbered(ways[0] * (ways[1].max() + 1) + ways[1])
        # Clusters that are parts of others add nothing.
        return ways[:1] if meet.max() == ways[1].max() else [*ways, meet]


def clusters_of(tasks: pl.DataFrame, kind: str | None = None) -> Clusters:
    """Return the clusters of tasks with the columns triple and, where known, side, query and relation.

    kind: triple (head and tail task of a triple), query (triples that share a query on a side), relation; None: query
    where the queries are known and several triples share one, else triple.
    """
    if kind is None:
        kind = "query" if _share_queries(tasks) else "triple"
    if kind not in CLUSTERS:
        raise RankadjustError(f"unknown cluster '{kind}'; there are {', '.join(CLUSTERS)}")
    if kind != "triple" and kind not in tasks.columns:
        raise RankadjustError(
            f"the {kind} of each task is not known: give --tasks with the file that the workflow's target "
            f"tasks writes, or a column {kind}"
        )
    if kind != "query":
        return Clusters(kind, {"both": _numbers(tasks[kind])})
    sides = tasks["side"].unique().sort().to_list() if "side" in tasks.columns else ["both"]
    return Clusters(kind, {side: _queries(tasks, side) for side in sides})


def _share_queries(tasks: pl.DataFrame) -> bool:
    if "query" not in tasks.columns:
        return False
    key = [name for name in ("side", "query") if name in tasks.columns]
    return tasks.unique([*key, "triple"]).select(key).is_duplicated().any()


def _queries(tasks: pl.DataFrame, side: str) -> IntArray:
    """Return the number of the query that the triple of each task has on a side; a triple without one is alone."""
    own = tasks if side == "both" else tasks.filter(side=side)
    known = own.unique("triple", keep="first").select("triple", asked="query")
    joined = tasks.select("triple").join(known, on="triple", how="left", maintain_order="left")
    alone = pl.when(pl.col("asked").is_null()).then("triple")
    return _numbers(joined.select(pl.struct("asked", alone=alone)).to_series())


def _numbers(column: pl.Series) -> IntArray:
    return (column.rank("dense") - 1).cast(pl.Int64).to_numpy()


def _renumbered(numbers: IntArray) -> IntArray:
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def stretch(variances: Sequence[FloatArray]) -> FloatArray:
    """Return how much larger an error is than that over the clusters of the first way (m,).

    variances: over the clusters of each way (m,). Tasks that are together in both ways would count twice, so the third
    is subtracted (Cameron, Gelbach and Miller 2011); the sum is never less than either of the two.
    """
    first = variances[0]
    if len(variances) == 1:
        return np.ones_like(first)
    total = np.maximum(np.maximum(first + variances[1] - variances[2], first), variances[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: FloatArray = np.where(first > 0, np.sqrt(total / first), 1.0)
    return np.nan_to_num(ratio, nan=1.0)


def effective(units: IntArray) -> float:
    """Return how many clusters of one size would be worth these: (sum of g)^2 / sum of g^2, for sizes g."""
    sizes = np.bincount(units).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def few_queries(ways: Sequence[IntArray]) -> bool:
    """Return whether a way of clustering tasks by query has too few clusters for an interval."""
    return any(way.max() + 1 < _ENOUGH or effective(way) < _ENOUGH_OF_ONE_SIZE for way in ways[:2])


@dataclass(frozen=True)
class _Known:
    """How well the variance over clusters is known, for m metrics (m,).

    bias: the share of it that is expected to be seen, as the mean follows large clusters. freedom: the degrees of
    freedom of its law by Satterthwaite's rule.
    """

    bias: FloatArray
    freedom: FloatArray

    @classmethod
    def of(cls, way: IntArray, triples: int, ratio: FloatArray) -> "_Known":
        """Return that of clusters; ratio: their variance, divided by the variance of independent triples (m,).

        The ratio says how alike the triples of a cluster are: the sum over g triples then has a variance in proportion
        to g (1 + rho (g - 1)).
        """
        tasks = np.bincount(way).astype(np.float64)
        share = tasks / tasks.sum()
        sizes = share * triples
        room = max(float(share @ sizes) - 1, _LEAST_ROOM)
        alike = np.clip((np.nan_to_num(ratio, nan=1.0) - 1) / room, 0.0, 1.0)
        expected = sizes * (1 + alike[:, None] * (sizes - 1))
        expected /= expected.sum(axis=1, keepdims=True)
        freedom = np.maximum(1 / (expected**2).sum(axis=1) - 1, 1.0)
        return cls(1 - 2 * expected @ share + float(share @ share), freedom)


def lengthening(
    ways: Sequence[IntArray], variances: Sequence[FloatArray], triples: int, of_triples: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how much longer intervals have to be than those over the clusters of the first way (m,), in two cases.

    variances: over the clusters of each way (m,). of_triples: the variance if all triples were independent. The first
    case is an interval that takes the variance as known: Student's law has the degrees of freedom of the way with
    fewer, and the variance is freed of its bias (Bell and McCaffrey 2002). The second is a studentised interval.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        known = [
            _Known.of(way, triples, variance / of_triples)
            for way, variance in zip(ways[:2], variances, strict=False)
        ]
    whole = [variance / each.bias for variance, each in zip(variances, known, strict=False)]
    longer = stretch([*whole, *variances[2:]])
    freedom = np.minimum.reduce([each.freedom for each in known])
    quantile = special.stdtrit(freedom, 0.975) / special.ndtri(0.975)
    return longer * quantile / np.sqrt(known[0].bias), longer
