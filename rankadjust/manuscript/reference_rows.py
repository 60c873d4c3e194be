"""What counting and chance reach, as rows at the foot of a table in its own number format; or a column for a score.

For example, below MRRs of 29.4 to 33.8 on FB15k-237 stands "Counting (popularity) 23.5". docs/which-number.md says
when chance has a row, too: where it is more than 1 % of the values, and for mean ranks.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import find

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


def feet(cells: pl.DataFrame, label_column: int) -> list[Foot]:
    """Return the rows to add to a table: below each block counting and, where it matters, chance.

    A block is a run of rows whose columns stay in one evaluation and metric each. A table whose blocks all have one
    row, since data sets or metrics are in rows, gets none unless that is its only row.

    cells: the values of one table with chance_matters, and their row and column from 0. label_column: the column of
    the names of the models.
    """
    blocks = list(_blocks(cells))
    if len(blocks) > 1 and all(block["row"].n_unique() == 1 for block in blocks):
        return []
    return [foot for block in blocks for foot in _feet_of(block, label_column)]


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
    names = block["baseline"].drop_nulls().unique().to_list()
    title = f"Counting ({names[0]})" if len(names) == 1 else "Counting"
    wanted = {"baseline_value": title}
    if block["chance_matters"].any():
        wanted["expectation"] = "Chance"
    for name, words in wanted.items():
        texts = {
            int(str(column)): _reached(part, name)
            for (column,), part in block.group_by("column", maintain_order=True)
        }
        if any(texts.values()):
            yield Foot(after, {label_column: words, **texts})


def _reached(column: pl.DataFrame, name: str) -> str:
    """Return what counting or chance reaches in a column of a block, for each of the metrics that its cells hold."""
    texts = [in_format_of(part, part[name][0]) for _, part in column.group_by("metric", maintain_order=True)]
    return " / ".join(texts) if all(texts) else ""


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


def score_columns(cells: pl.DataFrame, score: str | None) -> dict[int, tuple[str, dict[int, str]]]:
    """Return one new column a data set, by the column it follows: its header, and its texts by row.

    Its values are of the main metric of the evaluation: MRR, else Hits@10, else the first. cells: as in `feet`. Raises
    RankadjustError for an unknown score.
    """
    if score is None:
        return {}
    if score not in SCORES:
        raise RankadjustError(f"unknown score '{score}'{did_you_mean(score, SCORES) or ''}")
    chosen = "index" if score == "index" else "gain"
    columns: dict[int, tuple[str, dict[int, str]]] = {}
    for _, part in cells.group_by(KEY[:-1], maintain_order=True):
        metrics = part["metric"].unique(maintain_order=True).to_list()
        main = part.filter(metric=next((name for name in MAIN if name in metrics), metrics[0]))
        name = "index" if score == "recommended" and main["chance_matters"].any() else chosen
        for row, column, number in main.select("row", "column", name).iter_rows():
            is_rank = main["unit"][0] == "rank"
            if text := f"{number:.3f}" if is_rank and number is not None else in_format_of(main, number):
                columns.setdefault(column, (HEADERS[name], {}))[1][row] = text
    return dict(sorted(columns.items()))
