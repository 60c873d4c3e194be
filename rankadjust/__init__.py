"""Chance-adjusted link-prediction metrics.

Everything here is imported when it is first used, so that a command that needs little starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankadjust.base.errors import RankadjustError
    from rankadjust.baselines.table import count_baselines
    from rankadjust.chance.moments import metric_moments
    from rankadjust.counting.candidates import count_candidates, count_protocols
    from rankadjust.database.constants import Constants
    from rankadjust.database.evaluation_set import EvaluationSet
    from rankadjust.database.store import load_database
    from rankadjust.evaluation.evaluate import evaluate
    from rankadjust.evaluation.one_value import adjust
    from rankadjust.literature.contradictions import check
    from rankadjust.literature.rescore import rescore
    from rankadjust.models.compare import Comparison, compare
    from rankadjust.models.datasets import compare_datasets
    from rankadjust.models.printed import compare_printed
    from rankadjust.tables.reading import read_table

__all__ = [
    "Comparison",
    "Constants",
    "EvaluationSet",
    "RankadjustError",
    "adjust",
    "check",
    "compare",
    "compare_datasets",
    "compare_printed",
    "count_baselines",
    "count_candidates",
    "count_protocols",
    "evaluate",
    "load_database",
    "metric_moments",
    "read_table",
    "rescore",
]

_MODULES = {
    "Comparison": "models.compare",
    "Constants": "database.constants",
    "EvaluationSet": "database.evaluation_set",
    "RankadjustError": "base.errors",
    "adjust": "evaluation.one_value",
    "check": "literature.contradictions",
    "compare": "models.compare",
    "compare_datasets": "models.datasets",
    "compare_printed": "models.printed",
    "count_baselines": "baselines.table",
    "count_candidates": "counting.candidates",
    "count_protocols": "counting.candidates",
    "evaluate": "evaluation.evaluate",
    "load_database": "database.store",
    "metric_moments": "chance.moments",
    "read_table": "tables.reading",
    "rescore": "literature.rescore",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'rankadjust' has no attribute '{name}'")
    return getattr(import_module(f"rankadjust.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
