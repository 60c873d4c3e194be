"""How negatives are drawn, and the law of the rank among them of a true answer whose full rank is known.

A true answer of rank R among N candidates has N - 1 other candidates, and R - 1 of them are better. Draw q negatives
uniformly from the other candidates. The number of better negatives is hypergeometric, or binomial if a candidate can be
drawn again (docs/sampled.md).
"""

from dataclasses import dataclass

import numpy as np

from rankadjust.base.arrays import FloatArray

# Greatest number of probabilities in memory at once.
_CELLS = 2_000_000


@dataclass(frozen=True)
class Draw:
    """How negatives are drawn: how many for each task, and whether a candidate can be drawn twice."""

    negatives: int
    replacement: bool = False

    def probabilities(self, ranks: FloatArray, candidates: FloatArray) -> FloatArray:
        """Return the probability of each sampled rank 1..q + 1, (m, q + 1), for ranks (m,) among candidates (m,).

        Without replacement, a task with fewer than q other candidates has all of them as negatives.
        """
        better, others = (ranks - 1)[:, None], (candidates - 1)[:, None]
        places = np.arange(self.negatives + 1, dtype=np.float64)
        drawn = np.where(others > 0, float(self.negatives), 0.0)
        if self.replacement:
            least = np.where((better == others) & (others > 0), drawn, 0.0)
            most = np.where(better > 0, drawn, 0.0)
            odds = np.broadcast_to(better / np.maximum(others - better, 1.0), (ranks.size, places.size - 1))
        else:
            drawn = np.minimum(drawn, others)
            least = np.maximum(0.0, drawn - (others - better))
            most = np.minimum(drawn, better)
            odds = (better - places[:-1]) / np.maximum(others - better - drawn + places[1:], 1.0)
        possible = (places[:-1] >= least) & (places[:-1] < most)
        # Neighbouring probabilities have a simple ratio. Multiplying the ratios avoids logarithms of large factorials.
        ratios = np.where(possible, odds * (drawn - places[:-1]) / places[1:], 1.0)
        logs = np.concatenate([np.zeros((ranks.size, 1)), np.cumsum(np.log(ratios), axis=1)], axis=1)
        logs = np.where((places >= least) & (places <= most), logs, -np.inf)
        weights: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def means(self, ranks: FloatArray, candidates: FloatArray, functions: FloatArray) -> FloatArray:
        """Return the expectation, (m, k), of functions (q + 1, k) of the sampled rank."""
        rows = max(1, _CELLS // (self.negatives + 1))
        parts = [slice(start, start + rows) for start in range(0, ranks.size, rows)]
        means = [self.probabilities(ranks[part], candidates[part]) @ functions for part in parts]
        return np.concatenate([np.zeros((0, functions.shape[1])), *means])
