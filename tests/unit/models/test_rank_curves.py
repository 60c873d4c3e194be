"""Rank curves: Hits@k at every k, and their expectation under chance."""

import numpy as np
import polars as pl
import pytest

from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.models.paired import CHANCE, paired, rank_curves


def frame(seed):
    counts = np.random.default_rng(0).integers(2, 300, 80)
    ranks = np.ceil(counts * np.random.default_rng(seed).random(80))
    return pl.DataFrame({"triple": np.arange(80), "side": "tail", "rank": ranks, "num_candidates": counts})


def test_a_curve_is_hits_at_every_k():
    runs = [frame(1), frame(2)]
    curves = rank_curves(paired({"A": runs, "B": frame(3)}))
    counts, tasks = np.unique(runs[0]["num_candidates"], return_counts=True)
    for k in (1, 2, 10, 100):
        # The curve has some of the larger k only.
        near = int(min(curves["k"], key=lambda each: abs(each - k)))
        share = dict(curves.filter(k=near).select("model", "share").iter_rows())
        assert share["A"] == pytest.approx(np.mean([(run["rank"] <= near).mean() for run in runs]))
        assert share["B"] == pytest.approx((frame(3)["rank"] <= near).mean())
        expected = metric_moments(resolve(f"hits@{near}"), counts, tasks).expectation
        assert share[CHANCE] == pytest.approx(expected, rel=1e-12)
    assert curves.filter(pl.col("k") == curves["k"].max())["share"].to_list() == [1.0, 1.0, 1.0]


def test_without_numbers_of_candidates_there_is_no_chance():
    frames = {name: frame(seed).drop("num_candidates") for name, seed in (("A", 1), ("B", 2))}
    assert rank_curves(paired(frames))["model"].unique().sort().to_list() == ["A", "B"]
    known = rank_curves(paired(frames), np.array([5.0, 10.0]), np.array([1.0, 3.0]))
    chance = dict(known.filter(model=CHANCE).select("k", "share").iter_rows())
    # One task of 5 candidates and three of 10.
    assert chance[2.0] == pytest.approx((0.4 + 3 * 0.2) / 4)
