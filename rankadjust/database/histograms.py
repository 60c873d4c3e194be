"""Histograms of candidates by evaluation set, and the values that no ranking of these candidates can have."""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.bounds import Attainable, attainable
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.metrics import Metric
from rankadjust.database.store import CANDIDATES_SCHEMA

# Protocols whose ranks do not go from 1 to the number of candidates in the histograms.
_OTHER_RANKS = ("filtered-graph-twice", "grail", "nodepiece", "pykeen-published")


class Histograms:
    """How many tasks have how many candidates, for every data set, protocol, split and side that is known."""

    def __init__(self, table: pl.DataFrame | None = None) -> None:
        """Take a table as of `load_candidates`."""
        self.table = pl.DataFrame(schema=CANDIDATES_SCHEMA) if table is None else table
        self.candidate_counts = cache(self._candidate_counts)
        self._limits = cache(self._attainable)

    def over(self, others: "Histograms") -> "Histograms":
        """Return these histograms, and others for the data sets and protocols that these lack."""
        rest = others.table.join(self.table, on=["dataset", "protocol"], how="anti", maintain_order="left")
        return Histograms(pl.concat([self.table, rest], how="diagonal"))

    def counts(self, dataset: str, protocol: str, split: str) -> pl.DataFrame:
        """Return the rows of a data set, protocol and split."""
        rows = self.table.filter(dataset=dataset, protocol=protocol, split=split)
        return rows if "entities" in rows.columns else rows.with_columns(entities=pl.lit(None, pl.Int64))

    def _candidate_counts(self, dataset: str, protocol: str, split: str, side: str) -> CandidateCounts | None:
        """Return how many tasks of an evaluation set have how many candidates, None where that is not known."""
        rows = self.counts(dataset, protocol, split)
        rows = rows.filter((pl.col("side") == side) | pl.lit(side == "both"))
        if rows.is_empty() or rows["tasks"].null_count():
            return None
        return CandidateCounts.of(rows["num_candidates"].to_numpy(), rows["tasks"].to_numpy())

    def why_impossible(
        self, evaluation: Sequence[str], metric: Metric, low: float, high: float
    ) -> str | None:
        """Return in words the limit that all values from `low` to `high` are beyond, None where one is possible.

        evaluation: data set, protocol, split and side. Without a histogram, and for measures of dispersion, nothing
        is known to be impossible.
        """
        limits, candidates = self._limits(tuple(evaluation), metric, False)
        if limits is not None and (limits.excludes(low, high) or evaluation[1] in _OTHER_RANKS):
            # To look up how a protocol counts reads YAML: only for the values that need it.
            limits, candidates = self._limits(tuple(evaluation), metric, True)
        if limits is None or not limits.excludes(low, high):
            return None
        too_small = limits.is_below(high)
        limit = f"at least {limits.least:.6g}" if too_small else f"at most {limits.greatest:.6g}"
        place = "last" if too_small == metric.increasing else "first"
        return (
            f"{metric.label} of {', '.join(evaluation[:3])}, side {evaluation[3]}, is {limit}, which is reached if "
            f"every true answer ranks {place} among its candidates ({candidates})"
        )

    def _attainable(
        self, evaluation: tuple[str, ...], metric: Metric, as_ranked: bool
    ) -> tuple[Attainable | None, str]:
        """Return the limits of a metric, and the least and greatest last rank; as_ranked: as its protocol ranks."""
        of_set = self.candidate_counts(*evaluation)
        if of_set is None or not of_set.counts.size:
            return None, ""
        first, last = possible_ranks(evaluation[1], of_set.counts) if as_ranked else (1, of_set.counts)
        last = last.clip(min=1)
        ends = sorted({float(last[0]), float(last[-1])})
        return attainable(metric, last, of_set.tasks, first), " to ".join(f"{end:,.0f}" for end in ends)


def candidates_table(counted: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the candidate histograms of all data sets as one table, sorted by data set and protocol.

    counted: for each data set its histograms with a column protocol; the order within a protocol is kept. Benchmarks
    with a known and constant number of candidates are added.
    """
    # Reading YAML takes longer than all the rest, and one printed value does not need it.
    from rankadjust.counting.candidates import benchmark_candidates  # noqa: PLC0415
    from rankadjust.counting.protocols import load_benchmarks  # noqa: PLC0415

    benchmarks = pl.concat(
        benchmark_candidates(each)
        .drop_nulls("num_candidates")
        .select(pl.lit(each.dataset).alias("dataset"), pl.lit(each.protocol.name).alias("protocol"), pl.all())
        for each in load_benchmarks()
    )
    tables = [rows.select(pl.lit(dataset).alias("dataset"), pl.all()) for dataset, rows in counted.items()]
    table = pl.concat(tables) if tables else benchmarks.clear()
    more = benchmarks.join(table, on=["dataset", "protocol"], how="anti").select(table.columns)
    return pl.concat([table, more]).sort("dataset", "protocol", maintain_order=True)


def possible_ranks(protocol: str, counts: FloatArray) -> tuple[int, FloatArray]:
    """Return the first rank under a protocol, and the last of tasks with these numbers of candidates in histograms."""
    from rankadjust.counting.protocols import get_protocol  # noqa: PLC0415

    try:
        rules = get_protocol(protocol)
    except RankadjustError:
        # A protocol that is not shipped may leave the true answer out.
        return 1, counts + 1
    if rules.negatives is not None and rules.drawn != "without-replacement":
        counts = np.full_like(counts, rules.negatives + 1)
    return 1 + (rules.counting == "twice"), counts + (rules.counting != "inclusive")
