"""Holm's adjustment and letters."""

import re
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.models.compare import holm, letters


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_its_step_down_rejects(p):
    """Holm (1979): the i-th smallest is rejected as long as p <= level / (m - i + 1) for it and all before it."""
    adjusted = holm(p)
    for level in (0.01, 0.05, 0.3):
        rejected = set()
        for number, place in enumerate(np.argsort(p, kind="stable")):
            if p[place] * (len(p) - number) > level:
                break
            rejected.add(int(place))
        assert {place for place, value in enumerate(adjusted) if value <= level} == rejected


def test_holm_leaves_out_what_is_no_test():
    assert holm([0.01, np.nan, 0.02])[[0, 2]].tolist() == [0.02, 0.02]
    assert np.isnan(holm([0.01, np.nan])[1])


@given(st.integers(2, 6), st.sets(st.sampled_from(list(combinations("ABCDEF", 2)))))
def test_models_share_a_letter_exactly_if_they_do_not_differ(number, apart):
    models = "ABCDEF"[:number]
    differ = {pair: pair in apart for pair in combinations(models, 2)}
    found = letters(models, differ)
    for pair, told_apart in differ.items():
        assert bool({*found[pair[0]]} & {*found[pair[1]]}) != told_apart
    assert found["A"].startswith("a")
    # No letter stands for a part of another one's set, and no model can be added to a set.
    sets = [{model for model in models if letter in found[model]} for letter in {*"".join(found.values())}]
    assert not any(one < other for one in sets for other in sets)


def test_letters_of_many_models_are_made_in_polynomial_time():
    """No two of a pair share a letter, in 40 pairs: 2^40 largest sets, and a cover with few letters."""
    models = [f"m{number}" for number in range(80)]
    apart = {(models[2 * pair], models[2 * pair + 1]): True for pair in range(40)}
    found = letters(models, apart)
    number = len({letter for of_model in found.values() for letter in _split(of_model)})
    assert number < 200
    for pair in combinations(models, 2):
        shared = {*_split(found[pair[0]])} & {*_split(found[pair[1]])}
        assert bool(shared) != apart.get(pair, False)


def _split(text):
    """a, b, …, z, a1, …: a letter and the number behind it."""
    return re.findall(r"[a-z]\d*", text)
