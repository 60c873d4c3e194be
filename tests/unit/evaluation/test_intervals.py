"""Intervals and p: against textbooks, simulations and each other, and the warnings."""

import numpy as np
import polars as pl
import pytest
from scipy import special

from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.evaluate import evaluate
from rankadjust.evaluation.spread import Spread


def pairs(triples, seed=1):
    """Return ranks with a long tail of two tasks a triple, and the frame that `evaluate` takes."""
    rng = np.random.default_rng(seed)
    ranks = np.ceil(
        np.exp(2 + 2 * (rng.standard_normal(triples) + rng.standard_normal((2, triples))) / 2**0.5)
    )
    sides = ["head"] * triples + ["tail"] * triples
    frame = pl.DataFrame({"rank": ranks.ravel(), "side": sides, "triple": [*range(triples)] * 2})
    return ranks, frame


def ends(result, metric, side="both"):
    row = result.row(
        by_predicate=(pl.col("metric") == resolve(metric).key) & (pl.col("side") == side), named=True
    )
    return row["value_low"], row["value_high"], row["warning"]


def test_only_metrics_of_the_rank_itself_have_a_long_tail():
    """For 100 triples of one size the interval of these three may be too short."""
    result = evaluate(
        [1, 3] * 50, num_candidates=9, metrics=["mr", "imr", "auc", "mrr", "gmr", "hmr", "hits@1", "ndcg"]
    )
    assert [ends(result, name)[2] is None for name in ("mr", "imr", "auc")] == [False] * 3
    assert [ends(result, name)[2] for name in ("mrr", "gmr", "hmr", "hits@1", "ndcg")] == [None] * 5


def test_skewness_is_removed_as_in_halls_formula():
    """Hall (1992): t + g t^2/3 + g^2 t^3/27 + g/6 is compared with Student's law; the interval is its inverse."""
    data = np.random.default_rng(3).exponential(size=(1, 25))
    parts = (data - data.mean()) / 25
    spread = Spread.of(parts, [np.arange(25)], np.arange(25))
    g = (parts**3).sum() / (parts**2).sum() ** 1.5
    assert spread.skewness == pytest.approx(g)
    assert g > 0.1
    for end, sign in zip(spread.ends(data.mean(axis=1))[0], (1, -1), strict=True):
        t = (data.mean() - end) / spread.error[0]
        moved = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
        assert moved == pytest.approx(sign * special.stdtrit(24, 0.975), rel=1e-9)
        # p is 0.05 at the ends of the interval.
        assert spread.p(np.array([data.mean() - end])) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize(
    ("metric", "triples", "least"), [("mrr", 24, 0.93), ("hits@10", 24, 0.93), ("mr", 300, 0.9)]
)
def test_intervals_hold_the_truth_as_often_as_they_should(metric, triples, least):
    """400 samples of ranks with a long tail; the truth is the mean of 200,000. Three standard errors are 0.033."""
    term = resolve(metric).term
    everything, _ = pairs(200_000, seed=9)
    truth = term(everything, np.full_like(everything, np.nan)).mean()
    inside = 0
    for seed in range(400):
        ranks, _ = pairs(triples, seed=seed)
        terms = term(ranks, np.full_like(ranks, np.nan)).mean(axis=0)
        spread = Spread.of((terms - terms.mean())[None] / triples, [np.arange(triples)], np.arange(triples))
        (low, high), *_ = spread.ends(terms.mean(keepdims=True))
        inside += low <= truth <= high
    assert least - 0.033 < inside / 400 < 0.97 + 0.033


def test_intervals_of_mr_reach_into_the_tail_and_never_beyond_what_is_possible():
    ranks, frame = pairs(24)
    low, high, warning = ends(evaluate(frame, metrics=["mr"]), "mr")
    assert "it needs 300 triples, and these count like 24 of equal size" in warning
    assert high - ranks.mean() > 2 * (ranks.mean() - low)
    assert low >= 1
    most = ranks.max()
    bounded = evaluate(frame, num_candidates=most, metrics=["mr", "imr", "auc"])
    for metric, least in (("mr", 1.0), ("imr", 1 / most), ("auc", 0.0)):
        low, high, _ = ends(bounded, metric)
        assert least <= low < high <= (most if metric == "mr" else 1)
    # IMR is a function of MR, and so are the ends of its interval.
    assert ends(bounded, "imr")[:2] == pytest.approx([1 / end for end in ends(bounded, "mr")[1::-1]])


def test_the_error_of_a_function_of_a_mean_has_its_slope():
    _, frame = pairs(200)
    result = evaluate(frame, metrics=["gmr", "mr", "imr"]).filter(side="both")
    gmr, mr, imr = (
        result.filter(metric=resolve(name).key).row(0, named=True) for name in ("gmr", "mr", "imr")
    )
    assert imr["error_triples"] == pytest.approx(mr["error_triples"] / mr["value"] ** 2, rel=1e-5)
    logs = np.log(frame["rank"].to_numpy().reshape(2, -1)).mean(axis=0)
    assert gmr["error_triples"] == pytest.approx(gmr["value"] * logs.std(ddof=1) / 200**0.5, rel=1e-5)


def test_every_interval_that_is_too_short_says_so():
    _, frame = pairs(1000)
    result = evaluate(frame, metrics=["mr", "mrr", "std", "median"])
    assert [ends(result, metric)[2] for metric in ("mr", "mrr")] == [None] * 2
    for metric in ("std", "median"):
        assert ends(result, metric) == (None, None, None)
    apart = evaluate(frame.drop("triple"), metrics=["mrr"])
    assert "give the column triple" in ends(apart, "mrr")[2]
    assert ends(apart, "mrr", side="head")[2] is None
    few = evaluate(frame.filter(pl.col("triple") < 23), metrics=["mrr"])
    assert "these count like 23 of equal size" in ends(few, "mrr")[2]
    shared = frame.filter(pl.col("triple") < 60).with_columns(query=(pl.col("triple") // 3).cast(pl.String))
    assert "these count like 20 of equal size" in ends(evaluate(shared, metrics=["mrr"]), "mrr")[2]
    perfect = evaluate([1] * 50, metrics=["hits@10"])
    assert ends(perfect, "hits@10")[:2] == (1, 1)
    assert "the interval has no length" in ends(perfect, "hits@10")[2]


@pytest.mark.parametrize(
    "tasks",
    [{"rank": [3]}, {"rank": [3, 5], "side": ["head", "tail"], "triple": [0, 0]}],
    ids=["one task", "one triple"],
)
def test_a_single_cluster_has_no_interval_and_says_so(tasks):
    low, high, warning = ends(evaluate(pl.DataFrame(tasks), metrics=["mrr"]), "mrr")
    assert (low, high) == (None, None)
    assert "count like 1 of equal size" in warning


def test_precision_is_hits_divided_by_k_and_so_are_its_ends():
    _, frame = pairs(60)
    result = evaluate(frame, metrics=["hits@3", "precision@3"])
    (low, high, _), (third_low, third_high, _) = (ends(result, name) for name in ("hits@3", "precision@3"))
    assert (third_low, third_high) == pytest.approx((low / 3, high / 3), rel=1e-12)
