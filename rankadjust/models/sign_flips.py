"""Sign flips: how often swapping two models, cluster by cluster, makes a difference as large as theirs.

If two models are equally good, each cluster of tasks could as well have had the other model's ranks. All swaps are
then equally likely, and the p-value is the share of swaps whose difference is at least as large as the observed
difference (docs/compare.md, "The test"; docs/methods-compare.md, "Two models").
"""

from collections.abc import Iterator

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.evaluation.weighting import Arrangement, averages, in_blocks, product
from rankadjust.models.means import ClusterMeans

# A difference that equals the observed one but for rounding counts as equally large.
_ROUNDING = 1e-9


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


def flip_means(
    first: ClusterMeans, second: ClusterMeans, flips: int, seed: int, stretch: FloatArray | float = 1.0
) -> FloatArray:
    """Return p of each metric (m,) that is a function of a mean, nan where it has no value.

    A swap changes the sign of a cluster's part of the difference of the two sums. Their total stays, and so the metrics
    differ the more, the more the sums do: no link is needed. stretch: by how much the differences of swaps are too
    small, since clusters may depend on each other (m,).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = (first.terms - second.terms) / first.weights.sum(axis=1, keepdims=True)
    totals = parts.sum(axis=1, keepdims=True)
    # With signs the sum is the total less twice that of the swapped.
    flipped = (np.abs(totals - 2 * product(parts, block)) for block in swaps(parts.shape[1], flips, seed))
    return _share(flipped, _shrunk(np.abs(totals), stretch), parts.shape[1], flips)


def flip_ranks(together: Arrangement, flips: int, seed: int, stretch: FloatArray | float = 1.0) -> FloatArray:
    """Return p of each metric (m,) of the tasks of two models, computed anew for every swap.

    together: the tasks of both; its units are 2 c for cluster c of the first and 2 c + 1 for that of the second.
    stretch: as for `flip_means`.
    """
    clusters = together.in_run.shape[1] // 2

    def difference(swapped: FloatArray) -> FloatArray:
        counts = np.empty((2 * clusters, swapped.shape[1]))
        counts[::2], counts[1::2] = 1 - swapped, swapped
        return averages(together, counts) - averages(together, 1 - counts)

    seen = _shrunk(np.abs(difference(np.zeros((clusters, 1)))), stretch)
    flipped = (np.abs(difference(block)) for block in swaps(clusters, flips, seed, columns=4))
    return _share(flipped, seen, clusters, flips)


def _shrunk(seen: FloatArray, stretch: FloatArray | float) -> FloatArray:
    """Return differences (m, 1) divided by the stretch (m,)."""
    shrunk: FloatArray = seen / np.reshape(stretch, (-1, 1))
    return shrunk


def _share(differences: Iterator[FloatArray], seen: FloatArray, clusters: int, flips: int) -> FloatArray:
    """Return the share of swaps that are at least as far from 0 as seen (m, 1).

    Where the swaps are drawn, the observed assignment counts as one of them: so p is never 0 and the test never rejects
    too often (Phipson and Smyth 2010).
    """
    least = seen - _ROUNDING * (seen + 1e-3 * np.finfo(np.float32).eps)
    reached, looked_at = np.zeros(seen.shape[0]), 0
    for block in differences:
        reached += (block >= least).sum(axis=1)
        looked_at += block.shape[1]
    p: FloatArray = reached / looked_at if is_exact(clusters, flips) else (reached + 1) / (looked_at + 1)
    return np.where(np.isnan(seen[:, 0]), np.nan, p)
