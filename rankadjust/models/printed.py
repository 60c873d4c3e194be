"""Verdicts on two printed values alone: docs/methods-compare.md, "Two printed values".

How sure a difference is depends on how the ranks of the two models go together, and on which tasks share a query.
Nobody prints the first; the counts of a data set say much of the second. The two values bound p of the sign-flip test
over all ranks that have them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt

import numpy as np
from scipy.special import stdtr

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import ImpossibleValueError, RankadjustError, listed
from rankadjust.chance.metrics import Metric, resolve
from rankadjust.chance.typed import Typed, typed_value
from rankadjust.database.constants import Database
from rankadjust.database.evaluation_set import EvaluationSet, evaluation_set_of
from rankadjust.evaluation.intervals import has_long_tail
from rankadjust.models.several import holm
from rankadjust.models.shared_queries import Dependence, independent, shared_queries, triples_of

LEVEL = 0.05

BETTER = "better"
IF_INDEPENDENT = "only if triples are independent"
UNKNOWN = "cannot be known"
"""The verdicts on a pair."""

_OF_TASKS = {
    BETTER: "triples that share no query are independent",
    IF_INDEPENDENT: "all triples are independent, even those that share a query",
}
_NOTHING_HOLDS = "none: even if all triples are independent, p may be above 0.05"

# A mean of fewer runs has no spread.
_LEAST_RUNS = 2


@dataclass(frozen=True)
class PrintedPair:
    """Two printed values of one metric, and the verdict on them.

    better, worse: the values. triples: evaluated ones; both tasks of one count as one.
    p: the largest that any ranks with these values allow, where triples that share a query may win or lose together;
    None where nothing is known of the queries. p_if_independent: the same if no triple has to do with another. Both are
    adjusted by Holm's method for all pairs that were given.
    verdict: BETTER where p is at most 0.05, IF_INDEPENDENT where only p_if_independent is, else UNKNOWN. assumption:
    what the verdict rests on.
    enough, enough_if_independent: the difference of a single pair to `worse` from which on its verdict is BETTER, or
    IF_INDEPENDENT; None where there is none.
    """

    metric: str
    better: Typed
    worse: Typed
    triples: int
    p: float | None
    p_if_independent: float
    verdict: str
    assumption: str
    enough: float | None = None
    enough_if_independent: float | None = None


def compare_printed(
    values: Sequence[float | str],
    *,
    dataset: str | EvaluationSet,
    metric: str,
    protocol: str = "filtered",
    split: str = "testing",
    side: str = "both",
    runs: int | None = None,
    database: Database = None,
) -> list[PrintedPair]:
    """Return the verdicts on printed values of two or more models, pair by pair, the better value of each first.

    docs/methods-compare.md, "Two printed values", explains how two values bound p.

    Parameters
    ----------
    values : sequence of float or str
        Of one metric, as `adjust` takes them; text has the rounding of its digits. "0.338 ± 0.002" is a mean over runs
        with a printed spread; without a spread a mean is a value like any other, and its verdict is on these runs.
    dataset : str or EvaluationSet
        The name of a data set or an alias; or an evaluation set, which says protocol, split and side, too.
    metric : str
        Key or alias of a metric that is a mean over the tasks.
    protocol, split, side : str
        Names in any spelling, or aliases; side is head, tail or both.
    runs : int, optional
        How many runs each value is a mean over; None: of values with a ± at least two. The ± may be their standard
        deviation, a standard error, half an interval or half a range. The standard error is the least of these, and
        it is assumed: divide a standard deviation by the root of runs - 1, so that more pairs get a verdict.
    database : Constants, frame, str or Path, optional
        The constants to adjust with: `rankadjust.Constants`, a frame with the columns of
        `rankadjust.database.store.SCHEMA`, or the path of a database file; None means the released ones. The
        histograms of its candidates come with it.

    Returns
    -------
    list of PrintedPair
        The two values, the largest p that any ranks with these values allow, the verdict (better, only if triples are
        independent, or cannot be known), and its assumption.

    Raises
    ------
    RankadjustError
        For fewer than two values, for impossible values, and for metrics that are not means over the tasks. For fewer
        than one run, or two of values with a ±. If the number of tasks is not known.

    Examples
    --------
    >>> (pair,) = compare_printed(["35.8%", "20.1%"], dataset="FB15k-237", metric="mrr")
    >>> pair.verdict, round(pair.p, 4)
    ('better', 0.0087)

    """
    wanted = resolve(metric)
    if len(values) < 2:
        raise RankadjustError("there is one value; give at least two to compare")
    if not wanted.additive:
        raise RankadjustError(
            f"{wanted.label} is not a mean over the tasks: printed values do not bound how it varies"
        )
    evaluation_set = evaluation_set_of(dataset, protocol, split, side, database)
    printed = [replace(typed_value(value, wanted), runs=_checked(runs)) for value in values]
    for value in printed:
        if limit := evaluation_set.why_impossible(wanted, *value.ends):
            raise ImpossibleValueError(f"{limit}, so {value.text} cannot be its value")
        if value.spread is not None and runs is not None and runs < _LEAST_RUNS:
            raise RankadjustError(f"{value.text} has a spread, so it is a mean over more than one run")
    judge = Judge.of(wanted, evaluation_set)
    return [judge.with_enough(pair) for pair in judge.pairs(printed)]


@dataclass(frozen=True)
class Judge:
    """What is needed to judge the values of one metric and evaluation.

    worst, best: values of the metric. clustered: how triples that share queries may go together, None where that is
    not known.
    """

    metric: Metric
    worst: float
    best: float
    clustered: Dependence | None
    alone: Dependence

    @classmethod
    def of(cls, metric: Metric, evaluation_set: EvaluationSet) -> "Judge":
        """Return the judge of an evaluation. Raises RankadjustError where the number of tasks is not known."""
        return cls(metric, *value_range(metric, evaluation_set), *dependences(evaluation_set))

    def pairs(self, printed: Sequence[Typed]) -> list[PrintedPair]:
        """Return the verdicts on all pairs of some values, p adjusted for their number."""
        both = [self._ordered(*pair) for pair in combinations(printed, 2)]
        alone = holm(self._p(self.alone, both)).tolist()
        p = [None] * len(both) if self.clustered is None else holm(self._p(self.clustered, both)).tolist()
        return [
            self._judged(better, worse, *of_pair)
            for (better, worse), *of_pair in zip(both, p, alone, strict=True)
        ]

    def _ordered(self, first: Typed, second: Typed) -> tuple[Typed, Typed]:
        sign = 1 if self.metric.increasing else -1
        return (first, second) if sign * first.value >= sign * second.value else (second, first)

    def _judged(self, better: Typed, worse: Typed, p: float | None, alone: float) -> PrintedPair:
        otherwise = IF_INDEPENDENT if alone <= LEVEL else UNKNOWN
        verdict = BETTER if p is not None and p <= LEVEL else otherwise
        assumption = _assumption(verdict, better, worse)
        return PrintedPair(self.metric.key, better, worse, self.alone.triples, p, alone, verdict, assumption)

    def with_enough(self, pair: PrintedPair) -> PrintedPair:
        """Add the differences that are enough."""
        return replace(
            pair,
            enough=None if self.clustered is None else self._enough(self.clustered, pair),
            enough_if_independent=self._enough(self.alone, pair),
        )

    def _p(self, dependence: Dependence, both: Sequence[tuple[Typed, Typed]]) -> FloatArray:
        """Return the largest p of each pair, over all ranks, and over all values that are printed alike.

        both: the better value of each pair, and the worse. Any result of the better model could have been its best, so
        p is multiplied by their number. So could any spread of the worse model.
        """
        ends = np.array([[better.ends, worse.ends] for better, worse in both]).reshape(-1, 2, 2)
        shares = np.sort(np.clip((ends - self.worst) / (self.best - self.worst), 0.0, 1.0), axis=2)
        (low, high), (worse_low, worse_high) = np.moveaxis(shares, 0, 2)
        # The total nearest to 1 leaves most room for tasks that differ.
        total = np.minimum(np.maximum(1.0, low + worse_low), high + worse_high)
        difference, total = low - worse_high, np.minimum(total, 2 - total)
        p = dependence.p_at_most(difference, total, skewed=has_long_tail(self.metric))
        for place, pair in enumerate(both):
            if means := _with_spread(*pair):
                p[place] = self._p_at_most(dependence, difference[place], total[place], means)
        choices = [better.results * (1 if worse.spread is None else worse.results) for better, worse in both]
        return np.minimum(1.0, np.array(choices) * p)

    def _p_at_most(
        self, dependence: Dependence, difference: float, total: float, means: Sequence[Typed]
    ) -> float:
        """Return the largest p; means: the values whose spread over runs is printed."""
        skewed = has_long_tail(self.metric)
        if not means or difference <= 0:
            return float(dependence.p_at_most(difference, total, skewed=skewed))
        variance = sum((mean.spread or 0) ** 2 for mean in means)
        error, freedom = sqrt(variance) / abs(self.best - self.worst), min(map(_runs, means)) - 1

        def of_seeds(part: float) -> float:
            # Seeds move the difference to either side, and the total to either side.
            return 4 * float(stdtr(freedom, -part * difference / error)) if error else 0.0

        def of_tasks(part: float) -> float:
            moved = min(total + (1 - part) * difference, 1.0)
            return float(dependence.p_at_most(part * difference, moved, skewed=skewed))

        if of_seeds(1.0) >= 1:
            return 1.0
        # Luck of the tasks makes a part of the difference, or luck of the seeds the rest: half of p for each.
        part = _root(lambda part: of_tasks(part) - of_seeds(1 - part), 1.0, xtol=1e-9) if error else 1
        return min(1.0, 2 * max(of_tasks(part), of_seeds(1 - part)))

    def _enough(self, dependence: Dependence, pair: PrintedPair) -> float | None:
        """Return the least difference to the worse value that is enough, None where the largest is too little."""
        share, spreads = self._share(pair.worse.value), _with_spread(pair.better, pair.worse)

        def excess(difference: float) -> float:
            total = 2 * share + difference
            return LEVEL - self._p_at_most(dependence, difference, min(total, 2 - total), spreads)

        if share >= 1 or excess(1 - share) < 0:
            return None
        return _root(excess, 1 - share, xtol=1e-14) * abs(self.best - self.worst)

    def _share(self, value: float) -> float:
        """Return where a value is between the worst (0) and the best one (1)."""
        return min(max((value - self.worst) / (self.best - self.worst), 0.0), 1.0)


def _root(function: Callable[[float], float], end: float, *, xtol: float) -> float:
    """Return where a function is 0 between 0 and `end`."""
    # It takes long to import, and most pairs do without.
    from scipy.optimize import brentq

    return float(brentq(function, 0.0, end, xtol=xtol))


def _with_spread(*values: Typed) -> list[Typed]:
    return [value for value in values if value.spread is not None]


def _runs(value: Typed) -> int:
    return _LEAST_RUNS if value.runs is None else value.runs


def _checked(runs: int | None) -> int | None:
    if runs is not None and runs < 1:
        raise RankadjustError(f"a value is a mean over one run or more, not over {runs}")
    return runs


def _assumption(verdict: str, *both: Typed) -> str:
    if verdict == UNKNOWN:
        return _NOTHING_HOLDS
    means = _with_spread(*both)
    if not means:
        of_seeds = (
            "both models as they were trained, not other seeds"
            if all(value.runs in (None, 1) for value in both)
            else "both means over the runs that were made, not other seeds"
        )
    else:
        numbers = sorted({"at least two" if value.runs is None else f"{value.runs}" for value in means})
        of_seeds = (
            f"other seeds are taken into account: ± is over {listed(numbers)} runs, whose values are normal"
        )
        alone = [value.text for value in both if value.spread is None]
        of_seeds += "".join(f"; {text} as it was trained, not other seeds" for text in alone)
    return f"{_OF_TASKS[verdict]}; {of_seeds}"


def dependences(evaluation_set: EvaluationSet) -> tuple[Dependence | None, Dependence]:
    """Return how triples go together at most where they share a query, and where all are independent.

    The first is None where it is not known which triples share a query. Raises RankadjustError where the number of
    tasks is not known.
    """
    return shared_queries(evaluation_set), independent(triples_of(evaluation_set))


def value_range(metric: Metric, evaluation_set: EvaluationSet) -> tuple[float, float]:
    """Return the worst and the best value of a metric among the candidates of an evaluation set.

    Raises RankadjustError for the range of ranks where the number of candidates is not known.
    """
    if metric.increasing:
        return 0.0, metric.optimum
    if evaluation_set.largest_count is None:
        raise RankadjustError(
            f"the number of candidates of {evaluation_set} is not known, so that ranks have no bound"
        )
    return float(evaluation_set.largest_count), 1.0
