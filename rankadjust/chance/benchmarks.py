"""Moments of benchmarks with a constant number of candidates, which need no data (config/benchmarks.yaml)."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.chance.metrics import Metric
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.chance.replacement import within_bounds
from rankadjust.counting.candidates import benchmark_candidates
from rankadjust.counting.protocols import Benchmark

_UNKNOWN = pl.lit("the number of tasks is not confirmed by a source")
_KEY = ["split", "side", "metric"]


def benchmark_moments(benchmark: Benchmark, metrics: Sequence[Metric]) -> pl.DataFrame:
    """Return the rows of a benchmark for `rankadjust.database.store.assemble`.

    Where the number of tasks is not public, an additive metric has the expectation of one task, and no
    variance. Where negatives are drawn with replacement from a known pool, the expectation has bounds. Where ranks are
    only about uniform under chance, the method says "approximate". That evaluation triples may repeat is left out:
    without the data nobody knows. Where not even the number of candidates is known, all is null for the benchmark's
    reason.
    """
    # What is computed for about as many candidates as there are is blanked below.
    counts = benchmark_candidates(replace(benchmark, reason=None)).with_columns(
        pl.col("^(static_)?(shared|repeated)_pairs$").fill_null(0)
    )
    known = counts.filter(pl.col("tasks").is_not_null())
    unknown = counts.filter(pl.col("tasks").is_null()).with_columns(tasks=pl.lit(1, pl.Int64))
    moments = pl.concat([_of_known_tasks(known, benchmark, metrics), _of_unknown_tasks(unknown, metrics)])
    if benchmark.pool is not None and benchmark.protocol.negatives is not None:
        moments = within_bounds(moments, metrics, benchmark.protocol.negatives, benchmark.pool)
    elif benchmark.approximate:
        moments = moments.with_columns(method=filled("{}, approximate", "method"))
    return moments.with_columns(_blank(benchmark.reason)).select(
        pl.lit(benchmark.dataset).alias("dataset"),
        pl.lit(benchmark.protocol.name).alias("protocol"),
        pl.all(),
    )


def _of_known_tasks(counts: pl.DataFrame, benchmark: Benchmark, metrics: Sequence[Metric]) -> pl.DataFrame:
    table = moments_table(counts, metrics)
    # Tasks with common negatives depend on each other like the tasks of one query among all candidates.
    own = benchmark.protocol
    protocol = replace(own, name="common", negatives=None) if benchmark.common_negatives else own
    nulls = nulls_table(counts, _pairs(counts), protocol, metrics)
    return table.join(nulls, on=_KEY, how="left", maintain_order="left")


def _blank(reason: str | None) -> list[pl.Expr]:
    """Return the columns that are null where the number of candidates is not known, and why; none where it is."""
    if reason is None:
        return []
    constants = ("expectation", "variance", "variance_random_scorer", "variance_static_scorer")
    reasons = ("reason", "reason_random_scorer", "reason_static_scorer")
    return [
        *(pl.lit(None, pl.Float64).alias(name) for name in constants),
        *(pl.lit(reason).alias(name) for name in reasons),
    ]


def _of_unknown_tasks(counts: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
    additive = pl.col("metric").is_in([metric.key for metric in metrics if metric.additive])
    return moments_table(counts, metrics).with_columns(
        tasks=pl.lit(None, pl.Int64),
        expectation=pl.when(additive).then("expectation"),
        variance=pl.lit(None, pl.Float64),
        reason=pl.coalesce("reason", _UNKNOWN),
        variance_random_scorer=pl.lit(None, pl.Float64),
        reason_random_scorer=_UNKNOWN,
        variance_static_scorer=pl.lit(None, pl.Float64),
        reason_static_scorer=_UNKNOWN,
    )


def _pairs(counts: pl.DataFrame) -> pl.DataFrame:
    """Return which numbers of candidates go together: each triple has the same on both sides."""
    heads, tails = (counts.filter(side=side) for side in ("head", "tail"))
    return heads.join(tails, on="split", suffix="_tail").select(
        "split",
        head_candidates="num_candidates",
        tail_candidates="num_candidates_tail",
        tasks="tasks",
        linked_pairs="tasks",
        static_linked_pairs="tasks",
    )
