"""Bounds of an expectation where negatives are drawn with replacement, as GraIL and its followers draw them.

Of the M entities that the q negatives are drawn from J are better than the true answer, and a random scorer makes every
J equally likely. The rank is 1 + Binomial(q, J / M), so that the expectation of a term f is the mean over J of

    g(J / M),  g(p) = E f(1 + Binomial(q, p)).

J runs from 0 to M where the true answer is none of the M (NodePiece). Where it is one of them, it may be drawn as its
own negative: J runs from 0 to M - 1 if such a tie counts for it, and from 1 to M if it counts against it. Sources leave
that to a sorting routine (GraIL). All three are sums for the integral of g, which is the mean U of f over the ranks
1..q + 1:

    |E f - U| <= |f(1) - f(q + 1)| / (2 M) + q (sum of |second differences of f|) / (8 M^2).

docs/methods.md, "Negatives drawn with replacement", has the proof.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from rankadjust.chance.metrics import Metric
from rankadjust.counting.protocols import Pool

_REASON = (
    "negatives are drawn with replacement, and whether the true answer is among them depends on the source: only "
    "bounds of the expectation are known"
)
_NO_VARIANCE = (
    "negatives are drawn once, five times or not at all, depending on the source: the variance is not known"
)
_NOT_A_MEAN = "not a mean over the tasks: its expectation is not derived for negatives drawn with replacement"


def within_bounds(
    moments: pl.DataFrame, metrics: Sequence[Metric], negatives: int, pool: Pool
) -> pl.DataFrame:
    """Return moments for uniform ranks 1..negatives + 1 as bounds of the moments for draws from a pool.

    moments: as `moments_table` and `nulls_table` make them, with the columns of their reasons. Only additive metrics
    have bounds.
    """
    reach = {metric.key: _reach(metric, negatives, pool) for metric in metrics if metric.additive}
    apart = pl.col("metric").replace_strict(reach, default=None, return_dtype=pl.Float64)
    unknown = pl.lit(None, pl.Float64)
    return moments.with_columns(
        expectation_low=pl.col("expectation") - apart,
        expectation_high=pl.col("expectation") + apart,
        variance_low=unknown,
        variance_high=unknown,
        expectation=unknown,
        variance=unknown,
        variance_random_scorer=unknown,
        variance_static_scorer=unknown,
        method=pl.lit("bounds, ") + pl.col("method"),
        reason=pl.coalesce("reason", pl.when(apart.is_null()).then(pl.lit(_NOT_A_MEAN)), pl.lit(_REASON)),
        reason_random_scorer=pl.lit(_NO_VARIANCE),
        reason_static_scorer=pl.lit(_NO_VARIANCE),
    )


def _reach(metric: Metric, negatives: int, pool: Pool) -> float:
    """Return how far the mean of a metric's term over tasks may be from its mean over uniform ranks."""
    if metric.term is None:
        return np.nan
    size = negatives + 1
    values = metric.term(np.arange(1.0, size + 1), np.full(size, float(size)))
    of_ends = abs(values[0] - values[-1]) / (2 * pool.harmonic_mean)
    of_bends = negatives * np.abs(np.diff(values, 2)).sum() / (8 * pool.harmonic_mean * pool.least)
    return float(of_ends + of_bends)
