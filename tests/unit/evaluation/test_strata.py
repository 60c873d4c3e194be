"""Evaluation part by part: the parts add up to the whole, and each has the chance of its own tasks."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rankadjust.base.errors import RankadjustError
from rankadjust.base.frames import filled
from rankadjust.evaluation.evaluate import evaluate, evaluate_by
from rankadjust.evaluation.task_attributes import STRATA

METRICS = ["mrr", "hits@10", "mr", "auc", "ndcg"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    counts = rng.integers(2, 400, 120)
    return pl.DataFrame(
        {
            "triple": np.repeat(np.arange(60), 2),
            "side": ["head", "tail"] * 60,
            "rank": np.ceil(counts * rng.random(120) ** 3),
            "num_candidates": counts,
            "relation": rng.choice(["r", "s", "t"], 120),
            "cardinality": rng.choice(["1-1", "1-n"], 120),
        }
    )


@pytest.mark.parametrize("by", STRATA)
def test_parts_add_up_to_the_total(frame, by):
    # How values add up is the same whatever the parts are: one attribute shows it for each metric.
    metrics = METRICS if by == "relation" else METRICS[:1]
    parts = evaluate_by(frame, by.replace("_", "-"), metrics=metrics)
    total = evaluate(frame, metrics=metrics)
    for key in total["metric"]:
        for side in ("head", "tail", "both"):
            whole = total.row(by_predicate=(pl.col("metric") == key) & (pl.col("side") == side), named=True)
            rows = parts.filter(metric=key, side=side)
            share = rows["tasks"].to_numpy() / whole["tasks"]
            assert rows["tasks"].sum() == whole["tasks"]
            assert share @ rows["value"].to_numpy() == pytest.approx(whole["value"], rel=1e-12)
            assert share @ rows["expectation"].to_numpy() == pytest.approx(whole["expectation"], rel=1e-12)
            # z has the variances: those of the parts add up with squared shares.
            errors = (rows["value"] - rows["expectation"]).abs().to_numpy() / rows["z"].abs().to_numpy()
            error = abs(whole["value"] - whole["expectation"]) / abs(whole["z"])
            assert ((share * errors) ** 2).sum() ** 0.5 == pytest.approx(error, rel=1e-9)


def test_a_part_of_one_side_counts_in_both(frame):
    by_side = frame.with_columns(relation="side")
    parts = evaluate_by(by_side, "relation", metrics="mrr")
    total = evaluate(frame, metrics="mrr").filter(side="both").row(0, named=True)
    both = parts.filter(side="both")
    assert both["stratum"].to_list() == ["head", "tail"]
    assert both["value"].mean() == pytest.approx(total["value"], rel=1e-12)
    assert both["expectation"].mean() == pytest.approx(total["expectation"], rel=1e-12)


def test_attributes_come_from_a_table(frame):
    """Ranks that name a triple by its line in the file find the task, and so do those that write the ids."""
    frame = frame.head(24)
    table = frame.select(
        triple=filled("h{}\tr\tt", "triple"),
        line="triple",
        ids=filled("{},0,1", "triple"),
        side="side",
        num_candidates="num_candidates",
        relation="relation",
    )
    expected = evaluate_by(frame, "relation", metrics="mrr", population="triples")
    for name in ("triple", "line", "ids"):
        ranks = pl.DataFrame({"triple": table[name], "side": frame["side"], "rank": frame["rank"]})
        found = evaluate_by(ranks, "relation", tasks=table, metrics="mrr", population="triples")
        # The labels also say what is asked.
        assert_frame_equal(found.drop("error_queries"), expected.drop("error_queries"))


@pytest.mark.parametrize(
    ("by", "drop", "message"),
    [
        ("relations", [], "did you mean relation"),
        ("relation", ["relation"], "the relation of each task is not known: give --tasks"),
        ("relation", ["num_candidates"], "the num candidates of each task is not known"),
    ],
)
def test_mistakes(frame, by, drop, message):
    with pytest.raises(RankadjustError, match=message):
        evaluate_by(frame.drop(drop), by)
