"""The strip of benchmarks: a row per data set, with chance, counting, the median and the best result with a place."""

from collections.abc import Iterable
from statistics import median
from typing import Any

from rankadjust.base.vocabulary import TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.page.boards import MRR, Board
from rankadjust.page.templating import Section, render

# A median of fewer results says little.
_LEAST = 3


def strip_section(boards: Iterable[Board]) -> Section | None:
    """Return the strip of benchmarks, None if no data set has enough results."""
    rows = benchmark_rows(boards)
    return Section("benchmarks", "Benchmarks", render("strip.html.jinja", rows=rows)) if rows else None


def benchmark_rows(boards: Iterable[Board]) -> list[dict[str, Any]]:
    """Return a row per data set for the MRR of its most common test evaluation.

    boards: boards in the order of `boards`, grouped by data set with the usual evaluation first. A row has key, results
    (models with a place), chance, counting (None if it is not known), median and best (printed values) with model, and
    at: the positions of counting, median and best between chance (0) and perfect (1).
    """
    first: dict[str, Board] = {}
    for board in boards:
        if board.key[4] == MRR and board.key[2] in TEST_SPLITS and board.scale["chance"] is not None:
            first.setdefault(board.key[0], board)
    return [_row(board) for board in first.values() if len(board.ranked) >= _LEAST]


def _row(board: Board) -> dict[str, Any]:
    chance, optimum = board.scale["chance"], resolve(board.key[4]).optimum
    values = {
        "counting": board.scale["value"],
        "median": median(row["value"] for row in board.ranked),
        "best": board.ranked[0]["value"],
    }
    at = {
        name: None if value is None else (value - chance) / (optimum - chance)
        for name, value in values.items()
    }
    return {
        "key": board.key,
        "results": len(board.ranked),
        "chance": chance,
        **values,
        "model": board.ranked[0]["model"],
        "at": at,
    }
