"""Files as other tools write them: traces of LibKGE, scores of positives and negatives as OGB and TGB have them."""

import numpy as np
import polars as pl
import pytest
import yaml

from rankadjust.base.errors import RankadjustError
from rankadjust.evaluation.evaluate import evaluate
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.evaluation.tasks import clusters_of
from rankadjust.models.compare import compare
from rankadjust.models.paired import paired


def record(**keys):
    """Return a line as LibKGE writes it: one record, with all keys in alphabetical order."""
    keys = {"entry_id": "0b1a-4c", "timestamp": 1.7e9, "type": "entity_ranking", "scope": "example", **keys}
    return yaml.dump(keys, width=float("inf"), default_flow_style=True).strip()


def trace(path, ranks, epoch=7, split="test", **more):
    """Write a trace of triples with two ranks each, as `eval.trace_level: example` does, between other records."""
    lines = [record(event="job_started", job="eval")]
    for number, (of_object, of_subject) in enumerate(ranks):
        shared = {
            "event": "example_rank",
            "s": 0,
            "p": 3,
            "o": number + 10,
            "epoch": epoch,
            "split": split,
            **more,
        }
        shared |= {"filter_splits": ["train", "valid"], "batch": 0, "size": 2}
        lines.append(record(**shared, task="sp", rank=of_object + 5, rank_filtered=of_object))
        lines.append(record(**shared, task="po", rank=of_subject + 5, rank_filtered=of_subject))
    lines.append(record(event="eval_completed", mean_rank=3.0))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_trace_of_libkge(tmp_path):
    found = tasks_from(trace(tmp_path / "trace.yaml", [(1, 2), (4, 3)]))
    assert found.select("triple", "side", "rank").rows() == [
        ("0,3,10", "tail", 1.0),
        ("0,3,10", "head", 2.0),
        ("0,3,11", "tail", 4.0),
        ("0,3,11", "head", 3.0),
    ]
    assert found["relation"].to_list() == ["3"] * 4
    # Both ask for the objects of 0 and 3, and for two different subjects.
    assert found["query"].to_list() == ["0,3,?", "?,3,10", "0,3,?", "?,3,11"]
    (way,) = clusters_of(found, "queries").ways("both", np.arange(4))
    assert way.tolist() == [0] * 4
    mrr = evaluate(tmp_path / "trace.yaml", metrics="mrr").filter(side="both")["value"].item()
    assert mrr == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 3) / 4)


def test_the_last_epoch_counts_and_test_triples_are_filtered_where_the_trace_has_it(tmp_path):
    first = trace(tmp_path / "a.yaml", [(9, 9)], epoch=5).read_text()
    second = trace(tmp_path / "b.yaml", [(3, 4)], epoch=10, rank_filtered_with_test=2).read_text()
    (tmp_path / "trace.yaml").write_text(first + second)
    assert tasks_from(tmp_path / "trace.yaml")["rank"].to_list() == [2.0, 2.0]


def test_two_traces_are_compared(tmp_path):
    for name, ranks in (("one.yaml", [(1, 1), (2, 1)]), ("other.yaml", [(3, 2), (2, 5)])):
        trace(tmp_path / name, ranks)
    found = compare([tmp_path / "one.yaml", tmp_path / "other.yaml"], population="triples", metrics="mr")
    assert found.values.filter(side="both")["value"].to_list() == [1.25, 3.0]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "{event: job_started}\n",
            r"no rank of a single triple; evaluate with LibKGE's option eval.trace_level",
        ),
        ("{event: example_rank, o: 1, p: 1, s: 1, task: sp}\n", "no rank_filtered"),
    ],
)
def test_broken_traces(tmp_path, lines, message):
    (tmp_path / "trace.yaml").write_text(lines)
    with pytest.raises(RankadjustError, match=message):
        tasks_from(tmp_path / "trace.yaml")


def test_a_trace_of_two_splits(tmp_path):
    both = (
        trace(tmp_path / "a.yaml", [(1, 1)]).read_text()
        + trace(tmp_path / "b.yaml", [(1, 1)], split="valid").read_text()
    )
    (tmp_path / "trace.yaml").write_text(both)
    with pytest.raises(RankadjustError, match="splits test and valid"):
        tasks_from(tmp_path / "trace.yaml")


def test_positive_and_negative_scores(tmp_path):
    """The MRR of OGB's and TGB's evaluators: the mean of the optimistic and the pessimistic rank, each from 1 on."""
    rng = np.random.default_rng(1)
    positive, negative = rng.integers(0, 6, 30).astype(float), rng.integers(0, 6, (30, 20)).astype(float)
    optimistic = (negative > positive[:, None]).sum(axis=1)
    pessimistic = (negative >= positive[:, None]).sum(axis=1)
    expected = np.mean(1 / (0.5 * (optimistic + pessimistic) + 1))
    np.savez(tmp_path / "scores.npz", y_pred_pos=positive[:, None], y_pred_neg=negative, triple=np.arange(30))
    for name, array in (("y_pred_pos", positive), ("y_pred_neg", negative)):
        np.save(tmp_path / f"{name}.npy", array)
    for path in (tmp_path / "scores.npz", tmp_path):
        row = evaluate(path, metrics="mrr").filter(rank_type="realistic").row(0, named=True)
        assert row["value"] == pytest.approx(expected, rel=1e-12)
        # One of 21 candidates.
        assert row["expectation"] == pytest.approx(sum(1 / rank for rank in range(1, 22)) / 21)
    ranks = paired({"A": tmp_path / "scores.npz", "B": tmp_path / "scores.npz"}).models[0].ranks
    assert sorted(ranks[0]) == sorted(0.5 * (optimistic + pessimistic) + 1)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"y_pred_pos": np.ones(3)}, "there is no 'y_pred_neg'"),
        (
            {"y_pred_pos": np.ones(3), "y_pred_neg": np.ones((2, 6))},
            r"y_pred_neg the shape \(2, 6\); needed are",
        ),
    ],
)
def test_broken_scores(tmp_path, arrays, message):
    np.savez(tmp_path / "scores.npz", **arrays)
    with pytest.raises(RankadjustError, match=message):
        tasks_from(tmp_path / "scores.npz")


def test_columns_of_other_purposes_are_left_alone():
    frame = pl.DataFrame(
        {"rank": [1, 2], "relation_id": [3, 4], "relation": ["r", None], "query": [[1], [2]]}
    )
    assert tasks_from(frame).columns == ["rank"]
    assert tasks_from(frame.with_columns(relation=pl.lit(7))).columns == ["rank", "relation"]
