"""Several tests at once: Holm's adjustment of p-values, and letters for models that do not differ."""

from collections.abc import Mapping, Sequence

import numpy as np

from rankadjust.base.arrays import BoolArray, FloatArray


def holm(p: Sequence[float] | FloatArray) -> FloatArray:
    """Return p-values (t,) such that rejecting those up to a level errs in any of the tests with at most this level.

    Holm (1979): the smallest is multiplied by the number of tests, the next by one less, and so on, never falling. nan
    is not a test and stays nan.

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
    were told apart; a pair that is not named was not. A letter stands for a largest set of models without a
    difference between any two. The time is at most cubic in the number of models for each letter; the number
    of letters is not always the least (finding that is a hard problem).

    >>> letters(["A", "B", "C"], {("A", "B"): False, ("B", "C"): False, ("A", "C"): True})
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    place = {name: number for number, name in enumerate(models)}
    alike = np.ones((len(models), len(models)), dtype=bool)
    for (first, second), told_apart in differ.items():
        alike[place[first], place[second]] = alike[place[second], place[first]] = not told_apart
    sets = _needed(_cover(alike))
    return {
        name: "".join(_letter(number) for number, members in enumerate(sets) if members[place[name]])
        for name in models
    }


def _cover(alike: BoolArray) -> list[BoolArray]:
    """Return sets of models, as masks, that together have every pair of models that are alike, and no other.

    From the first model that lacks a pair, and the last model that it has to go with: where the models that are alike
    follow each other, as means do, these sets are as few as can be.
    """
    missing, sets = alike.copy(), []
    for first in range(len(alike)):
        while missing[first].any():
            members = np.zeros(len(alike), dtype=bool)
            members[[first, np.flatnonzero(missing[first])[-1]]] = True
            while (others := alike[members].all(axis=0) & ~members).any():
                # Whoever lacks most pairs with the set joins it.
                members[np.argmax(np.where(others, missing[members].sum(axis=0), -1))] = True
            missing &= ~np.outer(members, members)
            sets.append(members)
    return sets


def _needed(sets: list[BoolArray]) -> list[BoolArray]:
    """Return the sets without those whose pairs are all in others."""
    times = np.sum([np.outer(members, members) for members in sets], axis=0)
    kept = []
    for members in sets:
        if (times[np.ix_(members, members)] > 1).all():
            times = times - np.outer(members, members)
        else:
            kept.append(members)
    return kept


def _letter(number: int) -> str:
    """Return a to z, then a1 to z1 and so on."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return alphabet[number % 26] + (str(number // 26) if number >= 26 else "")
