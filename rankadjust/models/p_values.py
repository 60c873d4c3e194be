"""p of a difference between two models: how likely one as large is where they differ by luck (docs/methods-compare.md).

* Sign flips: if two models are equally good, each cluster of tasks could as well have had the other model's ranks. All
  swaps are then equally likely, and p is the share of swaps whose difference is at least as large as the observed one.
* Equal values do not make models exchangeable where a few tasks decide: there p comes from Student's t without its
  skewness, or from a bound that asks for no law of the ranks, or from the bootstrap samples.
* Runs and tasks crossed: over new seeds and new tasks, where both models have several runs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtr

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric
from rankadjust.evaluation.intervals import jackknife_variance
from rankadjust.evaluation.weighting import UnitMeans, in_blocks, product

# A difference that equals the observed one but for rounding counts as equally large.
_ROUNDING = 1e-9
# So many times the typical cluster's square is the scale at which the bound is sharpest: about the least sum of squares
# that can make a difference significant.
_SHARPEST = 9.0
# Satterthwaite's degrees of freedom have 2 here, and are too many where a few runs happen to be alike; 1 gives too few
# (docs/methods-compare.md says how often the test errs with each).
_WEIGHT = 1.5


# --- sign flips ----------------------------------------------------------------------------------------------


def swaps(clusters: int, flips: int, seed: int, columns: int = 1) -> Iterator[FloatArray]:
    """Yield blocks (clusters, d) of zeros and ones, a one where a cluster is swapped: all, or `flips` random ones.

    All 2^clusters are listed, the first of them without a swap, if these are no more than `flips`. columns: how many
    numbers the caller makes of each; it bounds the size of a block. The same seed gives the same swaps.
    """
    if is_exact(clusters, flips):
        every = np.arange(2**clusters)
        for block in np.array_split(every, max(1, every.size * clusters * columns // 2**22)):
            yield ((block >> np.arange(clusters)[:, None]) & 1).astype(np.float64)
        return
    generator = np.random.default_rng(seed)
    for size in in_blocks(flips, clusters * columns):
        # Whole words for each swap, so that what is drawn does not depend on the blocks.
        words = generator.integers(0, 2**64, size=(size, -(-clusters // 64)), dtype=np.uint64)
        drawn = words.astype("<u8").view(np.uint8)
        yield np.unpackbits(drawn, axis=1, count=clusters).astype(np.float64).T


def is_exact(clusters: int, flips: int) -> bool:
    """Return whether all swaps of so many clusters are listed."""
    return clusters < 63 and 2**clusters <= flips


def flip_means(difference: UnitMeans, flips: int, seed: int, stretch: FloatArray | float = 1.0) -> FloatArray:
    """Return p of each metric (m,) that is a function of a mean, nan where it has no value.

    difference: of the two models' means, over the clusters. A swap changes the sign of a cluster's part of it. The
    total of the two means stays, and so the metrics differ the more, the more the means do: no link is needed.
    stretch: by how much the differences of swaps are too small, since clusters may depend on each other (m,).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = difference.terms / difference.weights.sum(axis=1, keepdims=True)
    totals = parts.sum(axis=1, keepdims=True)
    # With signs the sum is the total less twice that of the swapped.
    flipped = (np.abs(totals - 2 * product(parts, block)) for block in swaps(parts.shape[1], flips, seed))
    return _share(flipped, np.abs(totals), stretch, parts.shape[1], flips)


def flip_ranks(
    metrics: Callable[[FloatArray], FloatArray],
    clusters: int,
    flips: int,
    seed: int,
    stretch: FloatArray | float = 1.0,
) -> FloatArray:
    """Return p of each metric (m,) of the tasks of two models, computed anew for every swap.

    metrics: gives them (m, d) for how often each unit of the tasks of both counts; the units 2 c and 2 c + 1 are
    cluster c of the first model and of the second. stretch: as for `flip_means`.
    """

    def difference(swapped: FloatArray) -> FloatArray:
        counts = np.empty((2 * clusters, swapped.shape[1]))
        counts[::2], counts[1::2] = 1 - swapped, swapped
        return np.abs(metrics(counts) - metrics(1 - counts))

    seen = difference(np.zeros((clusters, 1)))
    flipped = (difference(block) for block in swaps(clusters, flips, seed, columns=4))
    return _share(flipped, seen, stretch, clusters, flips)


def _share(
    differences: Iterator[FloatArray],
    seen: FloatArray,
    stretch: FloatArray | float,
    clusters: int,
    flips: int,
) -> FloatArray:
    """Return the share of swaps that are at least as far from 0 as seen (m, 1), divided by the stretch.

    Where the swaps are drawn, the observed assignment counts as one of them: so p is never 0 and the test never rejects
    too often (Phipson and Smyth 2010).
    """
    seen = seen / np.reshape(stretch, (-1, 1))
    least = seen - _ROUNDING * (seen + 1e-3 * np.finfo(np.float32).eps)
    reached, looked_at = np.zeros(seen.shape[0]), 0
    for block in differences:
        reached += (block >= least).sum(axis=1)
        looked_at += block.shape[1]
    p: FloatArray = reached / looked_at if is_exact(clusters, flips) else (reached + 1) / (looked_at + 1)
    return np.where(np.isnan(seen[:, 0]), np.nan, p)


# --- equal values of models that are not exchangeable ----------------------------------------------------------


def skewed_p(difference: UnitMeans, stretch: FloatArray) -> FloatArray:
    """Return two-sided p of means that are 0 (m,): Student's t, freed of skewness by Hall's transformation (1992).

    stretch: by how much the standard errors are too small, since units may depend on each other (m,). nan where a mean
    has no spread.
    """
    units = difference.terms.shape[1]
    mean, error = difference.mean_and_error(np.ones((units, 1)), [np.arange(units)])[:, :, 0]
    parts = difference.terms - mean[:, None] * difference.weights
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = (parts**3).sum(axis=1) / (parts**2).sum(axis=1) ** 1.5
        t = mean / (error * stretch)
        moved = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    p: FloatArray = 2 * stdtr(max(units - 1, 1), -np.abs(moved))
    return p


def p_of_equal_means(differences: FloatArray, ways: Sequence[IntArray]) -> float:
    """Return p of equal means, whatever the laws of the ranks are (a normal mixture, Robbins 1970).

    differences: of the tasks' terms, each from -1 to 1 (n,); nan where not known, and then p is. ways: the cluster of
    each task, for one or two ways of clustering them.
    """
    sizes = [np.bincount(way)[way] for way in ways]
    squares = float(sum(np.abs(differences) @ size for size in sizes))
    scale = _SHARPEST * float(max(size.mean() for size in sizes)) ** 2
    z = float(differences.sum()) / np.sqrt(squares + scale)
    # Half of it bounds the probability in either direction.
    bound = np.exp(0.5 * np.log1p(squares / scale) - z * z / 2) / ndtr(np.abs(z))
    return float(np.minimum(1.0, bound))


def range_of_term(metric: Metric, most: float) -> float:
    """Return how far apart the terms of the first and the last rank are; nan where the number of candidates is."""
    if metric.term is None:
        return np.nan
    ranks = np.array([1.0, most])
    first, last = metric.term(ranks, np.full_like(ranks, most))
    return float(abs(first - last))


def p_of_samples(samples: FloatArray) -> float:
    """Return twice the share of bootstrap samples (d,) on the rarer side of 0, nan where there are none.

    Where none is beyond 0, the normal law says how far it is.
    """
    present = samples[~np.isnan(samples)]
    if present.size < 2:
        return np.nan
    least = min((present <= 0).sum(), (present >= 0).sum())
    p = min(1.0, 2 * (least + 1) / (present.size + 1))
    spread = present.std(ddof=1)
    if least or not spread:
        return float(p)
    return float(min(p, 2 * ndtr(-abs(present.mean()) / spread)))


# --- runs and tasks crossed ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Runs:
    """How much the runs of a model differ.

    number: how many there are. spread: the standard deviation of each metric between them (m,), nan for one run. noise:
    the part of the variance of their mean that comes from the tasks: each run has luck of its own in them (m,).
    """

    number: int
    spread: FloatArray
    noise: FloatArray

    @classmethod
    def of(cls, values: Sequence[FloatArray], left_out: Sequence[FloatArray]) -> "Runs":
        """Return how runs differ, from the metrics (m, 1) of each, also with clusters left out (m, parts)."""
        number = len(values)
        if number == 1:
            return cls(1, *np.full((2, len(values[0])), np.nan))
        own = jackknife_variance([*(left_out - np.mean(left_out, axis=0))]) / (number - 1)
        return cls(number, np.std(values, axis=0, ddof=1)[:, 0], own / number)


def _variance_of_runs(models: Sequence[Runs]) -> tuple[FloatArray, FloatArray]:
    """Return the variance of the difference over the runs (m,), and the part of it that comes from the tasks."""
    return (
        np.sum([each.spread**2 / each.number for each in models], axis=0),
        np.sum([each.noise for each in models], axis=0),
    )


def error_of_seeds(models: Sequence[Runs]) -> FloatArray:
    """Return the standard error of the difference over seeds alone (m,); nan unless both have several runs."""
    of_runs, noise = _variance_of_runs(models)
    return np.sqrt(np.maximum(of_runs - noise, 0.0))


def p_over_runs_and_tasks(
    difference: FloatArray, of_tasks: FloatArray, clusters: int, models: Sequence[Runs]
) -> FloatArray:
    """Return p over runs and tasks (m,); nan unless both models have several runs.

    of_tasks: the variance of the difference over the clusters. The runs of a model differ by their seeds, and by luck
    of their own in the tasks, which is in both variances and counts once. The law is Student's; its degrees of freedom
    are between those over the runs (Welch's) and those over the clusters.
    """
    of_runs, noise = _variance_of_runs(models)
    variance = np.maximum(of_tasks - noise, 0.0) + of_runs
    with np.errstate(divide="ignore", invalid="ignore"):
        over_runs = of_runs**2 / sum(
            (each.spread**2 / each.number) ** 2 / (each.number - 1) for each in models
        )
        share = (of_runs / variance) ** _WEIGHT
        freedom = 1 / ((1 - share) / (clusters - 1) + np.where(share > 0, share / over_runs, 0.0))
        p = 2 * stdtr(freedom, -np.abs(difference) / np.sqrt(variance))
    return np.where(variance > 0, p, np.where((difference == 0) & (variance == 0), 1.0, np.nan))
