"""Bounds of the full ranking for rows of tables: which rows have them, and what they say of leaderboards."""

import polars as pl
import pytest

from rankadjust import Constants, full_bounds, rescore
from rankadjust.literature.full_ranking import COLUMNS, add_full_bounds
from tests.findings import what_sampling_hides


@pytest.fixture(scope="module")
def bounded():
    models = {"A": "0.784", "B": "0.75", "C": "0.784"}
    table = pl.DataFrame(
        [
            ("GraIL-WN18RR-v2", model, "sampled-50", metric, value)
            for model, mrr in models.items()
            for metric, value in (("mrr", mrr), ("hits@10", "0.90"))
        ]
        + [("tgbl-coin", "A", "sampled-20", "mrr", "0.6"), ("Nations", "A", "filtered", "mrr", "0.6")],
        schema=["dataset", "model", "protocol", "metric", "value"],
        orient="row",
    ).with_columns(
        split=pl.when(pl.col("dataset") == "GraIL-WN18RR-v2")
        .then(pl.lit("inference_testing"))
        .otherwise(pl.lit("testing")),
        side=pl.when(pl.col("dataset") == "tgbl-coin").then(pl.lit("tail")).otherwise(pl.lit("both")),
        # A column of this name in a given table is kept under another name.
        full_mrr_low=pl.lit("mine"),
    )
    constants = Constants.released()
    return add_full_bounds(rescore(table, constants), constants)


def test_rows_of_a_model_have_the_bounds_of_all_its_values(bounded):
    """`full_bounds` of the same values; both may be wider than need be by up to a hundred-thousandth."""
    alone = full_bounds(
        {"mrr": "0.784", "hits@10": "0.90"}, sampled=50, dataset="GraIL-WN18RR-v2", metrics=["mrr", "hits@10"]
    ).full
    for row in bounded.filter(pl.col("model").is_in(["A", "C"]), protocol="sampled-50").to_dicts():
        for name, bounds in alone.items():
            assert row[f"full_{name}_low"] == pytest.approx(bounds.low, abs=1.1e-5)
            assert row[f"full_{name}_high"] == pytest.approx(bounds.high, abs=1.1e-5)


def test_rows_without_bounds_say_why_or_are_not_sampled(bounded):
    coin, nations = bounded.tail(2).select(*COLUMNS, "full_reason").to_dicts()
    assert "earlier answers" in coin.pop("full_reason")
    assert {*coin.values(), *nations.values()} == {None}
    assert set(bounded["full_mrr_low_given"]) == {"mine"}


def test_leaderboards_say_how_many_pairs_are_known():
    rows = {
        "dataset": "D",
        "protocol": "sampled-9",
        "split": "testing",
        "side": "both",
        "metric": "inverse_harmonic_mean_rank",
        "status": "ok",
        "index": 0.1,
    }
    # By hand: B is above A and C, and A and C overlap; D has no bounds, and a second value of A makes no pair.
    table = pl.DataFrame(
        {
            "model": ["A", "B", "C", "D", "A"],
            "value": [0.5, 0.9, 0.6, 0.95, 0.4],
            "full_mrr_low": [0.1, 0.7, 0.2, None, 0.0],
            "full_mrr_high": [0.4, 0.8, 0.7 - 1e-9, None, 0.01],
        }
    ).with_columns(
        **{name: pl.lit(value) for name, value in rows.items()},
        **{name: pl.lit(None, dtype=pl.Float64) for name in COLUMNS[2:]},
    )
    (found,) = what_sampling_hides(table).to_dicts()
    shown = ("best_model", "best", "full_low", "full_high", "models", "pairs", "known")
    assert tuple(found[name] for name in shown) == ("B", 0.9, 0.7, 0.8, 3, 3, 2)
