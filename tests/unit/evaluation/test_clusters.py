"""Queries that triples share: found by themselves, and what they make of an interval."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from rankadjust.base.errors import RankadjustError
from rankadjust.base.stages import write_product
from rankadjust.database.constants import Constants
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.database.histograms import Histograms
from rankadjust.evaluation.evaluate import evaluate
from rankadjust.evaluation.intervals import effective, lengthening, stretch
from rankadjust.evaluation.task_attributes import with_attributes, with_queries


def tasks(triples, **more):
    return pl.DataFrame(
        {"triple": [name for name in triples for _ in "ht"], "side": ["head", "tail"] * len(triples), **more}
    )


@pytest.mark.parametrize(
    ("triple", "queries"),
    [
        ("a b\tr\tc", ["?\tr\tc", "a b\tr\t?"]),
        ("a\tr\tc\t2014-01-01", ["?\tr\tc\t2014-01-01", "a\tr\t?\t2014-01-01"]),
        ("7,0,12", ["?,0,12", "7,0,?"]),
    ],
)
def test_a_named_triple_says_what_is_asked(triple, queries):
    assert with_queries(tasks([triple]))["query"].to_list() == queries


@pytest.mark.parametrize("triple", ["17", "a,r,c", "a\tr", "7,0"])
def test_another_name_of_a_triple_does_not(triple):
    assert "query" not in with_queries(tasks([triple])).columns


def test_lines_are_looked_up_in_the_triples_of_a_run(tmp_path):
    """The second and third line of the split testing share head and relation; ids work as well; other lines do not."""
    of_run = pl.DataFrame(
        {
            "split": ["training", "testing", "testing", "testing"],
            "head": [9, 1, 2, 2],
            "relation": [0, 0, 0, 0],
            "tail": [9, 3, 4, 5],
        }
    )
    path, database = tmp_path / "triples" / "toy.parquet", tmp_path / "database" / "adjustments.parquet"
    write_product(of_run, path, "triples")
    toy, other = (
        EvaluationSet(name, "filtered", "testing", "both", pl.DataFrame(), Histograms([]))
        for name in ("toy", "other")
    )
    constants = Constants(pl.DataFrame(), Histograms([]), file=database)
    for names in (["1", "2", "3"], ["1,0,3", "2,0,4", "2,0,5"]):
        found = with_queries(tasks(names), toy, constants)
        asked = found.filter(side="tail")["query"].to_list()
        assert asked[1] == asked[2] != asked[0]
    assert "query" not in with_queries(tasks(["0", "1", "2"]), toy, constants).columns
    assert "query" not in with_queries(tasks(["1", "2", "3"]), other, constants).columns


def test_the_test_file_itself_tells_the_queries(tmp_path):
    path = tmp_path / "test.txt"
    path.write_text('a\tr\t"b\nc d\tr\tb\nc d\tr\te\n')
    found = with_attributes(tasks(["1", "2", "3"]), path)
    assert found.filter(side="tail")["query"].to_list() == ["a\tr\t?", "c d\tr\t?", "c d\tr\t?"]
    assert with_attributes(tasks(["c d\tr\te"]), path)["query"].to_list() == ["?\tr\te", "c d\tr\t?"]
    path.write_text("a r b\n")
    with pytest.raises(RankadjustError, match="head, relation and tail with tabs"):
        with_attributes(tasks(["1"]), path)
    with pytest.raises(RankadjustError, match="no such file"):
        with_attributes(tasks(["1"]), tmp_path / "other.txt")


def test_stretch_by_hand():
    """Variances 1 and 3, of which 0.5 are in both: 3.5. Never less than either."""
    variances = [np.array([1.0, 1.0, 0.0]), np.array([3.0, 0.5, 1.0]), np.array([0.5, 0.9, 1.0])]
    assert stretch(variances) == pytest.approx([3.5**0.5, 1.0, 1.0])
    assert stretch(variances[:1]) == pytest.approx([1, 1, 1])
    assert effective(np.array([0, 0, 0, 1, 2, 3])) == pytest.approx(36 / 12)


def crossed(seed=3, triples=600):
    """Return ranks of triples that share head and tail queries, which matter much, and these queries."""
    rng = np.random.default_rng(seed)
    head, tail = rng.integers(triples // 4, size=(2, triples))
    hard = rng.standard_normal(triples)[head] + rng.standard_normal(triples)[tail]
    ranks = np.ceil(np.exp(1.5 + hard + 0.5 * rng.standard_normal((2, triples))))
    frame = pl.DataFrame(
        {
            "triple": np.tile(np.arange(triples), 2),
            "side": np.repeat(["head", "tail"], triples),
            "rank": np.clip(ranks, 1, 9999).ravel(),
            "query": np.concatenate([head, tail]),
        }
    )
    return frame, head, tail


def test_an_interval_is_as_long_as_the_variance_over_both_queries_says():
    """By the estimator of Cameron, Gelbach and Miller (2011), on the mean of 1/r of each triple."""
    frame, head, tail = crossed()
    result = evaluate(frame, metrics=["mrr"], draws=2000).filter(side="both")
    mean = (1 / frame["rank"].to_numpy().reshape(2, -1)).mean(axis=0)
    parts = (mean - mean.mean()) / mean.size
    squares = [
        (np.bincount(np.unique(way, return_inverse=True)[1], parts) ** 2).sum() for way in (head, tail)
    ]
    pairs = np.unique(head * 1000 + tail, return_inverse=True)[1]
    error = (sum(squares) - (np.bincount(pairs, parts) ** 2).sum()) ** 0.5
    length = result["value_high"].item() - result["value_low"].item()
    # Student's law with about a hundred degrees of freedom, and an interval from 2,000 samples.
    assert length == pytest.approx(2 * 1.99 * error, rel=0.05)
    alone = evaluate(frame.drop("query"), metrics=["mrr"], draws=2000).filter(side="both")
    assert length > 1.3 * (alone["value_high"].item() - alone["value_low"].item())
    assert "not known which triples share a query" in alone["warning"].item()


def test_clusters_of_one_size_lengthen_an_interval_by_students_law():
    """Of C clusters of one size: t with C - 1 degrees of freedom, and a variance with C - 1 in place of C."""
    way = np.repeat(np.arange(12), 5)
    for ratio in (0.7, 1.0, 3.0, 5.0):
        found, studentised = lengthening([way], [np.array([ratio])], 60, np.array([1.0]))
        assert found == pytest.approx(stats.t.ppf(0.975, 11) / 1.959964 * (12 / 11) ** 0.5, rel=1e-6)
        assert studentised == pytest.approx(1.0)


def test_a_large_cluster_counts_the_more_the_more_alike_its_triples_are():
    """10 of 30 triples share a query. Alike: squares 100 and 20 of 1, (120^2 / 10,020) - 1 = 0.44 degrees, 1 at least;
    independent: sums 10 and 20 of 1, 30^2 / 120 - 1 = 6.5. The mean follows the large query."""
    way = np.concatenate([np.zeros(10, dtype=int), np.arange(1, 21)])
    alike, alone = 120 / 30, 1.0
    found, _ = lengthening([way], [np.array([alike, alone])], 30, np.ones(2))
    share = (10**2 + 20) / 30**2
    bias = [1 - 2 * (100 * 10 + 20) / 120 / 30 + share, 1 - 2 * share + share]
    quantiles = stats.t.ppf(0.975, [1.0, 6.5]) / 1.959964
    assert found == pytest.approx(quantiles / np.sqrt(bias), rel=1e-6)
    # Of two ways the one that is known worse decides.
    ways, variances = [way, np.arange(30), np.arange(30)], [np.full(1, alone)] * 3
    assert lengthening(ways, variances, 30, np.ones(1))[0] >= found[1]


def test_a_stretched_interval_ends_where_the_metric_does():
    frame, _, _ = crossed(triples=60)
    frame = frame.with_columns(
        rank=pl.when(pl.col("query") < 12).then(1.0).otherwise(1.0 + (pl.col("query") == 13))
    )
    for metric in ("hits@1", "mr"):
        result = evaluate(frame, metrics=[metric], draws=300).filter(side="both")
        low, value, high = result.select("value_low", "value", "value_high").row(0)
        assert low <= value <= high
        assert low >= 0 if metric == "hits@1" else low >= 1
        assert high <= 1 if metric == "hits@1" else True
