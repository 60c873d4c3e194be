"""Queries that triples share: found by themselves, and what they make of an interval."""

import numpy as np
import polars as pl
import pytest
from scipy import special

from rankadjust.base.errors import RankadjustError
from rankadjust.data.registry import load_registry
from rankadjust.evaluation.evaluate import evaluate
from rankadjust.evaluation.spread import Spread
from rankadjust.evaluation.task_attributes import with_attributes, with_queries
from rankadjust.evaluation.tasks import population_of


def tasks(triples, **more):
    names = {"triple": [name for name in triples for _ in "ht"], "side": ["head", "tail"] * len(triples)}
    return pl.DataFrame(names | more)


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


@pytest.mark.parametrize("name", ["triple", "line", "ids"])
def test_attributes_come_from_a_table_by_whatever_name_a_triple_has(name):
    table = tasks(["a\tr\tb", "c\ts\td"], line=[1, 1, 2, 2], ids=["0,0,1", "0,0,1", "2,1,3", "2,1,3"])
    table = table.with_columns(relation=pl.Series(["r", "r", "s", "s"]), num_candidates=pl.lit(9))
    ranks = table[::-1].select(pl.col(name).cast(pl.String).alias("triple"), "side", rank=pl.lit(1.0))
    assert with_attributes(ranks, table).drop("triple").rows() == [
        ("tail", 1.0, 9.0, "s"),
        ("head", 1.0, 9.0, "s"),
        ("tail", 1.0, 9.0, "r"),
        ("head", 1.0, 9.0, "r"),
    ]


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
    result = evaluate(frame, metrics=["mrr"]).filter(side="both").row(0, named=True)
    assert result["population"] == "queries"
    mean = (1 / frame["rank"].to_numpy().reshape(2, -1)).mean(axis=0)
    parts = (mean - mean.mean()) / mean.size
    squares = [
        (np.bincount(np.unique(way, return_inverse=True)[1], parts) ** 2).sum() for way in (head, tail)
    ]
    pairs = np.unique(head * 1000 + tail, return_inverse=True)[1]
    error = (sum(squares) - (np.bincount(pairs, parts) ** 2).sum()) ** 0.5
    # Freed of the bias of some 150 clusters.
    assert result["error_queries"] == pytest.approx(error, rel=0.03)
    assert result["error_triples"] == pytest.approx(mean.std(ddof=1) / mean.size**0.5, rel=1e-9)
    assert result["value_high"] - result["value_low"] == pytest.approx(
        2 * 1.99 * result["error_queries"], rel=0.02
    )
    alone = evaluate(frame, metrics=["mrr"], population="triples").filter(side="both").row(0, named=True)
    assert alone["error_queries"] == result["error_queries"]
    assert alone["value_high"] - alone["value_low"] == pytest.approx(
        2 * 1.96 * result["error_triples"], rel=0.02
    )


def test_clusters_of_one_size_have_students_law():
    """Of C clusters of one size: t with C - 1 degrees of freedom, and a variance with C - 1 in place of C."""
    way, triples = np.repeat(np.arange(12), 5), np.arange(60)
    means = np.random.default_rng(1).standard_normal(12)
    found = Spread.of(((means - means.mean())[way] / 60)[None], [way], triples)
    assert found.error == pytest.approx(means.std(ddof=1) / 12**0.5)
    assert found.freedom == pytest.approx(11)
    plain = Spread(found.error, found.freedom, np.zeros(1))
    mean, error = means.mean(), found.error[0]
    half = special.stdtrit(11, 0.975) * error
    assert plain.ends(means.mean(keepdims=True))[0] == pytest.approx((mean - half, mean + half))
    assert plain.p(np.array([mean])) == pytest.approx(2 * special.stdtr(11, -abs(mean) / error))


def test_a_large_cluster_counts_the_more_the_more_alike_its_triples_are():
    """10 of 30 triples share a query, which the mean follows. The sums have variances as 100 and 20 of 1 if triples of
    a query are alike, and as 10 and 20 of 1 if they are independent."""

    def freedom(large):
        covariance, shares = np.diag([large, *[1.0] * 20]), np.array([10, *[1] * 20]) / 30
        less_mean = np.eye(21) - np.outer(shares, np.ones(21))
        seen = covariance @ less_mean.T @ less_mean
        return np.trace(seen) ** 2 / np.trace(seen @ seen)

    way = np.concatenate([np.zeros(10, dtype=int), np.arange(1, 21)])
    parts = np.concatenate([np.ones(10), -np.full(20, 0.5)])
    alike = Spread.of(parts[None] / 30, [way], np.arange(30))
    share = (10**2 + 20) / 30**2
    seen = 1 - 2 * (100 * 10 + 20) / 120 / 30 + share
    assert alike.freedom == pytest.approx(freedom(100.0))
    assert alike.error == pytest.approx(((10**2 + 20 * 0.25) / 30**2 / seen) ** 0.5)
    other = np.tile([1.0, -1.0], 15)
    alone = Spread.of(other[None] / 30, [way], np.arange(30))
    assert alone.freedom == pytest.approx(freedom(10.0))


def relations(number=6, each=30, seed=1):
    """Return ranks that depend on the relation alone, but for a little, and triples named by their labels."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 1.2, number)
    names = [f"h{n}\tr{n % number}\tt{n}" for n in range(number * each)]
    logs = (
        1.5
        + np.repeat(level[np.arange(number * each) % number], 2)
        + 0.3 * rng.standard_normal(2 * len(names))
    )
    return tasks(names, rank=np.ceil(np.exp(np.maximum(logs, 0))))


def test_other_relations_are_few_and_say_so():
    frame = relations()
    row = evaluate(frame, metrics=["mrr"], population="relations").filter(side="both").row(0, named=True)
    of_relation = (
        frame.with_columns(relation=pl.col("triple").str.split("\t").list.get(1))
        .group_by("relation")
        .agg(mrr=(1 / pl.col("rank")).mean())["mrr"]
    )
    assert row["error_relations"] == pytest.approx(of_relation.std() / 6**0.5, rel=1e-6)
    assert (row["freedom"], row["relations"]) == (pytest.approx(5), pytest.approx(6))
    assert row["error_relations"] > 3 * row["error_triples"]
    assert "it needs 24 relations, and these count like 6 of equal size" in row["warning"]


@pytest.mark.parametrize(
    ("split", "population"),
    [("random", "triples"), ("by time", "queries"), ("by relation", "relations"), ("unknown", "queries")],
)
def test_the_split_says_for_what_an_interval_holds(split, population):
    frame = with_queries(tasks(["a\tr\tc", "a\tr\td", "b\ts\td"]))
    assert population_of(frame, None, split) == population
    assert population_of(frame, "queries", split) == "queries"
    alone = with_queries(tasks(["a\tr\tc", "b\ts\td"]))
    assert population_of(alone, None, None) == "triples"
    with pytest.raises(RankadjustError, match="the relation of each task is not known"):
        population_of(tasks(["1"]), "relations", split)
    with pytest.raises(RankadjustError, match="unknown population 'entities'"):
        population_of(frame, "entities", split)


def test_the_registry_says_how_a_data_set_was_split():
    ranks = pl.DataFrame({"side": ["head", "tail"] * 24, "rank": [1, 2] * 24, "triple": [*range(24)] * 2})
    given = evaluate(ranks, dataset="Countries-S1", metrics=["mrr"])
    assert given["population"].unique().to_list() == ["triples"]
    registry = load_registry()
    assert (registry["FB15k-237"].split, registry["ICEWS18"].split) == ("random", "by time")
    assert [name for name, each in registry.items() if not (each.split and each.split_source)] == []
    assert "was split" not in "".join(given["warning"])
    sides = {"side": ["head", "tail"] * 1200, "rank": [1, 2] * 1200, "triple": [*range(1200)] * 2}
    nobody = evaluate(pl.DataFrame(sides), dataset="ConceptNet-100k", metrics=["mrr"])
    assert "nobody says how ConceptNet-100k was split" in nobody["warning"][0]


def test_an_interval_ends_where_the_metric_does():
    frame, _, _ = crossed(triples=60)
    frame = frame.with_columns(
        rank=pl.when(pl.col("query") < 12).then(1.0).otherwise(1.0 + (pl.col("query") == 13))
    )
    for metric in ("hits@1", "mr"):
        result = evaluate(frame, metrics=[metric]).filter(side="both")
        low, value, high = result.select("value_low", "value", "value_high").row(0)
        assert low <= value <= high
        assert low >= 0 if metric == "hits@1" else low >= 1
        assert high <= 1 if metric == "hits@1" else True


@pytest.mark.parametrize("mark", ["\t", ","])
def test_all_queries_about_an_entity_go_together(mark):
    """Their texts are told apart by the relation, and the interval is that of queries named by their entities alone."""
    frame, head, tail = crossed()
    asked = [f"?{mark}{place % 3}{mark}{each}" for place, each in enumerate(head)]
    asked += [f"{each}{mark}{place % 3}{mark}?" for place, each in enumerate(tail)]
    columns = ["metric", "value_low", "value_high"]
    named, alone = (
        evaluate(each, population="queries").select(columns)
        for each in (frame.with_columns(query=pl.Series(asked)), frame)
    )
    assert named.equals(alone)
