"""Holm's adjustment."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from rankadjust.models.compare import with_verdicts


def holm(p):
    """Return what p becomes of tests of one metric and side, between different models."""
    about = {"side": "both", "metric": "inverse_harmonic_mean_rank", "first": "A", "difference": 0.1}
    rows = pl.DataFrame(
        {"p": p, "second": [f"{n}" for n in range(len(p))]}, schema_overrides={"p": pl.Float64}
    )
    return with_verdicts(rows.with_columns(pl.lit(value).alias(name) for name, value in about.items()))[
        "p_holm"
    ]


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
    assert holm([0.01, None, 0.02]).to_list() == [0.02, None, 0.02]
