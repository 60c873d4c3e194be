"""Print a tidy table as papers do: a row for each model, a column for each metric under the name of its data set."""

from typing import Any

import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.manuscript.latex import HEADERS, Column
from rankadjust.manuscript.ranks import METRICS

_EVALUATION = ("dataset", "protocol", "split", "side", "metric")
_MOST_DIGITS = 6


def for_a_page(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that fit on a page: adjusted values, of both sides and the usual metrics if there are any."""
    rows = rows.filter(pl.col("index").is_not_null())
    for usual in (pl.col("side") == "both", pl.col("metric").is_in(METRICS)):
        rows = kept if (kept := rows.filter(usual)).height else rows
    return rows


def tidy_columns(rows: pl.DataFrame) -> list[Column]:
    """Return a column for each metric, and beside it a column for its score, if it has a score.

    rows: values with score, shown and mark. A model with several values of one evaluation gets a row for each value.
    """
    known = rows.filter(pl.col("value").is_not_null()).with_columns(pl.col("model").fill_null("not named"))
    known = known.with_columns(nth=pl.int_range(pl.len()).over("model", *_EVALUATION))
    results = known.select("model", "nth").unique(maintain_order=True).rows()
    same = [name for name in ("protocol", "split", "side") if known[name].n_unique() == 1]
    columns = [Column("Model", ("Model",), [(model, None) for model, _ in results])]
    for _, part in known.group_by(_EVALUATION, maintain_order=True):
        about = part.row(0, named=True)
        others = [about[name] for name in ("protocol", "split", "side") if name not in same]
        top, label = " ".join([about["dataset"] or "", *others]), resolve(about["metric"]).label
        cells = {(row["model"], row["nth"]): row for row in part.iter_rows(named=True)}
        printed = [(_printed(cells[key]) if key in cells else "", None) for key in results]
        columns.append(Column(f"{top} / {label}", (top, label), printed))
        scores = part["score"].drop_nulls().unique(maintain_order=True).to_list()
        if scores:
            title = f"{label} {HEADERS[scores[0]]}"
            shown = [
                (cells[key]["shown"], cells[key]["mark"]) if key in cells else ("", "") for key in results
            ]
            columns.append(Column(f"{top} / {title}", (top, title), shown))
    return columns


def _printed(row: dict[str, Any]) -> str:
    """Return a value as it was printed; a value with too many digits, written by a tool, is rounded."""
    text = str(row["value_as_printed"])
    if sum(map(str.isdigit, text)) <= _MOST_DIGITS:
        return text
    if row["unit"] == "percent":
        return f"{row['value'] * 100:.1f}"
    return f"{row['value']:.{3 if resolve(row['metric']).increasing else 1}f}"
