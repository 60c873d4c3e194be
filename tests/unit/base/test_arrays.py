"""Dataclasses of arrays as keys of a cache: equal where their values are."""

from dataclasses import dataclass, replace

import numpy as np

from rankadjust.base.arrays import ByContent, FloatArray
from rankadjust.chance.metrics import inverse_rank, resolve


@dataclass(frozen=True, eq=False)
class Counts(ByContent):
    counts: FloatArray
    tasks: list[FloatArray]


def test_objects_are_equal_where_their_arrays_are():
    made = [Counts(np.array([2.0, 3.0]), [np.array([1.0]), np.array([last])]) for last in (4.0, 4.0, 5.0)]
    assert made[0] == made[1] != made[2]
    assert len(set(made)) == 2


def test_metrics_with_different_terms_are_different_keys():
    hits = resolve("hits@10")
    assert hits != replace(hits, shape=inverse_rank)
