"""How far differences between two models can go together: tasks of one query may win or lose together.

Nothing but counts is needed: how many tasks a data set has, and how many pairs of them share a query
(docs/methods-compare.md, "Two printed values").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy.special import ndtr

from rankadjust.base.arrays import FloatArray
from rankadjust.base.errors import RankadjustError
from rankadjust.database.evaluation_set import EvaluationSet
from rankadjust.models.equal_means import p_of_equal_means

# P(|sum of signed numbers| >= z of their norm) is at most twice this times the upper tail of the normal law, whatever
# the numbers are (Bentkus and Dzindzalieta 2015): 3.1787.
_BENTKUS = 1 / (4 * float(ndtr(-(2**0.5))))


@dataclass(frozen=True)
class Squares:
    """The largest sum of squared differences of clusters, by the sum of the differences of their tasks.

    mass, squares: the corners of this piecewise linear function, from (0, 0) on, both rising, (k,).
    """

    mass: FloatArray
    squares: FloatArray

    @classmethod
    def of_clusters(cls, largest: FloatArray, squares: FloatArray) -> "Squares":
        """Return that of groups of clusters: the size of the largest, and the sum of the squared sizes, (r,).

        The sum over clusters of D^2 is at most that of |D| times the size. So a difference counts most in the largest
        clusters, and fills these first.
        """
        order = np.argsort(-largest, kind="stable")
        mass, total = squares[order] / largest[order], squares[order]
        return cls(*(np.concatenate([[0.0], np.cumsum(part)]) for part in (mass, total)))

    def at(self, mass: FloatArray) -> FloatArray:
        """Return the largest sum of squares for each sum of differences."""
        return np.interp(mass, self.mass, self.squares)


@dataclass(frozen=True)
class Dependence:
    """What n triples may have in common: a function for each way of clustering them."""

    triples: int
    squares: Sequence[Squares]

    def p_at_most(
        self, difference: FloatArray | float, total: FloatArray | float, *, skewed: bool = False
    ) -> FloatArray:
        """Return bounds of p of the two-sided test of two models, over all ranks with two mean shares.

        difference: of the shares, 0 or more. total: their sum, or 2 less their sum where that is smaller. Both are
        numbers, or have an entry for each pair of models. skewed: whether a few tasks may decide the metric: then the
        bound is for models with equal means, too.
        """
        mass, lead = np.asarray(total) * self.triples, np.asarray(difference) * self.triples
        largest = np.sum([side.at(mass) for side in self.squares], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = lead / np.sqrt(largest)
            p = np.minimum(1.0, 2 * np.exp(-z * z / 2))
            if len(self.squares) == 1:
                p = np.minimum(p, 2 * _BENTKUS * ndtr(-z))
            if skewed:
                p = np.maximum(p, p_of_equal_means(lead, largest, self._typical))
        bounds: FloatArray = np.where((lead > 0) & (largest > 0), p, 1.0)[()]
        return bounds

    @cached_property
    def _typical(self) -> float:
        """How many triples share the cluster of a triple, on average; the most of all ways."""
        return max(float(side.squares[-1]) for side in self.squares) / self.triples


def independent(triples: int) -> Dependence:
    """Return the dependence of triples that have nothing in common; both tasks of a triple go together."""
    return Dependence(triples, [Squares.of_clusters(np.ones(1), np.array([float(triples)]))])


def shared_queries(evaluation_set: EvaluationSet) -> Dependence | None:
    """Return the dependence of triples that may go together where they share a query, None where that is not known.

    On both sides a triple has two queries. Which tasks share one does not depend on the candidates; so the counts of
    the protocol `filtered` are taken where they are of as many tasks.
    """
    names = ["head", "tail"] if evaluation_set.side == "both" else [evaluation_set.side]
    triples = triples_of(evaluation_set)
    for protocol in dict.fromkeys(("filtered", evaluation_set.protocol)):
        counts = evaluation_set.histograms.counts(evaluation_set.dataset, protocol, evaluation_set.split)
        squares = [_squares(counts.filter(side=name), triples) for name in names]
        known = [of_side for of_side in squares if of_side is not None]
        if len(known) == len(squares):
            return Dependence(triples, known)
    return None


def _squares(counts: pl.DataFrame, triples: int) -> Squares | None:
    """Return that of the queries of one side, None where it is not known how the triples share them.

    counts: rows with tasks and static_shared_pairs, the ordered pairs of tasks with one query, whatever their times. A
    cluster of g tasks has g (g - 1) such pairs.
    """
    if "static_shared_pairs" not in counts.columns or counts["static_shared_pairs"].null_count():
        return None
    tasks, pairs = (
        counts.filter(pl.col("tasks") > 0)[name].to_numpy().astype(np.float64)
        for name in ("tasks", "static_shared_pairs")
    )
    if tasks.sum() != triples:
        return None
    largest = np.minimum(np.floor((1 + np.sqrt(1 + 4 * pairs)) / 2), tasks)
    return Squares.of_clusters(largest, tasks + pairs)


def triples_of(evaluation_set: EvaluationSet) -> int:
    """Return the number of evaluated triples: both tasks of one may go together."""
    of_sides = ["head", "tail"] if evaluation_set.side == "both" else [evaluation_set.side]
    known = [evaluation_set.of_side(side).tasks for side in of_sides if side in evaluation_set.sides]
    if numbers := [number for number in known if number is not None]:
        return max(numbers)
    if evaluation_set.tasks is None:
        raise RankadjustError(f"the number of tasks of {evaluation_set} is not known: nothing can be said")
    return evaluation_set.tasks // len(of_sides)
