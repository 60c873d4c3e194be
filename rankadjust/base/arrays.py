"""The types of arrays that everything shares, and results of dataclasses of arrays that are computed once."""

import pickle
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property, wraps
from hashlib import sha256
from typing import Any, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ComplexArray = NDArray[np.complex128]
BoolArray = NDArray[np.bool_]

_Key = TypeVar("_Key")
_Arrays = TypeVar("_Arrays", bound="ByContent")
_Others = TypeVarTuple("_Others")
_Result = TypeVar("_Result")
_MOST_KEPT = 4096


class ByContent:
    """A dataclass of arrays whose results can be kept (`kept`)."""

    @cached_property
    def digest(self) -> bytes:
        """What equals the digest of another object only where all values are equal."""
        self_: Any = self
        return sha256(pickle.dumps([getattr(self, field.name) for field in fields(self_)])).digest()


def kept(
    function: Callable[[_Key, _Arrays, *_Others], _Result],
) -> Callable[[_Key, _Arrays, *_Others], _Result]:
    """Return a function that computes once what it is asked again; it keeps results, but not the arrays."""
    known: dict[Any, _Result] = {}

    @wraps(function)
    def found(key: _Key, arrays: _Arrays, *others: *_Others) -> _Result:
        asked = (key, arrays.digest, *others)
        if asked not in known:
            if len(known) == _MOST_KEPT:
                known.clear()
            known[asked] = function(key, arrays, *others)
        return known[asked]

    return found
