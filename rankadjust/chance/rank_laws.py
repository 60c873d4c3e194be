"""Ranks that are not uniform on 1..N under chance, as metrics of ranks that are (docs/protocols.md).

Two evaluations are meant. Some code ranks the true answer against itself, too: its rank is r + 1 among N + 1 where r is
uniform. Other code draws q negatives from M entities, each from all of them; if J of the M are better than the true
answer, its rank is 1 + Binomial(q, J / M), and a random scorer makes every J equally likely. Where the true answer is
none of the M, J is from 0 to M. Where it is one of them it may be drawn as its own negative, and a sorting routine
decides whether such a tie counts for it (J up to M - 1) or against it (J from 1 on).
"""

from dataclasses import replace
from functools import cache, lru_cache

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.draw import Draw
from rankadjust.chance.metrics import Metric, Term


@cache
def against_itself(metric: Metric) -> Metric:
    """Return the metric of ranks r + 1 among N + 1 as a metric of r among N; it is the mean of a term."""
    assert metric.term is not None
    assert metric.shape is not None

    def shifted(of: Term) -> Term:
        return lambda ranks, counts: of(ranks + 1, counts + 1)

    # At k = 1 no rank counts.
    is_cut = metric.k is not None and metric.k > 1
    shape = metric.shape if is_cut or metric.k is None else lambda ranks, _: np.zeros_like(ranks)
    k = metric.k - 1 if metric.k is not None and is_cut else None
    return replace(metric, k=k, least_candidates=1, shape=shifted(shape), term=shifted(metric.term))


def of_draws(
    metric: Metric, tasks: CandidateCounts, negatives: int, *, itself: bool
) -> tuple[tuple[float, float], float]:
    """Return the bounds of the expectation of an additive metric, and its variance if no draw is the true answer.

    Each task draws its own negatives from N - 1 entities, from N where the true answer may be drawn itself. The bounds
    are equal where it never is.
    """
    places = np.arange(1.0, negatives + 2)
    assert metric.term is not None
    values = metric.term(places, np.full_like(places, places[-1]))
    total = tasks.tasks.sum()
    # Whether a draw of the true answer counts against it.
    wins, *loses = (
        np.stack([_law(count, negatives, itself, against) for count in tasks.counts])
        for against in ((False, True) if itself else (False,))
    )
    means = [float(tasks.tasks @ (laws @ values) / total) for laws in (wins, *loses)]
    variance = float(tasks.tasks @ (wins @ values**2 - (wins @ values) ** 2)) / total**2
    return (min(means), max(means)), variance


# All metrics of a split ask for the same counts.
@lru_cache(maxsize=2**14)
def _law(count: float, negatives: int, itself: bool, loses: bool) -> FloatArray:
    """Return the probability of each rank 1..q + 1 among the draws, the full rank being uniform on 1..count."""
    ranks = np.arange(1.0, count + 1)
    draw = Draw(negatives, replacement=True)
    law: FloatArray = draw.probabilities(ranks + loses, np.full_like(ranks, count + itself)).mean(axis=0)
    return law
