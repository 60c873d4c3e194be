"""The ranks that baselines give single tasks, and baselines as models: against the counts of all tasks together."""

import random
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust import EvaluationSet, compare, count_baselines, evaluate
from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import TIED
from rankadjust.baselines.tally import BASELINES, tasks_with_baselines
from rankadjust.data.encode import encode
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.evaluation.task_attributes import with_attributes
from rankadjust.output import adjusted_text as texts
from tests.searching import in_profile

COLUMNS = ["head", "relation", "tail", "time"]
TRIPLES = st.lists(
    st.tuples(
        st.sampled_from("abcde"), st.sampled_from("rs"), st.sampled_from("abcde"), st.sampled_from("1234")
    ),
    min_size=4,
    max_size=25,
    unique=True,
)


@cache
def own_set():
    """Return an evaluation set of a small graph, with validation triples that choose the best baseline."""
    draw = random.Random(0)
    found = list(
        {(f"e{draw.randrange(9)}", f"r{draw.randrange(3)}", f"e{draw.randrange(9)}") for _ in range(60)}
    )
    found.sort()
    draw.shuffle(found)
    return EvaluationSet.from_triples(found[:-24], found[-24:-12], found[-12:], name="mine")


@settings(max_examples=in_profile(15))
@given(
    TRIPLES,
    st.sampled_from(["filtered", "raw", "time-aware", "pykeen-published", "typed"]),
)
def test_ranks_of_tasks_are_what_is_counted_of_all_together(triples, protocol):
    """One row a task: the mean of the ranks between both ends is the mean rank that `count_baselines` has."""
    cut = len(triples) // 2
    frames = [pl.DataFrame(part, schema=COLUMNS, orient="row") for part in (triples[:cut], triples[cut:])]
    splits = dict(zip(("training", "testing"), frames, strict=True))
    encoded = encode(splits)
    tasks = tasks_with_baselines(encoded.triples, encoded.labels, protocol)
    counted = count_baselines(splits, protocol, ["mr", "hits@2"]).filter(split="testing", side="both")
    for baseline in BASELINES:
        best, worst = (pl.col(f"{baseline}_{end}") for end in ("optimistic", "pessimistic"))
        hits = ((2 - best + 1).clip(0) / (worst - best + 1)).clip(upper_bound=1)
        means = tasks.select(((best + worst) / 2).mean().alias("mr"), hits.mean().alias("hits")).row(0)
        found = counted.filter(baseline=baseline)["value"].to_list()
        # A protocol that drops unseen entities may leave no task.
        assert means == (pytest.approx(found, rel=1e-12) if tasks.height else (None, None))


def test_ranks_of_a_sampled_protocol_are_left_out():
    own = own_set()
    encoded = encode({"training": pl.DataFrame([("a", "r", "b")], schema=COLUMNS[:3], orient="row")})
    assert "popularity_optimistic" in own.each_task().columns
    tasks = tasks_with_baselines(encoded.triples, encoded.labels, "sampled-1")
    assert not [name for name in tasks.columns if "optimistic" in name]


@pytest.mark.parametrize("baseline", ["popularity", "redundancy", "rules"])
def test_a_baseline_as_a_model_has_its_exact_values(baseline):
    own = own_set()
    ranks = own.each_task().select("triple", "side", rank=pl.lit(2.0))
    found = compare({"mine": ranks}, dataset=own, against=baseline, metrics=["mrr", "hits@3", "gmr"])
    values = found.values.filter(model=baseline).sort("side", "metric")
    for side in ("head", "tail", "both"):
        known = own.of_side(side).baselines(["mrr", "hits@3"]).filter(baseline=baseline).sort("metric")
        of_side = values.filter(pl.col("side") == side, pl.col("metric").is_in(known["metric"].implode()))
        assert of_side["value"].to_list() == pytest.approx(known["value"].to_list(), rel=1e-12)
    # Triples that share a query go together where the tasks are known.
    assert found.population == "queries"


def test_the_best_baseline_is_the_one_of_validation_and_parts_add_up():
    own = own_set()
    ranks = own.each_task().select("triple", "side", rank=pl.lit(1.0))
    validation = own.counted(["mrr"]).filter(split="validation", side="both", baseline="rules")
    others = own.counted(["mrr"]).filter(split="validation", side="both").sort("value")
    best = others["baseline"][-1]
    found = compare({"mine": ranks}, dataset=own, against="best", metrics="mrr")
    assert found.models == ["mine", best]
    assert validation.height == 1


def test_evaluated_ranks_have_their_gain():
    own = own_set()
    ranks = own.each_task().select("triple", "side", rank=pl.lit(1.0))
    row = evaluate(ranks, dataset=own, against="popularity", metrics=["mrr"]).row(-1, named=True)
    reached = own.baselines(["mrr"]).filter(baseline="popularity")["value"].item()
    assert (row["side"], row["baseline"], row["baseline_value"]) == (
        "both",
        "popularity",
        pytest.approx(reached),
    )
    assert row["gain"] == pytest.approx(1)
    # Against a perfect model the difference varies as the baseline does; and by default the best is taken.
    tied = [own.each_task()[f"popularity_{end}"].to_numpy() for end in ("optimistic", "pessimistic")]
    means = np.array([np.mean(1 / np.arange(best, worst + 1)) for best, worst in zip(*tied, strict=True)])
    assert row["difference"] == pytest.approx(1 - means.mean())
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert row["gain_low"] == pytest.approx(row["difference_low"] / (1 - reached))
    best = evaluate(ranks, dataset=own, metrics=["mrr"]).row(-1, named=True)
    assert best["baseline"] in {"popularity", "redundancy", "rules"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"against": "popularty"}, "no baseline 'popularty'; did you mean popularity"),
        ({"against": "popularity", "metrics": "median_rank"}, "not a function of a mean"),
        ({"against": "popularity", "dataset": None}, "--tasks"),
        ({"against": "popularity", "dataset": "Nations"}, "needs facts about the tasks, which are missing"),
    ],
)
def test_what_cannot_be_held_against_a_baseline_is_said(options, message):
    own = own_set()
    ranks = own.each_task().select("triple", "side", rank=pl.lit(1.0))
    with pytest.raises(RankadjustError, match=message):
        compare({"mine": ranks}, **{"dataset": own} | options)


def test_gain_needs_a_data_set_that_has_baselines():
    with pytest.raises(RankadjustError, match="give dataset"):
        evaluate([1.0, 2.0], num_candidates=5, against="popularity")
    with pytest.raises(RankadjustError, match="no counting baseline is known"):
        evaluate([1.0, 2.0], dataset=EvaluationSet.constant(candidates=5, tasks=2), against="best")


def test_without_validation_nothing_says_which_baseline_is_the_best():
    train, test = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "a")], [("b", "r", "a"), ("c", "s", "c")]
    own = EvaluationSet.from_triples(train, None, test, name="mine")
    ranks = own.each_task().select("triple", "side", rank=pl.lit(1))
    for judge in (own.evaluate, own.compare):
        with pytest.raises(RankadjustError, match=r"chosen on validation, which these data lack; name one"):
            judge(ranks, against="best")
    assert set(own.evaluate(ranks, metrics=["mrr"], against="popularity")["gain"]) == {1.0}


def test_a_table_of_tasks_pairs_the_difference_to_counting():
    """Its standard error is that of the mean difference of a triple, and not that of the value alone."""
    folder = Path(__file__).parents[2] / "data" / "compare"
    ranks = with_attributes(
        tasks_from(folder / "complex" / "seed-1.parquet"), folder / "kinships-tasks.parquet"
    )
    row = evaluate(ranks, dataset="Kinships", metrics=["hits@1"]).row(-1, named=True)
    best, worst = (ranks[f"{row['baseline']}_{end}"] for end in TIED)
    counted = (best == 1) / (worst - best + 1)
    each = (
        ranks.select("triple", part=(pl.col("rank") == 1) - counted).group_by("triple").agg(pl.mean("part"))
    )
    half = 1.96 * each["part"].std() / each.height**0.5
    assert row["difference"] == pytest.approx(each["part"].mean())
    assert (row["difference_high"] - row["difference_low"]) / 2 == pytest.approx(half, rel=0.01)
    assert "held fixed" not in "".join(texts.counting(row))
    alone = evaluate(
        tasks_from(folder / "complex" / "seed-1.parquet"), dataset="Kinships", metrics=["hits@1"]
    )
    assert "held fixed" in "".join(texts.counting(alone.row(-1, named=True)))
