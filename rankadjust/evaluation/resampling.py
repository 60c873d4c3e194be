"""Bootstrap: how often each task is drawn, many samples at a time."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rankadjust.evaluation.weighting import in_blocks

IntArray = NDArray[np.int64]


def bootstrap_counts(
    units: IntArray, strata: Sequence[IntArray], draws: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Yield matrices (tasks, draws) of how often each task is in each bootstrap sample, `draws` columns in all.

    units: the unit of each task (n,), from 0 on; the tasks of a unit are drawn together. strata: the units of each
    stratum, drawn with replacement among themselves, as many as there are. The same seed gives the same samples.
    """
    # A generator for each stratum: what is drawn must not depend on how the samples are put into blocks.
    generators = np.random.default_rng(seed).spawn(len(strata))
    number = sum(stratum.size for stratum in strata)
    for size in in_blocks(draws, max(number, units.size)):
        counts = np.empty((number, size))
        for stratum, generator in zip(strata, generators, strict=True):
            drawn = generator.integers(stratum.size, size=(size, stratum.size))
            place = drawn * size + np.arange(size)[:, None]
            counts[stratum] = np.bincount(place.ravel(), minlength=stratum.size * size).reshape(-1, size)
        yield counts[units]
