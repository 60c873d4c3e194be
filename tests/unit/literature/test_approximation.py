"""The error of an index that is computed as if every N were the number of entities."""

import polars as pl
import pytest

from rankadjust.database.store import assemble
from rankadjust.literature.row_constants import effect_of_approximation
from tests.unit.literature.results import MR, MRR


def test_effect_of_approximation(project):
    moments = pl.read_csv(project / "tests/data/published/moments.csv").with_columns(
        variance_random_scorer=pl.lit(None, dtype=pl.Float64),
        method=pl.lit("reference"),
        reason=pl.lit(None, dtype=pl.String),
    )
    effect = effect_of_approximation(assemble([moments]))
    assert set(effect["metric"]) == {MR, MRR, "hits_at_1", "hits_at_3", "hits_at_5", "hits_at_10"}
    nations = effect.filter(dataset="Nations", metric=MR).row(0, named=True)
    # 14 entities: (14 + 1) / 2; E[MR] = 4.4776 after filtering.
    assert nations["expectation_from_entities"] == pytest.approx(7.5)
    assert nations["factor"] == pytest.approx((4.477611940298507 - 1) / 6.5)
    # An index by the number of entities is off by the factor: 1 - index = (1 - true index) factor.
    true, near = 1 - (3 - 1) / (nations["expectation"] - 1), 1 - (3 - 1) / (7.5 - 1)
    assert 1 - near == pytest.approx((1 - true) * nations["factor"])
    assert effect.filter(dataset="WN18RR", metric=MRR)["factor"].item() == pytest.approx(1, abs=1e-6)
