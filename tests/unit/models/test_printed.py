"""What two printed values tell: no pair of rank files with these values may contradict a verdict."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import resolve
from rankadjust.chance.typed import Typed
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.models.compare import compare
from rankadjust.models.printed import BETTER, IF_INDEPENDENT, UNKNOWN, Judge, compare_printed
from rankadjust.models.shared_queries import Dependence, Squares, shared_queries
from tests.searching import in_profile

BAD = 100_000.0


def queries(dataset, side):
    """Return a query for each task as the released counts allow: the largest cluster of each row, the rest alone."""
    evaluation_set = EvaluationSet.released(dataset, side=side)
    rows = evaluation_set.histograms.counts(dataset, "filtered", "testing").filter(side=side)
    sizes = []
    for tasks, pairs in rows.select("tasks", "static_shared_pairs").iter_rows():
        largest = min(int((1 + (1 + 4 * pairs) ** 0.5) // 2), tasks)
        sizes += [largest, *[1] * (tasks - largest)]
    return np.repeat(np.arange(len(sizes)), sorted(sizes, reverse=True))


def wins(clusters, *numbers):
    """Return for each model as many tasks with rank 1 as wanted, in whole clusters, the largest first."""
    ranks = np.full((len(numbers), clusters.size), BAD)
    left = list(numbers)
    for _, places in sorted(
        ((-size, np.flatnonzero(clusters == name)) for name, size in enumerate(np.bincount(clusters))),
        key=lambda pair: pair[0],
    ):
        model = int(np.argmax(left))
        taken = places[: left[model]]
        ranks[model, taken] = 1.0
        left[model] -= taken.size
    assert not any(left)
    return ranks


def frame(ranks, clusters, side):
    return pl.DataFrame(
        {"triple": np.arange(ranks.size).astype(str), "rank": ranks, "query": clusters.astype(str)}
    ).with_columns(side=pl.lit(side))


@pytest.mark.parametrize(
    ("dataset", "side", "metric", "better", "worse"),
    [
        ("FB15k-237", "head", "mrr", "0.358", "0.338"),
        ("Countries-S1", "tail", "hits@1", "0.1667", "0.0000"),
        ("Kinships", "tail", "hits@1", "0.500", "0.430"),
    ],
)
def test_rank_files_with_these_values_and_a_large_p_exist_and_no_verdict_says_better(
    dataset, side, metric, better, worse
):
    """Few queries hold most tasks: whole queries that one model wins make a difference that is nothing but luck."""
    clusters = queries(dataset, side)
    numbers = [round(float(text) * clusters.size) for text in (better, worse)]
    ranks = wins(clusters, *numbers)
    found = compare(
        {name: frame(row, clusters, side) for name, row in zip("AB", ranks, strict=True)},
        metrics=[metric],
        cluster="query",
        flips=2000,
        draws=0,
    )
    digits = len(better) - 2
    assert found.values["value"].round(digits).to_list() == [float(better), float(worse)]
    p = found.differences["p"].item()
    assert p > 0.05
    (pair,) = compare_printed([better, worse], dataset=dataset, metric=metric, side=side)
    assert pair.verdict != BETTER
    assert pair.p >= p - 0.03


def test_ten_runs_with_nearly_the_same_means_can_be_told_apart_so_that_no_verdict_says_they_cannot():
    """Nations, Hits@1 0.700 against 0.695: one of 201 triples, in ten runs; p of such runs is small."""
    rng = np.random.default_rng(1)
    easy = rng.permutation(402) < 280
    runs = {"A": [], "B": []}
    for name, number in product("AB", range(10)):
        ranks = np.where(easy, 1.0, BAD)
        # A has two hits more, of other tasks in each run.
        if name == "A":
            ranks[np.flatnonzero(~easy)[[2 * number, 2 * number + 1]]] = 1.0
        runs[name].append(frame(ranks, np.arange(402), "head"))
    found = compare(runs, metrics=["hits@1"], flips=2000, draws=0)
    assert found.differences["p"].item() < 0.001
    (pair,) = compare_printed(["0.700", "0.695"], dataset="Nations", metric="hits@1")
    assert pair.verdict == UNKNOWN


@settings(deadline=None, max_examples=in_profile(60))
@given(st.integers(0, 10**6), st.sampled_from([1, 2]))
def test_p_of_real_ranks_is_within_the_bound(seed, sides):
    """Signed sums of random differences in random clusters: the share of 4,000 sign vectors that reach them."""
    rng = np.random.default_rng(seed)
    triples = int(rng.integers(3, 60))
    models = rng.random((2, triples)) ** rng.choice([0.1, 1, 8], size=(2, 1))
    models = np.where(rng.random((2, triples)) < rng.random(), np.round(models), models)
    difference = models[0] - models[1]
    total = models.mean(axis=1).sum()
    names = [rng.integers(0, int(rng.integers(1, triples + 1)), triples) for _ in range(sides)]
    sizes = [np.bincount(one).astype(float) for one in names]
    sums = [np.bincount(one, weights=difference) for one in names]
    dependence = Dependence(
        triples, [Squares.of_clusters(size[size > 0], size[size > 0] ** 2) for size in sizes]
    )
    largest = [one.at(min(total, 2 - total) * triples) for one in dependence.squares]
    for of_clusters, bound in zip(sums, largest, strict=True):
        assert (of_clusters**2).sum() <= bound + 1e-9
    p = dependence.p_at_most(abs(difference.mean()), min(total, 2 - total))
    if sides == 1:
        signs = rng.choice([-1, 1], size=(4000, sums[0].size))
        found = (np.abs(signs @ sums[0]) >= abs(difference.sum()) - 1e-9).mean()
        assert found <= p + 4 * (p * (1 - p) / 4000) ** 0.5 + 1e-9
    else:
        # Two ways of clustering: at least as large as the normal law with the variance of both.
        z = abs(difference.sum()) / sum((one**2).sum() for one in sums) ** 0.5 if difference.any() else 0.0
        assert 2 * norm.sf(z) <= p + 1e-12


def test_the_constant_of_a_single_clustering():
    """Bentkus and Dzindzalieta (2015): 0.05 is reached from z = 2.4151 on; Hoeffding for two: 2.7162."""
    n = 10**6
    one = Squares.of_clusters(np.ones(1), np.array([float(n)]))
    for squares, z in (([one], 2.4151), ([one, one], 2.7162 * 2**0.5)):
        dependence = Dependence(n, squares)
        assert (
            dependence.p_at_most(z * 0.9999 / n**0.5, 1.0)
            > 0.05
            > dependence.p_at_most(z * 1.0001 / n**0.5, 1.0)
        )


def test_large_clusters_are_filled_first():
    """Clusters of 5, 3 and two of 1: of 6.5 differing tasks 5 go together, and half of the next three."""
    squares = Squares.of_clusters(np.array([1.0, 5.0, 3.0]), np.array([2.0, 25.0, 9.0]))
    assert squares.at(5.0) == 25
    assert squares.at(6.5) == 25 + 1.5 * 3
    assert squares.at(100) == 25 + 9 + 2


def test_queries_are_those_of_the_full_ranking_where_candidates_are_sampled():
    full = shared_queries(EvaluationSet.released("WN18RR"))
    assert full.triples == 3134
    # Sum of the squared sizes: 5,876 of the head queries and 3,716 of the tail queries.
    assert [one.squares[-1] for one in full.squares] == [5876, 3716]
    raw = shared_queries(EvaluationSet.released("WN18RR", protocol="raw"))
    assert [one.squares.tolist() for one in raw.squares] == [one.squares.tolist() for one in full.squares]
    assert shared_queries(EvaluationSet.constant(candidates=50, tasks=100)) is None


def test_verdicts():
    (pair,) = compare_printed(["0.353", "0.358"], dataset="FB15k-237", metric="mrr")
    assert (pair.better.text, pair.verdict, pair.triples) == ("0.358", UNKNOWN, 20_466)
    # From 0.353 the bound of the difference d solves d = 2.4151 sqrt((0.706 + d) / 20466).
    d = pair.enough_if_independent
    assert d == pytest.approx(2.4151 * ((0.706 + d) / 20_466) ** 0.5, rel=1e-4)
    (pair,) = compare_printed(["0.353", "0.373"], dataset="FB15k-237", metric="mrr")
    assert pair.verdict == IF_INDEPENDENT
    # Rounded, they may be 0.3535 and 0.3725, or add up to 0.727.
    z = 0.019 * (20_466 / 0.7270) ** 0.5
    assert pair.p_if_independent == pytest.approx(2 * 3.1787 * norm.sf(z), rel=1e-3)
    (pair,) = compare_printed(["0.5", "0.2"], dataset="FB15k-237", metric="mrr")
    assert pair.verdict == BETTER
    assert "share no query" in pair.assumption
    (pair,) = compare_printed(
        [0.9, 0.5], dataset=EvaluationSet.constant(candidates=50, tasks=1000), metric="mrr"
    )
    assert (pair.p, pair.enough, pair.verdict) == (None, None, IF_INDEPENDENT)


def test_runs_with_these_means_and_spreads_and_a_large_p_exist_and_no_verdict_says_better():
    """Two runs of each model on 400 tasks, one good and one bad seed: means 0.6 and 0.4, standard deviations 0.25."""
    rng = np.random.default_rng(4)
    hits = {"A": (0.775, 0.425), "B": (0.575, 0.225)}
    runs = {
        name: [
            frame(np.where(rng.permutation(402) < round(402 * share), 1.0, BAD), np.arange(402), "head")
            for share in shares
        ]
        for name, shares in hits.items()
    }
    found = compare(runs, metrics=["hits@1"], flips=9, draws=0)
    assert found.values["spread_of_runs"].to_list() == pytest.approx([0.247, 0.247], abs=0.002)
    assert found.differences["p"].item() > 0.05
    own = EvaluationSet.released("FB15k-237")
    (pair,) = compare_printed(["0.60 ± 0.25", "0.40 ± 0.25"], dataset=own, metric="hits@1")
    # 0.25 may be 0.255.
    assert (pair.verdict, pair.better.spread) == (UNKNOWN, 0.255)
    (alone,) = compare_printed(["0.60", "0.40"], dataset=own, metric="hits@1")
    assert alone.verdict == BETTER
    assert "not other seeds" in alone.assumption
    (sure,) = compare_printed(["60% ± 0.02", "40% ± 0.02"], dataset=own, metric="hits@1")
    assert sure.verdict == BETTER
    assert "± is over at least two runs" in sure.assumption
    assert alone.p < sure.p
    assert alone.enough < sure.enough
    (one,) = compare_printed(["60% ± 0.02", "40%"], dataset=own, metric="hits@1")
    assert "40% as it was trained, not other seeds" in one.assumption


def test_the_number_of_runs_makes_a_printed_spread_say_more():
    values = ["60% ± 1", "30% ± 1"]

    def judged(runs):
        return compare_printed(values, dataset="FB15k-237", metric="hits@1", runs=runs)[0]

    few, some, many = (judged(runs) for runs in (None, 3, 10))
    assert few.p_if_independent > some.p_if_independent > many.p_if_independent
    assert few.p_if_independent == judged(2).p_if_independent
    assert "± is over 10 runs" in many.assumption
    (alone,) = compare_printed(["60%", "30%"], dataset="FB15k-237", metric="hits@1", runs=5)
    (same,) = compare_printed(["60%", "30%"], dataset="FB15k-237", metric="hits@1")
    # The bound holds for means of terms, whatever their number: it is the same (docs/methods-compare.md).
    assert (alone.p, alone.p_if_independent) == (same.p, same.p_if_independent)
    assert "both means over the runs that were made" in alone.assumption


@pytest.mark.parametrize("stated", [{}, {"runs": 2}, {"runs": 5}])
@pytest.mark.parametrize("meaning", ["sample", "population", "standard error", "half the range"])
def test_seeds_alone_make_no_model_better_whatever_the_spread_means(meaning, stated):
    """Some runs of equally good models, all whose differences are seeds, of one more than of the other: 400 pairs."""
    runs, rng = stated.get("runs", 2), np.random.default_rng(len(meaning))
    values = 0.5 + np.array([0.01, 0.0005])[:, None, None] * rng.standard_normal((2, 400, runs))
    deviation = values.std(axis=2, ddof=int(meaning != "population"))
    spread = {
        "standard error": deviation / runs**0.5,
        "half the range": (values.max(axis=2) - values.min(axis=2)) / 2,
    }.get(meaning, deviation)
    judge = Judge.of(resolve("hits@1"), EvaluationSet.constant(candidates=50, tasks=10**12))
    better = [
        judge.pairs(
            [Typed("", mean, spread=one, **stated) for mean, one in zip(means, spreads, strict=True)]
        )[0].verdict
        != UNKNOWN
        for means, spreads in zip(values.mean(axis=2).T, spread.T, strict=True)
    ]
    assert np.mean(better) <= 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5


def test_p_of_rank_files_is_within_the_bound_where_clusters_of_one_side_hardly_differ():
    """Every head query is won by nearly the same number of triples: around their own mean its parts hardly vary."""
    rng = np.random.default_rng(3)
    head, tail = np.repeat(np.arange(20), 30), rng.permutation(np.repeat(np.arange(50), 12))
    won = np.concatenate([rng.permutation(30) < 21 + query % 2 for query in range(20)])
    models = {
        name: pl.concat(
            frame(np.where(wins, 1.0, BAD), queries, side)
            for side, queries in (("head", head), ("tail", tail))
        )
        for name, wins in (("A", won), ("B", np.zeros(600, dtype=bool)))
    }
    found = compare(models, metrics=["hits@1"], cluster="query", flips=2000, draws=0)
    p = found.differences.filter(side="both")["p"].item()
    squares = [Squares.of_clusters(np.array([size]), np.array([600.0 * size])) for size in (30.0, 12.0)]
    bound = Dependence(600, squares).p_at_most(won.mean(), min(won.mean(), 2 - won.mean()))
    assert p <= bound < 0.05


@settings(deadline=None, max_examples=in_profile(60))
@given(
    metric=st.sampled_from(["mrr", "hits@1", "mr"]), ends=st.lists(st.floats(0, 1), min_size=3, max_size=3)
)
def test_p_never_rises_where_the_worse_value_falls(metric, ends):
    """So the best of many results of the worse model makes a verdict rarer."""
    judge = Judge.of(resolve(metric), EvaluationSet.released("Countries-S1"))
    worst, worse, better = (judge.worst + end * (judge.best - judge.worst) for end in sorted(ends))
    (far,), (near,) = (judge.pairs([Typed("better", better), Typed("worse", one)]) for one in (worst, worse))
    assert far.p_if_independent <= near.p_if_independent * (1 + 1e-9)
    assert far.p <= near.p * (1 + 1e-9)


def test_p_is_adjusted_for_the_number_of_pairs():
    values = ["0.30", "0.32", "0.45"]
    pairs = compare_printed(values, dataset="FB15k-237", metric="mrr")
    (alone,) = compare_printed(["0.30", "0.32"], dataset="FB15k-237", metric="mrr")
    found = next(pair for pair in pairs if {pair.better.text, pair.worse.text} == {"0.30", "0.32"})
    # The other two pairs are far apart, so that Holm's method leaves this one as it is; the smallest is times three.
    assert found.p_if_independent == pytest.approx(alone.p_if_independent)
    (far,) = compare_printed(["0.30", "0.45"], dataset="FB15k-237", metric="mrr")
    assert min(pair.p_if_independent for pair in pairs) == pytest.approx(3 * far.p_if_independent)


def test_ranks_have_a_verdict_too():
    (pair,) = compare_printed(["170", "250"], dataset="FB15k-237", metric="mr")
    assert (pair.better.text, pair.verdict) == ("170", IF_INDEPENDENT)
    # It holds for models with equal means as well, so that nothing is said of exchangeable ranks.
    assert pair.assumption.endswith("not other seeds")
    assert compare_printed(["170", "171"], dataset="FB15k-237", metric="mr")[0].verdict == UNKNOWN


@pytest.mark.parametrize(
    ("values", "metric", "message"),
    [
        (["0.3"], "mrr", "at least two"),
        (["20", "30"], "gmr", "not a mean over the tasks"),
        (["0.3", "1.3"], "mrr", "cannot be its value"),
        (["0.3", "x"], "mrr", "is not a value"),
    ],
)
def test_mistakes(values, metric, message):
    with pytest.raises(RankadjustError, match=message):
        compare_printed(values, dataset="FB15k-237", metric=metric)


@pytest.mark.parametrize(("runs", "message"), [(0, "one run or more, not over 0"), (1, "more than one run")])
def test_too_few_runs_are_refused(runs, message):
    with pytest.raises(RankadjustError, match=message):
        compare_printed(["0.3 ± 0.1", "0.4"], dataset="FB15k-237", metric="mrr", runs=runs)
