"""A part of the tasks, such as one side: the value of each model there, and how sure each difference is."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray, IntArray
from rankadjust.chance.metrics import Metric
from rankadjust.evaluation.spread import Spread, cluster_sums, effective, why_too_short
from rankadjust.evaluation.tasks import POPULATIONS, Tasks
from rankadjust.evaluation.values import ERRORS, RankedTasks, slope
from rankadjust.models.paired import Model

VALUES = pl.Schema(
    {
        **dict.fromkeys(("side", "metric", "model"), pl.String),
        **dict.fromkeys(("runs", "tasks"), pl.Int64),
        **dict.fromkeys(("value", "expectation", "index"), pl.Float64),
        "baseline": pl.String,
        **dict.fromkeys(("baseline_value", "gain", "spread_of_runs"), pl.Float64),
        "best": pl.Boolean,
    }
)
DIFFERENCES = pl.Schema(
    {
        **dict.fromkeys(("side", "metric", "first", "second"), pl.String),
        **dict.fromkeys(("difference", "difference_low", "difference_high"), pl.Float64),
        **dict.fromkeys(("p", "p_holm"), pl.Float64),
        "better": pl.String,
        **dict.fromkeys(ERRORS, pl.Float64),
        **dict.fromkeys([f"p_{population}" for population in POPULATIONS], pl.Float64),
        **dict.fromkeys(("relations", "freedom"), pl.Float64),
        "warning": pl.String,
    }
)
# Satterthwaite's degrees of freedom have 2 here, and are too many where a few runs happen to be alike; 1 gives too few
# (docs/methods-intervals.md).
_WEIGHT = 1.5


class _Estimates(NamedTuple):
    """What is known of a model: m metrics (m,) over all runs, and of each run (runs, m).

    contributions: what each task adds to the deviation of each metric, over all runs (m, n). spread: the standard
    deviation of each metric between the runs (m,), nan for one run. noise: for each population the part of the variance
    over runs that comes from the luck of each run in the tasks (m,). terms: the slope of each metric times the mean
    term of each task (m, n).
    """

    model: Model
    runs: int
    values: FloatArray
    contributions: FloatArray
    spread: FloatArray
    noise: Mapping[str, FloatArray]
    terms: FloatArray


class Part:
    """The tasks of one side, and each model's ranks of them, with their clusters for each population."""

    def __init__(
        self, side: str, tasks: Tasks, models: Sequence[Model], population: str, metrics: Sequence[Metric]
    ) -> None:
        """Take a side of the tasks; population: what intervals and p hold for."""
        self.side, self.models, self.population, self.metrics = side, models, population, metrics
        self.places = tasks.sides[side]
        self.counts = tasks.counts[self.places]
        self.ways = {name: tasks.ways(name, side) for name in tasks.clusters}
        self.triples = self.ways["triples"][0]
        self.clusters = int(self.ways[population][0].max()) + 1

    def results(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the values of the models and the differences of each pair, without index and verdicts."""
        estimates = [self._estimates(model) for model in self.models]
        differences = [self._difference(first, second) for first, second in combinations(estimates, 2)]
        return self._values(estimates), pl.concat(differences)

    def _estimates(self, model: Model) -> _Estimates:
        runs = [self._ranked(model, slice(run, run + 1)) for run in range(model.ranks.shape[0])]
        whole = self._ranked(model, slice(None))
        values = np.array([whole.statistic(metric) for metric in self.metrics])
        of_runs = np.array([[run.statistic(metric) for metric in self.metrics] for run in runs])
        each = [[run.mean(metric) for metric in self.metrics] for run in runs]
        means = np.array([[mean for mean, _ in run] for run in each]).mean(axis=0)
        slopes = np.array([slope(metric, mean) for metric, mean in zip(self.metrics, means, strict=True)])
        parts = slopes[:, None] * np.array([[part for _, part in run] for run in each])
        # Each task counts alike, so the mean term follows from its deviation.
        terms = parts.mean(axis=0) + (slopes * means)[:, None] / self.places.size
        spread, noise = np.full(values.shape, np.nan), {}
        if len(runs) > 1:
            spread = of_runs.std(axis=0, ddof=1)
            for name, ways in self.ways.items():
                errors = [Spread.of(run, ways, self.triples).error for run in parts - parts.mean(axis=0)]
                noise[name] = np.square(errors).sum(axis=0) / (len(runs) - 1) / len(runs)
        return _Estimates(model, len(runs), values, parts.mean(axis=0), spread, noise, terms)

    def _ranked(self, model: Model, runs: slice) -> RankedTasks:
        """Return the tasks of some runs of a model."""
        best = model.ranks[runs, self.places]
        worst = best if model.worst is None else model.worst[runs, self.places]
        counts = np.tile(self.counts, best.shape[0])
        return RankedTasks(best.ravel(), worst.ravel(), counts)

    def _difference(self, first: _Estimates, second: _Estimates) -> pl.DataFrame:
        """Return a row for each metric."""
        difference = first.values - second.values
        parts = first.contributions - second.contributions
        spreads = {
            name: self._with_runs(Spread.of(parts, ways, self.triples), name, (first, second))
            for name, ways in self.ways.items()
        }
        chosen, ways = spreads[self.population], self.ways[self.population]
        low, high = chosen.ends(difference).T
        decide = np.full(difference.shape, np.nan)
        if "relations" in self.ways:
            sums = cluster_sums(np.nan_to_num(first.terms - second.terms), self.ways["relations"][0])
            decide = np.array([effective(np.abs(each)) for each in sums])
        unknown = np.full(difference.shape, np.nan)
        return as_frame(
            DIFFERENCES,
            side=self.side,
            metric=[metric.key for metric in self.metrics],
            first=first.model.name,
            second=second.model.name,
            difference=difference,
            difference_low=low,
            difference_high=high,
            p=chosen.p(difference),
            relations=decide,
            freedom=chosen.freedom,
            **{f"error_{name}": spreads[name].error if name in spreads else unknown for name in POPULATIONS},
            **{
                f"p_{name}": spreads[name].p(difference) if name in spreads else unknown
                for name in POPULATIONS
            },
            warning=[
                _warning(metric, ways, self.population, (first, second), same=bool(same))
                for metric, same in zip(self.metrics, low == high, strict=True)
            ],
        )

    def _with_runs(self, tasks: Spread, population: str, models: Sequence[_Estimates]) -> Spread:
        """Return how much a difference varies over tasks and seeds crossed; over tasks unless both have several runs.

        The runs of a model differ by their seeds, and by luck of their own in the tasks, which is in both variances and
        counts once. The degrees of freedom are between those over the runs (Welch's) and those over the clusters.
        """
        if min(model.runs for model in models) == 1:
            return tasks
        each = [model.spread**2 / model.runs for model in models]
        of_runs = np.sum(each, axis=0)
        luck = np.sum([model.noise[population] for model in models], axis=0)
        of_tasks = np.maximum(tasks.error**2 - luck, 0.0)
        variance = of_tasks + of_runs
        with np.errstate(divide="ignore", invalid="ignore"):
            over_runs = of_runs**2 / sum(
                one**2 / (model.runs - 1) for one, model in zip(each, models, strict=True)
            )
            share = np.nan_to_num((of_runs / variance) ** _WEIGHT)
            freedom = 1 / ((1 - share) / tasks.freedom + np.where(share > 0, share / over_runs, 0.0))
            skewness = np.nan_to_num(tasks.skewness * (of_tasks / variance) ** 1.5)
        return Spread(np.sqrt(variance), freedom, skewness)

    def _values(self, estimates: Sequence[_Estimates]) -> pl.DataFrame:
        """Return a row for each metric and model."""
        number = len(self.metrics)
        return as_frame(
            VALUES,
            side=self.side,
            metric=[metric.key for metric in self.metrics for _ in estimates],
            model=number * [estimate.model.name for estimate in estimates],
            runs=number * [estimate.runs for estimate in estimates],
            tasks=self.places.size,
            value=np.stack([estimate.values for estimate in estimates], axis=1).ravel(),
            spread_of_runs=np.stack([estimate.spread for estimate in estimates], axis=1).ravel(),
        )


def _warning(
    metric: Metric, ways: Sequence[IntArray], population: str, models: Sequence[_Estimates], *, same: bool
) -> str | None:
    """Return what may be wrong with an interval and its p, None where nothing says so."""
    if same:
        return "the interval has no length, so it says nothing"
    two_runs = (
        "with two runs, equally good models are told apart too often if seeds matter for one of them alone"
        if min(model.runs for model in models) == 2
        else None
    )
    return "; ".join(filter(None, [why_too_short(metric, ways, population), two_runs])) or None


def as_frame(kinds: pl.Schema, **columns: object) -> pl.DataFrame:
    """Return columns, or a value for all rows, as a frame with null for nan."""
    frame = pl.DataFrame(columns, schema={name: kinds[name] for name in columns})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))
