"""What printed values say of ranks: true of the ranks that have them, and false of others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.chance.metrics import expand, metric_value, resolve
from rankadjust.consistency.statements import Interval, TaskCounts, statement_of
from tests.searching import in_profile

MEANS = ["mr", "mrr", "gmr", "igmr", "hmr", "imr", "hits@k", "mrr@k", "ndcg@k", "auc"]
METRICS = expand([*MEANS, "median", "inverse_median"], [1, 3, 10])
FIVE = np.full(4, 5.0)


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


@settings(max_examples=in_profile(100))
@given(
    ranks=st.lists(st.integers(2, 400), min_size=1, max_size=30).map(lambda halves: np.array(halves) / 2),
    beyond=st.integers(0, 50),
    decimals=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_ranks_fulfil_what_their_own_rounded_metrics_say(ranks, beyond, decimals, seed):
    counts = np.ceil(ranks) + np.random.default_rng(seed).integers(0, beyond + 1, ranks.size)
    values = {metric.key: float(metric_value(metric, ranks, counts)) for metric in METRICS}
    margin = 0.5 * 10.0**-decimals
    printed = {
        metric.key: interval(metric, round(values[metric.key], decimals), margin)
        for metric in METRICS
        if np.isfinite(values[metric.key])
    }
    statements = [statement_of(value) for value in printed.values()]
    said = [statement for statement in statements if statement is not None]
    assert len(said) == len(printed)
    assert [statement.name for statement in said if not holds(statement, ranks, counts)] == []


@pytest.mark.parametrize(
    ("values", "ranks"),
    [
        # Ranks of 1, 1, 1, 2 have the MRR 0.875.
        ({"mr": 3.0}, [1, 2, 2, 3]),
        ({"hits@3": 1.0}, [1, 2, 3, 4]),
        ({"mrr": 0.5}, [1, 1, 1, 2]),
        ({"gmr": 2.0}, [1, 1, 1, 2]),
        ({"hmr": 2.0}, [1, 1, 1, 2]),
        # Of five candidates ranks of 1 beat all.
        ({"auc": 0.5}, [1, 1, 1, 1]),
        # Three of the four ranks are below 3, or above 1.
        ({"median": 3.0}, [1, 2, 2, 4]),
        ({"median": 1.0}, [1, 2, 2, 4]),
        ({"inverse_median": 1 / 3}, [1, 2, 2, 4]),
    ],
)
def test_ranks_with_another_value_break_what_is_said(values, ranks):
    printed = {resolve(name).key: interval(resolve(name), value, 1e-3) for name, value in values.items()}
    said = [statement_of(value) for value in printed.values()]
    assert not holds(said[-1], np.array(ranks, dtype=float), FIVE)


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


@pytest.mark.parametrize(
    ("counts", "times", "shares"),
    [
        # Of tasks with 2, 2, 5 and 9 candidates, none of 2 has a rank above 2, and one of 4 has one above 5.
        ([2.0, 5.0, 9.0], [2.0, 1.0, 1.0], [1, 0.5, 0.5, 0.25, 0.25, 0]),
        # Of unknown tasks only the greatest rank is known.
        ([], [], [1, 1, 1, 1, 1, 0]),
    ],
)
def test_a_rank_above_r_needs_more_than_r_candidates(counts, times, shares):
    tasks = TaskCounts(np.array(counts), np.array(times), 9.0)
    assert tasks.number == (sum(times) or None)
    assert tasks.shares_above([1.0, 2.0, 2.5, 5.0, 8.0, 9.0]).tolist() == shares
