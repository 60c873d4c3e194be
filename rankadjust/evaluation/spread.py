"""Standard errors, 95 % intervals and p of means over clusters of tasks (docs/methods-intervals.md).

Tasks of a cluster go together, and clusters are independent of each other. What a cluster is says which other tasks an
interval holds for: another sample of triples, of queries or of relations. On both sides together a triple has a query
on either side, so its tasks are clustered in two ways at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric, rank, share_beaten

# From so many clusters of one size on, intervals hold the truth as often as they should (benchmarks/populations.csv).
# A few bad ranks may decide MR, IMR and AUC, whose term changes as much among the worse half of the ranks.
_ENOUGH, _ENOUGH_LONG_TAIL = 24, 300
# Clusters of hardly more than a triple say nothing of how alike their triples are.
_LEAST_ROOM = 1e-3


def cluster_sums(contributions: FloatArray, clusters: IntArray) -> FloatArray:
    """Return the sum over each cluster (m, clusters) of what each task adds (m, n); clusters: from 0 on (n,)."""
    number = int(clusters.max()) + 1
    return np.stack([np.bincount(clusters, each, number) for each in contributions])


def effective(sizes: FloatArray | IntArray) -> float:
    """Return how many parts of one size would be worth these: (sum of g)^2 / sum of g^2, for sizes g."""
    squares = float((np.asarray(sizes, dtype=np.float64) ** 2).sum())
    return float(np.sum(sizes)) ** 2 / squares if squares else np.nan


def worth(ways: Sequence[IntArray]) -> float:
    """Return how many clusters of one size the clusters are worth, of two ways the fewer."""
    return min(effective(np.bincount(way)) for way in ways[:2])


def why_too_short(metric: Metric, ways: Sequence[IntArray], population: str) -> str | None:
    """Return why an interval over these clusters is likely to be too short, None where nothing says so."""
    least = _ENOUGH_LONG_TAIL if metric.shape in (rank, share_beaten) else _ENOUGH
    known = worth(ways)
    if known >= least:
        return None
    alike = f"these count like {known:,.0f} of equal size"
    return f"the interval may be too short: it needs {least} {population}, and {alike}"


@dataclass(frozen=True)
class Spread:
    """How much m means vary from one sample of clusters to the next; every array has the shape (m,).

    error: the standard error. freedom: degrees of freedom of Student's law. skewness: of the sum over clusters.
    """

    error: FloatArray
    freedom: FloatArray
    skewness: FloatArray

    @classmethod
    def of(cls, contributions: FloatArray, ways: Sequence[IntArray], triples: IntArray) -> "Spread":
        """Return the spread of means.

        contributions: what each task adds to the deviation of each mean, w (f - mean) / sum w (m, n). ways: the cluster
        of each task in one way, or in two and the clusters of tasks that are together in both, as
        `rankadjust.evaluation.tasks.Tasks.ways` gives them. triples: the triple of each task, from 0 on (n,).

        Tasks that are together in both ways would count twice, so the third variance is subtracted (Cameron, Gelbach
        and Miller 2011); the total is never less than either of the two. The mean follows large clusters, so each
        variance is divided by the share of it that is expected to be seen (Bell and McCaffrey 2002).

        >>> parts = np.array([[0.25, -0.25, 0.25, -0.25]])
        >>> Spread.of(parts, [np.arange(4)], np.arange(4)).error.round(4).tolist()
        [0.5774]
        """
        sums = cluster_sums(contributions, ways[0])
        variances = [(sums**2).sum(axis=1)]
        variances += [(cluster_sums(contributions, way) ** 2).sum(axis=1) for way in ways[1:]]
        of_triples = variances[0]
        if ways[0] is not triples:
            of_triples = (cluster_sums(contributions, triples) ** 2).sum(axis=1)
        number = int(triples.max()) + 1
        with np.errstate(divide="ignore", invalid="ignore"):
            known = [
                _seen(way, number, variance / of_triples)
                for way, variance in zip(ways[:2], variances, strict=False)
            ]
            whole = [variance / seen for variance, (seen, _) in zip(variances, known, strict=False)]
            total = whole[0]
            if len(ways) > 1:
                total = np.maximum.reduce([whole[0] + whole[1] - variances[2], *whole])
            skewness = np.nan_to_num((sums**3).sum(axis=1) / variances[0] ** 1.5)
        return cls(np.sqrt(total), np.minimum.reduce([freedom for _, freedom in known]), skewness)

    def ends(self, means: FloatArray) -> FloatArray:
        """Return the ends of the 95 % intervals of means (m, 2): Student's t, freed of skewness (Hall 1992)."""
        quantile = np.asarray(special.stdtrit(self.freedom, 0.975), dtype=np.float64)
        return np.stack(
            [means - self.error * self._t_of(quantile), means - self.error * self._t_of(-quantile)], axis=1
        )

    def p(self, differences: FloatArray) -> FloatArray:
        """Return p of differences whose true value is 0 (m,); it is below 0.05 where the interval leaves 0 out."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = differences / self.error
            moved = t + self.skewness * t**2 / 3 + self.skewness**2 * t**3 / 27 + self.skewness / 6
        p: FloatArray = 2 * special.stdtr(self.freedom, -np.abs(moved))
        return np.where(differences == 0, 1.0, np.minimum(p, 1.0))

    def _t_of(self, moved: FloatArray) -> FloatArray:
        """Return the t that Hall's transformation t + g t^2/3 + g^2 t^3/27 + g/6, of skewness g, takes to a number."""
        skewed = np.abs(self.skewness) > 1e-6
        g = np.where(skewed, self.skewness, 1.0)
        return np.where(skewed, 3 / g * (np.cbrt(1 + g * (moved - g / 6)) - 1), moved)


def _seen(way: IntArray, triples: int, ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the share of a variance over clusters that is expected to be seen, and its degrees of freedom (m,).

    ratio: the variance over the clusters, divided by that of independent triples (m,). It says how alike the triples of
    a cluster are: the sum over g triples then has a variance in proportion to g (1 + rho (g - 1)). What is seen is a
    quadratic form of these sums, less the mean; its degrees of freedom are 2 E^2 / Var (Bell and McCaffrey 2002).
    """
    tasks = np.bincount(way).astype(np.float64)
    share = tasks / tasks.sum()
    sizes = share * triples
    room = max(float(share @ sizes) - 1, _LEAST_ROOM)
    alike = np.clip((np.nan_to_num(ratio, nan=1.0) - 1) / room, 0.0, 1.0)
    part = sizes * (1 + alike[:, None] * (sizes - 1))
    part /= part.sum(axis=1, keepdims=True)
    whole, mixed = float(share @ share), part @ share
    # Of a single cluster nothing is seen.
    seen = 1 - 2 * mixed + whole if tasks.size > 1 else np.full(mixed.shape, np.nan)
    squares = part**2 @ (1 + 2 * whole - 4 * share)
    squares += whole**2 + 2 * (part @ share**2) + 2 * mixed**2 - 4 * whole * mixed
    return seen, np.fmax(seen**2 / squares, 1.0)
