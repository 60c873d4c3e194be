"""Dataclasses of arrays: what is computed from equal ones is computed once."""

import weakref
from dataclasses import dataclass, replace

import numpy as np

from rankadjust.base.arrays import ByContent, FloatArray, kept
from rankadjust.chance.metrics import inverse_rank, resolve


@dataclass(frozen=True, eq=False)
class Counts(ByContent):
    counts: FloatArray
    tasks: list[FloatArray]


def test_equal_arrays_are_computed_once_and_not_kept():
    asked = []

    @kept
    def total(name: str, counts: Counts) -> float:
        asked.append(name)
        return float(counts.counts.sum() + counts.tasks[-1].sum())

    made = [Counts(np.array([2.0, 3.0]), [np.array([1.0]), np.array([last])]) for last in (4.0, 4.0, 5.0)]
    assert [total("a", each) for each in made] == [9.0, 9.0, 10.0]
    assert (total("b", made[0]), asked) == (9.0, ["a", "a", "b"])
    left = weakref.ref(made[0])
    del made
    assert left() is None


def test_metrics_with_different_terms_are_different_keys():
    hits = resolve("hits@10")
    assert hits != replace(hits, shape=inverse_rank)
