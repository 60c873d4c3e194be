"""Resampling of units, many samples at a time: drawn with replacement (bootstrap), or some left out (jackknife).

A unit is one task, or all tasks of a triple. A stratum is a list of units that are drawn among themselves.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.evaluation.weighting import in_blocks

# So many parts of the units are left out in turn, or every single one where there are fewer.
_PARTS = 100


def bootstrap_counts(strata: Sequence[IntArray], tasks: int, draws: int, seed: int) -> Iterator[FloatArray]:
    """Yield matrices (units, draws) of how often each unit is in each bootstrap sample, `draws` columns in all.

    strata: the units of each stratum, drawn with replacement among themselves, as many as there are. tasks: how many
    there are; it bounds the number of columns of a matrix. The same seed gives the same samples.
    """
    # A generator for each stratum: what is drawn must not depend on how the samples are put into blocks.
    generators = np.random.default_rng(seed).spawn(len(strata))
    number = sum(stratum.size for stratum in strata)
    for size in in_blocks(draws, max(number, tasks)):
        counts = np.empty((number, size))
        for stratum, generator in zip(strata, generators, strict=True):
            drawn = generator.integers(stratum.size, size=(size, stratum.size))
            place = drawn * size + np.arange(size)[:, None]
            counts[stratum] = np.bincount(place.ravel(), minlength=stratum.size * size).reshape(-1, size)
        yield counts


def jackknife_counts(strata: Sequence[IntArray]) -> list[FloatArray]:
    """Return for each stratum a matrix (units, parts) in which one part of it after the other has the count 0.

    The other units of the stratum count a little more than 1, so that every stratum keeps its size. A stratum of one
    unit has no parts.
    """
    number = sum(stratum.size for stratum in strata)
    matrices = []
    for stratum in strata:
        parts = min(stratum.size, _PARTS) if stratum.size > 1 else 0
        counts = np.ones((number, parts))
        part_of = np.arange(stratum.size) % max(parts, 1)
        left_out = part_of[:, None] == np.arange(parts)
        counts[stratum] = np.where(left_out, 0.0, stratum.size / (stratum.size - left_out.sum(axis=0)))
        matrices.append(counts)
    return matrices
