"""The columns that each stage of re-scoring reads, adds and changes.

A stage reads, adds and changes no other columns than its contract names. Tests check this.
"""

from collections.abc import Mapping
from typing import NamedTuple

from rankadjust.base.vocabulary import KEY
from rankadjust.database.adjustments import COEFFICIENTS
from rankadjust.database.arithmetic import BOUNDS
from rankadjust.database.counted_baselines import GAIN
from rankadjust.database.store import SCHEMA

_SCALES = tuple(column for pair in COEFFICIENTS.values() for column in pair if column is not None)
_PRINTED = ("split", "side", "protocol", "ties", "candidates", "unit")
_RESOLVED = ("dataset", "protocol", "split", "side", "unit", "scores")
_REASONS = ("reason_random_scorer", "reason_static_scorer")
_BASE = ("ratio", "index", "z")


class Contract(NamedTuple):
    """The columns that a stage reads, the columns that it adds, and the columns whose values it changes."""

    reads: tuple[str, ...]
    adds: tuple[str, ...]
    changes: tuple[str, ...] = ()


STAGES: Mapping[str, Contract] = {
    "map_words": Contract(
        reads=(
            "source",
            "dataset",
            "model",
            "split",
            "side",
            "protocol",
            "candidates",
            "metric",
            "unit",
            "notes",
        ),
        adds=("rule_status", "rule_message", "caveat", *(f"{name}_as_printed" for name in _PRINTED)),
        changes=("dataset", "metric", *_PRINTED),
    ),
    "resolve_names": Contract(
        reads=("metric", *_RESOLVED),
        adds=(
            *("metric_found", "adjustment", "lower", "upper", "increasing", "additive", "has_moments"),
            "metric_problem",
            *(f"{name}_{part}" for name in _RESOLVED for part in ("found", "problem")),
            "split_here",
        ),
        changes=("metric", *_RESOLVED),
    ),
    "read_values": Contract(
        reads=(
            *("metric", "value", "unit", "spread", "metric_as_printed"),
            *("adjustment", "lower", "upper", "unit_problem"),
        ),
        adds=(
            *("value_as_printed", "has_percent_sign", "spread_beside", "value_low", "value_high"),
            *("value_missing", "value_not_a_number", "value_impossible"),
        ),
        changes=("value", "unit", "spread"),
    ),
    "add_limits": Contract(
        reads=(
            *KEY,
            *("value_as_printed", "adjustment", "metric_problem", "unit_problem"),
            *("value_low", "value_high", "value_impossible"),
        ),
        adds=("limit",),
        changes=("value_impossible",),
    ),
    "add_constants": Contract(
        reads=(*KEY, "additive", "has_moments", "candidates"),
        adds=(*(name for name in SCHEMA if name not in KEY), "origin"),
    ),
    "add_benchmark_notes": Contract(reads=("dataset", "protocol"), adds=("benchmark_note",)),
    "add_duplicate": Contract(
        reads=(
            "file_line",
            "source",
            "table",
            "source_line",
            "model",
            *KEY,
            "ties",
            "candidates",
            "adjustment",
        ),
        adds=("row_number", "duplicate"),
    ),
    "add_status": Contract(
        reads=(
            *KEY,
            *("rule_status", "rule_message", "adjustment", "has_moments", "duplicate", "benchmark_note"),
            "metric_problem",
            *(f"{name}_problem" for name in _RESOLVED),
            *("value_missing", "value_not_a_number", "value_impossible"),
            *("entities", "expectation", "reason", "origin", *_REASONS, *BOUNDS, *_SCALES),
        ),
        adds=("status", "message"),
        changes=("expectation", "origin", *_REASONS, *BOUNDS, *_SCALES),
    ),
    "add_adjusted": Contract(
        reads=(
            *("value", "value_low", "value_high", "scores", "optimum"),
            *("expectation", *_REASONS, *BOUNDS, *_SCALES),
        ),
        adds=("scores_used", *COEFFICIENTS, "index_low", "index_high", "z_low", "z_high"),
        changes=("expectation", "reason_random_scorer", "z_random_scorer_scale", "z_random_scorer_offset"),
    ),
    "add_certainty": Contract(
        reads=(*KEY, "grades", "value", "index", "index_low", "index_high", "status", "message", "origin"),
        adds=(),
        changes=("status", "message"),
    ),
    "add_gain": Contract(reads=(*KEY, "value", "value_low", "value_high", "optimum"), adds=tuple(GAIN)),
    "recompute": Contract(
        reads=(
            *("source", "table", "source_line", "model", *KEY, "ties", "candidates", "adjustment"),
            *("value", "increasing", "status", "message", *_BASE),
        ),
        adds=("run", *(f"base_{name}" for name in _BASE), "recomputed", "difference"),
        changes=("message",),
    ),
}
