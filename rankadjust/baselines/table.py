"""Compute the metrics of the counting baselines from their standings, for each split and side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import polars as pl

from rankadjust.base.arrays import FloatArray
from rankadjust.base.vocabulary import SIDES
from rankadjust.baselines.sampled import sampled_moments
from rankadjust.baselines.tally import Standings, count_standings
from rankadjust.baselines.tie_orders import RankSums, TieOrders
from rankadjust.chance.metrics import Metric, expand
from rankadjust.chance.moments import Moments
from rankadjust.counting.protocols import Protocol, get_protocol

TABLE_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("split", "side", "baseline", "metric"), pl.String),
        "value": pl.Float64,
        "variance": pl.Float64,
        "tasks": pl.Int64,
        "reason": pl.String,
    }
)

METRICS = ("mr", "mrr", "hits@k")


def count_baselines(
    splits: Mapping[str, pl.DataFrame] | pl.DataFrame,
    protocol: str | Protocol = "filtered",
    metrics: Sequence[str] = METRICS,
    ks: Sequence[int] = (1, 3, 5, 10),
    isolated: int = 0,
) -> pl.DataFrame:
    """Return the metrics of counting baselines, each as the mean over all orders of tied candidates.

    docs/methods-baselines.md defines the scorers: popularity, redundancy, rules, and recurrency for data with times.

    Parameters
    ----------
    splits : mapping of str to polars.DataFrame, or polars.DataFrame
        Triples of each split, or one frame with a column split; as for `rankadjust.count_candidates`.
    protocol : str or Protocol
        The name of a shipped protocol, or your own protocol: it says which triples are ranked against which candidates.
    metrics : sequence of str
        Keys or aliases; 'hits@k' stands for one metric for each of `ks`.
    ks : sequence of int
        The values of k.
    isolated : int
        The number of entities of the release that occur in no triple.

    Returns
    -------
    polars.DataFrame
        A row for each split, side (head, tail, both), baseline and metric. value is the expectation over all orders of
        the tied, in the unit of the metric, and variance the variance over these orders alone. tasks is the number of
        tasks, and reason says why a value is null.

    Raises
    ------
    RankadjustError
        For the same mistakes as `rankadjust.count_candidates`, and for an unknown metric.

    Examples
    --------
    >>> graph = pl.DataFrame(
    ...     [("training", "Anna", "knows", "Ben"), ("training", "Cleo", "knows", "Ben"),
    ...      ("testing", "Ben", "knows", "Anna")],
    ...     schema=["split", "head", "relation", "tail"], orient="row",
    ... )
    >>> both = count_baselines(graph, metrics=["mrr"]).filter(split="testing", side="both")
    >>> both.select("baseline", pl.col("value").round(4)).rows()
    [('popularity', 0.375), ('redundancy', 0.6111), ('rules', 0.375)]

    """
    rules = get_protocol(protocol) if isinstance(protocol, str) else protocol
    wanted = expand(list(metrics), ks)
    (standings,) = count_standings(splits, [rules], isolated)
    (table,) = baselines_tables([standings], wanted, [rules])
    return table


def baselines_tables(
    standings: Sequence[Standings], metrics: Sequence[Metric], protocols: Sequence[Protocol]
) -> list[pl.DataFrame]:
    """Return the values of all metrics for each split, side (head, tail, both) and baseline, a table for each protocol.

    standings: from `rankadjust.baselines.tally.count_standings`, for these protocols. The side "both" pools the tasks
    of the two sides. Equal standings are computed once.
    """
    candidates = pl.concat([standing.table["candidates"] for standing in standings])
    law = _Moments(metrics, RankSums(int(candidates.max() or 1)))  # type: ignore[arg-type]
    return [
        _table(standing, metrics, protocol, law)
        for standing, protocol in zip(standings, protocols, strict=True)
    ]


def _table(
    standings: Standings, metrics: Sequence[Metric], protocol: Protocol, moments: "_Moments"
) -> pl.DataFrame:
    table = standings.table
    rows = []
    for split in table["split"].unique(maintain_order=True):
        of_split = table.filter(pl.col("split") == split)
        for side in SIDES:
            of_side = of_split if side == "both" else of_split.filter(pl.col("side") == side)
            parts = of_side.partition_by("baseline", as_dict=True, maintain_order=True)
            tasks = 0
            for (baseline,), part in parts.items():
                tasks = int(part["tasks"].sum())
                of_metrics = moments.of(part, protocol.negatives)
                for metric, of_metric in zip(metrics, of_metrics, strict=True):
                    values = (of_metric.expectation, of_metric.variance)
                    rows.append((split, side, baseline, metric.key, *values, tasks, of_metric.reason))
            rows += [
                (split, side, baseline, metric.key, None, None, tasks, reason)
                for baseline, reason in standings.missing.items()
                for metric in metrics
            ]
    return pl.DataFrame(rows, schema=TABLE_SCHEMA, orient="row")


@dataclass(frozen=True)
class _Moments:
    """The moments of some metrics, kept, because several protocols often give a split the same standings."""

    metrics: Sequence[Metric]
    sums: RankSums
    _kept: dict[tuple[bytes, int | None], list[Moments]] = field(default_factory=dict)

    def of(self, part: pl.DataFrame, negatives: int | None) -> list[Moments]:
        """Return the moments of one baseline on one side of a split."""
        columns = _columns(part)
        digest = sha256(b"".join(column.tobytes() for column in columns.values())).digest()
        if (digest, negatives) not in self._kept:
            self._kept[digest, negatives] = self._computed(part, columns, negatives)
        return self._kept[digest, negatives]

    def _computed(
        self, part: pl.DataFrame, columns: Mapping[str, FloatArray], negatives: int | None
    ) -> list[Moments]:
        if negatives is not None:
            return sampled_moments(self.metrics, **columns, negatives=negatives)
        # Most metrics do not depend on the number of candidates, and ignoring it leaves fewer kinds of tasks.
        fewer = part.group_by("above", "tied").agg(pl.col("candidates").max(), pl.col("tasks").sum())
        law = TieOrders(**_columns(fewer.sort("above", "tied")), sums=self.sums)
        whole = TieOrders(**columns, sums=self.sums)
        return [(whole if metric.needs_candidates else law).moments(metric) for metric in self.metrics]


def _columns(part: pl.DataFrame) -> dict[str, FloatArray]:
    names = ("above", "tied", "candidates", "tasks")
    return {name: part[name].cast(pl.Float64).to_numpy() for name in names}
