"""Decide whether a plausible list of ranks has all printed values; a linear program finds such a list.

Each component is a list of ranks of all tasks of a data set. In a component, the lead of the true answer is normal with
mean m and standard deviation s (0.25 to 2.5), and its rank is 1 + a binomial number of the other candidates. A last
component has uniform ranks. A plausible model answers a share w_i of the queries like component i, because the
relations of a graph differ in difficulty. In addition, its ranks from 2 on become rarer as they become worse, in blocks
that end at powers of the square root of 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
from scipy import special
from scipy.optimize import linprog

from rankadjust.base.arrays import FloatArray

SPREADS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5)
LEADS = np.arange(-1.0, 6.01, 0.25)
_FEASIBLE = 0


@dataclass(frozen=True)
class Components:
    """Lists of ranks (c, n), and the mean number of candidates of the n tasks."""

    ranks: FloatArray
    mean_candidates: float

    @cached_property
    def means(self) -> dict[str, FloatArray]:
        """The mean of each list (c,) from which a metric is computed: the mean of r, 1/r, ln r, or r <= k."""
        rank = self.ranks.mean(axis=1, dtype=np.float64)
        return {
            "mr": rank,
            "amri": rank,
            "mrr": (1 / self.ranks).mean(axis=1, dtype=np.float64),
            "gmr": np.log(self.ranks).mean(axis=1, dtype=np.float64),
        } | {f"hits@{k}": self.share_up_to(k) for k in (1, 3, 10)}

    def share_up_to(self, rank: float) -> FloatArray:
        """Return the share of ranks up to a given rank, (c,)."""
        return np.asarray((self.ranks <= rank).mean(axis=1))

    @cached_property
    def increases(self) -> FloatArray:
        """The growth of the mean share of a rank from each block to the next block, (blocks - 1, c)."""
        most = float(self.ranks.max())
        ends = np.unique(np.floor(np.sqrt(2.0) ** np.arange(0.0, 2 * np.log2(most) + 1)))
        ends = np.append(ends[ends < most], most)
        up_to = np.array([self.share_up_to(end) for end in ends])
        shares = np.diff(up_to, axis=0) / np.diff(ends)[:, None]
        return np.asarray(np.diff(shares, axis=0))


def read_components(counts: Mapping[str, FloatArray]) -> Components:
    """Draw the components for the tasks of both sides; counts: N of each task by side."""
    rng = np.random.default_rng(0)
    candidates = np.concatenate(list(counts.values())).astype(np.int64)
    beaten_by = [
        special.ndtr(-(lead + spread * rng.standard_normal(candidates.size)))
        for spread in SPREADS
        for lead in LEADS
    ]
    beaten_by.append(rng.random(candidates.size))
    ranks = np.array([1.0 + rng.binomial(candidates - 1, each) for each in beaten_by], dtype=np.float32)
    return Components(ranks, float(candidates.mean()))


def shares_of(printed: Mapping[str, str], components: Components) -> FloatArray | None:
    """Return shares (c,) of the components that give all printed values, or None if such shares do not exist."""
    rows, limits = [], []
    for metric, text in printed.items():
        half = 0.5 * 10.0 ** int(Decimal(text).as_tuple().exponent)
        low, high = float(text) - half, float(text) + half
        if metric == "median":
            rows += [-components.share_up_to(high), components.share_up_to(np.nextafter(low, 0)) - 1]
            limits += [-0.5, -0.5]
            continue
        if metric == "gmr":
            low, high = float(np.log(low)), float(np.log(high))
        elif metric == "amri":
            # MR = 1 + (1 - AMRI) (mean N - 1) / 2
            low, high = (1 + (1 - end) * (components.mean_candidates - 1) / 2 for end in (high, low))
        scale = max(abs(high), 1e-3)
        means = components.means[metric] / scale
        rows += [means, -means]
        limits += [high / scale, -low / scale]
    found = linprog(
        np.zeros(len(components.ranks)),
        A_ub=np.vstack([*rows, components.increases]),
        b_ub=np.concatenate([limits, np.zeros(len(components.increases))]),
        A_eq=np.ones((1, len(components.ranks))),
        b_eq=[1.0],
        method="highs",
    )
    return np.asarray(found.x) if found.status == _FEASIBLE else None


def is_plausible(printed: Mapping[str, str], components: Components) -> bool:
    """Return whether a plausible list of ranks has all printed values."""
    return shares_of(printed, components) is not None
