"""The user's own results, each compared with the literature on the same evaluation."""

from typing import Any
from urllib.parse import urlencode

import polars as pl

from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.metrics import resolve
from rankadjust.page.material import Material
from rankadjust.page.results import all_values, usable_values
from rankadjust.page.templating import Section, render

_KEY = [*EVALUATION, "metric"]


def own_section(material: Material) -> Section | None:
    """Return the section of the user's own results, None if a run has none."""
    values = all_values(material)
    if values.is_empty() or not values["own"].any():
        return None
    rows = placed(values)
    content = render("own.html.jinja", rows=rows, others=any(row["models"] > 1 for row in rows))
    return Section("own", "Your results", content)


def placed(values: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the user's own values that have an index, each with its place among the models of the literature.

    values: rows of `all_values`. The place is among the models with a value of the same metric in the same evaluation
    that has no caveat; each model counts with its best value, and the user's model is included. A row has the columns
    of the value, name (of the metric), models (their number), place, and best and worst (the places that rounding
    allows).
    """
    usable = usable_values(values).filter(pl.col("model").is_not_null())
    others = usable.filter(~pl.col("own"), pl.col("caveat").is_null())
    rows = []
    for row in usable.filter("own").iter_rows(named=True):
        metric = resolve(row["metric"])
        same = others.filter(pl.col(name) == row[name] for name in _KEY)
        # A higher index is better, whatever the metric.
        best = same.group_by("model").agg(
            pl.col("index", "index_low", "index_high").get(pl.col("index").arg_max())
        )
        places = {
            "place": best.filter(pl.col("index") > row["index"]).height + 1,
            "best": best.filter(pl.col("index_low") > row["index_high"]).height + 1,
            "worst": best.filter(pl.col("index_high") > row["index_low"]).height + 1,
        }
        view = {"view": "leaderboard"} | {name: row[name] for name in _KEY}
        rows.append(
            row
            | places
            | {"name": metric.label, "models": best.height + 1, "address": f"#{urlencode(view)}"}
            | {"evaluation": _evaluation(row)}
        )
    return rows


def _evaluation(row: dict[str, Any]) -> str:
    """Return an evaluation in words; the usual split, side and protocol are left out."""
    usual = {"split": "testing", "side": "both"}
    unusual = [row[name] for name in usual if row[name] != usual[name]]
    return ", ".join([row["dataset"], row["protocol"], *unusual])
