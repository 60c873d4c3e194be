"""Random pairs of rank files against the verdicts on their printed values: none may have a p above the bound."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from rankadjust.chance.metrics import resolve
from rankadjust.evaluation.clusters import clusters_of
from rankadjust.evaluation.intervals import has_long_tail
from rankadjust.models.equal_means import p_of_equal_means, p_of_terms
from rankadjust.models.paired import Model, Paired
from rankadjust.models.part import Part
from rankadjust.models.shared_queries import Dependence, Squares

METRICS = [resolve(name) for name in ("mr", "auc", "mrr", "hits@1", "hits@10")]
FLIPS = 999


def queries(rng, triples):
    """Return the query of each triple: their own, about three together, or a few large ones."""
    share = 1 / np.arange(1, triples // 3 + 2) ** rng.uniform(0.3, 1.5)
    return [
        np.arange(triples),
        np.repeat(np.arange(triples), rng.geometric(1 / 3, triples))[:triples],
        rng.choice(share.size, triples, p=share / share.sum()),
    ][rng.integers(3)]


def ranks(rng, shape, most, query):
    """Return ranks of some law: with a long tail, nearly all alike, or whole queries that are lost; halves, too."""
    lost = rng.random(query.max() + 1) < rng.uniform(0, 0.4)
    found = [
        np.exp(rng.normal(rng.uniform(0, 4), rng.uniform(0.2, 3), shape)),
        np.where(rng.random(shape) < 10 ** rng.uniform(-3, -0.5), most, rng.integers(1, 60)),
        1 + (most - 1) * rng.beta(rng.uniform(0.02, 2), rng.uniform(0.2, 20), shape),
        np.broadcast_to(np.where(lost[query], most * rng.random(), 3.0), shape),
    ][rng.integers(4)]
    return np.clip(np.rint(2 * found) / 2, 1, most)


def share_of(metric, own, most):
    """Return where the value of some ranks is between the worst (0) and the best (1)."""
    if metric.key == "arithmetic_mean_rank":
        return (most - own.mean()) / (most - 1)
    return metric.term(own.ravel(), np.full(own.size, most)).mean()


def attack(seed):
    """Return p and its bound of each metric, the second model as bad as makes the bound of one of them 0.05."""
    rng = np.random.default_rng(seed)
    triples, most = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in ((20, 3000), (5, 50_000)))
    most = float(most)
    sides = ["head", "tail"][: rng.integers(1, 3)]
    asked = [queries(rng, triples) for _ in sides]
    both = [ranks(rng, (len(sides), triples), most, asked[rng.integers(len(sides))]) for _ in "AB"]
    if rng.random() < 0.4:
        # The first model ranks a few last, and the second one is nowhere good.
        both = [np.ones_like(both[0]), np.ones_like(both[0])]
        both[0][:, rng.permutation(triples)[: rng.integers(1, 7)]] = most
    sizes = [np.bincount(one).astype(float) for one in asked]
    known = Dependence(triples, [Squares.of_clusters(one[one > 0], one[one > 0] ** 2) for one in sizes])

    def bound(metric, second):
        one, other = (share_of(metric, own, most) for own in (both[0], second))
        total = min(one + other, 2 - one - other)
        return known.p_at_most(abs(one - other), total, skewed=has_long_tail(metric))

    def worse(factor):
        return np.rint(2 * np.clip(both[1] * factor, 1, most)) / 2

    low, high = 1.0, most
    metric = METRICS[rng.integers(len(METRICS))]
    for _ in range(40):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if bound(metric, worse(middle)) < 0.05 else (middle, high)
    both[1] = worse(high)
    tasks = pl.DataFrame(
        {
            "triple": np.tile(np.arange(triples), len(sides)),
            "side": np.repeat(sides, triples),
            "query": np.concatenate(asked),
            "num_candidates": most,
        }
    )
    places, side = np.arange(tasks.height), "both" if len(sides) > 1 else "head"
    clusters = clusters_of(tasks, ["query", "query", "triple"][rng.integers(3)])
    models = [Model(name, own.reshape(1, -1)) for name, own in zip("AB", both, strict=True)]
    ways = clusters.ways(side, places)
    part = Part(side, places, Paired(tasks, models), ways, METRICS, queries=clusters.kind == "query")
    found = part.results(FLIPS, 0, seed)[1]
    return [(p, bound(metric, both[1])) for metric, p in zip(METRICS, found["p"], strict=True)]


def check(seeds):
    """Check that p is within the bound; of drawn swaps it scatters by 4 standard errors at most, and is never 0."""
    better = 0
    for seed in seeds:
        for metric, (p, bound) in zip(METRICS, attack(seed), strict=True):
            scatter = 4 * (bound * (1 - bound) / FLIPS) ** 0.5 + 1 / (FLIPS + 1)
            assert p <= bound + scatter, (seed, metric.key, p, bound)
            better += bound <= 0.05
    return better


def test_no_pair_of_rank_files_refutes_the_verdict_on_its_values():
    assert check(range(40)) > 40


@pytest.mark.slow
def test_none_of_a_thousand_pairs_refutes_the_verdict_on_its_values():
    assert check(range(1000, 2000)) > 1000


def test_a_few_last_ranks_make_the_skewed_test_weak_and_the_bound_covers_it():
    """4,000 triples, two last among 14,541 and all others first, against 43 throughout: Student's t freed of skewness
    gives 0.11, which the bound of swaps alone (0.03) does not cover."""
    first = np.ones((1, 4000))
    first[0, :2] = 14_541
    both = [first, np.full((1, 4000), 43.0)]
    tasks = pl.DataFrame({"triple": np.arange(4000), "num_candidates": np.full(4000, 14_541)})
    models = [Model(name, own) for name, own in zip("AB", both, strict=True)]
    found = Paired(tasks, models)
    part = Part("tail", np.arange(4000), found, [np.arange(4000)], METRICS[:1], queries=False)
    p = part.results(1999, 0, 0)[1]["p"].item()
    known = Dependence(4000, [Squares.of_clusters(np.ones(1), np.array([4000.0]))])
    one, other = (share_of(METRICS[0], own, 14_541) for own in both)
    bounds = [known.p_at_most(one - other, 2 - one - other, skewed=skewed) for skewed in (False, True)]
    assert bounds[0] == pytest.approx(0.03, abs=0.005)
    assert p == pytest.approx(0.11, abs=0.005)
    assert p <= bounds[1]


@pytest.mark.parametrize("law", ["rare and last", "whole clusters", "one side varies more"])
def test_models_with_equal_means_hardly_ever_have_a_small_p_of_equal_means(law):
    """The p that asks for no law of the ranks: of 2,000 pairs with equal means at most 5 % below 0.05."""
    rng = np.random.default_rng(len(law))
    small = 0
    for _ in range(2000):
        triples, way = 200, np.arange(200)
        if law == "rare and last":
            differences = (rng.random(triples) < 0.02) - np.full(triples, 0.02)
        elif law == "whole clusters":
            way = np.repeat(np.arange(20), 10)
            differences = rng.choice([-1.0, 1.0], 20)[way]
        else:
            differences = np.where(rng.random(triples) < 0.1, rng.choice([-1.0, 1.0], triples), 0.0)
        small += p_of_terms(differences, [way]) <= 0.05
    assert small <= 100


def test_p_of_equal_means_by_hand():
    """Robbins's mixture over positive numbers with the scale 9, doubled: sqrt(1 + 18 / 9) exp(-z^2 / 2) / Phi(z)."""
    z = 12 / (18 + 9) ** 0.5
    assert p_of_equal_means(12.0, 18.0, 1.0) == pytest.approx(3**0.5 * np.exp(-z * z / 2) / norm.cdf(z))
    assert p_of_equal_means(0.0, 18.0, 1.0) == 1.0
    # Clusters of two: the same differences, twice as much in common.
    assert p_of_terms(np.ones(12), [np.repeat(np.arange(6), 2)]) == pytest.approx(
        (1 + 24 / 36) ** 0.5 * np.exp(-144 / 120) / norm.cdf(12 / 60**0.5)
    )
