"""The boards: the models of one evaluation ordered by a metric, and the strip of benchmarks.

A board belongs to a data set, protocol, split, side and metric. No board ranks results of two evaluations together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import polars as pl
from markupsafe import Markup

from rankadjust.base.vocabulary import EVALUATION, KEY, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.literature.full_ranking import FULL_METRICS
from rankadjust.literature.summaries import impossible_values, ranked_rows
from rankadjust.page.material import place_of, usable_values
from rankadjust.page.templating import Section, packed_element, render

# The evaluation that the page opens with, if there are results for it.
OPENED = ("FB15k-237", "filtered", "testing", "both")
MRR = "inverse_harmonic_mean_rank"
# The order of the metrics in the menu of boards; others follow by name.
FIRST_METRICS = (MRR, "hits_at_1", "hits_at_3", "hits_at_5", "hits_at_10", "arithmetic_mean_rank")
SECOND_HAND = "second-hand"
# Rows that agree in these columns belong to one model.
_MODEL = (*KEY, "model", "own")
# The metrics with bounds of the full ranking, by their keys (`rankadjust.literature.full_ranking.add_full_bounds`).
_FULL = {resolve(name).key: name for name in FULL_METRICS}
# A median of fewer results says little.
_LEAST = 3
_ALL_RESULTS = ("model", *EVALUATION, "metric", "printed", "index", "year", "source", "url", "note")


@dataclass(frozen=True)
class Board:
    """The models of one evaluation, ordered by one metric.

    key: data set, protocol, split, side and metric. results: the number of rows, with or without a place. ranked: the
    rows for the template, the best first. second_hand, refuted: rows without a place, with the reason. scale: the
    values of chance and of the best counting baseline, and their positions on the axis.
    """

    key: tuple[str, ...]
    ranked: list[dict[str, Any]]
    second_hand: list[dict[str, Any]]
    refuted: list[dict[str, Any]]
    scale: dict[str, Any]

    @property
    def results(self) -> int:
        """The number of rows."""
        return len(self.ranked) + len(self.second_hand) + len(self.refuted)

    def html(self, level: int = 3) -> Markup:
        """Return the board as HTML, under a heading of this level."""
        metric = resolve(self.key[-1])
        evaluation = dict(zip(EVALUATION, self.key, strict=False))
        metrics = dict.fromkeys(name for row in self.ranked for name in row["others"])
        others = [
            (name, resolve(name).label) for name in sorted(metrics, key=order_of) if name in FIRST_METRICS
        ]
        return render(
            "board.html.jinja",
            board=self,
            metric=metric,
            evaluation=evaluation,
            others=others,
            level=level,
        )


def board_section(boards_shown: list[Board], values: pl.DataFrame) -> Section | None:
    """Return the section of the boards of a run (`boards` of its values), None without printed results."""
    if values.is_empty():
        return None
    opened = opened_board(boards_shown, values)
    content = render(
        "boards.html.jinja",
        boards=len(boards_shown),
        opened=opened.html() if opened else None,
        data=packed_element(
            "boards-data",
            {
                "labels": {board.key[-1]: resolve(board.key[-1]).label for board in boards_shown},
                "open": list(opened.key) if opened else None,
                "boards": [[*board.key, board.results, str(board.html())] for board in boards_shown],
            },
        ),
    )
    return Section("leaderboard", "Boards", content)


def results_section(values: pl.DataFrame) -> Section | None:
    """Return the section that searches all printed values without ranking them, None if a run has none."""
    if values.is_empty():
        return None
    rows = all_results(values)
    data = packed_element("results-data", {"columns": _ALL_RESULTS, "rows": rows})
    return Section("results", "All results", render("results.html.jinja", values=len(rows), data=data))


def boards(values: pl.DataFrame, comparison: Mapping[str, pl.DataFrame]) -> list[Board]:
    """Return the boards of values, grouped by data set, each with its usual evaluation first.

    values: rows of `all_values`. comparison: the frames of results/comparison by name. A result that
    contradictions calls impossible gets no place.
    """
    contradictions = comparison.get("contradictions")
    if values.is_empty():
        return []
    usable = usable_values(values).filter(pl.col("model").is_not_null())
    if usable.is_empty():
        return []
    placed = ranked_rows(usable, contradictions)
    unplaced = pl.concat(
        [usable.filter(pl.col("caveat").is_not_null()), impossible_values(usable, contradictions)]
    ).unique([*_MODEL, "value", "caveat"], keep="first", maintain_order=True)
    messages = _messages(contradictions)
    printed: dict[int, dict[str, str]] = {}
    for result, metric, text in usable.select("result", "metric", "value_as_printed").iter_rows():
        printed.setdefault(result, {}).setdefault(metric, text)
    by_key = placed.partition_by(KEY, as_dict=True, maintain_order=True)
    apart = unplaced.partition_by(KEY, as_dict=True, maintain_order=True)
    made = []
    for key in dict.fromkeys([*by_key, *apart]):
        ranked = [
            _row(row, printed, messages) | {name: row[name] for name in ("place", "results")}
            for row in by_key.get(key, placed.clear()).iter_rows(named=True)
        ]
        rows = (
            [] if key not in apart else list(apart[key].sort("index", descending=True).iter_rows(named=True))
        )
        shown_rows = [_row(row, printed, messages) for row in rows]
        made.append(
            Board(
                tuple(map(str, key)),
                ranked,
                [row for row in shown_rows if row["second_hand"]],
                [row for row in shown_rows if not row["second_hand"]],
                _scale([*(by_key.get(key, placed.clear()).iter_rows(named=True)), *rows]),
            )
        )
    counts = _most(made)
    return sorted(made, key=lambda board: _order(board, counts[board.key[:4]]))


def _most(boards_shown: Iterable[Board]) -> dict[tuple[str, ...], int]:
    """Return the number of results of the longest board of each evaluation."""
    counts: dict[tuple[str, ...], int] = {}
    for board in boards_shown:
        counts[board.key[:4]] = max(counts.get(board.key[:4], 0), board.results)
    return counts


def _order(board: Board, results: int) -> tuple[Any, ...]:
    dataset, protocol, split, side, metric = board.key
    return (dataset.casefold(), split not in TEST_SPLITS, -results, protocol, split, side, *order_of(metric))


def order_of(metric: str) -> tuple[int, str]:
    """Return the sort key of a metric."""
    return (FIRST_METRICS.index(metric) if metric in FIRST_METRICS else len(FIRST_METRICS), metric)


def opened_board(boards_shown: list[Board], values: pl.DataFrame) -> Board | None:
    """Return the board to open with: a board of the user's own results, or else OPENED, or else the longest board."""
    own = set(values.filter("own").select(EVALUATION).rows())
    candidates = [board for board in boards_shown if board.key[:4] in own] or boards_shown
    results = _most(candidates)

    def wish(board: Board) -> tuple[Any, ...]:
        of = board.key[:4]
        return (of != OPENED, of[2] not in TEST_SPLITS, -results[of], of, order_of(board.key[4]))

    return min(candidates, key=wish, default=None)


def _messages(contradictions: pl.DataFrame | None) -> dict[tuple[Any, ...], list[str]]:
    """Return the contradictions of each result; a line of a wide table holds results on several data sets."""
    messages: dict[tuple[Any, ...], list[str]] = {}
    if contradictions is None or not {"file", "file_line"} <= set(contradictions.columns):
        return messages
    for row in contradictions.iter_rows(named=True):
        messages.setdefault(_where(row), []).append(f"{row['severity']}: {row['message']}")
    return messages


def _where(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the place where a value is printed, and its result; an empty text in a file is null elsewhere."""
    return tuple(row.get(name) or None for name in ("file", "file_line", "model", *EVALUATION))


def _notes(value: Mapping[str, Any], messages: Mapping[tuple[Any, ...], list[str]]) -> list[str]:
    caveats = value["caveat"].split("; ") if value["caveat"] else []
    own_notes = [value["message"]] if value["status"] != "ok" and value["message"] else []
    return list(dict.fromkeys([*messages.get(_where(value), []), *caveats, *own_notes]))


def _row(
    value: dict[str, Any],
    printed: Mapping[int, dict[str, str]],
    messages: Mapping[tuple[Any, ...], list[str]],
) -> dict[str, Any]:
    notes = _notes(value, messages)
    is_second_hand = bool(value["caveat"]) and all(
        part.startswith(SECOND_HAND) for part in value["caveat"].split("; ")
    )
    return {
        "model": value["model"],
        "own": value["own"],
        "value": value["value"],
        "printed": value["value_as_printed"],
        "index": value["index"],
        "value_ends": [value["value_low"], value["value_high"]],
        "ends": [value["index_low"], value["index_high"]],
        "full": _full_ends(value),
        "others": {name: text for name, text in printed[value["result"]].items() if name != value["metric"]},
        "year": value["year"],
        "source": value["source"] or value["file"] or value["table_name"],
        "url": place_of(value),
        "notes": notes,
        "second_hand": is_second_hand and not any(note.startswith("impossible: ") for note in notes),
    }


def _full_ends(value: Mapping[str, Any]) -> list[float] | None:
    """Return the bounds in the full ranking of a value among sampled negatives, None if there are none."""
    name = _FULL.get(value["metric"])
    ends = [value.get(f"full_{name}_{end}") for end in ("low", "high")]
    return None if None in ends else [float(end) for end in ends if end is not None]


def _scale(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the common scale of the bars of a board: chance (0) and the best counting baseline, as an index."""
    scale: dict[str, Any] = {"chance": None, "baseline": None, "value": None, "at": None}
    for row in rows:
        chance, value = row["expectation"], row.get("baseline_value")
        if chance is not None:
            scale["chance"] = chance
            if value is not None:
                at = (value - chance) / (resolve(row["metric"]).optimum - chance)
                return scale | {"baseline": row["baseline"], "value": value, "at": at}
    return scale


def all_results(values: pl.DataFrame) -> list[list[Any]]:
    """Return every printed value as a list of _ALL_RESULTS, without exact duplicates, in no order of merit."""
    same = [*KEY, "model", "source", "value_as_printed", "metric_as_printed"]
    rows = values.unique(same, keep="first", maintain_order=True).sort(
        *EVALUATION, "model", nulls_last=True, maintain_order=True
    )
    return [
        [
            row["model"] or "(no name)",
            *(row[name] or "(unknown)" for name in EVALUATION),
            _label(row),
            " ".join(filter(None, (row["adjustment"], row["value_as_printed"]))),
            None if row["index"] is None else float(f"{row['index']:.5g}"),
            row["year"] or "",
            row["source"] or row["file"] or row["table_name"],
            place_of(row),
            "; ".join(filter(None, (row["caveat"], row["message"] if row["status"] != "ok" else None))),
        ]
        for row in rows.iter_rows(named=True)
    ]


def _label(row: Mapping[str, Any]) -> str:
    """Return the usual name of the metric of a value."""
    if row["status"] == "metric_unknown" or row["metric"] is None:
        return str(row["metric_as_printed"] or row["metric"])
    return resolve(row["metric"]).label


def strip_section(boards_shown: Iterable[Board]) -> Section | None:
    """Return the strip of benchmarks, None if no data set has enough results."""
    rows = benchmark_rows(boards_shown)
    return Section("benchmarks", "Benchmarks", render("strip.html.jinja", rows=rows)) if rows else None


def benchmark_rows(boards_shown: Iterable[Board]) -> list[dict[str, Any]]:
    """Return a row per data set for the MRR of its most common test evaluation.

    boards_shown: boards in the order of `boards`, grouped by data set with the usual evaluation first. A row has key,
    results (models with a place), chance, counting (None if it is not known), median and best (printed values), model
    (the best one), and at: the positions of counting, median and best between chance (0) and perfect (1).
    """
    first: dict[str, Board] = {}
    for board in boards_shown:
        if board.key[4] == MRR and board.key[2] in TEST_SPLITS and board.scale["chance"] is not None:
            first.setdefault(board.key[0], board)
    return [_strip_row(board) for board in first.values() if len(board.ranked) >= _LEAST]


def _strip_row(board: Board) -> dict[str, Any]:
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
