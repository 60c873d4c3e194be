"""Names of adjusted metrics: one reading for headers, tidy tables and units.

AMR and AMRI are named as in Berrendorf et al. (2020).
"""

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import FAMILIES, adjusted_key, find_adjusted, names_of, resolve
from rankadjust.literature.rescore import rescore
from rankadjust.tables.headers import metric_key

NAMES = {
    "AMR": ("arithmetic_mean_rank", "ratio", "adjusted_arithmetic_mean_rank"),
    "AMRI": ("arithmetic_mean_rank", "index", "adjusted_arithmetic_mean_rank_index"),
    "AMRR": ("inverse_harmonic_mean_rank", "index", "adjusted_inverse_harmonic_mean_rank"),
    "AGMRI": ("geometric_mean_rank", "index", "adjusted_geometric_mean_rank_index"),
    "AH@10": ("hits_at_10", "index", "adjusted_hits_at_10"),
    "AHits @ 3": ("hits_at_3", "index", "adjusted_hits_at_3"),
    "adjusted MRR": ("inverse_harmonic_mean_rank", "index", "adjusted_inverse_harmonic_mean_rank"),
    "Adjusted Mean Rank": ("arithmetic_mean_rank", "ratio", "adjusted_arithmetic_mean_rank"),
    "Adjusted Mean Rank Index": ("arithmetic_mean_rank", "index", "adjusted_arithmetic_mean_rank_index"),
    "adjusted_hits_at_10": ("hits_at_10", "index", "adjusted_hits_at_10"),
    "z_mrr": ("inverse_harmonic_mean_rank", "z", "z_inverse_harmonic_mean_rank"),
    "z-score of (MRR)": ("inverse_harmonic_mean_rank", "z", "z_inverse_harmonic_mean_rank"),
    "MRR": ("inverse_harmonic_mean_rank", None, "inverse_harmonic_mean_rank"),
}


@pytest.mark.parametrize(("name", "found"), NAMES.items())
def test_a_name_means_the_same_in_a_header_a_tidy_table_and_a_key(name, found):
    metric, adjustment, key = found
    assert find_adjusted(name) == (resolve(metric), adjustment)
    assert metric_key(name) == key
    assert find_adjusted(key) == (resolve(metric), adjustment)
    printed = pl.DataFrame(
        {"dataset": ["Nations"], "metric": [name], "value": ["0.5" if adjustment else "0.9"]}
    )
    row = rescore(printed).row(0, named=True)
    assert (row["metric"], row["adjustment"]) == (metric, adjustment)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_keys_come_back(family):
    metric = family.metric(10 if family.needs_k else None)
    for adjustment in (None, "z", "index", *(["ratio"] if metric.ratio else [])):
        assert find_adjusted(adjusted_key(metric, adjustment)) == (metric, adjustment)


def test_what_is_no_metric_is_an_error():
    for name in ("", "zebra", "adjusted", "adjusted_mrx", "AH"):
        assert find_adjusted(name) is None
    with pytest.raises(RankadjustError, match="needs a k"):
        find_adjusted("AH@k")
    with pytest.raises(RankadjustError, match="mrx"):
        names_of({"amrx": {"metric": "mrx", "adjustment": "index"}})
