"""Whether values among sampled negatives prove that one of two models is better in the full ranking."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.models.printed import UNKNOWN
from rankadjust.sampling.bounds import FullBounds, bounds_in, full_setting

FIRST, SECOND = "the first is better", "the second is better"


@dataclass(frozen=True)
class Difference:
    """Bounds of the first value less the second one, and what they prove."""

    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class FullDifference:
    """What is known of two models in the full ranking: of each, and of their difference by the name of the metric."""

    first: FullBounds
    second: FullBounds
    difference: dict[str, Difference]


def full_difference(
    first: Mapping[str, float | str],
    second: Mapping[str, float | str],
    *,
    level: float = 0.95,
    **options: Any,  # noqa: ANN401 - those of full_bounds, handed on
) -> FullDifference:
    """Return bounds of the difference of two models in the full ranking.

    Which ranks go together says nothing here: for any ranks of one model, those of the other can be any that have its
    values. So the difference is between the least of one less the greatest of the other, and the reverse.

    Parameters
    ----------
    first, second : mapping of str to number or str
        Printed values of each model, as for `full_bounds`.
    level : float
        The probability that both models are within their bounds at once.
    **options
        Those of `full_bounds`; the same evaluation of both.

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
    # Each of the two may be beyond its bounds.
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
