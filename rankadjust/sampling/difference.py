"""Compare two models in the full ranking, by values that are printed for sampled negatives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.sampling.bounds import FullBounds, bounds_in, full_setting

FIRST, SECOND, UNKNOWN = "the first is better", "the second is better", "cannot be known"


@dataclass(frozen=True)
class Difference:
    """Bounds of the first model's value minus the second model's, and the verdict that they prove."""

    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class FullDifference:
    """Bounds of two models in the full ranking, and bounds of their difference by the name of the metric."""

    first: FullBounds
    second: FullBounds
    difference: dict[str, Difference]


def full_difference(
    first: Mapping[str, float | str],
    second: Mapping[str, float | str],
    *,
    level: float = 0.95,
    **options: Any,  # noqa: ANN401 - options of full_bounds, handed on
) -> FullDifference:
    """Return bounds of the difference of two models in the full ranking.

    Printed values do not say how the ranks of two models depend on each other: any ranks that fit the first model may
    occur together with any ranks that fit the second. So the least difference is the least value of the first model
    minus the greatest value of the second, and the greatest difference is the reverse.

    Parameters
    ----------
    first, second : mapping of str to number or str
        Printed values of each model, as for `full_bounds`.
    level : float
        The probability that both models are within their bounds at once.
    **options
        The options of `full_bounds`; both models have the same evaluation.

    Returns
    -------
    FullDifference
        The verdict is one of 'the first is better', 'the second is better' and 'cannot be known'.

    Raises
    ------
    RankadjustError
        As `full_bounds` does.

    Examples
    --------
    >>> found = full_difference({"mrr": "0.784"}, {"mrr": "0.75"}, sampled=50, num_candidates=2757, tasks=20_000)
    >>> found.difference["mrr"].verdict
    'cannot be known'

    """
    known, others = full_setting(options)
    if not 0 < level < 1:
        raise RankadjustError(f"level is {level}; give a probability between 0 and 1, such as 0.95")
    # Either model may be beyond its bounds: each gets half of the probability of error.
    each = 1 - (1 - level) / 2
    metrics = others.pop("metrics", ()) or _default_metrics(first, second)
    ours, theirs = (
        bounds_in(known, values, level=each, metrics=metrics, **others) for values in (first, second)
    )
    return FullDifference(
        ours,
        theirs,
        {
            name: _difference(name, ours.full[name].low, ours.full[name].high, theirs)
            for name in ours.full
            if name in theirs.full
        },
    )


def _default_metrics(*models: Mapping[str, float | str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for values in models for name in (*DEFAULT, *values)))


DEFAULT = ("mrr", "mr", "hits@1", "hits@3", "hits@10")


def _difference(name: str, low: float, high: float, theirs: FullBounds) -> Difference:
    least, most = low - theirs.full[name].high, high - theirs.full[name].low
    is_increasing = resolve(name).increasing
    verdict = UNKNOWN
    if least > 0:
        verdict = FIRST if is_increasing else SECOND
    elif most < 0:
        verdict = SECOND if is_increasing else FIRST
    return Difference(least, most, verdict)
