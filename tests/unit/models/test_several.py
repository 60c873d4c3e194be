"""Holm's adjustment."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.models.compare import holm


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
