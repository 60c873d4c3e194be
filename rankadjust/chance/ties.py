"""Ties: the mean of a metric's term over all orders of the candidates that tie with the true answer.

Of tied candidates every order is as good as any other. The rank r of the true answer is then uniform on the whole ranks
from the optimistic o to the pessimistic p, and its term has the mean

    E f(r) = (f(o) + f(o + 1) + … + f(p)) / (p - o + 1),

which differs from f of the mean rank wherever f is not linear. Where everything ties (o = 1, p = N) it is the
expectation of the term under the independent null: a scorer that gives every candidate the same score is at chance
exactly.
"""

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import Metric
from rankadjust.chance.rank_sums import gauss_sums

# On the ranks from s to 2 s a function that is analytic and bounded for Re r > 0 is summed by 12 Gauss nodes with an
# error of the order of (3 + sqrt 8)^-24 = 4e-19 (docs/methods.md, "Sums over ranks").
_POINTS = 12


def mean_over_orders(
    metric: Metric, optimistic: FloatArray, pessimistic: FloatArray, counts: FloatArray
) -> FloatArray:
    """Return the mean of a metric's term over the whole ranks from optimistic to pessimistic, each of shape (n,).

    counts: numbers of candidates (n,), nan where not known; only a term that needs them looks at them. Where the
    two ranks are equal the result is the term, also of a half. Raises RankadjustError for a metric without a term.
    """
    if metric.term is None or metric.shape is None:
        raise RankadjustError(f"{metric.label} is not a function of a mean over the tasks; leave it out")
    # A copy: the term of MR is the ranks themselves.
    mean = np.array(metric.term(optimistic, counts))
    tied = np.flatnonzero(pessimistic > optimistic)
    best, worst, count = optimistic[tied], pessimistic[tied], counts[tied]
    # Beyond rank k the term is 0.
    last = worst if metric.k is None else np.minimum(worst, float(metric.k))
    total = np.zeros(tied.size)
    start = best.copy()
    left = np.flatnonzero(start <= last)
    while left.size:
        end = np.minimum(2 * start[left], last[left])
        lengths, position = np.unique(end - start[left] + 1, return_inverse=True)
        rule = gauss_sums(lengths, _POINTS)
        # Up to 12 ranks are their own nodes, with a weight of 1; the rule knows that up to rounding.
        weights = np.where(lengths[:, None] <= _POINTS, np.rint(rule.weights), rule.weights)
        ranks = start[left][:, None] + rule.nodes[position]
        values = metric.shape(ranks, np.broadcast_to(count[left][:, None], ranks.shape))
        total[left] += (weights[position] * values).sum(axis=1)
        start[left] = end + 1
        left = left[start[left] <= last[left]]
    mean[tied] = metric.scale * total / (worst - best + 1)
    return mean
