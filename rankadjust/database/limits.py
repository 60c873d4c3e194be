"""Values that no ranking of an evaluation set can have, by its numbers of candidates."""

from collections.abc import Callable, Sequence

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.chance.bounds import Attainable, attainable
from rankadjust.chance.candidate_counts import CandidateCounts
from rankadjust.chance.metrics import Metric


class Limits:
    """What the metrics of evaluation sets can be, as far as their histograms are known."""

    def __init__(self, candidate_counts: Callable[..., CandidateCounts | None]) -> None:
        """Take what returns the candidates of an evaluation set from its four names, None where they are not known."""
        self._candidate_counts = candidate_counts
        self._known: dict[tuple[str, ...], Attainable | None] = {}

    def why_impossible(
        self, evaluation: Sequence[str], metric: Metric, low: float, high: float
    ) -> str | None:
        """Return in words the limit that all values from `low` to `high` are beyond, None where one is possible.

        evaluation: data set, protocol, split and side. Without a histogram, and for measures of dispersion, nothing
        is known to be impossible.
        """
        limits = self._limits(evaluation, metric, left_out=0)
        if limits is None or not limits.excludes(low, high):
            return None
        # To look up how a protocol counts takes longer than all the rest: only for the values that need it.
        left_out = left_out_by(evaluation[1])
        limits = self._limits(evaluation, metric, left_out)
        if limits is None or not limits.excludes(low, high):
            return None
        too_small = limits.is_below(high)
        limit = f"at least {limits.least:.6g}" if too_small else f"at most {limits.greatest:.6g}"
        place = "last" if too_small == metric.increasing else "first"
        counts, _ = self._counted(evaluation, left_out)
        candidates = " to ".join(f"{count:,.0f}" for count in np.unique(counts[[0, -1]]))
        return (
            f"{metric.label} of {', '.join(evaluation[:3])}, side {evaluation[3]}, is {limit}, reached where every "
            f"true answer ranks {place} among its candidates ({candidates})"
        )

    def _limits(self, evaluation: Sequence[str], metric: Metric, left_out: int) -> Attainable | None:
        key = (*evaluation, metric.key, str(left_out))
        if key not in self._known:
            counts, tasks = self._counted(evaluation, left_out)
            self._known[key] = attainable(metric, counts, tasks)
        return self._known[key]

    def _counted(self, evaluation: Sequence[str], left_out: int) -> tuple[FloatArray, FloatArray]:
        """Return the numbers of candidates, the true answer included, and of tasks; none where they are not known."""
        of_set = self._candidate_counts(*evaluation)
        if of_set is None:
            return np.empty(0), np.empty(0)
        return (of_set.counts + left_out).clip(min=1), of_set.tasks


def left_out_by(protocol: str) -> int:
    """Return how many candidates the histograms of a protocol leave out: 1 where the true answer is not counted.

    A protocol that is not shipped may leave it out.
    """
    from rankadjust.counting.protocols import get_protocol  # noqa: PLC0415

    try:
        return int(get_protocol(protocol).counting == "exclusive")
    except RankadjustError:
        return 1
