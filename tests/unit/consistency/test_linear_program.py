"""Linear programs: they have the same least cost as scipy finds, given at once or grown, and HiGHS prints nothing."""

import subprocess
import sys

import numpy as np
import pytest
import scipy

from rankadjust.consistency.linear_program import LinearProgram, Solution, Unsolved


def program(cost, equalities, right, rows, room):
    made = LinearProgram(np.array(cost), np.array(equalities), np.array(right))
    made.add_rows(np.array(rows), np.array(room))
    return made


def random_program(seed):
    """Shares of two groups, rows that some shares fulfil, and a cost."""
    random = np.random.default_rng(seed)
    size, rows = int(random.integers(10, 60)), int(random.integers(2, 12))
    cost, matrix = random.normal(size=size), random.normal(size=(rows, size))
    masses = (np.arange(size) % 2 == np.array([[0], [1]])).astype(float)
    right = np.array([0.3, 0.7])
    shares = random.dirichlet(np.ones(size // 2)), random.dirichlet(np.ones((size + 1) // 2))
    inside = np.empty(size)
    inside[1::2], inside[::2] = right[1] * shares[0], right[0] * shares[1]
    return cost, matrix, matrix @ inside + 0.01, masses, right


def least_cost(cost, matrix, room, masses, right):
    return scipy.optimize.linprog(cost, A_ub=matrix, b_ub=room, A_eq=masses, b_eq=right)


def test_cost_shares_and_prices_by_hand():
    """Two shares of cost 1 and 2, the first at most 0.4: each unit more of it would save 1."""
    found = program([1.0, 2.0], [[1.0, 1.0]], [1.0], [[1.0, 0.0]], [0.4]).solve()
    assert isinstance(found, Solution)
    assert found.cost == pytest.approx(1.6)
    assert found.shares == pytest.approx([0.4, 0.6])
    assert found.prices == pytest.approx([1.0])


@pytest.mark.parametrize("seed", range(5))
def test_a_program_that_grows_has_the_least_cost_at_each_step(seed):
    cost, matrix, room, masses, right = random_program(seed)
    half, some = cost.size // 2, max(len(room) // 2, 1)
    grown = LinearProgram(cost[:half], masses[:, :half], right)
    grown.add_rows(matrix[:some, :half], room[:some])
    grown.solve()
    grown.add_columns(cost[half:], np.vstack([masses, matrix[:some]])[:, half:])
    grown.solve()
    grown.add_rows(matrix[some:], room[some:])
    for goal in (cost, -cost, cost**2):
        grown.change_cost(goal)
        found, known = grown.solve(), least_cost(goal, matrix, room, masses, right)
        assert isinstance(found, Solution)
        assert found.cost == pytest.approx(known.fun, rel=1e-9, abs=1e-9)
        assert found.cost == pytest.approx(goal @ found.shares, rel=1e-9, abs=1e-9)
        assert (matrix @ found.shares <= room + 1e-7).all()
        assert found.prices == pytest.approx(-known.ineqlin.marginals, abs=1e-6)


def test_what_no_shares_fulfil_is_impossible_until_a_column_makes_it_possible():
    made = program([1.0], [[1.0]], [1.0], [[1.0]], [0.5])
    assert made.solve() is Unsolved.IMPOSSIBLE
    made.add_columns(np.array([3.0]), np.array([[1.0], [0.0]]))
    found = made.solve()
    assert isinstance(found, Solution)
    assert found.cost == pytest.approx(2.0)


SOLVE = """
import sys, numpy as np
{before}
from rankadjust.consistency.linear_program import LinearProgram
program = LinearProgram(np.array([1.0, 2.0]), np.ones((1, 2)), np.ones(1))
program.add_rows(np.array([[1.0, 0.0]]), np.array([0.4]))
print(program.solve().cost)
"""
OTHERS = """
from highspy import Highs
other = Highs()
other.setOptionValue("threads", 2)
other.setOptionValue("log_to_console", False)
other.addCol(1.0, 1.0, 2.0, 0, np.empty(0, dtype=np.int32), np.empty(0))
other.run()
"""


@pytest.mark.parametrize(("before", "lines"), [("", 1), (OTHERS, None)])
def test_it_prints_nothing_and_bears_that_others_started_threads(before, lines):
    done = subprocess.run(
        [sys.executable, "-c", SOLVE.format(before=before)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "1.6"
    assert lines is None or len(done.stdout.splitlines()) == lines
    assert done.stderr == ""
