"""Chance-adjusted link-prediction metrics.

Everything here is imported when it is first used, so that a command that needs little starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankadjust.api import check, rescore
    from rankadjust.candidates import count_candidates
    from rankadjust.database import load_database
    from rankadjust.errors import RankadjustError
    from rankadjust.evaluation import evaluate
    from rankadjust.moments import metric_moments
    from rankadjust.reading import read_table
    from rankadjust.single import adjust

__all__ = [
    "RankadjustError",
    "adjust",
    "check",
    "count_candidates",
    "evaluate",
    "load_database",
    "metric_moments",
    "read_table",
    "rescore",
]

_MODULES = {
    "RankadjustError": "errors",
    "adjust": "single",
    "check": "api",
    "count_candidates": "candidates",
    "evaluate": "evaluation",
    "load_database": "database",
    "metric_moments": "moments",
    "read_table": "reading",
    "rescore": "api",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'rankadjust' has no attribute '{name}'")
    return getattr(import_module(f"rankadjust.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
