"""Bootstrap intervals: BCa against scipy, studentised ones against their definition, and the warnings."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from rankadjust.chance.metrics import FAMILIES, expand, identity, resolve
from rankadjust.evaluation.evaluate import evaluate
from rankadjust.evaluation.intervals import bias_corrected, has_long_tail, jackknife, studentised
from rankadjust.evaluation.weighting import RankedTasks, UnitMeans


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
    return row["value_low"], row["value_high"], row["interval"], row["warning"]


def test_only_metrics_of_the_rank_itself_have_a_long_tail():
    long = {metric.key for metric in expand(list(FAMILIES), [1, 10]) if has_long_tail(metric)}
    assert long == {"arithmetic_mean_rank", "inverse_arithmetic_mean_rank", "auc"}


@pytest.mark.parametrize("metric", ["mrr", "ndcg"])
def test_bca_is_that_of_scipy(metric):
    """Both have 20,000 samples of their own: the ends agree to a few hundredths of the length of the interval."""
    ranks, frame = pairs(40)
    low, high, method, _ = ends(evaluate(frame, metrics=[metric], draws=20_000), metric)
    term = resolve(metric).term(ranks, np.full_like(ranks, np.nan)).mean(axis=0)
    generator = np.random.default_rng(0)
    expected, plain = (
        stats.bootstrap(
            (term,), np.mean, method=name, n_resamples=20_000, rng=generator, vectorized=True
        ).confidence_interval
        for name in ("BCa", "percentile")
    )
    assert method == "BCa"
    tolerance = 0.03 * (expected.high - expected.low)
    assert low == pytest.approx(expected.low, abs=tolerance)
    assert high == pytest.approx(expected.high, abs=tolerance)
    # A correction that were left out would show.
    assert abs(plain.low - expected.low) + abs(plain.high - expected.high) > tolerance


def test_bias_and_acceleration_enter_as_in_the_formula():
    """Efron and Tibshirani (1993), equations 14.9, 14.10, 14.14 and 14.15, written out for one metric."""
    rng = np.random.default_rng(3)
    data = rng.exponential(size=25)
    samples = np.array([rng.choice(data, 25).mean() for _ in range(999)])
    left_out = np.array([np.delete(data, each).mean() for each in range(25)])
    bias = stats.norm.ppf(np.mean(samples < data.mean()))
    deviations = left_out.mean() - left_out
    acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    assert acceleration > 0.02
    for z, end in zip(
        stats.norm.ppf([0.025, 0.975]),
        bias_corrected(np.array([data.mean()]), samples[None], [left_out[None]])[0],
        strict=True,
    ):
        level = stats.norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))
        assert end == pytest.approx(np.quantile(samples, level), rel=1e-12)


def test_studentised_ends_are_those_of_the_definition():
    """mean - error * quantile of (mean* - mean) / error*, with the textbook error of a mean; one draw at a time."""
    rng = np.random.default_rng(4)
    data = np.exp(rng.standard_normal(30))
    units = np.arange(30)
    means = UnitMeans([resolve("mr")], data[None], np.ones((1, 30)))
    drawn = rng.integers(30, size=(500, 30))
    counts = np.stack([np.bincount(row, minlength=30) for row in drawn], axis=1).astype(float)
    error = data.std(ddof=1) / 30**0.5
    own = means.mean_and_error(np.ones((30, 1)), [units])[:, 0, 0]
    np.testing.assert_allclose(own, [data.mean(), error], rtol=1e-12)
    ratios = []
    for row in drawn:
        sample = data[row]
        # The error counts the units that there are, n, not the n - 1 of a new sample, as the jackknife does.
        ratios.append((sample.mean() - data.mean()) / (sample.std(ddof=1) / 30**0.5))
    expected = data.mean() - error * np.quantile(ratios, [0.975, 0.025])
    sampled = means.mean_and_error(counts, [units])
    np.testing.assert_allclose(studentised(means, sampled, [units])[0], expected, rtol=1e-10)


def test_the_error_of_two_strata_is_that_of_their_separate_samples():
    rng = np.random.default_rng(5)
    head, tail = rng.exponential(size=20), 10 + rng.exponential(size=30)
    everything = np.concatenate([head, tail])
    strata = [np.arange(20), np.arange(20, 50)]
    means = UnitMeans([resolve("mr")], everything[None], np.ones((1, 50)))
    _, error = means.mean_and_error(np.ones((50, 1)), strata)[:, 0, 0]
    expected = (20 * head.var(ddof=1) + 30 * tail.var(ddof=1)) ** 0.5 / 50
    assert error == pytest.approx(expected, rel=1e-12)


def test_studentised_intervals_reach_further_into_the_tail_and_never_beyond_what_is_possible():
    ranks, frame = pairs(24)
    low, high, method, warning = ends(evaluate(frame, metrics=["mr"]), "mr")
    assert method == "studentised"
    assert "fewer than 1,000 triples" in warning
    # The quantiles of the samples are nearly symmetric around the value; the upper end must be further away.
    assert high - ranks.mean() > 2 * (ranks.mean() - low)
    assert low >= 1
    most = ranks.max()
    bounded = evaluate(frame, num_candidates=most, metrics=["mr", "imr", "auc"], draws=200, seed=2)
    for metric, least in (("mr", 1.0), ("imr", 1 / most), ("auc", 0.0)):
        low, high, *_ = ends(bounded, metric)
        assert least <= low < high <= (most if metric == "mr" else 1)
    # IMR is a function of MR, and so are the ends of its interval.
    assert ends(bounded, "imr")[:2] == pytest.approx([1 / end for end in ends(bounded, "mr")[1::-1]])


def test_parts_that_are_left_out_leave_the_size_of_each_stratum():
    strata = [np.array([0, 2, 4]), np.array([1, 3]), np.array([5])]
    head, tail, single = jackknife(strata, identity)
    assert (head.shape, tail.shape, single.shape) == ((6, 3), (6, 2), (6, 0))
    for counts in (head, tail):
        for stratum in strata:
            np.testing.assert_allclose(counts[stratum].sum(axis=0), stratum.size)
    np.testing.assert_array_equal(head[strata[0]] == 0, np.eye(3, dtype=bool))
    ranks = np.array([1.0, 3, 8, 2, 5, 9])
    tasks = RankedTasks(ranks, ranks, np.full(6, np.nan), np.ones(6))
    # Without the last of three: the two others weigh 3/2.
    expected = (1.5 * (1 + 1 / 8) + 1 / 3 + 1 / 2 + 1 / 9) / 6
    assert UnitMeans.of([resolve("mrr")], tasks, np.arange(6)).at(head)[0, 2] == pytest.approx(expected)
    # A thousand units are left out ten at a time.
    assert jackknife([np.arange(1000)], identity)[0].shape == (1000, 100)


def test_the_parts_are_left_out_block_by_block(monkeypatch):
    """Of ten million tasks a hundred columns at once would take 8 GB."""
    strata, columns = [np.arange(0, 300, 2), np.arange(1, 300, 2)], []

    def recorded(counts):
        columns.append(counts.shape[1])
        return counts

    whole = jackknife(strata, recorded)
    assert columns == [100, 100]
    monkeypatch.setattr("rankadjust.evaluation.weighting._BLOCK", 9000)
    in_blocks = jackknife(strata, recorded)
    assert columns[2:] == [30, 30, 30, 10] * 2
    for one, other in zip(in_blocks, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_error_of_a_mean_is_made_piece_by_piece(monkeypatch):
    rng = np.random.default_rng(6)
    strata = [np.arange(0, 300, 2), np.arange(1, 300, 2)]
    means = UnitMeans([resolve("mr")] * 2, rng.random((2, 300)), rng.random((2, 300)))
    counts = rng.integers(0, 3, (300, 4)).astype(float)
    whole = means.mean_and_error(counts, strata)
    # 40 products a unit: seven units a piece.
    monkeypatch.setattr("rankadjust.evaluation.weighting._PRODUCT", 280)
    np.testing.assert_allclose(means.mean_and_error(counts, strata), whole, rtol=1e-12)


def test_weighted_means_are_studentised_as_ratios():
    """A weight of 2 on each task of a triple counts like the triple twice, but not as more triples."""
    _, frame = pairs(50)
    once = evaluate(frame, metrics=["mr"], draws=200)
    twice = evaluate(frame.with_columns(weight=pl.lit(2.0)), metrics=["mr"], draws=200)
    assert ends(twice, "mr")[:3] == pytest.approx(ends(once, "mr")[:3])


def test_every_interval_that_is_too_short_says_so():
    _, frame = pairs(1000)
    unknown = evaluate(frame, metrics=["mrr"], draws=50)["warning"].unique().to_list()
    assert "not known which triples share a query" in unknown[0]
    frame = frame.with_columns(query=pl.col("triple").cast(pl.String))
    result = evaluate(frame, metrics=["mr", "mrr", "std", "median"], draws=50)
    assert [ends(result, metric)[3] for metric in ("mr", "mrr", "median")] == [None] * 3
    assert ends(result, "std") == (None, None, None, None)
    apart = evaluate(frame.drop("triple"), metrics=["mrr"], draws=50)
    assert "give the column triple" in ends(apart, "mrr")[3]
    assert ends(apart, "mrr", side="head")[3] is None
    few = evaluate(frame.filter(pl.col("triple") < 23), metrics=["mrr"], draws=50)
    assert "fewer than 24 triples" in ends(few, "mrr")[3]
    shared = frame.filter(pl.col("triple") < 300).with_columns(query=(pl.col("triple") // 3).cast(pl.String))
    assert ends(evaluate(shared, metrics=["mrr"], draws=50), "mrr")[3] is None
    fewer = evaluate(shared.filter(pl.col("triple") < 297), metrics=["mrr"], draws=50)
    assert "fewer than 100 queries" in ends(fewer, "mrr")[3]
    alike = frame.with_columns(query=(pl.col("triple") // 2).cast(pl.String))
    assert "fewer than 1,000 queries of one size" in ends(evaluate(alike, metrics=["mr"], draws=50), "mr")[3]
    assert ends(evaluate(alike, metrics=["mrr"], draws=50), "mrr")[3] is None
    perfect = evaluate([1] * 50, metrics=["hits@10"], draws=50)
    assert ends(perfect, "hits@10")[:2] == (1, 1)
    assert "every bootstrap sample has the same value" in ends(perfect, "hits@10")[3]
    assert evaluate(frame, metrics=["mrr"], draws=0)["warning"].to_list() == [None] * 3


@pytest.mark.parametrize(
    "tasks",
    [
        {"rank": [3]},
        {"rank": [3, 5], "side": ["head", "tail"]},
        {"rank": [3, 5], "side": ["head", "tail"], "triple": [0, 0]},
    ],
    ids=["one task", "one task a side", "one triple"],
)
def test_a_stratum_of_one_unit_has_an_interval_of_no_length_that_says_so(tasks):
    """There is one bootstrap sample only: the unit itself."""
    low, high, _, warning = ends(evaluate(pl.DataFrame(tasks), metrics=["mrr"], draws=20), "mrr")
    assert low == high == pytest.approx(np.mean([1 / rank for rank in tasks["rank"]]), rel=1e-12)
    assert "every bootstrap sample has the same value" in warning


def test_averages_over_groups_have_no_interval():
    _, frame = pairs(60)
    result = evaluate(frame.with_columns(group=pl.col("triple") % 3), metrics=["mr", "median"], draws=20)
    assert result.filter(average="macro").select("value_low", "interval", "warning").null_count().row(0) == (
        6,
        6,
        6,
    )
    assert result.filter(average="micro")["value_low"].null_count() == 0


def test_precision_is_hits_divided_by_k_and_so_are_its_ends():
    """Thirds are rounded: samples that equal the value but for rounding count as equal."""
    _, frame = pairs(60)
    result = evaluate(frame, metrics=["hits@3", "precision@3"], draws=200)
    (low, high, *_), (third_low, third_high, *_) = (
        ends(result, metric) for metric in ("hits@3", "precision@3")
    )
    assert (third_low, third_high) == pytest.approx((low / 3, high / 3), rel=1e-12)
