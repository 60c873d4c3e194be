"""Refuse readings of units and columns that no ranks allow, with the linear program of `consistency`.

The data set need not be known, since the values of one model already restrict each other: an MRR of 0.9 is impossible
with a Hits@1 of 0.4.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rankadjust.base.printed import Number
from rankadjust.chance.metrics import resolve
from rankadjust.tables.values import Value

Row = Mapping[str, tuple[Number, bool]]
"""Key of a metric between 0 and 1 -> its printed number, and whether the number is read as percent."""

_MRR, _FIRST = "inverse_harmonic_mean_rank", "hits_at_1"
# The program needs some milliseconds for a row, and a log may have thousands of rows.
_MOST_ROWS = 5


def rows_of_models(groups: Sequence[Sequence[Value]]) -> list[dict[str, tuple[Number, int]]]:
    """Return rows of two or more values with the same model and evaluation: metric -> number, index of its group."""
    rows: dict[tuple[Any, ...], dict[str, tuple[Number, int]]] = defaultdict(dict)
    for place, members in enumerate(groups):
        for value in members:
            facts = value.facts
            about = (facts.dataset, facts.split, facts.side, facts.protocol, facts.ties)
            rows[value.model_line, value.model, about, value.series[1]][facts.metric or ""] = (
                value.number,
                place,
            )
    return [row for row in rows.values() if len(row) > 1]


def are_possible(row: Row) -> bool:
    """Return whether some ranks, on any data set, give all values of a row."""
    # Loading SciPy's solvers takes longer than reading most tables.
    from rankadjust.consistency.program import Program, Ranks  # noqa: PLC0415
    from rankadjust.consistency.statements import Interval, TaskCounts, statement_of  # noqa: PLC0415

    tasks = {"both": TaskCounts(np.array([]), np.array([]), np.inf)}
    intervals = {key: Interval(key, resolve(key), "both", *_ends(*printed)) for key, printed in row.items()}
    statements = [
        statement
        for interval in intervals.values()
        if (statement := statement_of(interval, intervals)) is not None
    ]
    program = Program(tasks, None, {"both": ("both",)}, statements, Ranks.HALVES)
    return not program.clashes(program.names)


def all_possible(rows: Iterable[Row]) -> bool:
    """Return whether the first rows are possible; later rows are not tried, to save time."""
    return all(map(are_possible, list(rows)[:_MOST_ROWS]))


def is_out_of_order(row: Row) -> bool:
    """Return whether Hits@k falls as k grows, or MRR is out of the reach of Hits@1: this needs no program."""
    ends = {key: _ends(*printed) for key, printed in row.items()}
    hits = [ends[key] for key in sorted((key for key in ends if key.startswith("hits_at_")), key=_k)]
    if any(lower[0] > higher[1] for lower, higher in pairwise(hits)):
        return True
    if not {_MRR, _FIRST} <= ends.keys():
        return False
    (low, high), (least, most) = ends[_MRR], ends[_FIRST]
    return low > (1 + most) / 2 or high < least


def _k(key: str) -> int:
    return resolve(key).k or 0


def _ends(number: Number, is_percent: bool) -> tuple[float, float]:
    _, low, high = number.interval(percent=is_percent or number.percent)
    return low, high
