"""Rank curves: the share of tasks with a rank of at most k, for every k, of models and of chance."""

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray
from rankadjust.models.paired import Paired

CHANCE = "chance"
# So many k: first every k, then further and further apart.
_POINTS = 120


def rank_curves(
    matched: Paired, counts: FloatArray | None = None, tasks: FloatArray | None = None
) -> pl.DataFrame:
    """Return model, k and share: of the tasks with a rank of at most k, over all runs of a model.

    counts, tasks: numbers of candidates and how many tasks have each (m,), for the curve of chance, where a rank of at
    most k has the probability min(k / N, 1). None: those of the matched tasks, where they are known. Without them the
    curve of chance is missing.
    """
    if counts is None and "num_candidates" in matched.tasks.columns:
        known, times = np.unique(matched.tasks["num_candidates"].to_numpy(), return_counts=True)
        counts, tasks = known.astype(np.float64), times.astype(np.float64)
    most = max(model.ranks.max() for model in matched.models) if counts is None else counts.max()
    k = np.unique(np.rint(np.geomspace(1, max(most, 2), _POINTS)))
    curves = {model.name: _shares(np.sort(model.ranks.ravel()), k) for model in matched.models}
    if counts is not None and tasks is not None:
        curves[CHANCE] = (np.minimum(k[:, None] / counts, 1.0) @ tasks) / tasks.sum()
    return pl.concat(pl.DataFrame({"model": name, "k": k, "share": share}) for name, share in curves.items())


def _shares(ranks: FloatArray, k: FloatArray) -> FloatArray:
    """Return the share of the sorted ranks up to each k."""
    return np.searchsorted(ranks, k, side="right") / ranks.size
