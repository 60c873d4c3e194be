"""Several tests at once: Holm's adjustment of p-values, and letters for models that do not differ."""

from collections.abc import Mapping, Sequence

import numpy as np

from rankadjust.base.arrays import FloatArray


def holm(p: Sequence[float] | FloatArray) -> FloatArray:
    """Return p-values (t,) such that rejecting those up to a level errs in any of the tests with at most this level.

    Holm (1979): the smallest is multiplied by the number of tests, the next by one less, and so on, never falling. nan
    is no test and stays nan.

    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p, dtype=np.float64)
    adjusted = np.full_like(given, np.nan)
    tests = np.flatnonzero(~np.isnan(given))
    order = tests[np.argsort(given[tests], kind="stable")]
    adjusted[order] = np.minimum(
        np.maximum.accumulate(given[order] * (tests.size - np.arange(tests.size))), 1.0
    )
    return adjusted


def letters(models: Sequence[str], differ: Mapping[tuple[str, str], bool]) -> dict[str, str]:
    """Return letters for each model such that two share a letter exactly if they do not differ.

    models: best first, and so the letter a is of the best. differ: for pairs of models, in either order, whether they
    were told apart. A letter stands for a largest set of models none of which differ (Piepho 2004).

    >>> letters(["A", "B", "C"], {("A", "B"): False, ("B", "C"): False, ("A", "C"): True})
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    sets = [frozenset(models)]
    for (first, second), told_apart in differ.items():
        if not told_apart:
            continue
        split = [
            part
            for one in sets
            for part in ((one - {first}, one - {second}) if {first, second} <= one else (one,))
        ]
        different = list(dict.fromkeys(split))
        sets = [one for one in different if not any(one < other for other in different)]
    place = {name: number for number, name in enumerate(models)}
    ordered = sorted(sets, key=lambda one: sorted(place[name] for name in one))
    return {
        name: "".join(_letter(number) for number, one in enumerate(ordered) if name in one) for name in models
    }


def _letter(number: int) -> str:
    """Return a to z, then a1 to z1 and so on."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return alphabet[number % 26] + (str(number // 26) if number >= 26 else "")
