"""Runs and tasks crossed: p of a difference over new seeds and new tasks (docs/methods.md, "Two models")."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from rankadjust.base.arrays import FloatArray

# Satterthwaite's degrees of freedom have 2 here, and are too many where a few runs happen to be alike: two runs whose
# seeds matter thrice as much as tasks were told apart in 6.8 % of the cases; with 1 it is 3.5 % (docs/methods.md).
_WEIGHT = 1.5


@dataclass(frozen=True)
class Runs:
    """How much the runs of a model differ.

    number: how many there are. spread: the standard deviation of each metric between them (m,), nan for one run. noise:
    the part of the variance of their mean that comes from the tasks: each run has luck of its own in them (m,).
    """

    number: int
    spread: FloatArray
    noise: FloatArray


def over_runs_and_tasks(
    difference: FloatArray, of_tasks: FloatArray, clusters: int, models: Sequence[Runs]
) -> tuple[FloatArray, FloatArray]:
    """Return the standard error over seeds alone, and p over runs and tasks (m,); nan unless both have several runs.

    of_tasks: the variance of the difference over the clusters. The runs of a model differ by their seeds, and by luck
    of their own in the tasks, which is in both variances and counts once. The law is Student's; its degrees of freedom
    are between those over the runs (Welch's) and those over the clusters.
    """
    if min(each.number for each in models) == 1:
        nothing = np.full(difference.shape, np.nan)
        return nothing, nothing
    variances = [(each.spread**2 / each.number, each.number - 1) for each in models]
    of_runs, noise = sum(part for part, _ in variances), sum(each.noise for each in models)
    variance = np.maximum(of_tasks - noise, 0.0) + of_runs
    with np.errstate(divide="ignore", invalid="ignore"):
        over_runs = of_runs**2 / sum(part**2 / degrees for part, degrees in variances)
        share = (of_runs / variance) ** _WEIGHT
        freedom = 1 / ((1 - share) / (clusters - 1) + np.where(share > 0, share / over_runs, 0.0))
        p = 2 * stats.t.sf(np.abs(difference) / np.sqrt(variance), freedom)
    seeds = np.sqrt(np.maximum(of_runs - noise, 0.0))
    return seeds, np.where(variance > 0, p, np.where(difference == 0, 1.0, np.nan))


def warning_of(models: Sequence[Runs]) -> str | None:
    """Return what may be wrong with p of models that have two runs, None for one run and for more."""
    if min(each.number for each in models) != 2:
        return None
    return "with two runs, equally good models are told apart too often if seeds matter for one of them alone"
