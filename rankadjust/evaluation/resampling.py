"""Resampling of units, many samples at a time: drawn with replacement (bootstrap), or some left out (jackknife).

A unit is one task, or all tasks of a triple. A stratum is a list of units that are drawn among themselves.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.evaluation.weighting import in_blocks

# The ends of an interval from so many samples are right to a few thousandths of its length.
_MOST_DRAWS = 100_000

# So many parts of the units are left out in turn, or every single one where there are fewer.
_PARTS = 100

# More units than this are drawn in groups, about as many as _GROUPS.
_MOST_UNITS = 2**20
_GROUPS = 2**17


def require_draws(draws: int, seed: int) -> None:
    """Raise RankadjustError for a number of samples, or a seed, that nobody can have meant."""
    require_between("draws", draws, 0, _MOST_DRAWS)
    if seed < 0:
        raise RankadjustError(f"seed is {seed}; it must be 0 or more")


def require_between(name: str, number: int, least: int, most: int) -> None:
    """Raise RankadjustError for a number that is not from `least` to `most`."""
    if not least <= number <= most:
        raise RankadjustError(f"{name} is {number:,}; it must be from {least:,} to {most:,}")


def in_groups(units: IntArray, strata: Sequence[IntArray]) -> tuple[IntArray, Sequence[IntArray]]:
    """Return the unit of each task and the strata, of more than a million units with groups of units as units.

    A group is put together by chance from the units of a stratum. Units are independent, so the sums over groups vary
    as much as the sums over units: with g groups a standard error is off by 1 / sqrt(2 g) of itself, 0.2 %.
    """
    number = sum(stratum.size for stratum in strata)
    if number <= _MOST_UNITS:
        return units, strata
    generator = np.random.default_rng(0)
    group_of, groups, first = np.empty(number, dtype=np.int64), [], 0
    for stratum in strata:
        size = min(stratum.size, max(_PARTS, stratum.size * _GROUPS // number))
        group_of[stratum] = first + generator.permutation(stratum.size) % size
        groups.append(np.arange(first, first + size))
        first += size
    return group_of[units], groups


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
            place = generator.integers(stratum.size, size=(size, stratum.size))
            place *= size
            place += np.arange(size)[:, None]
            counts[stratum] = np.bincount(place.ravel(), minlength=stratum.size * size).reshape(-1, size)
        yield counts


def jackknife(strata: Sequence[IntArray], function: Callable[[FloatArray], FloatArray]) -> list[FloatArray]:
    """Return for each stratum the values (m, parts) of a function with one part of it after the other left out.

    function: values (m, d) for counts (units, d). The units of the part count 0, and the other ones of the stratum a
    little more than 1, so that every stratum keeps its size. A stratum of one unit has no parts.
    """
    number = sum(stratum.size for stratum in strata)
    of_strata = []
    for stratum in strata:
        parts = min(stratum.size, _PARTS) if stratum.size > 1 else 0
        part_of = np.arange(stratum.size) % max(parts, 1)
        values, start = [], 0
        for size in [*in_blocks(parts, number)] or [0]:
            left_out = part_of[:, None] == np.arange(start, start + size)
            counts = np.ones((number, size))
            counts[stratum] = np.where(left_out, 0.0, stratum.size / (stratum.size - left_out.sum(axis=0)))
            values.append(function(counts))
            start += size
        of_strata.append(np.concatenate(values, axis=1))
    return of_strata


def jackknife_variance(left_out: Sequence[FloatArray]) -> FloatArray:
    """Return the sum of the variances of metrics (m,) by their values with parts left out, each (m, parts)."""
    variance: FloatArray = np.sum([values.var(axis=1) * (values.shape[1] - 1) for values in left_out], axis=0)
    return variance
