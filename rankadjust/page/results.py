"""Printed results for the page: one result per model and evaluation, with the values of its metrics."""

from urllib.parse import urlsplit

import polars as pl

from rankadjust.literature.runs import add_run
from rankadjust.literature.statuses import USABLE
from rankadjust.page.material import Material

# The kinds of values, which the page shows beside the number; a result has the kinds of all its values.
ADJUSTED = "adjusted"
AS_PRINTED = "printed adjusted"
ASSUMED = "adjusted, on assumed facts"
NOT_ADJUSTED = "not adjusted"
_KINDS = {
    "ok": ADJUSTED,
    "approximate": "approximate",
    "bounded": "bounded",
    "assumed": ASSUMED,
    "adjusted_as_published": AS_PRINTED,
}
_TEXTS = (
    *("model", "source", "source_url", "source_line", "year", "table", "caveat", "file"),
    "metric_as_printed",
)


def values_of(material: Material) -> pl.DataFrame:
    """Return the values of all tables, one row each; the user's own tables come first.

    Added to the columns of `rescore`: result (a number from 0, the same for the values of one model in one evaluation),
    own (whether the table is the user's), kind (adjusted, approximate, bounded, printed adjusted or not adjusted).
    """
    return _values(material, {})


def all_values(material: Material) -> pl.DataFrame:
    """Return the values of all tables and of the literature on the same evaluations, in the form of `values_of`."""
    return _values(material, {} if material.literature is None else {"": material.literature})


def _values(material: Material, beside: dict[str, pl.DataFrame]) -> pl.DataFrame:
    names = sorted(material.tables, key=lambda name: name not in material.own)
    parts = [
        _with_texts(table).with_columns(table_name=pl.lit(name), own=pl.lit(name in material.own))
        for name, table in ({name: material.tables[name] for name in names} | beside).items()
    ]
    if not parts:
        return pl.DataFrame()
    rows = add_run(pl.concat(parts, how="diagonal_relaxed")).with_row_index("row_number")
    first = pl.col("row_number").min().over("table_name", "run")
    return rows.with_columns(
        result=first.rank("dense").cast(pl.Int64) - 1,
        kind=pl.col("status").replace_strict(_KINDS, default=NOT_ADJUSTED),
    )


def _with_texts(table: pl.DataFrame) -> pl.DataFrame:
    absent = [name for name in _TEXTS if name not in table.columns]
    return table.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)


def place_of(row: dict[str, object]) -> str | None:
    """Return the address of the source of a value, with the line if the address can have it, or None."""
    url, line = row["source_url"], row["source_line"]
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
        return None
    is_file = urlsplit(url).netloc == "github.com" and "/blob/" in url and "#" not in url
    if not is_file or not isinstance(line, str) or not line.isdecimal():
        return url
    # A Markdown page has line addresses only if it is shown as plain text.
    plain = "?plain=1" if url.endswith((".md", ".rst")) else ""
    return f"{url}{plain}#L{line}"


def usable_values(values: pl.DataFrame) -> pl.DataFrame:
    """Return the values that have an index of their own evaluation."""
    return values.filter(pl.col("status").is_in(USABLE), pl.col("index").is_not_null())
