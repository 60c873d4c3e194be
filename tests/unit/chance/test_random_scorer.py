"""Variance under the random_scorer null, against enumeration, simulation and independent values.

Enumeration: all orderings of the scores of all candidate triples of a tiny graph, in exact arithmetic.
simulation.json: benchmarks/random_scorer_simulation.py. reference.json: values of an implementation that shares no
code with this one. <dataset>.histogram.tsv, <dataset>.pairs.tsv: candidate counts of the testing split, `filtered`.
"""

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.metrics import FAMILIES, expand, resolve
from rankadjust.chance.moments import moments_table
from rankadjust.chance.random_scorer import nulls_table, without_times
from rankadjust.counting.candidates import count_candidates
from rankadjust.counting.protocols import Protocol

DATA = Path(__file__).parents[2] / "data" / "nulls"
SIDES = ("head", "tail", "both")
ADDITIVE = [
    metric.key
    for metric in expand(list(FAMILIES), [1, 2, 10])
    if metric.additive and not metric.key.startswith("hits_at_10_")
]
OTHERS = [metric.key for metric in expand(list(FAMILIES), [1]) if metric.key not in ADDITIVE]
MEASURED = json.loads((DATA / "simulation.json").read_text())
SIMULATED = [
    (measured["dataset"], row["side"], row["metric"], row["sd"], row["sd_error"])
    for measured in MEASURED["datasets"]
    for row in measured["results"]
]


def counted(dataset):
    histogram, pairs = (
        pl.read_csv(DATA / f"{dataset}.{name}.tsv", separator="\t") for name in ("histogram", "pairs")
    )
    return histogram, pairs


def random_scorer_variance(metric, histogram, pairs, side, protocol):
    """Return the variance of one metric in one split and on one side, and why there is none."""
    testing = [frame.with_columns(split=pl.lit("testing")) for frame in (histogram, pairs)]
    row = nulls_table(*testing, protocol, [resolve(metric)]).row(
        by_predicate=pl.col("side") == side, named=True
    )
    return row["variance_random_scorer"], row["reason_random_scorer"]


def random_scorer(metric, dataset, side, protocol="filtered"):
    return random_scorer_variance(metric, *counted(dataset), side, protocol)


# --- all orderings of the scores --------------------------------------------------------------------------


def rank_law(tasks):
    """Return (ranks, orderings, candidates): each vector of ranks and how many orderings of the scores give it.

    tasks: for each task the score of the truth and the scores of its negatives, as names; equal names are one
    score.
    """
    names = sorted({name for truth, negatives in tasks for name in (truth, *negatives)})
    position = {name: number for number, name in enumerate(names)}
    orderings = np.array(list(permutations(range(len(names)))), dtype=np.int8)
    ranks = np.ones((len(orderings), len(tasks)), dtype=np.int64)
    for task, (truth, negatives) in enumerate(tasks):
        others = orderings[:, [position[name] for name in negatives]]
        ranks[:, task] += (others > orderings[:, [position[truth]]]).sum(axis=1)
    places = 16 ** np.arange(len(tasks))
    _, first, times = np.unique(ranks @ places, return_index=True, return_counts=True)
    return ranks[first], times, np.array([1.0 + len(negatives) for _, negatives in tasks])


def exact_variance(metric, law):
    """Return the variance of the mean of a metric's term under a law of ranks, as a fraction.

    Every term is taken as the float it is, a relative 2^-53 off at most; from there on nothing is rounded. So the
    variance is good to 2^-52 times the mean over the standard deviation: to 1e-14 for a few ranks from 1 to 5.
    """
    ranks, times, candidates = law
    terms = resolve(metric).term(ranks.astype(float), candidates)
    terms = terms[:, ~np.isnan(terms[0])]
    exact = {value: Fraction(value) for value in np.unique(terms)}
    means = [sum(exact[value] for value in row) / len(row) for row in terms]
    weighted = list(zip(means, (Fraction(int(count), int(times.sum())) for count in times), strict=True))
    mean = sum(value * share for value, share in weighted)
    return sum(value**2 * share for value, share in weighted) - mean**2


def tasks_of(graph, entities, side, *, timeless=False):
    """Return the tasks of an evaluation by its definition: head, relation, tail, time are the text of a score.

    graph: frame with split, head, relation, tail, time; all its triples are known (timeless: at any time).
    """
    rows = graph.select("head", "relation", "tail", "time").rows()
    known = {row[:3] if timeless else row for row in rows}
    tasks = []
    for head, relation, tail, time in (
        graph.filter(split="testing").select("head", "relation", "tail", "time").rows()
    ):
        for ranked in ("head", "tail"):
            if side not in (ranked, "both"):
                continue
            others = (
                [(entity, relation, tail, time) for entity in range(entities)]
                if ranked == "head"
                else [(head, relation, entity, time) for entity in range(entities)]
            )
            negatives = [row for row in others if (row[:3] if timeless else row) not in known]
            tasks.append(((head, relation, tail, time), negatives))
    return tasks


def graph_of(testing, training=()):
    rows = [("testing", *row) for row in testing] + [("training", *row) for row in training]
    return pl.DataFrame(rows, schema=["split", "head", "relation", "tail", "time"], orient="row")


# In none of these graphs do queries of different sides share a negative: the null leaves nothing out.
ONE_QUERY = graph_of([(0, 0, 1, "a"), (0, 0, 2, "a")])
GRAPHS = {
    "two triples, one tail query": ONE_QUERY,
    "two triples, one head query": graph_of([(1, 0, 0, "a"), (2, 0, 0, "a")]),
    "one query of four entities": graph_of(
        [(0, 0, 1, "a"), (0, 0, 2, "a")], [(1, 0, 1, "a"), (2, 0, 1, "a"), (3, 0, 2, "a"), (1, 0, 2, "a")]
    ),
    "different numbers of candidates": graph_of([(0, 0, 1, "a")], [(0, 0, 2, "a"), (3, 0, 3, "a")]),
    "a triple twice and another of its query": graph_of([(0, 0, 1, "a"), (0, 0, 1, "a"), (0, 0, 2, "a")]),
    "two relations": graph_of([(0, 0, 1, "a"), (0, 1, 1, "a")], [(2, 0, 1, "a"), (0, 1, 2, "a")]),
    "a loop": graph_of([(0, 0, 0, "a"), (0, 0, 1, "a")], [(2, 0, 0, "a"), (2, 0, 2, "a")]),
    "one candidate on one side": graph_of([(0, 0, 1, "a")], [(0, 0, 0, "a"), (0, 0, 2, "a")]),
}
TEMPORAL = {
    # One query at two times is two queries, one triple at two times is two triples.
    "two times": graph_of([(0, 0, 1, "a"), (0, 0, 1, "b")], [(2, 0, 1, "a"), (0, 0, 2, "b"), (2, 0, 1, "b")]),
    "one time twice": graph_of(
        [(0, 0, 1, "a"), (0, 0, 2, "a"), (0, 0, 1, "b")], [(2, 0, 1, "a"), (2, 0, 1, "b"), (0, 0, 0, "b")]
    ),
}
# Here tail tasks have negatives of their own, and two of them the same query but neither time nor triple.
TIMELESS = TEMPORAL | {
    "other answers at other times": graph_of(
        [(0, 0, 1, "a"), (0, 0, 2, "b"), (0, 0, 1, "b"), (0, 0, 1, "b")],
        [(2, 0, 1, "a"), (3, 0, 1, "a"), (1, 0, 2, "b"), (3, 0, 2, "b")],
    ),
}


def close(value, exact):
    return value == pytest.approx(float(exact), rel=1e-11, abs=0.0 if exact else 1e-30)


@pytest.mark.parametrize("name", GRAPHS)
def test_all_orderings_of_the_scores(name):
    graph = GRAPHS[name]
    candidates = count_candidates(graph.drop("time"), "filtered")
    testing = [frame.filter(split="testing") for frame in (candidates.histogram, candidates.pairs)]
    entities = 1 + max(graph["head"].max(), graph["tail"].max())
    for side in SIDES:
        law = rank_law(tasks_of(graph, entities, side))
        for metric in ADDITIVE:
            variance, reason = random_scorer_variance(metric, *testing, side, "filtered")
            if variance is None:
                assert (metric, reason) == ("auc", "no task has two candidates")
                continue
            assert close(variance, exact_variance(metric, law)), (side, metric)


@pytest.mark.parametrize("name", TEMPORAL)
@pytest.mark.parametrize("protocol", ["time-aware", "time-static"])
def test_in_temporal_sets_the_query_includes_its_time(name, protocol):
    graph = TEMPORAL[name]
    candidates = count_candidates(graph, protocol)
    testing = [frame.filter(split="testing") for frame in (candidates.histogram, candidates.pairs)]
    for side in SIDES:
        law = rank_law(tasks_of(graph, 3, side, timeless=protocol == "time-static"))
        for metric in ("arithmetic_mean_rank", "inverse_harmonic_mean_rank", "hits_at_1"):
            variance, _ = random_scorer_variance(metric, *testing, side, protocol)
            assert close(variance, exact_variance(metric, law)), (side, metric)


@pytest.mark.parametrize("name", TIMELESS)
def test_a_scorer_that_does_not_see_times_scores_a_triple_once(name):
    graph = TIMELESS[name]
    candidates = count_candidates(graph, "time-static")
    testing = [frame.filter(split="testing") for frame in (candidates.histogram, candidates.pairs)]
    timeless = [without_times(frame) for frame in testing]
    entities = 1 + max(graph["head"].max(), graph["tail"].max())
    for side in SIDES:
        # A score is named by head, relation and tail: the same at every time.
        law = rank_law(
            [
                (truth[:3], [negative[:3] for negative in negatives])
                for truth, negatives in tasks_of(graph, entities, side, timeless=True)
            ]
        )
        for metric in ADDITIVE:
            variance, reason = random_scorer_variance(metric, *timeless, side, "time-static")
            if variance is None:
                assert (metric, reason) == ("auc", "no task has two candidates")
                continue
            assert close(variance, exact_variance(metric, law)), (side, metric)
            assert variance >= random_scorer_variance(metric, *testing, side, "time-static")[0]


def test_a_filter_by_time_has_no_variance_for_a_scorer_that_does_not_see_times():
    candidates = count_candidates(TEMPORAL["two times"], "time-aware")
    metrics = expand(["mr", "gmr"], [])
    table = nulls_table(candidates.histogram, candidates.pairs, "time-aware", metrics)
    testing = table.filter(split="testing", side="both").rows_by_key("metric", named=True, unique=True)
    mean_rank = testing["arithmetic_mean_rank"]
    assert mean_rank["variance_random_scorer"] > 0
    assert mean_rank["reason_random_scorer"] is None
    assert mean_rank["variance_static_scorer"] is None
    assert "only part of their candidates" in mean_rank["reason_static_scorer"]
    assert "not a mean" in testing["geometric_mean_rank"]["reason_static_scorer"]


def test_new_scores_on_each_side_leave_the_same_triple_out():
    independent = Protocol(name="reciprocal", sides="independent")
    candidates = count_candidates(ONE_QUERY.drop("time"), independent)
    heads, tails = (
        rank_law(
            [
                ((side, truth), [(side, negative) for negative in negatives])
                for truth, negatives in tasks_of(ONE_QUERY, 3, side)
            ]
        )
        for side in ("head", "tail")
    )
    for metric in ADDITIVE:
        variance, _ = random_scorer_variance(
            metric, candidates.histogram, candidates.pairs, "both", independent
        )
        # Nothing is shared by the sides: (sum of both sides)/2n has a quarter of the sum of their variances.
        exact = (exact_variance(metric, heads) + exact_variance(metric, tails)) / 4
        assert close(variance, exact), metric


def test_sampled_negatives_are_not_shared():
    # Two negatives a task, each with a score of its own; the triple stands twice, beside one of the same query.
    histogram = pl.DataFrame(
        {
            "side": ["head", "tail"],
            "num_candidates": [3, 3],
            "tasks": [2, 2],
            "shared_pairs": [2, 2],
            "repeated_pairs": [0, 0],
        }
    )
    pairs = pl.DataFrame({"head_candidates": [3], "tail_candidates": [3], "linked_pairs": [2]})
    twice = histogram.with_columns(repeated_pairs=2), pairs.with_columns(linked_pairs=4)
    task = rank_law([("t", ("a", "b"))])
    linked = rank_law([("t", ("a", "b")), ("t", ("c", "d"))])
    for metric in ADDITIVE:
        both, _ = random_scorer_variance(metric, histogram, pairs, "both", "sampled-2")
        # Two unconnected triples: half the variance of one.
        one = exact_variance(metric, linked)
        assert close(both, one / 2), metric
        side, _ = random_scorer_variance(metric, histogram, pairs, "tail", "sampled-2")
        assert close(side, exact_variance(metric, task) / 2), metric
        # The same triple twice shares its score on one side as across sides: two tasks are like head and tail.
        repeated, _ = random_scorer_variance(metric, *twice, "tail", "sampled-2")
        assert close(repeated, one), metric
        apart, _ = random_scorer_variance(
            metric, histogram, pairs, "both", Protocol(name="s", negatives=2, sides="independent")
        )
        assert close(apart, exact_variance(metric, task) / 4), metric


def test_observed_types_without_the_true_answer():
    # In training only entities 0 and 3 stand at the tail of the relation: the truths 1 and 2 are no candidates.
    graph = graph_of([(0, 0, 1, "a"), (0, 0, 2, "a")], [(4, 0, 0, "a"), (4, 0, 3, "a"), (1, 1, 2, "a")])
    candidates = count_candidates(graph.drop("time"), "typed")
    testing = [frame.filter(split="testing") for frame in (candidates.histogram, candidates.pairs)]
    tail = [((0, 0, truth), [(0, 0, 0), (0, 0, 3)]) for truth in (1, 2)]
    head = [((0, 0, truth), [(4, 0, truth)]) for truth in (1, 2)]
    for side, tasks in (("tail", tail), ("head", head), ("both", head + tail)):
        law = rank_law(tasks)
        for metric in ADDITIVE:
            variance, _ = random_scorer_variance(metric, *testing, side, "typed")
            assert close(variance, exact_variance(metric, law)), (side, metric)


# --- values of others -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dataset", "side", "metric", "sd", "error"), SIMULATED)
def test_simulated_standard_deviation(dataset, side, metric, sd, error):
    variance, _ = random_scorer(metric, dataset, side)
    # What the null leaves out is 0.9 % on the 14 entities of Nations, and below the noise on Kinships.
    slack = 0.015 * sd if dataset == "Nations" else 0.0
    assert abs(sd - variance**0.5) <= 3 * error + slack


@pytest.mark.parametrize("dataset", ["Nations", "Kinships"])
def test_reference_values(dataset):
    reference = json.loads((DATA / "reference.json").read_text())[dataset]
    for metric, sides in reference.items():
        for side, variance in sides.items():
            assert random_scorer(metric, dataset, side)[0] == pytest.approx(variance, rel=1e-10)


# --- the whole table --------------------------------------------------------------------------------------


def test_table_has_the_rows_of_the_moments():
    histogram, pairs = counted("Nations")
    both_splits = histogram.vstack(histogram.with_columns(split=pl.lit("validation")))
    both_pairs = pairs.vstack(pairs.with_columns(split=pl.lit("validation")))
    metrics = expand(["mr", "mrr", "hits@k", "gmr", "median"], [1, 10])
    table = nulls_table(both_splits, both_pairs, "filtered", metrics)
    key = ["split", "side", "metric"]
    assert_frame_equal(table.select(key), moments_table(both_splits, metrics).select(key))
    assert table.schema == {
        "split": pl.String,
        "side": pl.String,
        "metric": pl.String,
        "variance_random_scorer": pl.Float64,
        "reason_random_scorer": pl.String,
        "variance_static_scorer": pl.Float64,
        "reason_static_scorer": pl.String,
    }
    value, reason = pl.col("variance_random_scorer"), pl.col("reason_random_scorer")
    assert table.select((value.is_null() == reason.is_not_null()).all()).item()
    row = table.row(
        by_predicate=(pl.col("split") == "validation")
        & (pl.col("side") == "both")
        & (pl.col("metric") == "hits_at_1"),
        named=True,
    )
    assert row["variance_random_scorer"] == random_scorer("hits_at_1", "Nations", "both")[0]
    # These counts are of data without times.
    assert table["variance_static_scorer"].equals(table["variance_random_scorer"])
    assert table["reason_static_scorer"].equals(table["reason_random_scorer"])


@pytest.mark.parametrize("metric", OTHERS)
def test_metrics_that_are_no_means_have_a_reason(metric):
    variance, reason = random_scorer(metric, "Nations", "both")
    assert variance is None
    assert "is not derived" in reason


@pytest.mark.parametrize(
    ("protocol", "words"), [("raw", "without a filter"), ("pykeen-published", "true answer is not counted")]
)
def test_protocols_without_a_derivation_have_a_reason(protocol, words):
    variance, reason = random_scorer("mrr", "Nations", "tail", protocol)
    assert variance is None
    assert words in reason


def test_degenerate_counts():
    def one(count, tasks=1):
        return pl.DataFrame(
            {
                "side": ["tail"],
                "num_candidates": [count],
                "tasks": [tasks],
                "shared_pairs": [0],
                "repeated_pairs": [0],
            }
        )

    pairs = pl.DataFrame({"head_candidates": [], "tail_candidates": [], "linked_pairs": []})
    assert random_scorer_variance("mrr", one(1), pairs, "tail", "filtered") == (0.0, None)
    assert random_scorer_variance("hits@10", one(10), pairs, "tail", "filtered") == (0.0, None)
    assert random_scorer_variance("auc", one(1), pairs, "tail", "filtered")[1] == "no task has two candidates"
    assert (
        random_scorer_variance("mrr", one(0), pairs, "tail", "filtered")[1] == "some tasks have no candidates"
    )
    assert random_scorer_variance("mrr", one(5, 0), pairs, "tail", "filtered")[1] == "there are no tasks"


def test_both_sides_without_pairs_are_an_error():
    histogram, pairs = counted("Nations")
    with pytest.raises(RankadjustError, match=r"pairs has no rows"):
        random_scorer_variance("mrr", histogram, pairs.clear(), "both", "filtered")
