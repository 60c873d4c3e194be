"""Moments of benchmarks with a constant number of candidates, which need no data (config/benchmarks.yaml)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from rankadjust.base.frames import filled
from rankadjust.chance.metrics import Metric
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.counting.candidates import benchmark_candidates
from rankadjust.counting.protocols import Benchmark

_UNKNOWN = pl.lit("the number of tasks is not confirmed by a source")
_NULL = pl.lit(None, pl.Float64)
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
        moments = _within_bounds(moments, metrics, benchmark.protocol.negatives, benchmark.pool)
    elif benchmark.approximate:
        moments = moments.with_columns(method=filled("{}, approximate", "method"))
    if benchmark.reason is not None:
        reason = pl.lit(benchmark.reason)
        moments = moments.with_columns(expectation=_NULL, reason=reason, **_without_variances(reason))
    return moments.select(
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


def _of_unknown_tasks(counts: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
    additive = pl.col("metric").is_in([metric.key for metric in metrics if metric.additive])
    return moments_table(counts, metrics).with_columns(
        tasks=pl.lit(None, pl.Int64),
        expectation=pl.when(additive).then("expectation"),
        reason=pl.coalesce("reason", _UNKNOWN),
        **_without_variances(_UNKNOWN),
    )


def _without_variances(reason: pl.Expr) -> dict[str, pl.Expr]:
    """Return the columns of variances without any, and why there are none under random scorers."""
    columns = {"variance": _NULL}
    for scorer in ("random_scorer", "static_scorer"):
        columns |= {f"variance_{scorer}": _NULL, f"reason_{scorer}": reason}
    return columns


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


# --- negatives drawn with replacement, as GraIL and its followers draw them ------------------------------------

_REASON = (
    "negatives are drawn with replacement, and whether the true answer is among them depends on the source: only "
    "bounds of the expectation are known"
)
_NO_VARIANCE = (
    "negatives are drawn once, five times or not at all, depending on the source: the variance is not known"
)
_NOT_A_MEAN = "not a mean over the tasks: its expectation is not derived for negatives drawn with replacement"


def _within_bounds(
    moments: pl.DataFrame, metrics: Sequence[Metric], negatives: int, pool: Mapping[str, int]
) -> pl.DataFrame:
    """Return moments for uniform ranks 1..negatives + 1 as bounds of the moments for draws from a pool.

    Of the M entities that the q negatives are drawn from J are better than the true answer, and a random scorer makes
    every J equally likely. The rank is 1 + Binomial(q, J / M), so that the expectation of a term f is the mean over J
    of g(J / M), g(p) = E f(1 + Binomial(q, p)). J runs from 0 to M where the true answer is none of the M (NodePiece).
    Where it is one of them it may be drawn as its own negative, and whether such a tie counts for it (J up to M - 1) or
    against it (J from 1 on) is left to a sorting routine (GraIL). All three are sums for the integral of g, which is
    the mean U of f over the ranks 1..q + 1:

        |E f - U| <= |f(1) - f(q + 1)| / (2 M) + q (sum of |second differences of f|) / (8 M^2).

    The first part is the two ends. The second is the error of the trapezoid rule, at most
    (integral of |g''|) / (8 M^2), and g is a Bernstein polynomial, so the integral is at most q times the sum.
    docs/methods.md, "Negatives drawn with replacement", has examples.

    moments: as `moments_table` and `nulls_table` make them, with the columns of their reasons. Only additive metrics
    have bounds.
    """
    reach = {metric.key: _reach(metric, negatives, pool) for metric in metrics if metric.additive}
    apart = pl.col("metric").replace_strict(reach, default=None, return_dtype=pl.Float64)
    return moments.with_columns(
        expectation_low=pl.col("expectation") - apart,
        expectation_high=pl.col("expectation") + apart,
        variance_low=_NULL,
        variance_high=_NULL,
        expectation=_NULL,
        method=pl.lit("bounds, ") + pl.col("method"),
        reason=pl.coalesce("reason", pl.when(apart.is_null()).then(pl.lit(_NOT_A_MEAN)), pl.lit(_REASON)),
        **_without_variances(pl.lit(_NO_VARIANCE)),
    )


def _reach(metric: Metric, negatives: int, pool: Mapping[str, int]) -> float:
    """Return how far the mean of a metric's term over tasks may be from its mean over uniform ranks."""
    if metric.term is None:
        return np.nan
    size = negatives + 1
    values = metric.term(np.arange(1.0, size + 1), np.full(size, float(size)))
    of_ends = abs(values[0] - values[-1]) / (2 * pool["harmonic_mean"])
    of_bends = negatives * np.abs(np.diff(values, 2)).sum() / (8 * pool["harmonic_mean"] * pool["least"])
    return float(of_ends + of_bends)
