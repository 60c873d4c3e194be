"""Rows that repeat each other: results of several sources, values copied with a slip, rows at a wrong place."""

from collections.abc import Iterator

import polars as pl

from rankadjust.base.errors import listed
from rankadjust.base.frames import filled
from rankadjust.base.vocabulary import EVALUATION, KEY
from rankadjust.chance.metrics import resolve
from rankadjust.literature.single_values import Finding
from rankadjust.literature.tidy import add_run

# `group` separates the models of an evaluation.
_PAIR = ["group", "group_other", *EVALUATION]
# The least number of values that a copy shares with another row, if the models have the same name and if not.
SAME_NAMED, SAME_UNNAMED = 2, 3
_LEAST_SAME = pl.when("named").then(SAME_NAMED).otherwise(SAME_UNNAMED)
# Values with fewer digits are often equal by chance.
_LEAST_DIGITS = 2
LEAST_EQUAL_DIGITS = 3


def copies(rows: pl.DataFrame) -> list[Finding]:
    """Return findings between rows; each finding refers to the later row.

    rows: rows of `rescore`, with _row and group (equal for the values of one model).
    """
    known = _comparable(rows)
    return [*_changed_copies(known, known), *_repeated_rows(known)]


def changed_copies(rows: pl.DataFrame, others: pl.DataFrame) -> list[Finding]:
    """Return findings of rows that repeat others except for one value; both as in `copies`, others with lower _row."""
    return list(_changed_copies(_comparable(rows), _comparable(others)))


def _comparable(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with unadjusted values, and the number of their significant digits.

    name: the usual name of the metric.
    """
    names = {metric: resolve(metric).label for metric in rows["metric"].unique()}
    return rows.filter(
        pl.col("adjustment").is_null(), pl.col("value").is_finite(), pl.col("status") != "value_impossible"
    ).select(
        *("_row", "group", "source", "table", "model"),
        *KEY,
        *("value", "value_low", "value_high", "value_as_printed"),
        name=pl.col("metric").replace_strict(names, return_dtype=pl.String),
        digits=digits(),
        # 0 and 1 are values that many models have.
        telling=~pl.col("value").is_in([0.0, 1.0]) & (digits() >= _LEAST_DIGITS),
        margin=_spread(rows),
    )


def digits() -> pl.Expr:
    """Return the number of significant digits of a printed value."""
    text = pl.col("value_as_printed").str.replace(r"(±|\+/?-).*", "").str.replace_all(r"[^0-9]", "")
    return text.str.strip_chars_start("0").str.len_chars().cast(pl.Int64)


def _spread(rows: pl.DataFrame) -> pl.Expr:
    """Return the spread over runs that is printed with a value, percent as a fraction; 0 if none is printed."""
    if "spread" not in rows.columns:
        return pl.lit(0.0)
    scale = pl.when(pl.col("unit") == "percent").then(0.01).otherwise(1.0)
    return (pl.col("spread").cast(pl.Float64, strict=False) * scale).fill_null(0.0)


def _changed_copies(rows: pl.DataFrame, others: pl.DataFrame) -> Iterator[Finding]:
    """Return a finding for each row that repeats an earlier row of the same evaluation except for one value."""
    # Keep one finding a row: the copy that shares most values.
    copied = (
        _with_one_change(_beside(rows, others, _alike(rows, others)))
        .sort("same", descending=True, maintain_order=True)
        .unique("row", keep="first", maintain_order=True)
        .sort("row")
    )
    for row in copied.iter_rows(named=True):
        yield Finding(
            row=row["row"],
            severity="suspicious",
            bound="differs",
            limit=row["limit"],
            excess=max(row["limit"] - row["high"], row["low"] - row["limit"]),
            values=f"{row['name']} {row['value']}; {row['other']} in {row['source'] or 'another row'}",
            mended=f"{row['name']} {row['other']} instead of {row['value']}, or the other way round",
            message=(
                f"{row['name']} {row['value']} is {row['other']} for {row['model'] or 'another model'} in "
                f"{row['source'] or 'another row'}, and {row['same']} other values are the same, digit by "
                "digit, so one of the two was changed or mistyped."
            ),
        )


def _alike(rows: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of groups in an evaluation with enough equal values, of enough digits, to be copies."""
    is_telling = pl.col("telling") & (pl.col("digits") >= LEAST_EQUAL_DIGITS)
    # A large table has millions of pairs of equal values: no more columns than needed, or they fill the memory.
    equal = [*KEY, "value"]
    first, second = (frame.filter(is_telling).select("_row", "group", *equal) for frame in (rows, others))
    return (
        first.join(second, on=equal, suffix="_other")
        .filter(pl.col("group") != pl.col("group_other"), pl.col("_row") > pl.col("_row_other"))
        .group_by(_PAIR, maintain_order=True)
        .agg(same=pl.len().cast(pl.Int64))
        .filter(pl.col("same") >= SAME_NAMED)
    )


def _beside(rows: pl.DataFrame, others: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the values of pairs of groups, metric by metric; columns of the second group have the suffix _other."""
    renamed = others.rename({name: f"{name}_other" for name in others.columns if name not in KEY})
    return pairs.join(rows, on=["group", *EVALUATION], maintain_order="left_right").join(
        renamed, on=["group_other", *KEY], maintain_order="left"
    )


def _with_one_change(values: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of groups that differ in one value; models of different names need more equal values."""
    # A mean over runs and the value of a single run differ by about the spread: such a difference is not a slip.
    margin = pl.col("margin") + pl.col("margin_other")
    overlap = (pl.col("value_low") < pl.col("value_high_other") + margin) & (
        pl.col("value_low_other") < pl.col("value_high") + margin
    )
    differs = ~(overlap | (pl.col("value") == pl.col("value_other")))
    changed = {"row": "_row", "name": "name", "value": "value_as_printed", "other": "value_as_printed_other"}
    changed |= {"low": "value_low", "high": "value_high", "limit": "value_other"}
    first = {"same": "same", "source": "source_other", "model": "model_other"}
    return (
        values.group_by(_PAIR, maintain_order=True)
        .agg(
            differing=differs.sum(),
            named=pl.col("model").first().str.to_lowercase()
            == pl.col("model_other").first().str.to_lowercase(),
            **{name: pl.col(column).first() for name, column in first.items()},
            **{name: pl.col(column).filter(differs).first() for name, column in changed.items()},
        )
        .filter(pl.col("differing") == 1, pl.col("same") >= _LEAST_SAME)
    )


def _repeated_rows(rows: pl.DataFrame) -> Iterator[Finding]:
    """Return a finding for each row that has all values of the same model on another data set."""
    same_place = pl.any_horizontal(
        pl.col(name).eq_missing(pl.col(f"{name}_other")) for name in ("source", "table")
    )
    named = rows.filter(pl.col("model").is_not_null())
    repeated = (
        named.join(
            named, on=["model", "protocol", "split", "side", "metric"], suffix="_other", nulls_equal=True
        )
        .filter(pl.col("dataset") < pl.col("dataset_other"), same_place)
        .group_by("group", "group_other", "dataset", "dataset_other", "model", maintain_order=True)
        .agg(
            all_equal=_EQUAL.all(),
            telling=(pl.col("telling") & _EQUAL).sum(),
            row=pl.max_horizontal("_row", "_row_other").min(),
            values=filled("{} {}", "name", "value_as_printed"),
        )
        .filter("all_equal", pl.col("telling") >= SAME_NAMED)
        .sort("row")
    )
    for row in repeated.iter_rows(named=True):
        yield Finding(
            row=row["row"],
            severity="suspicious",
            bound="repeated_row",
            values="; ".join(row["values"]),
            message=(
                f"{row['model']} has the same {listed(row['values'])} on {row['dataset']} and on "
                f"{row['dataset_other']}, so one row looks copied from the other."
            ),
        )


_EQUAL = pl.col("value_as_printed") == pl.col("value_as_printed_other")


# --- results that several sources print

_VALUE = [*KEY, "equal"]


def distinct_results(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows without results that repeat a result of another source.

    A result is the set of values that a source prints for a model in one evaluation. It repeats a result of another
    source if that source prints every value of it too: the README and the documentation of a project, or a table that
    takes rows from another paper. Two equal values of at least three digits make a copy if the models have the same
    name; three are needed if the names differ. Of equal results the first without a caveat is kept, or the first if all
    have caveats. A result is dropped in favour of another that has the same values and more.

    rescored: rows of `rankadjust.literature.rescore.rescore`.
    """
    rows = add_run(rescored).with_columns(equal=pl.col("value").round_sig_figs(10))
    values = (
        rows.unique([*_VALUE, "run"], keep="first", maintain_order=True)
        .with_row_index("order")
        .with_columns(
            size=pl.len().over("run"),
            rank=_rank(rows).over("run"),
            telling=digits() >= LEAST_EQUAL_DIGITS,
            name=pl.col("model").str.to_lowercase(),
        )
        .select("run", "source", *_VALUE, "size", "rank", "telling", "name")
    )
    repeated = _pairs(values).filter(
        pl.col("same") == pl.col("size"),
        pl.col("telling") >= _LEAST_SAME,
        (pl.col("size_other") > pl.col("size"))
        | ((pl.col("size_other") == pl.col("size")) & (pl.col("rank_other") < pl.col("rank"))),
    )
    return rescored.filter(~rows["run"].is_in(repeated["run"].unique().implode()))


def _rank(rows: pl.DataFrame) -> pl.Expr:
    """Return the place of a result among equal results: results without a caveat come first."""
    place = pl.col("order").cast(pl.Int64).min()
    return place + pl.col("caveat").is_not_null().any() * rows.height if "caveat" in rows.columns else place


def _pairs(values: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of results of two sources with values in common, and the number of these values."""
    return (
        values.join(values, on=_VALUE, suffix="_other")
        .filter(pl.col("source").ne_missing(pl.col("source_other")))
        .group_by("run", "run_other")
        .agg(
            *(pl.col(name).first() for name in ("size", "size_other", "rank", "rank_other")),
            same=pl.len(),
            telling=pl.col("telling").sum(),
            named=pl.col("name").first() == pl.col("name_other").first(),
        )
    )
