"""Whether values can be together: limits by hand among few candidates, and rankings that must pass.

Values are given to the last digit; the program widens them by 1e-6 of their size, and the solver may miss a row by as
much. So limits by hand hold to 1e-5.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadjust.chance.metrics import expand, metric_value, resolve
from rankadjust.consistency.program import Program, Ranks
from rankadjust.consistency.statements import Interval, TaskCounts, demand_of
from tests.searching import in_profile

METRICS = expand(["mr", "mrr", "ndcg", "hits@k"], [1, 3, 10])


def task_counts(counts):
    distinct, times = np.unique(counts, return_counts=True)
    return TaskCounts(distinct.astype(float), times.astype(float), float(np.max(counts)))


TEN = task_counts(np.full(1000, 10))


def program_of(values, tasks=TEN, ranks=Ranks.HALVES, margin=0.0):
    """Return the program of values of one list of tasks, by metric."""
    printed = [
        Interval(name, resolve(name), "both", value - margin, value + margin)
        for name, value in values.items()
    ]
    return Program({"both": tasks}, {"both": ("both",)}, printed, ranks)


def clashes(values, tasks=TEN, ranks=Ranks.HALVES):
    return program_of(values, tasks, ranks).clashes(values)


def room(name, values, tasks=TEN, ranks=Ranks.HALVES):
    """Return the least and greatest value of a metric that other values leave."""
    return program_of(values | {name: 1.0}, tasks, ranks).allowed(name, values)


# Of 0.6 of the ranks it is known that they are beyond 1. The greatest is 10; the next is 2, or 1.5 with ties. Where
# better ranks are not rarer than worse ones, the 0.6 are spread evenly over 2..10 at worst.
HITS = {"hits@1": 0.4}
EVENLY = sum(1 / rank for rank in range(2, 11)) / 9


@pytest.mark.parametrize(
    ("ranks", "least", "most"),
    [
        (Ranks.HALVES, 0.4 + 0.6 / 10, 0.4 + 0.6 / 1.5),
        (Ranks.DECREASING, 0.4 + 0.6 * EVENLY, 0.4 + 0.6 / 2),
    ],
)
def test_hits_at_1_leaves_room_for_the_mrr(ranks, least, most):
    assert room("mrr", HITS, ranks=ranks) == pytest.approx((least, most), rel=1e-5)
    for mrr, expected in (
        (least - 1e-4, True),
        (least + 1e-4, False),
        (most - 1e-4, False),
        (most + 1e-4, True),
    ):
        found = program_of(HITS | {"mrr": mrr}, ranks=ranks).excess(["hits@1", "mrr"])
        assert (found.amount > 0) is expected


def test_the_excess_is_by_how_much_two_values_miss_each_other():
    """MRR 0.9 is 0.1 above what Hits@1 0.4 allows; a larger Hits@1 raises the MRR by a third as much.

    Relative to their size: 0.1 / 0.9 by lowering the MRR alone, 0.3 / 0.4 by raising Hits@1 alone.
    """
    found = program_of(HITS | {"mrr": 0.9}).excess(["hits@1", "mrr"])
    assert found.amount == pytest.approx(0.1 / 0.9, rel=1e-4)


def test_a_surprise_grows_with_the_root_of_the_number_of_tasks():
    """MRR 0.47 is possible, but with rank 10 more frequent than others: the more tasks, the less by chance."""
    values = HITS | {"mrr": 0.47}
    assert not clashes(values)
    few, many = (
        program_of(values, task_counts(np.full(tasks, 10)), Ranks.DECREASING).excess(values)
        for tasks in (100, 10_000)
    )
    assert few.amount == pytest.approx(many.amount, rel=1e-9)
    assert many.surprise == pytest.approx(10 * few.surprise, rel=1e-9)
    assert [clashes(values, task_counts(np.full(tasks, 10)), Ranks.DECREASING) for tasks in (10, 10_000)] == [
        False,
        True,
    ]


def test_a_clash_of_three_is_reduced_to_the_two_that_clash():
    values = {"hits@10": 1.0, "hits@1": 0.4, "mr": 1.9, "mrr": 0.9}
    program = program_of(values)
    assert program.irreducible(program.names) == ["hits@1", "mrr"]


def test_a_list_of_two_sides_has_the_mean_of_both_weighted_with_their_tasks():
    """With 3 of 4 tasks at the head, MR 2 and 6 of the sides make 3 of both."""
    tasks = {"head": task_counts(np.full(300, 10)), "tail": task_counts(np.full(100, 10))}
    parts = {"head": ("head",), "tail": ("tail",), "both": ("head", "tail")}

    def excess(both):
        printed = [
            Interval(side, resolve("mr"), side, value, value)
            for side, value in {"head": 2.0, "tail": 6.0, "both": both}.items()
        ]
        return Program(tasks, parts, printed, Ranks.HALVES).excess(parts).amount

    assert excess(3.0) == 0
    # 0.1 is missing in the mean over all tasks: the cheapest is to add it at the tail, where 6 is the unit.
    assert excess(3.1) == pytest.approx(0.1 / 6, rel=1e-3)


@settings(max_examples=in_profile(100))
@given(
    ranks=st.lists(st.integers(1, 60), min_size=2, max_size=25).map(np.array),
    seed=st.integers(0, 99),
    decimals=st.integers(2, 4),
)
def test_values_of_a_ranking_never_clash(ranks, seed, decimals):
    counts = ranks + np.random.default_rng(seed).integers(0, 40, ranks.size)
    values = {metric.key: round(float(metric_value(metric, ranks, counts)), decimals) for metric in METRICS}
    known = {name: value for name, value in values.items() if np.isfinite(value)}
    program = program_of(known, task_counts(counts), margin=0.5 * 10.0**-decimals)
    assert not program.clashes(program.names)


@pytest.mark.parametrize("name", ["count", "variance", "median", "gmr", "hmr", "auc"])
def test_what_is_no_mean_of_a_function_of_the_rank_demands_nothing(name):
    assert demand_of(Interval(name, resolve(name), "both", 4.0, 4.0)) is None


# --- numbers of candidates ------------------------------------------------------------------------------------


def test_no_more_ranks_are_above_r_than_tasks_have_candidates():
    """Half of the tasks have 2 candidates: at least half of the ranks are up to 2, and the MR at most 6."""
    tasks = task_counts(np.repeat([2, 10], 500))
    assert room("mr", {"hits@3": 0.9}, tasks)[1] == pytest.approx(0.5 * 2 + 0.4 * 3 + 0.1 * 10, rel=1e-5)
    assert [clashes({"mr": mr}, tasks) for mr in (5.999, 6.001)] == [False, True]
    assert [clashes({"hits@3": hits}, tasks) for hits in (0.499, 0.501)] == [True, False]


def test_the_tasks_with_few_candidates_are_hits_at_any_k():
    """Of tasks with 1, 2, ..., 100 candidates, k in 100 have k or fewer: Hits@k is k / 100 at least.

    These are more numbers of candidates than the program holds ranks against, but for those near a printed k.
    """
    tasks = task_counts(np.arange(1, 101))
    for k in range(2, 30):
        at_k = f"hits@{k}"
        assert [clashes({at_k: hits}, tasks) for hits in (k / 100 - 1e-3, k / 100 + 1e-3)] == [True, False], k


def test_without_numbers_of_candidates_the_mean_rank_is_free():
    unknown = TaskCounts(np.empty(0), np.empty(0), np.inf)
    assert not clashes({"mr": 1e6, "hits@1": 0.4}, unknown)
    assert clashes({"mr": 1e6, "hits@1": 0.4}, TaskCounts(np.empty(0), np.empty(0), 1e5))
