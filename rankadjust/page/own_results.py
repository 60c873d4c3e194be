"""The user's own results: each with its place among the published models, and their contradictions."""

from typing import Any

import polars as pl

from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import usual_name
from rankadjust.literature.statuses import problems
from rankadjust.page.answers import in_words
from rankadjust.page.material import usable_values
from rankadjust.page.templating import Section, render


def own_section(values: pl.DataFrame, contradictions: pl.DataFrame | None) -> Section | None:
    """Return the section of the user's own results, None if a run has none.

    values: rows of `all_values`. contradictions: a frame of `check`.
    """
    own = values.filter("own") if values.height else values
    if own.is_empty():
        return None
    wrong = (
        []
        if contradictions is None
        else contradictions.filter(pl.col("file").is_in(own["file"].implode())).rows(named=True)
    )
    content = render("own.html.jinja", rows=placed(values), contradictions=wrong, problems=problems(own))
    return Section("own", "Your results", content)


def placed(values: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the user's own values that have an index, each with its place among the models of the literature.

    values: rows of `all_values`. The place is among the models with a value of the same metric in the same evaluation
    that has no caveat; each model counts with its best value, and the user's model is included. A row has the columns
    of the value, name (of the metric), words (of the evaluation), models (their number) and place.
    """
    usable = usable_values(values).filter(pl.col("model").is_not_null())
    others = usable.filter(~pl.col("own"), pl.col("caveat").is_null())
    rows = []
    for row in usable.filter("own").iter_rows(named=True):
        # A higher index is better, whatever the metric.
        best = others.filter(pl.col(name) == row[name] for name in KEY).group_by("model").agg(pl.max("index"))
        place = best.filter(pl.col("index") > row["index"]).height + 1
        words = in_words(row["protocol"], row["split"], row["side"])
        rows.append(
            row
            | {"name": usual_name(row["metric"]), "words": words, "models": best.height + 1, "place": place}
        )
    return rows
