"""What two printed values alone tell about which model is better: docs/methods.md, "Two printed values".

The variance of the differences between two models depends on how their ranks go together, which nobody prints. The two
values bound it from above and, for Hits@k, from below. A difference that is significant with the largest variance is
significant whatever the models; one that is not with the smallest is not significant for any.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from scipy import optimize

from rankadjust.base.errors import ImpossibleValueError, RankadjustError
from rankadjust.chance.metrics import Metric, hit, resolve
from rankadjust.chance.typed import Typed, typed_value
from rankadjust.database.constants import Candidates, Database
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of

# |z| of a difference that is significant at 5 %.
CRITICAL = 1.959963984540054
_TINY = 1e-15

SEPARATE = "better"
ALIKE = "not separable"
UNKNOWN = "cannot be known"


@dataclass(frozen=True)
class PrintedPair:
    """Two printed values of one metric, and what they tell.

    better, worse: the values. clusters: triples that were evaluated; both tasks of one count as one.
    z_least, z_most: between these is the z of the difference, whatever the ranks; z_most is infinite where the variance
    may be 0. verdict: SEPARATE where z_least reaches 1.96, ALIKE where z_most does not, else UNKNOWN.
    enough: a difference to `worse` from which on the verdict is SEPARATE, None where there is none; too_little: one
    below which it is ALIKE.
    """

    metric: str
    better: Typed
    worse: Typed
    clusters: int
    z_least: float
    z_most: float
    verdict: str
    enough: float | None
    too_little: float


def compare_printed(
    values: Sequence[float | str],
    *,
    dataset: str | EvaluationSet,
    metric: str,
    protocol: str = "filtered",
    split: str = "testing",
    side: str = "both",
    database: Database = None,
    candidates: Candidates = None,
) -> list[PrintedPair]:
    """Return what the values of two or more models tell, pair by pair, the better value of each first.

    values: as `adjust` takes them; text has the rounding of its digits. The other arguments are those of `adjust`.
    Raises RankadjustError for fewer than two values, for metrics that are no mean over the tasks, and where the number
    of tasks is not known.
    """
    wanted = resolve(metric)
    if len(values) < 2:
        raise RankadjustError("there is one value; give at least two to compare")
    if not wanted.additive:
        raise RankadjustError(
            f"{wanted.key} is no mean over the tasks: printed values do not bound how it varies"
        )
    evaluation_set = evaluation_set_of(dataset, protocol, split, side, database, candidates)
    printed = [typed_value(value, wanted) for value in values]
    for value in printed:
        if limit := evaluation_set.why_impossible(wanted, *value.ends):
            raise ImpossibleValueError(f"{limit}, so {value.text} cannot be its value")
    scale, clusters = scale_of(wanted, evaluation_set), triples_of(evaluation_set)
    return [pair_of(wanted, scale, clusters, *both) for both in combinations(printed, 2)]


@dataclass(frozen=True)
class Scale:
    """How a value becomes a mean of numbers from 0 (worst) to 1 (best), and the least difference above 0 of a cluster.

    worst, best: values; step: 0 where there is no such difference, or a very small one.
    """

    worst: float
    best: float
    step: float

    @classmethod
    def of(cls, metric: Metric, sides: int, largest_count: float) -> "Scale":
        """Return the scale of a metric where a cluster has as many tasks as sides."""
        if metric.increasing:
            return cls(0.0, metric.optimum, 1 / sides if metric.shape is hit else 0.0)
        # A mean rank: ranks are whole or, where candidates tie, halves.
        return cls(largest_count, 1.0, 0.5 / sides / max(largest_count - 1, 1.0))

    def share(self, value: float) -> float:
        """Return where a value is between the worst and the best one."""
        return min(max((value - self.worst) / (self.best - self.worst), 0.0), 1.0)


def pair_of(metric: Metric, scale: Scale, clusters: int, first: Typed, second: Typed) -> PrintedPair:
    """Return what two values tell."""
    better, worse = (first, second) if (first.value >= second.value) == metric.increasing else (second, first)
    z_least, z_most = z_between(scale, clusters, better, worse)
    width = abs(scale.best - scale.worst)
    enough = _enough(scale.share(worse.value), clusters)
    too_little = scale.step * CRITICAL**2 / (clusters + CRITICAL**2)
    return PrintedPair(
        metric.key,
        better,
        worse,
        clusters,
        z_least,
        z_most,
        verdict_of(z_least, z_most),
        None if enough is None else enough * width,
        too_little * width,
    )


def z_between(scale: Scale, clusters: int, better: Typed, worse: Typed) -> tuple[float, float]:
    """Return the least and the largest z of the difference of two values, over all ranks and what they round."""
    (low, high), (worse_low, worse_high) = (sorted(map(scale.share, one.ends)) for one in (better, worse))
    least, most = max(low - worse_high, 0.0), max(high - worse_low, 0.0)
    # The largest variance that any values between the ends allow.
    total = min(max(1.0, low + worse_low), high + worse_high)
    largest = min(total, 2 - total) - least**2
    return _z(least, largest, clusters), _z(most, smallest_variance(most, scale.step), clusters)


def verdict_of(z_least: float, z_most: float) -> str:
    """Return what can be said of a difference whose z is between these."""
    return SEPARATE if z_least >= CRITICAL else ALIKE if z_most < CRITICAL else UNKNOWN


def largest_variance(first: float, second: float) -> float:
    """Return the largest variance of the differences of numbers in [0, 1] with these means.

    Of any two numbers u, v in [0, 1] (u - v)^2 <= |u - v| <= min(u + v, 2 - u - v); so the mean square is at most
    min(a + b, 2 - a - b) for means a and b. It is reached by zeros and ones that are never both 1, or never both 0.
    """
    total = first + second
    return max(min(total, 2 - total) - (first - second) ** 2, 0.0)


def smallest_variance(difference: float, step: float) -> float:
    """Return the smallest variance of differences with this mean, where those that are not 0 are at least `step`."""
    return max(step * difference - difference**2, 0.0)


def _z(difference: float, variance: float, clusters: int) -> float:
    if difference == 0:
        return 0.0
    return float(difference * (clusters / variance) ** 0.5) if variance > 0 else float("inf")


def _enough(worse: float, clusters: int) -> float | None:
    """Return the least difference to a share from which on the values are separate, None where 1 is too little."""

    def excess(difference: float) -> float:
        return clusters * difference**2 - CRITICAL**2 * largest_variance(worse + difference, worse)

    most = 1 - worse
    if most <= _TINY or excess(most) < 0:
        return None
    return float(optimize.brentq(excess, _TINY, most, xtol=1e-14))


def scale_of(metric: Metric, evaluation_set: EvaluationSet) -> Scale:
    """Return the scale of a metric among the candidates of an evaluation set."""
    sides = 2 if evaluation_set.side == "both" else 1
    if metric.increasing:
        return Scale.of(metric, sides, float("nan"))
    if evaluation_set.largest_count is None:
        raise RankadjustError(
            f"the number of candidates of {evaluation_set} is not known, so that ranks have no bound"
        )
    return Scale.of(metric, sides, float(evaluation_set.largest_count))


def triples_of(evaluation_set: EvaluationSet) -> int:
    """Return the number of evaluated triples: both tasks of one may go together."""
    of_sides = ["head", "tail"] if evaluation_set.side == "both" else [evaluation_set.side]
    known = [evaluation_set.of_side(side).tasks for side in of_sides if side in evaluation_set.sides]
    if numbers := [number for number in known if number is not None]:
        return max(numbers)
    if evaluation_set.tasks is None:
        raise RankadjustError(f"the number of tasks of {evaluation_set} is not known: nothing can be said")
    return evaluation_set.tasks // len(of_sides)
