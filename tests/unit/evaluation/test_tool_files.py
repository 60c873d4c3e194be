"""Scores of positives and negatives as OGB and TGB have them, and columns that are not ours."""

import numpy as np
import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.evaluation.evaluate import evaluate
from rankadjust.evaluation.rank_files import tasks_from
from rankadjust.models.paired import paired


def test_positive_and_negative_scores(tmp_path):
    """The MRR of OGB's and TGB's evaluators: the mean of the optimistic and the pessimistic rank, each from 1 on."""
    rng = np.random.default_rng(1)
    positive, negative = rng.integers(0, 6, 30).astype(float), rng.integers(0, 6, (30, 20)).astype(float)
    optimistic = (negative > positive[:, None]).sum(axis=1)
    pessimistic = (negative >= positive[:, None]).sum(axis=1)
    expected = np.mean(1 / (0.5 * (optimistic + pessimistic) + 1))
    np.savez(tmp_path / "scores.npz", y_pred_pos=positive[:, None], y_pred_neg=negative, triple=np.arange(30))
    row = evaluate(tmp_path / "scores.npz", metrics="mrr").filter(rank_type="realistic").row(0, named=True)
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
            r"y_pred_neg the shape \(2, 6\); give numbers of the shapes",
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
