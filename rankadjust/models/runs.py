"""Runs and tasks crossed: p of a difference over new seeds and new tasks (docs/methods-compare.md, "Two models")."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from rankadjust.base.arrays import FloatArray
from rankadjust.evaluation.resampling import jackknife_variance

# Satterthwaite's degrees of freedom have 2 here, and are too many where a few runs happen to be alike; 1 gives too few
# (docs/methods-compare.md says how often the test errs with each).
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

    @classmethod
    def of(cls, values: Sequence[FloatArray], left_out: Sequence[FloatArray]) -> "Runs":
        """Return how runs differ, from the metrics (m, 1) of each, also with clusters left out (m, parts)."""
        number = len(values)
        if number == 1:
            return cls(1, *np.full((2, len(values[0])), np.nan))
        own = jackknife_variance([*(left_out - np.mean(left_out, axis=0))]) / (number - 1)
        return cls(number, np.std(values, axis=0, ddof=1)[:, 0], own / number)


def _variance_of_runs(models: Sequence[Runs]) -> tuple[FloatArray, FloatArray]:
    """Return the variance of the difference over the runs (m,), and the part of it that comes from the tasks."""
    return (
        np.sum([each.spread**2 / each.number for each in models], axis=0),
        np.sum([each.noise for each in models], axis=0),
    )


def error_of_seeds(models: Sequence[Runs]) -> FloatArray:
    """Return the standard error of the difference over seeds alone (m,); nan unless both have several runs."""
    of_runs, noise = _variance_of_runs(models)
    return np.sqrt(np.maximum(of_runs - noise, 0.0))


def p_over_runs_and_tasks(
    difference: FloatArray, of_tasks: FloatArray, clusters: int, models: Sequence[Runs]
) -> FloatArray:
    """Return p over runs and tasks (m,); nan unless both models have several runs.

    of_tasks: the variance of the difference over the clusters. The runs of a model differ by their seeds, and by luck
    of their own in the tasks, which is in both variances and counts once. The law is Student's; its degrees of freedom
    are between those over the runs (Welch's) and those over the clusters.
    """
    of_runs, noise = _variance_of_runs(models)
    variance = np.maximum(of_tasks - noise, 0.0) + of_runs
    with np.errstate(divide="ignore", invalid="ignore"):
        over_runs = of_runs**2 / sum(
            (each.spread**2 / each.number) ** 2 / (each.number - 1) for each in models
        )
        share = (of_runs / variance) ** _WEIGHT
        freedom = 1 / ((1 - share) / (clusters - 1) + np.where(share > 0, share / over_runs, 0.0))
        p = 2 * stdtr(freedom, -np.abs(difference) / np.sqrt(variance))
    return np.where(variance > 0, p, np.where((difference == 0) & (variance == 0), 1.0, np.nan))


def warning_of(models: Sequence[Runs]) -> str | None:
    """Return what may be wrong with p of models that have two runs, None for one run and for more."""
    if min(each.number for each in models) != 2:
        return None
    return "with two runs, equally good models are told apart too often if seeds matter for one of them alone"
