"""What counting and chance reach, as rows at the foot of a table in its own number format; or a column for a score.

For example, a table with MRRs of 29.4 to 33.8 on FB15k-237 gets the row "Counting (popularity) 23.5". If its metrics
are in rows, it gets a column. docs/which-number.md says when chance is added, too: where it is more than 1 % of the
values, and for mean ranks.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import find, resolve

SCORES = ("recommended", "index", "gain")
"""What a user can ask for in a column: the index where chance matters and else the gain, or one of the two."""

HEADERS = {"index": "adj.", "gain": "gain"}
"""The header of a new column, by its score."""

_LEAST_SHARE = 0.01
MAIN = ("inverse_harmonic_mean_rank", "hits_at_10")
"""The first of these metrics that a table has is its main metric."""

_THOUSANDS = re.compile(r"\d[, ]\d{3}(?!\d)")
# A tool writes sixteen digits of a value, and nobody prints them.
_MOST_DECIMALS = 4


class Foot(NamedTuple):
    """A row to be added: the row of the grid that it follows, and its texts by column of the grid, both from 0."""

    after: int
    texts: Mapping[int, str]


class AddedColumn(NamedTuple):
    """A column to be added on the right: its data set, its title, and its texts by row of the grid, from 0."""

    dataset: str
    title: str
    texts: dict[int, str]


def with_chance_matters(rescored: pl.DataFrame) -> pl.DataFrame:
    """Add chance_matters: whether chance is more than 1 % of the values of a row's evaluation and metric.

    It always matters for a mean rank, which says nothing without the number of candidates.
    """
    known = rescored["metric"].drop_nulls().unique().to_list()
    falling = [key for key in known if (metric := find(key)) is not None and not metric.increasing]
    share = pl.when(pl.col("value") > 0).then(pl.col("expectation") / pl.col("value")).median().over(KEY)
    matters = pl.col("metric").is_in(falling) | (share > _LEAST_SHARE)
    return rescored.with_columns(
        chance_matters=(pl.col("index").is_not_null() & matters).fill_null(value=False)
    )


def additions(
    cells: pl.DataFrame, label_column: int, score: str | None
) -> tuple[list[Foot], list[AddedColumn]]:
    """Return the rows to add to a table, or the columns.

    Below each block come counting and, where it matters, chance. A block is a run of rows whose columns stay in one
    evaluation and metric each. If each row has a metric of its own, they come into columns. A score has columns too.

    cells: the values of one table with chance_matters, and their row and column from 0. label_column: the column of
    the names of the models.
    """
    if score:
        columns = score_columns(cells, score)
        # A table with a model in each column would get a column for each model.
        return [], columns if len(columns) <= cells["dataset"].n_unique() else []
    blocks = list(_blocks(cells))
    if len(blocks) == 1 or any(block["row"].n_unique() > 1 for block in blocks):
        return [foot for block in blocks for foot in _feet_of(block, label_column)], []
    if cells.select("row", *KEY).n_unique() > len(blocks):
        return [], []
    added = [
        AddedColumn("", title.partition(" (")[0], _reached_by(cells, "row", name))
        for name, title in _references(cells).items()
    ]
    return [], added


def _blocks(cells: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the values of each block."""
    first = 0
    meant: dict[int, list[Any]] = {}
    for (row,), part in cells.sort("row", maintain_order=True).group_by("row", maintain_order=True):
        keys = {
            int(str(column)): own.select(KEY).rows()
            for (column,), own in part.group_by("column", maintain_order=True)
        }
        if any(meant.get(column, key) != key for column, key in keys.items()):
            yield cells.filter(pl.col("row").is_between(first, row, closed="left"))
            first, meant = int(str(row)), {}
        meant |= keys
    yield cells.filter(pl.col("row") >= first)


def _feet_of(block: pl.DataFrame, label_column: int) -> Iterator[Foot]:
    after = int(block.select(pl.col("row").max()).item())
    for name, title in _references(block).items():
        if texts := _reached_by(block, "column", name):
            yield Foot(after, {label_column: title, **texts})


def _references(cells: pl.DataFrame) -> dict[str, str]:
    """Return what is added to some cells: the column of its numbers and its title."""
    names = cells["baseline"].drop_nulls().unique().to_list()
    counting = (
        {"baseline_value": f"Counting ({names[0]})" if len(names) == 1 else "Counting"} if names else {}
    )
    return counting | ({"expectation": "Chance"} if cells["chance_matters"].any() else {})


def _reached_by(cells: pl.DataFrame, by: str, name: str) -> dict[int, str]:
    """Return what counting or chance reaches in each row or column, for each of the metrics that its cells hold.

    Chance is left out where it does not matter.
    """
    reached = {}
    if name == "expectation":
        cells = cells.filter("chance_matters")
    for (place,), own in cells.group_by(by, maintain_order=True):
        texts = [in_format_of(part, part[name][0]) for _, part in own.group_by("metric", maintain_order=True)]
        if all(texts):
            reached[int(str(place))] = " / ".join(texts)
    return reached


def in_format_of(values: pl.DataFrame, number: float | None) -> str:
    """Return a number as some values are printed: their unit, decimals, separators and missing zeros; '' for None.

    values: rows of `rankadjust.rescore`.
    """
    if number is None:
        return ""
    printed = values["cell" if "cell" in values.columns else "value_as_printed"].drop_nulls().to_list()
    read = [known for text in values["value_as_printed"] if (known := read_number(str(text))) is not None]
    decimals = Counter(len(known.text.partition(".")[2]) for known in read).most_common(1)[0][0]
    is_percent = values["unit"][0] == "percent"
    if decimals > _MOST_DECIMALS:
        decimals = 1 if is_percent or values["unit"][0] == "rank" else 3
    text = f"{number * (100 if is_percent else 1):,.{decimals}f}"
    if not any(map(_THOUSANDS.search, printed)):
        text = text.replace(",", "")
    if all(text.startswith(".") for text in printed):
        text = text.removeprefix("0")
    sign: str = printed[0][len(printed[0].rstrip(" %")) :]
    return text + sign * all(text.endswith("%") for text in printed)


def score_columns(cells: pl.DataFrame, score: str) -> list[AddedColumn]:
    """Return a column for each data set, or one for all where each row has one data set.

    Its values are of the main metric of the evaluation: MRR, else Hits@10, else the first. cells: as in `additions`.
    Raises RankadjustError for an unknown score.
    """
    if score not in SCORES:
        raise RankadjustError(f"unknown score '{score}'{did_you_mean(score, SCORES) or ''}")
    chosen = "index" if score == "index" else "gain"
    columns: dict[int, AddedColumn] = {}
    for (dataset, *_), part in cells.group_by(KEY[:-1], maintain_order=True):
        metrics = part["metric"].unique(maintain_order=True).to_list()
        main = part.filter(metric=next((name for name in MAIN if name in metrics), metrics[0]))
        name = "index" if score == "recommended" and main["chance_matters"].any() else chosen
        title = f"{resolve(main['metric'][0]).label} {HEADERS[name]}"
        for row, column, number in main.select("row", "column", name).iter_rows():
            is_rank = main["unit"][0] == "rank"
            if text := f"{number:.3f}" if is_rank and number is not None else in_format_of(main, number):
                columns.setdefault(column, AddedColumn(str(dataset), title, {})).texts[row] = text
    return [columns[place] for place in sorted(columns)]
