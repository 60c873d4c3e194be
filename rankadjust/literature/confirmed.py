"""Notes on inferred data sets that published values confirm; the notes decide nothing."""

from functools import cache

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.base.io import shipped
from rankadjust.base.words import folded
from rankadjust.literature.copies import LEAST_EQUAL_DIGITS, digits
from rankadjust.literature.tidy import read_tidy
from rankadjust.tables.facts import is_inferred, reasons_in, reasons_joined
from rankadjust.tables.headers import Names, find_dataset, metric_key

_PUBLISHED = "resources/published"
# So many metrics of a model must have equal values.
_LEAST_EQUAL = 2


@cache
def published() -> pl.DataFrame:
    """Return the rows of all published tables; no rows if the package is installed without the repository."""
    paths = sorted(shipped(_PUBLISHED).glob("*.csv"))
    return pl.concat(map(read_tidy, paths), how="diagonal") if paths else pl.DataFrame()


def with_confirmed(values: pl.DataFrame, names: Names) -> pl.DataFrame:
    """Add a note to `assumed` where the data set of a table was inferred and published values confirm it.

    values: the values of a `rankadjust.tables.reading.Reading`. A data set is confirmed if at least two metrics of a
    model have the same values, with three digits or more, in a published table of that data set.
    """
    asked = values.filter(
        is_inferred("dataset"), pl.col("dataset").is_not_null(), pl.col("model").is_not_null()
    )
    if asked.is_empty() or published().is_empty():
        return values
    models = {folded(model) for model in asked["model"]}
    known = published().filter(pl.col("model").fill_null("").map_elements(folded, pl.String).is_in(models))
    place = ["grid", "dataset"]
    equal = (
        _compared(asked, names)
        .join(
            _compared(known, names).select("dataset", "name", "metric", "share", there="source"),
            on=["dataset", "name", "metric", "share"],
        )
        .group_by(*place, "name", "there", maintain_order=True)
        .agg(count=pl.col("metric").n_unique())
        .filter(pl.col("count") >= _LEAST_EQUAL)
        .sort("count", descending=True, maintain_order=True)
        .unique(place, keep="first", maintain_order=True)
    )
    note = filled(", confirmed by {} values of {}", "count", "there")
    joined = values.join(equal.select(*place, note=note), on=place, how="left", maintain_order="left")
    texts = [
        text if note is None else _noted(text, note)
        for text, note in joined.select("assumed", "note").iter_rows()
    ]
    noted = pl.Series(texts, dtype=pl.String)
    return joined.with_columns(assumed=pl.when(is_inferred("dataset")).then(noted).otherwise("assumed")).drop(
        "note"
    )


def _noted(text: str | None, note: str) -> str | None:
    reasons = reasons_in(text)
    return reasons_joined(reasons | {"dataset": reasons.get("dataset", "") + note})


def _compared(rows: pl.DataFrame, names: Names) -> pl.DataFrame:
    """Return data set, model and metric in the words of this project, with percent values as fractions."""
    text = pl.col("value").cast(pl.String)
    number = text.str.extract(r"^\s*(\d*\.?\d+)").cast(pl.Float64, strict=False)
    is_percent = pl.col("unit").fill_null("").str.contains("percent|%") | text.str.contains("%")
    return rows.with_columns(
        dataset=pl.col("dataset").map_elements(lambda name: find_dataset(name, names) or name, pl.String),
        name=pl.col("model").map_elements(folded, pl.String),
        metric=pl.col("metric").map_elements(lambda name: metric_key(name) or name, pl.String),
        share=pl.when(is_percent).then(number / 100).otherwise(number).round(6),
        value_as_printed=text,
    ).filter(digits() >= LEAST_EQUAL_DIGITS)
