"""Reading printed values: their unit, their rounding interval, and whether they are possible at all."""

import math
from collections.abc import Callable, Mapping, Sequence

import polars as pl

from rankadjust.base.frames import filled
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import KEY
from rankadjust.chance.metrics import resolve
from rankadjust.chance.typed import stands_for
from rankadjust.database.histograms import Histograms, Limits


def read_values(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the value, its rounding interval (0.338 stands for [0.3375, 0.3385]), and messages on its problems."""
    rows = rows.rename({"value": "value_as_printed"})
    rows = _with_facts(rows, ("value_as_printed",), _WRITTEN, _as_written)
    rows = rows.with_columns(
        unit=pl.coalesce("unit", _usual_unit()), spread=pl.coalesce("spread", "spread_beside")
    )
    rows = _with_facts(rows, ("value_as_printed", "unit", "lower", "upper"), _INTERVAL, _interval)
    is_absent = pl.col("value_as_printed").is_null()
    return rows.with_columns(
        value_missing=pl.when(is_absent).then(pl.lit("the value is empty; give a number such as 0.338")),
        value_not_a_number=pl.when(~is_absent & pl.col("value").is_null()).then(
            filled(
                "value '{}' is not a number; allowed are such as 0.338, 33.8 or .797 ± .001",
                "value_as_printed",
            )
        ),
        value_impossible=_impossible_value(),
    )


_WRITTEN = {"has_percent_sign": pl.Boolean, "spread_beside": pl.String}
_INTERVAL = dict.fromkeys(("value", "value_low", "value_high"), pl.Float64)
_Facts = Callable[..., Sequence[object]]


def _with_facts(
    rows: pl.DataFrame, given: Sequence[str], facts: Mapping[str, type[pl.DataType]], find: _Facts
) -> pl.DataFrame:
    """Add the columns `facts`, which `find` returns for the columns `given`; it is called once for equal rows."""
    distinct = rows.select(given).unique(maintain_order=True)
    facts_found = pl.DataFrame([find(*row) for row in distinct.iter_rows()], schema=dict(facts), orient="row")
    return rows.join(
        distinct.hstack(facts_found), on=list(given), how="left", maintain_order="left", nulls_equal=True
    )


def _as_written(text: str | None) -> tuple[bool, str | None]:
    """Return whether a printed value has a percent sign, and its printed spread."""
    number = read_number(text or "")
    return (number.percent, number.spread) if number else (False, None)


def _interval(
    text: str | None, unit: str, lower: float | None, upper: float | None
) -> Sequence[float | None]:
    """Return the value of a printed number and its rounding interval, or None for text that is not a number."""
    number = read_number(text or "")
    if number is None:
        return (None, None, None)
    # The range of an unknown metric is not known.
    ends = (-math.inf if lower is None else lower, math.inf if upper is None else upper)
    return stands_for(number, *ends, percent=unit == "percent")


def _usual_unit() -> pl.Expr:
    """Return the unit of a value that is printed without a unit: percent only if a % sign says so."""
    has_percent_sign = pl.col("has_percent_sign") | pl.col("metric_as_printed").str.contains("%")
    return (
        pl.when(pl.col("adjustment").is_not_null())
        .then(pl.col("adjustment").replace({"ratio": "index"}))
        .when(pl.col("upper").is_infinite())
        .then(pl.lit("rank"))
        .when(has_percent_sign)
        .then(pl.lit("percent"))
        .otherwise(pl.lit("fraction"))
    )


def _impossible_value() -> pl.Expr:
    is_unbounded = pl.col("upper").is_infinite()
    unit_differs = pl.col("adjustment").is_null() & (is_unbounded != (pl.col("unit") == "rank"))
    is_no_share = is_unbounded & pl.col("has_percent_sign") & pl.col("adjustment").is_null()
    allowed = pl.when(is_unbounded).then(pl.lit("rank")).otherwise(pl.lit("fraction or percent"))
    return (
        pl.when(unit_differs & pl.col("unit_problem").is_null())
        .then(filled("unit '{}' does not suit {}; allowed: {}", "unit", "metric_as_printed", allowed))
        .when(is_no_share)
        .then(
            filled("{} is not a share, so '{}' cannot be its value", "metric_as_printed", "value_as_printed")
        )
        .when(~pl.col("value").is_between("lower", "upper"))
        .then(
            filled(
                "value '{}' in the unit {} is impossible for {}, which runs from {} to {}",
                "value_as_printed",
                "unit",
                "metric_as_printed",
                "lower",
                "upper",
            )
        )
    )


def add_limits(rows: pl.DataFrame, histograms: Histograms) -> pl.DataFrame:
    """Add the column limit: why the numbers of candidates rule a value out; the reason also joins value_impossible."""
    # Adjusted values, and values with a problem, are not compared with the numbers of candidates.
    is_value = pl.all_horizontal(
        pl.col(name).is_null()
        for name in ("adjustment", "metric_problem", "unit_problem", "value_impossible")
    )
    given = [*KEY, "value_low", "value_high"]
    distinct = rows.filter(is_value).select(given).drop_nulls().unique(maintain_order=True)
    limits = Limits(histograms.candidate_counts)
    limits_of_rows = [
        limits.why_impossible(evaluation, resolve(metric), low, high)
        for *evaluation, metric, low, high in distinct.iter_rows()
    ]
    joined = rows.join(
        distinct.with_columns(limit=pl.Series(limits_of_rows, dtype=pl.String)),
        on=given,
        how="left",
        maintain_order="left",
    ).with_columns(limit=pl.when(is_value).then("limit"))
    said = filled("value '{}' is impossible: {}", "value_as_printed", "limit")
    return joined.with_columns(value_impossible=pl.coalesce("value_impossible", said))
