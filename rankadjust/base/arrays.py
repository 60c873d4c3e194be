"""The types of arrays that everything shares, and results of dataclasses of arrays that are computed once."""

import pickle
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property, wraps
from hashlib import sha256
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ComplexArray = NDArray[np.complex128]
BoolArray = NDArray[np.bool_]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_MOST_KEPT = 4096


class ByContent:
    """A dataclass of arrays whose results can be kept (`kept`)."""

    @cached_property
    def digest(self) -> bytes:
        """What equals the digest of another object only where all values are equal."""
        self_: Any = self
        return sha256(pickle.dumps([getattr(self, field.name) for field in fields(self_)])).digest()


def kept(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return a function that computes once what it is asked again; it keeps results, but not the arrays."""
    known: dict[Any, _Result] = {}

    @wraps(function)
    def found(*given: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        everything = (*given, *named.items())
        asked = tuple(each.digest if isinstance(each, ByContent) else each for each in everything)
        if asked not in known:
            if len(known) == _MOST_KEPT:
                known.clear()
            known[asked] = function(*given, **named)
        return known[asked]

    return found
