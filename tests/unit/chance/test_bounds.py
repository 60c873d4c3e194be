"""The least and the greatest value of every metric: all rankings of few tasks."""

import itertools
import math

import numpy as np
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.chance.bounds import Attainable, attainable
from rankadjust.chance.metrics import FAMILIES, Family, metric_value, rank

DISPERSION = ("standard_deviation", "variance", "median_absolute_deviation", "count")
# Every metric that has bounds, with a k that some tasks reach and others do not.
BOUNDED = [family.metric(3 if family.needs_k else None).key for family in FAMILIES.values()]
BOUNDED = [key for key in BOUNDED if key not in DISPERSION]


@pytest.mark.parametrize("key", BOUNDED)
@pytest.mark.parametrize("counts", [[5], [1, 4], [2, 3, 6], [1, 4, 2, 3], [4, 4, 4, 1]], ids=str)
def test_every_ranking_of_few_tasks(key, counts):
    """The bounds are the least and the greatest value of all rankings, half ranks (ties) included."""
    steps = [np.arange(1, count + 0.5, 0.5) for count in counts]
    rankings = np.array(list(itertools.product(*steps)))
    values = metric_value(key, rankings, np.array(counts))
    different, tasks = np.unique(counts, return_counts=True)
    bounds = attainable(key, different[::-1], tasks[::-1])
    assert bounds == pytest.approx((values.min(), values.max()), rel=1e-13, abs=1e-15)


def test_a_term_that_rises_to_its_cut_is_greatest_there():
    """r up to 3, and 0 beyond: for N = 2 and 5 the terms run over 1, 2 and 0, 1, 2, 3."""
    metric = Family("rank_at_k", "R", "", (), upper=math.inf, term=rank).metric(3)
    assert attainable(metric, [2, 5], [1, 1]) == Attainable(0.5, 2.5)


def test_mistakes_are_refused():
    with pytest.raises(RankadjustError, match="at least one candidate"):
        attainable("mr", [0, 4], [1, 1])
    with pytest.raises(RankadjustError, match="same length"):
        attainable("mr", [4], [1, 1])


def test_a_value_is_excluded_only_if_its_whole_interval_is():
    bounds = Attainable(0.25, 8.0)
    assert not bounds.excludes(7.9, 9.0)
    assert not bounds.excludes(0.1, 0.25)
    assert bounds.excludes(8.1, 9.0)
    assert bounds.excludes(0.1, 0.2)
    # The noise of single precision.
    assert not bounds.excludes(8.000004, 8.000004)
    assert bounds.excludes(8.00001, 8.00001)


@pytest.mark.parametrize(
    ("metric", "counts", "tasks"),
    [*((key, [2, 5], [3, 1]) for key in DISPERSION), ("mr", [], []), ("auc", [1], [7]), ("mrr", [4], [0])],
)
def test_no_bounds_of_dispersion_or_without_tasks_that_count(metric, counts, tasks):
    assert attainable(metric, counts, tasks) is None
