"""95 % confidence intervals from bootstrap samples of clusters of tasks (docs/methods-intervals.md).

A unit is what is drawn together: a task, a triple with both its tasks, or a query. A stratum is a list of units that
are drawn among themselves. There are two kinds of intervals, both better than the quantiles of the samples where ranks
are skewed (Efron and Tibshirani 1993, chapters 12 and 14): studentised, for means that depend much on the worst ranks;
BCa for everything else. Triples of a query may do well or badly together, and a triple has a query on either side: on
both sides the tasks are clustered in two ways at once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import Metric
from rankadjust.evaluation.weighting import UnitMeans, in_blocks

# The ends of an interval from so many samples are right to a few thousandths of its length.
_MOST_DRAWS = 100_000
# So many parts of the units are left out in turn, or every single one where there are fewer.
_PARTS = 100
# More units than this are drawn in groups, about as many as _GROUPS.
_MOST_UNITS = 2**20
_GROUPS = 2**17
# The ends of a 95 % interval.
_QUANTILES = np.array([0.025, 0.975])
# A metric is studentised where the worse half of the ranks makes up at least this share of its term's range.
_LONG_TAIL = 0.1
_MANY_CANDIDATES = 1e6
# An error this small beside that of all tasks is rounding: the sample has no spread.
_NO_SPREAD = 1e-9
# Where a larger share of the samples has no spread, they cannot be studentised.
_MOST_WITHOUT_SPREAD = 0.005
# From so many queries on, worth so many of one size, intervals hold the truth as often as they should.
_ENOUGH, _ENOUGH_OF_ONE_SIZE = 100, 24
# Clusters of hardly more than a triple say nothing of how alike their triples are.
_LEAST_ROOM = 1e-3
FEW_QUERIES = (
    f"the interval may be too short, since there are fewer than {_ENOUGH} queries, or a few large ones"
)


# --- samples -------------------------------------------------------------------------------------------------


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


def bootstrap_counts(strata: Sequence[IntArray], draws: int, seed: int) -> Iterator[FloatArray]:
    """Yield matrices (units, draws) of how often each unit is in each bootstrap sample, `draws` columns in all.

    strata: the units of each stratum, drawn with replacement among themselves, as many as there are. The same seed
    gives the same samples.
    """
    # A generator for each stratum: what is drawn must not depend on how the samples are put into blocks.
    generators = np.random.default_rng(seed).spawn(len(strata))
    number = sum(stratum.size for stratum in strata)
    for size in in_blocks(draws, number):
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


# --- intervals -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def has_long_tail(metric: Metric) -> bool:
    """Return whether a few tasks with bad ranks may decide a metric.

    So it is where the term f of the metric still changes among the worse half of the ranks 1..N:
    |f(N/2) - f(N)| / |f(1) - f(N)| is 0.5 for MR, IMR and AUC at N = 10^6, but 0.05 for GMR, 0.003 for nDCG, 10^-6 for
    MRR and 0 for Hits@k.
    """
    if metric.term is None:
        return False
    ranks = np.array([1.0, _MANY_CANDIDATES / 2, _MANY_CANDIDATES])
    first, middle, last = metric.term(ranks, np.full_like(ranks, _MANY_CANDIDATES))
    return bool(abs(middle - last) >= _LONG_TAIL * abs(first - last))


def bias_corrected(values: FloatArray, samples: FloatArray, left_out: Sequence[FloatArray]) -> FloatArray:
    """Return the ends (m, 2) of the BCa intervals (bias-corrected and accelerated) of some metrics.

    values: of the metrics (m,). samples: bootstrap samples (m, draws). left_out: for each stratum the metrics with one
    part of the stratum left out (m, parts).
    """
    with np.errstate(invalid="ignore"):
        present = (~np.isnan(samples)).sum(axis=1)
        below = ((samples < values[:, None]).sum(axis=1) + (samples <= values[:, None]).sum(axis=1)) / 2
    # Half a sample at least on either side: the quantile of 0 is infinite.
    share = np.clip(below / np.maximum(present, 1), 0.5 / (present + 1), 1 - 0.5 / (present + 1))
    bias = special.ndtri(share)[:, None]
    moved = bias + special.ndtri(_QUANTILES)
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = special.ndtr(bias + moved / (1 - _acceleration(left_out)[:, None] * moved))
    return _quantiles(samples, levels)


def _acceleration(left_out: Sequence[FloatArray]) -> FloatArray:
    """Return how fast the standard error changes with the metric (m,): a sixth of the skewness of the influence."""
    # A stratum of one unit has no parts, and numpy warns of the mean of nothing.
    influence = np.concatenate(
        [values.sum(axis=1, keepdims=True) / max(values.shape[1], 1) - values for values in left_out], axis=1
    )
    influence = np.nan_to_num(influence)
    squares = (influence**2).sum(axis=1)
    cubes = (influence**3).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration: FloatArray = np.where(squares > 0, cubes / squares**1.5 / 6, 0.0)
    return np.nan_to_num(acceleration)


def _quantiles(samples: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the quantiles (m, 2) of each row of samples at its own levels (m, 2); nan where there are none."""
    ends = np.full((samples.shape[0], 2), np.nan)
    for number, values in enumerate(samples):
        present = values[~np.isnan(values)]
        if present.size:
            ends[number] = np.quantile(present, levels[number])
    return ends


def studentised(
    means: UnitMeans, sampled: FloatArray, strata: Sequence[IntArray], limits: FloatArray | None = None
) -> FloatArray:
    """Return the ends (m, 2) of the studentised intervals of means; nan where too many samples have no spread.

    sampled: mean and error of each in the bootstrap samples (2, m, draws). limits: the least and the greatest that each
    mean can be (m, 2); no end is beyond them.
    """
    units = means.terms.shape[1]
    own, own_error = means.mean_and_error(np.ones((units, 1)), strata)[:, :, 0]
    ends = np.full((own.size, 2), np.nan)
    for number, (mean, error) in enumerate(zip(own, own_error, strict=True)):
        values, errors = sampled[:, number]
        varied = errors > _NO_SPREAD * error
        if error > 0 and np.mean(varied) >= 1 - _MOST_WITHOUT_SPREAD:
            ratios = (values[varied] - mean) / errors[varied]
            ends[number] = mean - error * np.quantile(ratios, _QUANTILES[::-1])
    return ends if limits is None else np.clip(ends, limits[:, :1], limits[:, 1:])


# --- clusters ------------------------------------------------------------------------------------------------


def cluster_variance(contributions: FloatArray, clusters: IntArray) -> FloatArray:
    """Return the variance of sums over tasks, where tasks of a cluster go together and clusters are independent (m,).

    contributions: what each task adds to m sums, such as w (f - mean) / sum w of a mean (m, n). clusters: the number of
    each task's cluster, from 0 on (n,).

    >>> cluster_variance(np.array([[0.5, 0.5, -1.0]]), np.array([0, 0, 1])).tolist()
    [2.0]
    """
    return np.array([(np.bincount(clusters, each) ** 2).sum() for each in contributions])


def clustered_error(contributions: FloatArray, ways: Sequence[IntArray]) -> FloatArray:
    """Return the standard errors of sums over tasks (m,) where tasks are clustered in one way, or in two at once.

    contributions: as for `cluster_variance` (m, n). ways: the cluster of each task in one way, or in two and the
    clusters of tasks that are together in both, as `rankadjust.evaluation.tasks.Clusters.ways` gives them.

    >>> halves = np.array([[0.25, -0.25, 0.25, -0.25]])
    >>> clustered_error(halves, [np.arange(4)]).tolist(), clustered_error(halves, [np.array([0, 0, 1, 1])]).tolist()
    ([0.5], [0.0])
    """
    variances = [cluster_variance(contributions, way) for way in ways]
    error: FloatArray = np.sqrt(variances[0]) * stretch(variances)
    return error


def stretch(variances: Sequence[FloatArray]) -> FloatArray:
    """Return how much larger an error is than that over the clusters of the first way (m,).

    variances: over the clusters of each way (m,). Tasks that are together in both ways would count twice, so the third
    is subtracted (Cameron, Gelbach and Miller 2011); the sum is never less than either of the two.
    """
    first = variances[0]
    if len(variances) == 1:
        return np.ones_like(first)
    total = np.maximum(np.maximum(first + variances[1] - variances[2], first), variances[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: FloatArray = np.where(first > 0, np.sqrt(total / first), 1.0)
    return np.nan_to_num(ratio, nan=1.0)


def effective(units: IntArray) -> float:
    """Return how many clusters of one size would be worth these: (sum of g)^2 / sum of g^2, for sizes g."""
    sizes = np.bincount(units).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def few_queries(ways: Sequence[IntArray]) -> bool:
    """Return whether a way of clustering tasks by query has too few clusters for an interval."""
    return any(way.max() + 1 < _ENOUGH or effective(way) < _ENOUGH_OF_ONE_SIZE for way in ways[:2])


@dataclass(frozen=True)
class _Known:
    """How well the variance over clusters is known, for m metrics (m,).

    bias: the share of it that is expected to be seen, as the mean follows large clusters. freedom: the degrees of
    freedom of its law by Satterthwaite's rule.
    """

    bias: FloatArray
    freedom: FloatArray

    @classmethod
    def of(cls, way: IntArray, triples: int, ratio: FloatArray) -> "_Known":
        """Return that of clusters; ratio: their variance, divided by the variance of independent triples (m,).

        The ratio says how alike the triples of a cluster are: the sum over g triples then has a variance in proportion
        to g (1 + rho (g - 1)).
        """
        tasks = np.bincount(way).astype(np.float64)
        share = tasks / tasks.sum()
        sizes = share * triples
        room = max(float(share @ sizes) - 1, _LEAST_ROOM)
        alike = np.clip((np.nan_to_num(ratio, nan=1.0) - 1) / room, 0.0, 1.0)
        expected = sizes * (1 + alike[:, None] * (sizes - 1))
        expected /= expected.sum(axis=1, keepdims=True)
        freedom = np.maximum(1 / (expected**2).sum(axis=1) - 1, 1.0)
        return cls(1 - 2 * expected @ share + float(share @ share), freedom)


def lengthening(
    ways: Sequence[IntArray], variances: Sequence[FloatArray], triples: int, of_triples: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how much longer intervals have to be than those over the clusters of the first way (m,), in two cases.

    variances: over the clusters of each way (m,). of_triples: the variance if all triples were independent. The first
    case is an interval that takes the variance as known: Student's law has the degrees of freedom of the way with
    fewer, and the variance is freed of its bias (Bell and McCaffrey 2002). The second is a studentised interval.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        known = [
            _Known.of(way, triples, variance / of_triples)
            for way, variance in zip(ways[:2], variances, strict=False)
        ]
    whole = [variance / each.bias for variance, each in zip(variances, known, strict=False)]
    longer = stretch([*whole, *variances[2:]])
    freedom = np.minimum.reduce([each.freedom for each in known])
    quantile = special.stdtrit(freedom, 0.975) / special.ndtri(0.975)
    return longer * quantile / np.sqrt(known[0].bias), longer
