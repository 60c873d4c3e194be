"""Least squares without negative entries: the method without scipy is as near as scipy's."""

import numpy as np
import pytest
from scipy.optimize import nnls

from rankadjust.consistency.least_squares import by_columns


@pytest.mark.parametrize("seed", range(30))
def test_it_is_as_near_as_scipy_comes(seed):
    random = np.random.default_rng(seed)
    rows, columns = random.integers(1, 30), random.integers(1, 200)
    matrix = random.normal(size=(rows, columns)) * 10.0 ** random.integers(-3, 4, columns)
    # Where the right side is a mean of columns, nothing is missing.
    right = matrix @ random.dirichlet(np.ones(columns)) if seed % 2 else random.normal(size=rows)
    solution = by_columns(matrix, right)
    assert (solution >= 0).all()
    distance = np.linalg.norm(matrix @ solution - right)
    assert distance == pytest.approx(nnls(matrix, right)[1], rel=1e-9, abs=1e-9)
    assert seed % 2 == 0 or distance == pytest.approx(0.0, abs=1e-9)
