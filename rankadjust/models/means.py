"""Metrics that are functions of a mean over the tasks, from one sum for each cluster of tasks.

A sample of clusters, or a swap of some, changes such a mean by sums over clusters: a matrix product gives thousands of
samples at once, and no rank is looked at again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankadjust.base.arrays import FloatArray
from rankadjust.chance.metrics import Metric
from rankadjust.evaluation.intervals import UnitMeans
from rankadjust.evaluation.weighting import Arrangement, product, sums_over_units


@dataclass(frozen=True)
class ClusterMeans:
    """The sums of weight times term, and of the weights, of each metric and cluster: m metrics, c clusters, (m, c)."""

    metrics: Sequence[Metric]
    terms: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, tasks: Arrangement) -> "ClusterMeans":
        """Return the means of all metrics of an arrangement, which must have terms; its units are the clusters."""
        sums = [sums_over_units(tasks, metric) for metric in tasks.metrics]
        return cls(
            tasks.metrics, np.stack([terms for terms, _ in sums]), np.stack([weights for _, weights in sums])
        )

    def means(self, counts: FloatArray) -> FloatArray:
        """Return the means (m, d) where each cluster counts as often as `counts` (c, d) says; nan without tasks."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return product(self.terms, counts) / product(self.weights, counts)

    def against(self, other: "ClusterMeans") -> UnitMeans:
        """Return the differences of the means to another model's, as means over the same clusters."""
        free = np.full(len(self.metrics), np.inf)
        strata = [np.arange(self.terms.shape[1])]
        return UnitMeans(self.terms - other.terms, self.weights, -free, free, strata)
