"""Benchmarks with a constant number of candidates: rows of the database without any data."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import polars as pl
import pytest

from rankadjust.chance.benchmark_moments import benchmark_moments
from rankadjust.chance.metrics import expand
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table
from rankadjust.counting.candidates import count_candidates
from rankadjust.counting.protocols import Benchmark, get_protocol, load_benchmarks

METRICS = expand(["mr", "mrr", "mrr_at_k", "hits_at_k", "gmr"], [10])


def benchmark(**changes):
    entry = {
        "dataset": "Constant",
        "aliases": (),
        "protocol": get_protocol("sampled-49"),
        "sides": ("head", "tail"),
        "entities": 200,
        "tasks": {"validation": None, "testing": 30},
        "metrics": (),
        "approximate": False,
        "note": "",
        "source": "a test",
    }
    return Benchmark(**(entry | changes))


def row(frame, metric, split="testing", side="both"):
    return frame.filter(metric=metric, split=split, side=side).row(0, named=True)


def test_without_the_number_of_tasks_there_is_an_expectation_and_a_reason():
    rows = benchmark_moments(benchmark(), METRICS)
    hits = row(rows, "hits_at_10", split="validation")
    assert (hits["expectation"], hits["variance"], hits["tasks"]) == (0.2, None, None)
    assert hits["reason"] == "the number of tasks is not confirmed by a source"
    # The expectation of a geometric mean depends on how many ranks it is of.
    assert row(rows, "geometric_mean_rank", split="validation")["expectation"] is None


def test_an_approximate_benchmark_says_so():
    rows = benchmark_moments(benchmark(approximate=True), METRICS)
    assert row(rows, "hits_at_10")["method"] == "closed form, approximate"


def test_a_benchmark_agrees_with_counting_triples_under_its_protocol():
    triples = [(f"a{number % 30}", "r", f"b{number}") for number in range(60)]
    frame = pl.DataFrame(triples, schema=["head", "relation", "tail"], orient="row")
    counted = count_candidates({"training": frame, "testing": frame}, "sampled-49")
    histogram = counted.histogram.filter(split="testing")
    pairs = counted.pairs.filter(split="testing")
    expected = moments_table(histogram, METRICS).join(
        nulls_table(histogram, pairs, "sampled-49", METRICS), on=["split", "side", "metric"]
    )
    rows = benchmark_moments(benchmark(tasks={"testing": 60}), METRICS)
    for column in ("expectation", "variance", "variance_random_scorer"):
        for mine, other in zip(rows[column], expected[column], strict=True):
            assert mine == (other if other is None else pytest.approx(other, rel=1e-12))


# Negatives drawn with replacement


def readings(others, negatives):
    """The laws of the rank, by counting every choice, for each way to treat a true answer drawn as its own negative.

    others: how many entities besides the true answer can be drawn.
    """
    laws = {}
    # The true answer cannot be drawn; it can, and the tie counts for it; it can, and the tie counts against it.
    for name, members, below in (("absent", others, 0), ("for", others + 1, 0), ("against", others + 1, 1)):
        law = [Fraction(0)] * (negatives + 1)
        for better in range(others + 1):
            beats = range(better + below)
            for drawn in product(range(members), repeat=negatives):
                law[sum(each in beats for each in drawn)] += Fraction(1, (others + 1) * members**negatives)
        laws[name] = law
    return laws


@pytest.mark.parametrize(("others", "negatives"), [(1, 1), (2, 3), (3, 4), (5, 4), (7, 3)])
def test_bounds_hold_for_every_way_to_draw(others, negatives):
    metrics = expand(["mr", "mrr", "hits_at_k", "ndcg", "auc"], [1, 2, 3])
    given = benchmark(
        protocol=get_protocol(f"sampled-{negatives}"), pool={"least": others, "harmonic_mean": others}
    )
    rows = benchmark_moments(given, metrics)
    for metric in metrics:
        found = row(rows, metric.key)
        values = metric.term(np.arange(1.0, negatives + 2), np.full(negatives + 1, negatives + 1.0))
        for law in readings(others, negatives).values():
            assert sum(law) == 1
            expectation = float(np.array([float(each) for each in law]) @ values)
            assert found["expectation_low"] - 1e-12 <= expectation <= found["expectation_high"] + 1e-12
        assert (found["expectation"], found["variance"], found["variance_random_scorer"]) == (None,) * 3
    # Where f has no second differences the bounds are no wider than needed: by 1 / others instead of 1 / (others + 1).
    against = float(sum(rank * share for rank, share in enumerate(readings(others, negatives)["against"], 1)))
    assert against == pytest.approx(1 + negatives / 2 + negatives / (2 * others + 2), rel=1e-12)
    mean_rank = row(rows, "arithmetic_mean_rank")
    assert mean_rank["expectation_high"] == pytest.approx(
        1 + negatives / 2 + negatives / (2 * others), rel=1e-12
    )


def test_what_is_no_mean_has_no_bounds_and_a_reason():
    found = row(
        benchmark_moments(benchmark(pool={"least": 200, "harmonic_mean": 210}), METRICS),
        "geometric_mean_rank",
    )
    assert (found["expectation_low"], found["expectation_high"]) == (None, None)
    assert found["reason"].startswith("not a mean over the tasks")


# Common negatives


def common(negatives, tasks):
    protocol = get_protocol(f"sampled-{negatives}")
    return benchmark(
        protocol=protocol, sides=("tail",), entities=None, tasks={"testing": tasks}, common_negatives=True
    )


@pytest.mark.parametrize(("negatives", "tasks"), [(1, 2), (2, 2), (3, 2), (2, 3), (4, 3)])
def test_every_order_of_few_scores_gives_these_moments(negatives, tasks):
    """All orders of the scores are equally likely: the moments by counting them."""
    orders = list(permutations(range(negatives + tasks)))
    pool = range(tasks, negatives + tasks)
    ranks = [
        [1 + sum(order[other] > order[own] for other in pool) for own in range(tasks)] for order in orders
    ]
    rows = benchmark_moments(common(negatives, tasks), expand(["hits_at_k", "mr", "mrr"], [1, 2]))
    for metric, term in {
        "hits_at_1": lambda rank: Fraction(rank <= 1),
        "hits_at_2": lambda rank: Fraction(rank <= 2),
        "arithmetic_mean_rank": Fraction,
        "inverse_harmonic_mean_rank": lambda rank: Fraction(1, rank),
    }.items():
        values = [sum(map(term, each), Fraction(0)) / tasks for each in ranks]
        expectation = sum(values) / len(values)
        variance = sum(value**2 for value in values) / len(values) - expectation**2
        found = row(rows, metric)
        assert found["expectation"] == pytest.approx(float(expectation), rel=1e-12)
        assert found["variance_random_scorer"] == pytest.approx(float(variance), rel=1e-12, abs=1e-15)


def test_what_is_not_known_of_a_benchmark_is_null_with_its_reason():
    shipped = {one.dataset: one for one in load_benchmarks() if one.common_negatives}
    assert set(shipped) == {"ogbl-ddi", "ogbl-collab", "ogbl-ppa"}
    drugs = row(benchmark_moments(shipped["ogbl-ddi"], expand(["hits_at_20"], [])), "hits_at_20")
    assert (drugs["expectation"], drugs["variance"]) == (None, None)
    assert drugs["reason"].startswith("OGB says approximately 100,000 negatives")
    proteins = row(benchmark_moments(shipped["ogbl-ppa"], expand(["hits_at_100"], [])), "hits_at_100")
    assert proteins["expectation"] == pytest.approx(100 / 3_000_001, rel=1e-14)
    assert (proteins["variance"], proteins["variance_random_scorer"]) == (None, None)
