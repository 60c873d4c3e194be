"""Chance-adjusted link-prediction metrics: 0 is chance, 1 is perfect.

A model is judged by the rank of the true answer among N candidates, and part of a printed metric is chance. An
evaluation set is a data set under a protocol, one of its splits and a side, with the numbers of candidates of its
tasks. It knows what chance gives, and adjusts what you have:

>>> from rankadjust import EvaluationSet
>>> fb = EvaluationSet.released("FB15k-237")
>>> fb.moments(["mrr", "hits@10"]).select("metric", "expectation").rows()
[('inverse_harmonic_mean_rank', 0.0007110647684101598), ('hits_at_10', 0.0007011959962354286)]
>>> found = fb.adjust(mrr="0.338", mr="170")
>>> found["index"].round(4).to_list()
[0.3375, 0.9764]
>>> fb.check({"mrr": 0.34, "hits@10": 0.1})["mended"].item()
'MRR 0.23 instead of 0.34'

The function for each task:

    EvaluationSet      everything about one evaluation set: released, of a run, of your own triples, or sampled
    Constants          the database: a release, or a run on top of one
    adjust             one printed value: index, ratio, z and p
    evaluate           the ranks or scores of a model: every metric, adjusted, with intervals
    Evaluator          the same while the model is being evaluated: update for each batch of scores, then compute
    compare            the ranks of several models
    read_table         a published table in Markdown, HTML, LaTeX, CSV, JSON and so on, as tidy rows
    rescore            such rows, adjusted; check finds the values among them that contradict each other
    count_candidates   how many candidates the tasks of your own triples have; count_baselines what counting reaches
    metric_moments     expectation and variance of a metric for any numbers of candidates

help(rankadjust.adjust) and docs/api.md say more. A mistake in your input raises a
RankadjustError with a message of one line.
Everything is imported when it is first used, so that a command that needs little starts at once.
"""

# Names that are imported "as" themselves are public for type checkers, too.
# ruff: noqa: I001

from importlib import import_module
from typing import TYPE_CHECKING

from rankadjust.base import version

if TYPE_CHECKING:
    from rankadjust.base.errors import RankadjustError as RankadjustError
    from rankadjust.baselines.table import count_baselines as count_baselines
    from rankadjust.chance.moments import metric_moments as metric_moments
    from rankadjust.counting.candidates import count_candidates as count_candidates
    from rankadjust.database.constants import Constants as Constants
    from rankadjust.database.store import load_database as load_database
    from rankadjust.evaluation.evaluate import evaluate as evaluate
    from rankadjust.evaluation.one_value import adjust as adjust
    from rankadjust.evaluator import Evaluator as Evaluator
    from rankadjust.literature.contradictions import check as check
    from rankadjust.literature.rescore import rescore as rescore
    from rankadjust.manuscript.paper import Paper as Paper, paper as paper
    from rankadjust.models.compare import Comparison as Comparison, compare as compare
    from rankadjust.public_set import EvaluationSet as EvaluationSet
    from rankadjust.sampling.full_bounds import FullBounds as FullBounds, full_bounds as full_bounds
    from rankadjust.tables.reading import read_table as read_table

__version__ = version.VERSION

# The module of each public name.
_MODULES = dict(
    sorted(
        (name, module)
        for module, names in (
            ("models.compare", "Comparison compare"),
            ("database.constants", "Constants"),
            ("public_set", "EvaluationSet"),
            ("sampling.full_bounds", "FullBounds full_bounds"),
            ("manuscript.paper", "Paper paper"),
            ("base.errors", "RankadjustError"),
            ("evaluation.one_value", "adjust"),
            ("literature.contradictions", "check"),
            ("baselines.table", "count_baselines"),
            ("counting.candidates", "count_candidates"),
            ("evaluation.evaluate", "evaluate"),
            ("evaluator", "Evaluator"),
            ("database.store", "load_database"),
            ("chance.moments", "metric_moments"),
            ("tables.reading", "read_table"),
            ("literature.rescore", "rescore"),
        )
        for name in names.split()
    )
)
__all__ = [*_MODULES, "__version__"]  # noqa: PLE0604 - they are strings


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'rankadjust' has no attribute '{name}'")
    return getattr(import_module(f"rankadjust.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
