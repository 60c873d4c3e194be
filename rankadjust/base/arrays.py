"""The types of arrays that everything shares, and dataclasses of arrays as keys of a cache."""

import pickle
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ComplexArray = NDArray[np.complex128]
BoolArray = NDArray[np.bool_]


class ByContent:
    """A dataclass of arrays (with eq=False) that equals another of the same values, so that results can be cached."""

    @cached_property
    def _content(self) -> bytes:
        self_: Any = self
        return pickle.dumps([getattr(self, field.name) for field in fields(self_)])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._content == self._content

    def __hash__(self) -> int:
        return hash(self._content)
