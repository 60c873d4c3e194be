"""Metrics of a true answer that is ranked against q sampled candidates: means over samples and orders of the tied.

A task has N candidates: G are above the true answer and m are tied with it (itself included). First put the tied
candidates in a random order: the rank R among all N is uniform on G + 1 .. G + m. Then sample q of the N - 1 others.
If J of them are above, the rank is 1 + J. Without replacement, J is hypergeometric given R. Draw q + 1 of N candidates,
and let F(x) be the hypergeometric number of draws among x marked candidates. Then

    P(J = j) = N / ((q + 1) m) * (P(F(G + m) > j) - P(F(G) > j)),

because the (j + 1)-st smallest of q + 1 draws is at most x exactly if more than j of the x marked candidates are drawn.
With replacement, J is binomial given the share of the others that is above. Every order of the draws is equally likely,
so the part of this share that comes from the tied is uniform. The integral over it is a difference of incomplete beta
functions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from rankadjust.base.arrays import FloatArray
from rankadjust.baselines.tie_orders import log_transform
from rankadjust.chance.metrics import Metric
from rankadjust.chance.moments import Moments, reciprocal_moments

# Greatest size of a table by kind of task and rank that is in memory at a time.
_CELLS = 2**22
# Up to this size, the laws of all tasks are kept from one metric to the next.
_KEPT = 2**24


@dataclass(frozen=True)
class Sampled:
    """The law of ranks among q sampled candidates.

    above, tied, candidates, tasks: as for `TieOrders`, counted among all candidates. negatives: q. replacement: whether
    the same candidate may be drawn again.
    """

    above: FloatArray
    tied: FloatArray
    candidates: FloatArray
    tasks: FloatArray
    negatives: int
    replacement: bool = False

    def moments(self, metric: Metric) -> Moments:
        """Return expectation and variance of a metric over samples and orders of the tied."""
        fewest = int(self.candidates.min()) - 1
        if fewest < (1 if self.replacement else self.negatives):
            return Moments(
                None, None, "none", f"{self.negatives} negatives cannot be drawn from {fewest} in some tasks"
            )
        if metric.additive:
            assert metric.term is not None
            ranks = np.arange(1.0, self.negatives + 2)
            values = metric.term(ranks, np.full_like(ranks, self.negatives + 1))
            mean, variance = self._sums(lambda law: (law @ values, _variance(law, values)))
            total = float(self.tasks.sum())
            return Moments(float(mean / total), float(variance / total**2), "law of sampled ranks")
        method = _OTHERS.get(metric.family)
        if method is None:
            return Moments(None, None, "none", "not computed: the law of an order statistic of tied ranks")
        return method(self)

    def _sums(self, of_law: Callable[[FloatArray], tuple[FloatArray, ...]]) -> tuple[FloatArray, ...]:
        """Return the sums over all tasks of a function's values; the function takes laws (b, q + 1)."""
        parts = [tuple(self.tasks[rows] @ each for each in of_law(law)) for rows, law in self._laws()]
        return tuple(np.sum(each, axis=0) for each in zip(*parts, strict=True))

    def _laws(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the probabilities of the ranks 1 .. q + 1, for some kinds of task at a time."""
        if self._all is not None:
            yield slice(None), self._all
            return
        step = max(1, _CELLS // (self.negatives + 1))
        for start in range(0, self.above.size, step):
            rows = slice(start, start + step)
            yield rows, self._law(rows)

    @cached_property
    def _all(self) -> FloatArray | None:
        return self._law(slice(None)) if self.above.size * (self.negatives + 1) <= _KEPT else None

    def _law(self, rows: slice) -> FloatArray:
        above, tied, candidates = self.above[rows], self.tied[rows], self.candidates[rows]
        law = (_binomial if self.replacement else _hypergeometric)(above, tied, candidates, self.negatives)
        law = np.maximum(law, 0.0)
        normed: FloatArray = law / law.sum(axis=1, keepdims=True)
        return normed

    def geometric(self, sign: float) -> Moments:
        """Return the moments of prod r_i^(sign / n)."""
        total = float(self.tasks.sum())
        logs = np.log(np.arange(1.0, self.negatives + 2))
        power = sign / total

        def sums(law: FloatArray) -> tuple[FloatArray, ...]:
            centre = law @ logs
            deviations = logs - centre[:, None]
            first, second = (
                np.log1p(np.sum(law * np.expm1(factor * power * deviations), axis=1)) for factor in (1, 2)
            )
            return centre, first, second - 2 * first

        centre, first, excess = self._sums(sums)
        expectation = np.exp(power * centre + first)
        return Moments(
            float(expectation), float(expectation**2 * np.expm1(max(float(excess), 0.0))), "power product"
        )

    def reciprocal(self, values: Callable[[FloatArray], FloatArray]) -> Moments:
        """Return the moments of n / sum of g(r), for positive values g."""
        own = values(np.arange(1.0, self.negatives + 2))
        total = float(self.tasks.sum())

        def sums(law: FloatArray) -> tuple[FloatArray, ...]:
            return law @ own, np.where(law > 0, own, np.inf).min(axis=1), _variance(law, own)

        mean, smallest, variance = (float(each) for each in self._sums(sums))
        if variance == 0:
            return Moments(total / mean, 0.0, "Laplace integral")

        def logs(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            def of(law: FloatArray) -> tuple[FloatArray, ...]:
                return (log_transform(law @ np.expm1(-np.outer(own, t)), np.outer(law @ own, t)),)

            (centred,) = self._sums(of)
            return centred, centred - t * mean

        return reciprocal_moments(total, mean, smallest, logs)


def _variance(law: FloatArray, values: FloatArray) -> FloatArray:
    deviations = values - (law @ values)[:, None]
    variance: FloatArray = np.sum(law * deviations**2, axis=1)
    return variance


def _hypergeometric(
    above: FloatArray, tied: FloatArray, candidates: FloatArray, negatives: int
) -> FloatArray:
    """Return the law (k, q + 1) of the rank among q distinct others."""
    draws = negatives + 1
    upper, lower = (_more_than(counting, candidates, draws) for counting in (above + tied, above))
    return (candidates / (draws * tied))[:, None] * (upper - lower)


def _more_than(counting: FloatArray, population: FloatArray, draws: int) -> FloatArray:
    """Return P(X > j) for j = 0 .. draws - 1 (k, draws).

    X is how many of the draws are among the `counting` members of the population. Each probability follows from the
    probability before, from the least possible X on. The probabilities are scaled to sum to 1, and added up from the
    largest X down.
    """
    j = np.arange(draws)
    counting, rest = counting[:, None], (population - counting)[:, None]
    upward, downward = (counting - j) * (draws - j), (j + 1) * (rest - draws + j + 1)
    possible = (upward > 0) & (downward > 0)
    steps = np.log(np.where(possible, upward, 1.0)) - np.log(np.where(possible, downward, 1.0))
    logs = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
    number = np.arange(draws + 1)
    outside = (number > counting) | (draws - number > rest)
    logs = np.where(outside, -np.inf, logs)
    law = np.exp(logs - logs.max(axis=1, keepdims=True))
    law /= law.sum(axis=1, keepdims=True)
    above: FloatArray = np.cumsum(law[:, :0:-1], axis=1)[:, ::-1]
    return above


def _binomial(above: FloatArray, tied: FloatArray, candidates: FloatArray, negatives: int) -> FloatArray:
    """Return the law (k, q + 1) of the rank among q others that are drawn with replacement."""
    j = np.arange(negatives + 1)
    low, width = (above / (candidates - 1))[:, None], ((tied - 1) / (candidates - 1))[:, None]
    alone = width[:, 0] == 0
    law = np.empty((above.size, j.size))
    high = np.minimum(low + width, 1.0)[~alone]
    beta = [special.betainc(j + 1, negatives - j + 1, end) for end in (high, low[~alone])]
    law[~alone] = (beta[0] - beta[1]) / ((negatives + 1) * width[~alone])
    logs = special.gammaln(negatives + 1) - special.gammaln(j + 1) - special.gammaln(negatives - j + 1)
    share = low[alone]
    law[alone] = np.exp(logs + special.xlogy(j, share) + special.xlog1py(negatives - j, -share))
    return law


_OTHERS: dict[str, Callable[[Sampled], Moments]] = {
    "geometric_mean_rank": lambda law: law.geometric(1.0),
    "inverse_geometric_mean_rank": lambda law: law.geometric(-1.0),
    "inverse_arithmetic_mean_rank": lambda law: law.reciprocal(lambda ranks: ranks),
    "harmonic_mean_rank": lambda law: law.reciprocal(lambda ranks: 1 / ranks),
}
