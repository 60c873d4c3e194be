"""Pairs of models under two evaluations: by hand, on rows whose orders are known."""

import math
from itertools import product

import numpy as np
import polars as pl
import pytest

from rankadjust.literature.pair_orders import pair_orders, reversals
from tests.unit.literature.results import MR, results


def both(first, second, *, dataset="d", **cells):
    """Return MRR of models under `filtered` and `raw`, printed with two digits."""
    parts = [
        results(
            *((dataset, name, value, value, 100) for name, value in values.items()),
            protocol=protocol,
            **cells,
        )
        for protocol, values in (("filtered", first), ("raw", second))
    ]
    return pl.concat(parts).with_columns(
        value_low=pl.col("value") - 0.005, value_high=pl.col("value") + 0.005, spread=pl.lit(None, pl.String)
    )


def orders(rows):
    return {(row["model"], row["other_model"]): row["order"] for row in pair_orders(rows).to_dicts()}


def test_a_pair_changes_places_only_where_both_differences_are_known():
    # A before B before C, then B before A; C has the value of B in the second within rounding.
    rows = both({"A": 0.5, "B": 0.4, "C": 0.3}, {"A": 0.2, "B": 0.3, "C": 0.305})
    assert orders(rows) == {("A", "B"): "reversed", ("A", "C"): "reversed", ("B", "C"): "open"}
    (counted,) = reversals(pair_orders(rows)).to_dicts()
    assert (counted["models"], counted["pairs"], counted["known"], counted["reversed"]) == (3, 3, 2, 2)
    assert (counted["first"], counted["second"], counted["share"]) == ("filtered", "raw", 1.0)
    # Three models are too few to resample.
    assert counted["share_low"] is None


def test_a_printed_spread_leaves_a_pair_open_and_low_mean_ranks_are_better():
    rows = both({"A": 0.5, "B": 0.4}, {"A": 0.2, "B": 0.3})
    assert orders(rows.with_columns(spread=pl.lit("0.05"))) == {("A", "B"): "open"}
    assert orders(rows.with_columns(spread=pl.lit("0.049"))) == {("A", "B"): "reversed"}
    ranks = rows.with_columns(metric=pl.lit(MR))
    assert pair_orders(ranks)["order"].to_list() == ["reversed"]
    assert orders(both({"A": 0.5, "B": 0.4}, {"A": 0.3, "B": 0.2}, metric=MR)) == {("A", "B"): "kept"}


def test_sources_data_sets_and_sides_are_never_mixed():
    rows = both({"A": 0.5}, {"A": 0.2})
    other = both({"B": 0.4}, {"B": 0.3})
    for name, value in {"source": "t", "dataset": "e", "metric": "hits_at_1", "split": "validation"}.items():
        assert pair_orders(pl.concat([rows, other.with_columns(pl.lit(value).alias(name))])).is_empty()


def test_heads_are_held_against_tails_and_first_versions_of_tgb_against_later_ones():
    sides = both({"A": 0.5, "B": 0.4}, {"A": 0.2, "B": 0.3}).with_columns(
        side=pl.when(pl.col("protocol") == "raw").then(pl.lit("tail")).otherwise(pl.lit("head")),
        protocol=pl.lit("filtered"),
    )
    (row,) = pair_orders(sides).to_dicts()
    assert [row[name] for name in ("comparison", "first", "second", "under", "order")] == [
        *("side", "head", "tail", "filtered", "reversed")
    ]
    versions = both({"A": 0.5, "B": 0.4}, {"A": 0.2, "B": 0.3}, dataset="tgbl-wiki").with_columns(
        dataset=pl.when(pl.col("protocol") == "raw")
        .then(pl.lit("tgbl-wiki-v2"))
        .otherwise(pl.lit("tgbl-wiki-v1")),
        protocol=pl.col("protocol").replace({"filtered": "sampled-20", "raw": "sampled-999"}),
    )
    (row,) = pair_orders(versions).to_dicts()
    assert [row[name] for name in ("comparison", "dataset", "first", "second", "order")] == [
        *("negatives", "tgbl-wiki", "sampled-20", "sampled-999", "reversed")
    ]


def test_the_interval_resamples_models():
    # Only A falls: 4 of the 10 pairs are reversed. A resample without A has none, the more of A the more.
    first = {"A": 0.9, "B": 0.8, "C": 0.7, "D": 0.6, "E": 0.5}
    (counted,) = reversals(pair_orders(both(first, first | {"A": 0.1}))).to_dicts()
    assert (counted["known"], counted["share"]) == (10, pytest.approx(0.4))
    assert counted["share_low"] == 0
    # With A two or three times among five draws, more than half of the pairs of different models have it.
    assert 0.6 <= counted["share_high"] <= 1


def of_tasks(rows, tasks):
    """Return a database that says how many tasks each evaluation of the rows has."""
    return (
        rows.select("dataset", "protocol", "split", "side", "metric")
        .unique()
        .with_columns(tasks=pl.lit(tasks, pl.Int64))
    )


def test_p_is_at_least_that_of_every_flip_of_ranks_with_these_values():
    """Eight triples: all 256 flips of the differences of two hits columns, against the bound from their means alone."""
    generator = np.random.default_rng(20261123)
    for _ in range(20):
        first, second = generator.integers(0, 2, size=(2, 8)).astype(float)
        rows = both(
            {"A": first.mean(), "B": second.mean()},
            {"A": first.mean(), "B": second.mean()},
            metric="hits_at_1",
        )
        exact = rows.with_columns(value_low="value", value_high="value")
        (row,) = pair_orders(exact, of_tasks(rows, 16)).to_dicts()
        flips = [abs(np.dot(signs, first - second)) for signs in product([-1, 1], repeat=8)]
        assert row["p"] >= np.mean([flip >= abs((first - second).sum()) - 1e-9 for flip in flips])


def test_only_orders_beyond_the_luck_of_triples_are_sure():
    rows = both({"A": 0.5, "B": 0.4, "C": 0.3}, {"A": 0.2, "B": 0.3, "C": 0.4})
    # Of A and B: 2 exp(-n 0.09^2 / (2 * 0.91)) and 2 exp(-n 0.09^2 / (2 * 0.51)), rounding of 0.01 allowed for.
    for triples, sure in ((500, 1), (1000, 3)):
        pairs = pair_orders(rows, of_tasks(rows, 2 * triples))
        by_pair = {(row["model"], row["other_model"]): row["p"] for row in pairs.to_dicts()}
        assert by_pair["A", "B"] == pytest.approx(2 * math.exp(-triples * 0.09**2 / (2 * 0.91)), rel=1e-9)
        (counted,) = reversals(pairs).to_dicts()
        assert (counted["known"], counted["reversed"], counted["sure"], counted["sure_reversed"]) == (
            3,
            3,
            sure,
            sure,
        )


def test_without_the_number_of_triples_and_for_mean_ranks_there_is_no_p():
    rows = both({"A": 0.5, "B": 0.4}, {"A": 0.2, "B": 0.3})
    assert pair_orders(rows)["p"].to_list() == [None]
    ranks = both({"A": 5, "B": 4}, {"A": 2, "B": 3}, metric=MR)
    pairs = pair_orders(ranks, of_tasks(ranks, 200))
    assert pairs["p"].to_list() == [None]
    (counted,) = reversals(pairs).to_dicts()
    assert (counted["sure"], counted["sure_reversed"]) == (None, None)
