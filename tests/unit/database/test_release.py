"""The release: whole or refused, and in PyKEEN's layout."""

import dataclasses

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.counting.protocols import get_protocol
from rankadjust.data.registry import load_registry
from rankadjust.database.release import candidates_table, pykeen_layout, require_complete


@pytest.fixture(scope="module")
def registry():
    shipped = load_registry()
    return {name: shipped[name] for name in ("Nations", "CoDEx-S", "GraIL-WN18RR-v1")}


def database(*keys):
    return pl.DataFrame(
        [
            (dataset, protocol, "testing", "both", "arithmetic_mean_rank", expectation)
            for dataset, protocol, expectation in keys
        ],
        schema=["dataset", "protocol", "split", "side", "metric", "expectation"],
        orient="row",
        schema_overrides={"expectation": pl.Float64},
    )


def test_a_release_that_lacks_something_is_refused(registry):
    protocols = {name: get_protocol(name) for name in ("filtered", "time-aware")}
    whole = database(
        ("Nations", "filtered", 1), ("CoDEx-S", "filtered", 1), ("GraIL-WN18RR-v1", "filtered", 1)
    )
    require_complete(whole, registry, protocols, [])
    with pytest.raises(RankadjustError, match=r"the release would lack CoDEx-S \(filtered\); make it with"):
        require_complete(whole.filter(pl.col("dataset") != "CoDEx-S"), registry, protocols, [])
    unverified = {name: dataclasses.replace(entry, verified=False) for name, entry in registry.items()}
    require_complete(whole.clear(), unverified, protocols, [])


def test_candidates_of_all_pairs_are_one_sorted_table():
    histogram = pl.DataFrame({"split": ["testing"], "num_candidates": [3]})
    table = candidates_table({("UMLS", "raw"): histogram, ("Nations", "raw"): histogram})
    assert table.columns == ["dataset", "protocol", "split", "num_candidates"]
    assert table["dataset"].to_list() == ["Nations", "UMLS"]


def test_pykeen_layout_has_its_names_and_columns(registry):
    rows = database(
        ("CoDEx-S", "pykeen", 2.5), ("Nations", "filtered", 4.5), ("GraIL-WN18RR-v1", "pykeen", 3.5)
    )
    layout = pykeen_layout(rows, registry)
    assert layout.columns == ["dataset", "metric", "side", "split", "value"]
    assert layout.rows() == [("codexsmall", "arithmetic_mean_rank", "both", "testing", 2.5)]
