"""The status of every printed value: whether it can be adjusted, and the reason if it cannot.

docs/statuses.md explains each status.
"""

from collections.abc import Iterable

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.base.vocabulary import KEY
from rankadjust.database.arithmetic import BOUNDS, has_bounds
from rankadjust.literature.tidy import where_of
from rankadjust.tables.facts import is_taken
from rankadjust.tables.sidecar import usual_sidecar

# Statuses for problems of a row, with the column of the message. A row with several problems has the first status, and
# the messages of all.
_PROBLEMS = {
    "value_missing": "value_missing",
    "value_not_a_number": "value_not_a_number",
    "metric_unknown": "metric_problem",
    "side_unknown": "side_problem",
    "protocol_unknown": "protocol_problem",
    "unit_unknown": "unit_problem",
    "scores_unknown": "scores_problem",
    "value_impossible": "value_impossible",
    "duplicate": "duplicate",
    "dataset_unknown": "dataset_problem",
    "split_unknown": "split_problem",
}
STATUSES = (
    *("ok", "bounded", "approximate", "assumed", "adjusted_as_published"),
    *_PROBLEMS,
    "no_moments",
    "not_in_database",
)
# Statuses of rows that are adjusted and used in comparisons.
USABLE = STATUSES[:3]

# Problems that do not matter if the number of candidates is constant: the index does not depend on them.
_NOT_NEEDED_WITH_CONSTANT_CANDIDATES = ("dataset_unknown", "split_unknown")


def problems(rescored: pl.DataFrame) -> list[str]:
    """Return the problems: a line per row, but a single line for all rows without a data set or of an unknown set."""
    is_unnamed = (pl.col("status") == "dataset_unknown") & pl.col("dataset").is_null()
    wrong = rescored.filter(pl.col("status").is_in(list(_PROBLEMS)) & ~is_unnamed)
    # An unknown data set is reported once; other messages concern the value of a row.
    same = [*(name for name in ("file", "dataset") if name in wrong.columns), "status", "message"]
    rows = pl.when(status="dataset_unknown").then(0).otherwise(pl.int_range(pl.len()))
    by_message = wrong.with_columns(place=where_of(wrong)).group_by(*same, rows, maintain_order=True)
    alike = by_message.agg(pl.first("place"), pl.len())
    count = pl.when(pl.col("len") > 1).then(filled(" ({} rows)", "len")).otherwise(pl.lit(""))
    by_row = alike.select(filled("{}: {}{}", "place", "message", count)).to_series().to_list()
    if rescored.filter(is_unnamed).is_empty():
        return by_row
    nameless = rescored.filter(pl.col("dataset").is_null())
    file = pl.col("file") if "file" in rescored.columns else pl.lit("the table")
    by_file = nameless.group_by(file, maintain_order=True)
    return [*by_row, *(_without_dataset(str(file), rows) for (file,), rows in by_file)]


def _without_dataset(file: str, rows: pl.DataFrame) -> str:
    """Return a line about the values of a file without a data set, which says how to name it."""
    is_published = "grid" in rows.columns and rows["grid"].count() > 0
    lines = rows["file_line"].drop_nulls().to_list() if "file_line" in rows.columns else []
    where = f" (the first in line {lines[0]})" if lines else ""
    remedy = (
        f"write 'dataset: NAME' into a sidecar {usual_sidecar(file)} beside it"
        if is_published
        else "fill the column dataset"
    )
    values = f"{rows.height:,} value{'s' if rows.height > 1 else ''}"
    return f"{file}: no data set is named for {values}{where}; {remedy}"


def add_status(rows: pl.DataFrame) -> pl.DataFrame:
    """Add status and message, and set the constants to null in rows that must not be adjusted."""
    wrong = pl.concat_list(_PROBLEMS.values()).list.drop_nulls().list.join("; ").replace("", None)
    first_wrong = _first((status, pl.col(message).is_not_null()) for status, message in _PROBLEMS.items())
    is_ruled = pl.col("rule_status").is_not_null() & (pl.col("rule_status") != "approximate")
    others = _other_messages()
    first_other = _first((status, message.is_not_null()) for status, message in others.items())
    return _without_constants(
        rows.with_columns(
            status=pl.coalesce(pl.when(is_ruled).then("rule_status"), first_wrong, first_other, pl.lit("ok")),
            message=pl.coalesce(pl.when(is_ruled).then("rule_message"), wrong, *others.values(), "reason"),
        )
    )


def _without_constants(rows: pl.DataFrame) -> pl.DataFrame:
    """Set the constants to null if the status allows no index."""
    # If the number of candidates is constant, only z needs the data set and the split; the index does not.
    is_known = pl.col("status").is_in(_NOT_NEEDED_WITH_CONSTANT_CANDIDATES) & (pl.col("origin") == "constant")
    has_index = pl.col("status").is_in(USABLE) | is_known
    constants = [name for name in rows.columns if name.endswith(("_scale", "_offset"))]
    reasons = ["reason_random_scorer", "reason_static_scorer"]
    blank = [*constants, *reasons, *BOUNDS, "expectation", "origin"]
    return rows.with_columns(pl.when(has_index).then(pl.col(name)).alias(name) for name in blank)


def _first(statuses: Iterable[tuple[str, pl.Expr]]) -> pl.Expr:
    return pl.coalesce(pl.when(holds).then(pl.lit(status)) for status, holds in statuses)


def _other_messages() -> dict[str, pl.Expr]:
    """Return the message of each status of rows without problems, null where the status does not apply."""
    in_database = pl.col("origin").is_not_null()
    return {
        "adjusted_as_published": pl.when(pl.col("adjustment").is_not_null()).then(
            pl.lit("the source printed an adjusted value")
        ),
        "no_moments": pl.when(~pl.col("has_moments"))
        .then(
            filled(
                "{} says how the ranks spread, and not how good they are, so it cannot be adjusted",
                "metric",
            )
        )
        .when(in_database & pl.col("index_scale").is_null() & ~has_bounds())
        .then(pl.coalesce("reason", pl.lit("the expectation is not known"))),
        "not_in_database": pl.when(~in_database).then(
            filled("the database has no row for {}", pl.concat_str(KEY, separator=", "))
        ),
        "approximate": pl.when(pl.col("rule_status") == "approximate")
        .then("rule_message")
        .when(pl.col("benchmark_note").is_not_null() & ~has_bounds())
        .then("benchmark_note")
        .when(pl.col("origin") == "entities")
        .then(
            filled(
                "every N is taken to be {}, the documented number of entities, so there is no z",
                "entities",
            )
        ),
        "bounded": pl.when(has_bounds()).then(
            filled(
                "the expectation is between {} and {}, and index_low to index_high allows for this",
                pl.col("expectation_low").round_sig_figs(4),
                pl.col("expectation_high").round_sig_figs(4),
            )
        ),
    }


# --- facts that nobody stated

# A wrong word here means another value, or another number of candidates. A table that names no protocol may have ranked
# against a sample: with 50 negatives chance gives MRR 0.089 and Hits@10 0.2, whatever it gives among all entities.
_ALWAYS_MATTER = ("dataset", "metric", "protocol")
# These matter only where the constants differ.
_MAY_MATTER = ("split", "side")
# Rows of these origins have the same number of candidates in every task, on every side and in every split.
_CONSTANT = ("constant", "entities")


def add_certainty(rows: pl.DataFrame, database: pl.DataFrame) -> pl.DataFrame:
    """Give the status assumed to rows whose index depends on facts that were neither printed nor given.

    rows: rows with the columns of `rankadjust.database.arithmetic.add_adjusted`, and grades
    (`rankadjust.tables.facts.GRADED`). An assumed split or side does not change the status if no other evaluated
    split or side would move the index by more than half of its rounding interval.
    """
    if rows["grades"].null_count() == rows.height:
        return rows
    matters = [pl.when(is_taken(name)).then(pl.lit(name)) for name in _ALWAYS_MATTER]
    moving = _moving(rows, database)
    matters += [pl.when(is_taken(name) & moving).then(pl.lit(name)) for name in _MAY_MATTER]
    facts = pl.concat_list(matters).list.drop_nulls().list.join(", ").replace("", None)
    is_assumed = pl.col("status").is_in(USABLE) & pl.col("index").is_not_null() & facts.is_not_null()
    said = filled("assumed: {}", facts)
    return rows.with_columns(
        status=pl.when(is_assumed).then(pl.lit("assumed")).otherwise("status"),
        message=pl.when(is_assumed)
        .then(pl.concat_str(said, "message", separator="; ", ignore_nulls=True))
        .otherwise("message"),
    )


def _moving(rows: pl.DataFrame, database: pl.DataFrame) -> pl.Series:
    """Return whether replacing the assumed split or side by another would move the index of a row."""
    numbered = rows.with_row_index("_row").with_columns(
        is_taken(name).alias(f"_{name}") for name in _MAY_MATTER
    )
    asked = numbered.filter(pl.any_horizontal("_split", "_side") & ~pl.col("origin").is_in(_CONSTANT))
    # Sources say when a value is about the training triples, so training is not an alternative.
    others = database.filter(pl.col("split") != "training")
    chance = pl.coalesce("expectation", (pl.col("expectation_low") + pl.col("expectation_high")) / 2)
    constants = others.select(*KEY, "optimum", chance=chance)
    index = (pl.col("value") - pl.col("chance")) / (pl.col("optimum") - pl.col("chance"))
    width = (pl.col("index_high") - pl.col("index_low")).fill_null(0.0)
    same = [name for name in KEY if name not in _MAY_MATTER]
    moved = (
        asked.select("_row", *KEY, "_split", "_side", "value", "index", width=width)
        .join(constants, on=same, suffix="_other", maintain_order="left")
        .filter(*(pl.col(f"_{name}") | (pl.col(name) == pl.col(f"{name}_other")) for name in _MAY_MATTER))
        .group_by("_row")
        .agg(is_still=((index - pl.col("index")).abs() <= pl.col("width") / 2).all())
    )
    still = moved.filter("is_still")["_row"].to_list()
    return ~numbered["_row"].is_in([*still, *numbered.filter(pl.col("origin").is_in(_CONSTANT))["_row"]])
