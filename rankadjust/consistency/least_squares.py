"""Least squares whose solution has no negative entry, by the method of Lawson and Hanson."""

import sys
from itertools import count

import numpy as np

from rankadjust.base.arrays import FloatArray

# scipy is four times as fast, but importing it takes as long as a hundred of the programs of one model.
_FEW = 100
_asked = count()


def nonnegative(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return the x >= 0 that brings matrix times x nearest to `right`; after too many steps another x >= 0."""
    if next(_asked) < _FEW and "scipy.optimize" not in sys.modules:
        return by_columns(matrix, right)
    from scipy.optimize import nnls

    try:
        solution: FloatArray = nnls(matrix, right)[0]
    except RuntimeError:
        # After too many steps.
        return np.zeros(matrix.shape[1])
    return solution


def by_columns(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return what `nonnegative` does, without scipy: each step adds the column that lowers the distance most."""
    size = matrix.shape[1]
    noise = 10 * max(matrix.shape) * np.spacing(1.0) * np.abs(matrix).sum(axis=0).max()
    solution, is_used = np.zeros(size), np.zeros(size, dtype=np.bool_)
    for _ in range(3 * size):
        gain = np.where(is_used, -np.inf, matrix.T @ (right - matrix @ solution))
        best = gain.argmax()
        if gain[best] <= noise:
            break
        is_used[best] = True
        solution = _of_columns(matrix, right, solution, is_used)
    return solution


def _of_columns(
    matrix: FloatArray, right: FloatArray, solution: FloatArray, is_used: np.typing.NDArray[np.bool_]
) -> FloatArray:
    """Return the solution with these columns alone, without columns that would become negative (out of `is_used`)."""
    while True:
        free = np.zeros_like(solution)
        free[is_used] = np.linalg.lstsq(matrix[:, is_used], right, rcond=None)[0]
        falling = is_used & (free <= 0)
        if not falling.any():
            return free
        steps = np.where(falling, solution / np.where(falling, solution - free, 1.0), np.inf)
        solution = solution + steps.min() * (free - solution)
        is_used &= solution > np.spacing(1.0)
        # Rounding may leave a trace of the column that became 0.
        is_used[steps.argmin()] = False
