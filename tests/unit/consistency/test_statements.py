"""What a printed AUC says of ranks; of other metrics test_program.py and test_contradictions.py show it."""

import numpy as np
import pytest

from rankadjust.chance.metrics import resolve
from rankadjust.consistency.statements import Interval, TaskCounts, statement_of


def interval(metric, value, margin=0.0):
    return Interval(metric.key, metric, "both", float(value) - margin, float(value) + margin)


def task_counts(counts):
    distinct, times = np.unique(counts, return_counts=True)
    return TaskCounts(distinct.astype(float), times.astype(float), float(counts.max()))


def holds(statement, ranks, counts):
    """Whether every demand of a statement allows these ranks: their means of its functions meet the interval."""
    means = [
        (demand.lower(ranks).mean(), demand.upper(ranks).mean(), demand)
        for demand in statement.demands_of(task_counts(counts))
    ]
    return all(least <= demand.high and most >= demand.low for least, most, demand in means)


def test_ranks_with_another_auc_break_what_is_said():
    """Of five candidates ranks of 1 beat all."""
    said = statement_of(interval(resolve("auc"), 0.5, 1e-3))
    assert not holds(said, np.ones(4), np.full(4, 5.0))


@pytest.mark.parametrize("name", ["count", "variance"])
def test_dispersion_and_count_say_nothing_of_ranks(name):
    assert statement_of(interval(resolve(name), 4.0)) is None


def test_auc_leaves_out_tasks_of_one_candidate():
    """Half of the tasks do not count: with AUC 0 in the other half, whose rank is 5, the mean of the term is 1/2."""
    (demand,) = statement_of(interval(resolve("auc"), 0.0)).demands_of(
        TaskCounts(np.array([1.0, 5.0]), np.array([2.0, 2.0]), 5.0)
    )
    assert (demand.low, demand.high) == pytest.approx((0.5, 0.5))
    assert demand.lower(np.array([1.0, 1.0, 5.0, 5.0])).mean() == pytest.approx(0.5)
    assert demand.upper(np.array([1.0, 5.0])).tolist() == [1, 0]
