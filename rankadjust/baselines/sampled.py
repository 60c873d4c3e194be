"""Metrics of a true answer that is ranked against q sampled candidates: means over samples and orders of the tied.

A task has N candidates: G are above the true answer and m are tied with it (itself included). First put the tied
candidates in a random order: the rank R among all N is uniform on G + 1 .. G + m. Then sample q of the N - 1 others,
none twice. If J of them are above, the rank is 1 + J, and J is hypergeometric given R. Draw q + 1 of N candidates, and
let F(x) be the hypergeometric number of draws among x marked candidates. Then

    P(J = j) = N / ((q + 1) m) * (P(F(G + m) > j) - P(F(G) > j)),

because the (j + 1)-st smallest of q + 1 draws is at most x exactly if more than j of the x marked candidates are drawn.
"""

from collections.abc import Sequence

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.baselines.tie_orders import not_a_mean
from rankadjust.chance.draw import Draw
from rankadjust.chance.metrics import Metric
from rankadjust.chance.moments import Moments

# Greatest size of a table by kind of task and rank that is in memory at a time.
_CELLS = 2**22


def sampled_moments(
    metrics: Sequence[Metric],
    above: FloatArray,
    tied: FloatArray,
    candidates: FloatArray,
    tasks: FloatArray,
    negatives: int,
) -> list[Moments]:
    """Return expectation and variance of metrics over samples and orders of the tied.

    above, tied, candidates, tasks (k,): as for `TieOrders`, counted among all candidates.
    """
    fewest = int(candidates.min()) - 1
    if fewest < negatives:
        reason = f"{negatives} negatives cannot be drawn from {fewest} in some tasks"
        return [Moments(None, None, "none", reason)] * len(metrics)
    ranks = np.arange(1.0, negatives + 2)
    terms = {
        metric: metric.term(ranks, np.full_like(ranks, negatives + 1))
        for metric in metrics
        if metric.additive and metric.term is not None
    }
    sums = {metric: np.zeros(2) for metric in terms}
    step = max(1, _CELLS // (negatives + 1))
    for start in range(0, above.size, step):
        rows = slice(start, start + step)
        law = _law(above[rows], tied[rows], candidates[rows], negatives)
        for metric, term in terms.items():
            mean = law @ term
            variance = np.sum(law * (term - mean[:, None]) ** 2, axis=1)
            sums[metric] += tasks[rows] @ mean, tasks[rows] @ variance
    total = float(tasks.sum())
    return [
        Moments(float(sums[metric][0] / total), float(sums[metric][1] / total**2), "law of sampled ranks")
        if metric in sums
        else not_a_mean(metric)
        for metric in metrics
    ]


def _law(above: FloatArray, tied: FloatArray, candidates: FloatArray, negatives: int) -> FloatArray:
    """Return the probabilities (k, q + 1) of the ranks 1 .. q + 1."""
    draw = Draw(negatives + 1)
    # P(F(x) > j): x marked candidates among N are the better ones of a true answer besides these N.
    upper, lower = (
        np.cumsum(draw.probabilities(marked + 1, candidates + 1)[:, :0:-1], axis=1)[:, ::-1]
        for marked in (above + tied, above)
    )
    law = np.maximum((candidates / tied)[:, None] * (upper - lower), 0.0)
    normed: FloatArray = law / law.sum(axis=1, keepdims=True)
    return normed
