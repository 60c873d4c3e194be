"""The data of a report page: the results of one run, and its printed values, one row each."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl

from rankadjust.base.io import read_csv, without_guards
from rankadjust.database.constants import Constants
from rankadjust.literature.statuses import USABLE
from rankadjust.literature.tidy import add_run

_TEXTS = (
    *("model", "source", "source_url", "source_line", "year", "table", "caveat", "tags", "file"),
    "metric_as_printed",
)


# Names stay text, even where all of them are numbers.
_NAMES = dict.fromkeys(("file", "model", "dataset", "source", "source_line", "table"), pl.String)


@dataclass(frozen=True)
class Material:
    """The results of one run, as far as the page shows them.

    tables: rows of `rankadjust.literature.rescore.rescore` by the name of their table. own: the names of the tables of
    the user. literature: rows of the shipped literature on the same evaluations, if it is not among the tables.
    constants: those of the run, and of the release for anything that the run lacks. contradictions: a frame of `check`.
    """

    tables: Mapping[str, pl.DataFrame]
    constants: Constants
    contradictions: pl.DataFrame | None = None
    own: frozenset[str] = frozenset()
    literature: pl.DataFrame | None = None


def read_comparison(path: str | Path) -> pl.DataFrame:
    """Return a table of results/comparison, with names that a spreadsheet would take for formulas as they were."""
    return without_guards(
        read_csv(path, infer_schema=True, infer_schema_length=None, schema_overrides=_NAMES)
    )


def all_values(material: Material) -> pl.DataFrame:
    """Return the values of all tables and of the literature on the same evaluations, one row each.

    The user's own tables come first. Added to the columns of `rescore`: table_name, result (a number from 0, the same
    for the values of one model in one evaluation) and own (whether the table is the user's).
    """
    names = sorted(material.tables, key=lambda name: name not in material.own)
    beside = {} if material.literature is None else {"": material.literature}
    parts = [
        _with_texts(table).with_columns(table_name=pl.lit(name), own=pl.lit(name in material.own))
        for name, table in ({name: material.tables[name] for name in names} | beside).items()
    ]
    if not parts:
        return pl.DataFrame()
    rows = add_run(pl.concat(parts, how="diagonal_relaxed")).with_row_index("row_number")
    first = pl.col("row_number").min().over("table_name", "run")
    return rows.with_columns(result=first.rank("dense").cast(pl.Int64) - 1)


def _with_texts(table: pl.DataFrame) -> pl.DataFrame:
    absent = [name for name in _TEXTS if name not in table.columns]
    return table.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent)


def usable_values(values: pl.DataFrame) -> pl.DataFrame:
    """Return the values that have an index of their own evaluation, and stand for a model."""
    return values.filter(pl.col("status").is_in(USABLE), pl.col("index").is_not_null(), stands_for_model())


def stands_for_model() -> pl.Expr:
    """Return whether a value stands for its model, unlike a trial of a search or a configuration of a study.

    Only the page of their source shows these.
    """
    return pl.col("caveat").fill_null("").str.contains("^(trial|study):").not_()


def place_of(row: Mapping[str, object]) -> str | None:
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
