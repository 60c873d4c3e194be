"""Batches of scores give what all scores at once give."""

import numpy as np
import polars as pl
import pytest

from rankadjust import Evaluator, RankadjustError, evaluate
from rankadjust.evaluation.score_files import rank_scores
from rankadjust.output.evaluation_text import evaluation, main_rows


class Tensor:
    """What a tensor of torch on a device is to numpy: an array only after detach() and cpu()."""

    def __init__(self, values, dtype="torch.float32", place="cuda"):
        self.values, self.dtype, self.place = np.asarray(values), dtype, place

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values, self.dtype, "cpu")

    def float(self):
        return Tensor(self.values, "torch.float32", self.place)

    def __array__(self, dtype=None, copy=None):
        assert self.place == "cpu"
        assert self.dtype != "torch.bfloat16"
        return self.values


def batches(seed=1, triples=60, entities=30):
    """Return side, scores, target and mask of ten triples at a time, heads and tails in turn."""
    rng = np.random.default_rng(seed)
    for _ in range(0, triples, 10):
        for side in ("head", "tail"):
            mask = rng.random((10, entities)) < 0.2
            yield side, rng.integers(0, 9, (10, entities)) / 8, rng.integers(0, entities, 10), mask


def at_once():
    parts = []
    for number, (side, scores, target, mask) in enumerate(batches()):
        triple = number // 2 * 10 + np.arange(10)
        parts.append(rank_scores(scores, target, mask).with_columns(side=pl.lit(side), triple=triple))
    return pl.concat(parts)


@pytest.mark.parametrize("make", [np.asarray, Tensor])
@pytest.mark.parametrize("named", [True, False])
def test_batches_give_what_all_ranks_give(make, named):
    evaluator = Evaluator(metrics=["mrr", "hits@10", "mr"])
    for number, (side, scores, target, mask) in enumerate(batches()):
        triple = make(number // 2 * 10 + np.arange(10)) if named else None
        evaluator.update(make(scores), make(target), make(mask), side=side, triple=triple)
    expected = evaluate(at_once(), metrics=["mrr", "hits@10", "mr"])
    assert evaluator.compute().equals(expected)
    assert evaluator.summary() == evaluation(main_rows(expected))
    evaluator.reset()
    with pytest.raises(RankadjustError, match="there are no ranks yet"):
        evaluator.compute()


def test_half_precision_of_torch_is_read():
    assert rank_scores(Tensor([[0.5, 0.25]], "torch.bfloat16"), Tensor([1])).rows() == [(2, 2, 2)]


def test_real_tensors_are_read():
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[0.1, 0.7, 0.7]], requires_grad=True)
    assert rank_scores(scores, torch.tensor([1]), torch.tensor([[True, False, False]])).rows() == [(1, 2, 2)]
    assert rank_scores(scores.to(torch.bfloat16), torch.tensor([1])).rows() == [(1, 2, 3)]


def test_batches_that_do_not_go_together_are_refused():
    evaluator = Evaluator()
    evaluator.update([[0.1, 0.2]], [0], side="head")
    evaluator.update([[0.1, 0.2]], [0])
    with pytest.raises(RankadjustError, match="give side and triple with every batch, or with none"):
        evaluator.compute()
    with pytest.raises(RankadjustError, match=r"triple has the shape \(2,\), not \(1,\)"):
        evaluator.update([[0.1, 0.2]], [0], triple=[1, 2])


def test_a_summary_has_the_metrics_that_the_command_prints():
    evaluator = Evaluator()
    evaluator.update([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], target=[1, 1])
    first = [line.split()[0] for line in evaluator.summary().splitlines()[5:10]]
    assert first == ["MRR", "Hits@1", "Hits@3", "Hits@10", "MR"]
    assert "MRR@1" not in evaluator.summary()
