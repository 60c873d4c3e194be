"""Benchmarks with a constant number of candidates: rows of the database without any data."""

import math

import polars as pl
import pytest

from rankadjust.chance.benchmarks import benchmark_moments
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


def test_expectation_and_variance_are_those_of_n_tasks_with_50_candidates():
    rows = benchmark_moments(benchmark(), METRICS)
    harmonic = sum(1 / rank for rank in range(1, 51))
    squares = sum(1 / rank**2 for rank in range(1, 51))
    mrr = row(rows, "inverse_harmonic_mean_rank")
    assert mrr["tasks"] == 60
    assert mrr["entities"] == 200
    assert mrr["expectation"] == pytest.approx(harmonic / 50, rel=1e-14)
    assert mrr["variance"] == pytest.approx((squares / 50 - (harmonic / 50) ** 2) / 60, rel=1e-12)
    assert row(rows, "arithmetic_mean_rank")["expectation"] == 25.5
    assert row(rows, "hits_at_10")["expectation"] == 0.2


def test_the_random_scorer_has_the_same_triple_term_only():
    # Cov = (N - 1)^2 / 12 between the two ranks of a triple, so that the variance doubles but for 2 / N.
    mean_rank = row(benchmark_moments(benchmark(), METRICS), "arithmetic_mean_rank")
    independent = (50**2 - 1) / 12 / 60
    assert mean_rank["variance_random_scorer"] == pytest.approx(independent + 49**2 / 12 / 60, rel=1e-9)
    one_side = row(benchmark_moments(benchmark(sides=("tail",)), METRICS), "arithmetic_mean_rank")
    assert one_side["variance_random_scorer"] == pytest.approx((50**2 - 1) / 12 / 30, rel=1e-12)


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


def test_every_shipped_benchmark_has_rows(project):
    benchmarks = load_benchmarks(project / "config" / "benchmarks.yaml")
    assert len(benchmarks) > 30
    rows = benchmark_moments(next(one for one in benchmarks if one.dataset == "WikiKG90M"), METRICS)
    mrr = row(rows, "inverse_harmonic_mean_rank_at_10", side="tail")
    # Ten of 1,001 ranks count.
    assert mrr["expectation"] == pytest.approx(math.fsum(1 / rank for rank in range(1, 11)) / 1001, rel=1e-14)


@pytest.mark.parametrize(("draws", "printed"), [(49, "0.0225"), (50, "0.0221")])
def test_chance_of_negatives_drawn_with_replacement(project, draws, printed):
    """docs/protocols.md: of q draws from M entities D are different, and the truth comes first in 1 of D + 1."""
    entities = 199
    different = {0: 1.0}
    for _ in range(draws):
        more = dict.fromkeys(range(max(different) + 2), 0.0)
        for count, probability in different.items():
            more[count] += probability * count / entities
            more[count + 1] += probability * (entities - count) / entities
        different = more
    first = sum(probability / (count + 1) for count, probability in different.items())
    assert f"{first:.4f}" == printed
    assert printed in (project / "docs" / "protocols.md").read_text(encoding="utf-8")
