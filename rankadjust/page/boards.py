"""The boards: the published models of one evaluation, the best first.

A board belongs to a data set, a protocol, a test split and a side, so no board ranks results of two evaluations.
It is ordered by MRR, or by the most common metric where few results have MRR.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from statistics import median
from typing import Any

import polars as pl
from markupsafe import Markup

from rankadjust.base.vocabulary import EVALUATION, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.literature.mapping import load_rules
from rankadjust.literature.summaries import impossible_values, ranked_rows
from rankadjust.page.material import place_of, usable_values
from rankadjust.page.templating import render

MRR = "inverse_harmonic_mean_rank"
# The metrics of a board's columns, in their order; a board has a column for those that its results have.
METRICS = (MRR, "hits_at_1", "hits_at_3", "hits_at_10", "arithmetic_mean_rank")
# A median of fewer results says little.
_LEAST = 3
# A remark, an addition or a size behind the name of a model: 'ComplEx-N3 rank 50', 'MEI 3x100', 'ComplEx + RP'.
_REMARK = re.compile(r"(?:,| *\(| \[| \+ | rank \d| \d+x\d).*", re.DOTALL)

Row = dict[str, Any]


@dataclass(frozen=True)
class Board:
    """The results of one evaluation, ordered by one metric.

    evaluation: data set, protocol, split, side. rows: a row for each model, the best first, with the rows of its
    variants; models without a value of the metric come last and have no place. unplaced: second-hand, refuted and
    impossible results, with the reason. chance, counting, baseline: what chance and the best counting baseline reach.
    """

    evaluation: tuple[str, ...]
    metric: str
    rows: list[Row]
    unplaced: list[Row]
    chance: float | None
    counting: float | None
    baseline: str | None

    @property
    def results(self) -> int:
        """The number of results, with or without a place."""
        return len(self.unplaced) + sum(1 + len(row["variants"]) for row in self.rows)

    @property
    def values(self) -> list[float]:
        """The values of the models that have a place, the best first."""
        return [row["value"] for row in self.rows if row["place"]]

    @property
    def standing(self) -> Row | None:
        """Chance, counting, median, best, and where they are from chance (0) to perfect (1); None below 3 models."""
        if self.chance is None or len(self.values) < _LEAST:
            return None
        known = {"counting": self.counting, "median": median(self.values), "best": self.values[0]}
        room = resolve(self.metric).optimum - self.chance
        at = {name: (value - self.chance) / room for name, value in known.items() if value is not None}
        first = {name: self.rows[0][name] for name in ("model", "year")}
        return {
            "chance": self.chance,
            "baseline": self.baseline,
            "models": len(self.values),
            "at": at,
            **known,
            **first,
        }

    def html(self) -> Markup:
        """Return the board as a table, with counting as a row in its place, and below it the results without one."""
        metric = resolve(self.metric)
        printed = {name for row in self.rows for name in row["printed"]} - {self.metric}
        place = sum(
            row["value"] >= self.counting if metric.increasing else row["value"] <= self.counting
            for row in self.rows
            if row["place"] and self.counting is not None
        )
        return render(
            "board.html.jinja",
            board=self,
            metric=metric,
            others=[(name, resolve(name).label) for name in METRICS if name in printed],
            above=self.rows[:place],
            below=self.rows[place:],
            dated=any(row["year"] for row in self.rows),
        )


def boards(values: pl.DataFrame, contradictions: pl.DataFrame | None) -> list[Board]:
    """Return the boards of values, by data set, the board with most results of a data set first.

    values: rows of `all_values`. contradictions: a frame of `check`; a result that it calls impossible, or that repeats
    the row of another data set, has no place.
    """
    if values.is_empty():
        return []
    doubts = contradictions
    if doubts is not None and "bound" in doubts.columns:
        is_repeated = pl.col("bound") == "repeated_row"
        doubts = doubts.with_columns(
            severity=pl.when(is_repeated).then(pl.lit("impossible")).otherwise("severity")
        )
    usable = usable_values(values).filter(pl.col("model").is_not_null(), pl.col("split").is_in(TEST_SPLITS))
    placed = ranked_rows(usable, doubts)
    doubtful = pl.concat(
        [usable.filter(pl.col("caveat").is_not_null()), impossible_values(usable, doubts)]
    ).unique([*EVALUATION, "metric", "model", "own", "value", "caveat"], keep="first", maintain_order=True)
    row_of = _Rows(usable, contradictions)
    by_evaluation = placed.partition_by(EVALUATION, as_dict=True, maintain_order=True)
    apart = doubtful.partition_by(EVALUATION, as_dict=True, maintain_order=True)
    made = [
        _board(key, by_evaluation.get(key, placed.clear()), apart.get(key, doubtful.clear()), row_of)
        for key in dict.fromkeys([*by_evaluation, *apart])
    ]
    return sorted(made, key=lambda board: (board.evaluation[0].casefold(), -board.results, board.evaluation))


def _board(key: tuple[object, ...], placed: pl.DataFrame, doubtful: pl.DataFrame, row_of: "_Rows") -> Board:
    counts = Counter((placed if placed.height else doubtful)["metric"].to_list())
    most = max(counts, key=lambda name: (counts[name], name))
    metric = MRR if 2 * counts[MRR] >= counts[most] else most
    order = {name: place for place, name in enumerate(dict.fromkeys([metric, *METRICS, *counts]))}
    models = (
        placed.sort(pl.col("metric").replace_strict(order, return_dtype=pl.Int64), "place")
        .unique(["model", "own"], keep="first", maintain_order=True)
        .iter_rows(named=True)
    )
    rows: dict[tuple[str, bool], Row] = {}
    for value in models:
        row = row_of(value) | {"variants": [], "place": None}
        family = (value["model"] if value["own"] else family_of(value["model"]), value["own"])
        head = rows.setdefault(family, row)
        if head is not row:
            head["variants"].append(row)
        elif value["metric"] == metric:
            row["place"] = len(rows)
    unplaced = doubtful.filter(metric=metric).sort("index", descending=True)
    known = pl.concat([placed, doubtful], how="diagonal").filter(metric=metric).drop_nulls("expectation")
    first = next(iter(known.sort(pl.col("baseline_value").is_null()).iter_rows(named=True)), {})
    return Board(
        tuple(map(str, key)),
        metric,
        list(rows.values()),
        [row_of(value) for value in unplaced.iter_rows(named=True)],
        first.get("expectation"),
        first.get("baseline_value"),
        first.get("baseline"),
    )


@cache
def family_of(model: str) -> str:
    """Return the model that a name is a variant of, as config/published.yaml says under `variants` and `models`.

    >>> family_of("ComplEx-N3 rank 50"), family_of("RGCN"), family_of("ULTRA-3g")
    ('ComplEx', 'R-GCN', 'ULTRA')
    """
    rules = load_rules()
    added = "|".join(map(re.escape, rules.variants))
    name = re.sub(rf"(?:[-_](?:{added}))+$", "", _REMARK.sub("", model))
    return next((known for known, about in rules.models.items() if name in about.get("names", ())), name)


class _Rows:
    """Make the row of a board from a value, with the other metrics of its result and with its notes."""

    def __init__(self, usable: pl.DataFrame, contradictions: pl.DataFrame | None) -> None:
        self._printed: dict[int, dict[str, tuple[str, float]]] = {}
        for row in usable.iter_rows(named=True):
            self._printed.setdefault(row["result"], {}).setdefault(row["metric"], (_shown(row), row["value"]))
        self._messages: dict[tuple[Any, ...], list[str]] = {}
        if contradictions is not None and {"file", "file_line"} <= set(contradictions.columns):
            for row in contradictions.iter_rows(named=True):
                said = f"{row['severity'].replace('_', ' ')}: {row['message']}"
                self._messages.setdefault(_where(row), []).append(said)

    def __call__(self, value: Mapping[str, Any]) -> Row:
        caveats = value["caveat"].split("; ") if value["caveat"] else []
        # A message of a published row, such as that its constants are bounds, holds for all rows of its board.
        own_notes = (
            [value["message"]] if value["own"] and value["status"] != "ok" and value["message"] else []
        )
        name = value["file"] or value["table_name"] or ""
        of_model = load_rules().models.get(family_of(value["model"]), {})
        return {
            **{
                key: value[key]
                for key in ("model", "own", "metric", "value", "gain", "index", "year", "tags")
            },
            # Of a reproduction the year says when it was made; the model is older.
            "model_year": of_model.get("year") if "reproduction" in (value["tags"] or "") else None,
            "printed": self._printed[value["result"]],
            "notes": list(dict.fromkeys([*self._messages.get(_where(value), []), *caveats, *own_notes])),
            "source": PurePath(name).stem,
            "title": value["source"] or name,
            "url": place_of(value),
        }


def _shown(row: Mapping[str, Any]) -> str:
    """Return a value as it is printed, but a percentage as a fraction, so that a column has one unit."""
    text = str(row["value_as_printed"])
    if row["unit"] != "percent":
        return text
    decimals = len(text.partition("±")[0].strip(" %").partition(".")[2])
    return f"{row['value']:.{decimals + 2}f}"


def _where(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the place where a value is printed, and its result; an empty text in a file is null elsewhere."""
    return tuple(row.get(name) or None for name in ("file", "file_line", "model", *EVALUATION))
