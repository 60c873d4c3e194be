"""The arithmetic of adjusted values: the only place that computes ratio, index, z and gain.

ratio = M / E, index = (M - E) / (optimum - E), z = sign (M - E) / sd with sign = -1 where low is better. Each is
scale * M + offset (docs/methods.md, "Adjustments"), and the constants depend on the evaluation set alone, so that a
spreadsheet can do the rest. The index is computed as the quotient that defines it: then a perfect ranking has exactly 1
and chance exactly 0, whereas scale * M + offset is rounded in between.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from math import sqrt
from typing import Any

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.chance.metrics import resolve

# Where chance is closer to the optimum than this share of it there is no index: E and the optimum are rounded, and
# their difference would be known to few digits. It bounds optimum * index_scale by 10^6, and with it the rounding
# error of scale * M + offset by 10^-9.
LEAST_ROOM = 1e-6

# Whether a model scores a triple anew at every time, or once for all times. Only in temporal data it matters.
SCORES = ("per_time", "static")

_EITHER = (
    "the data have times, and it is not said whether the model scores a triple anew at each (scores: per_time) or once "
    "for all (static)"
)
_TOOK_STATIC = f"{_EITHER}: z is for the static scorer, which varies more"
_TOOK_PER_TIME = (
    f"{_EITHER}: z is for the scorer per time; for the static scorer z is smaller, and not known here"
)

# Bounds of the constants of data sets without training triples; other rows have none.
BOUNDS = ("expectation_low", "expectation_high", "variance_low", "variance_high")

Row = Mapping[str, Any]
READ = (
    *("value", "value_low", "value_high", "scores", "expectation", *BOUNDS),
    *("optimum", "ratio_scale", "index_scale", "z_scale", "z_offset"),
    *("z_random_scorer_scale", "z_random_scorer_offset", "z_static_scorer_scale", "z_static_scorer_offset"),
    *("reason_random_scorer", "reason_static_scorer"),
)
"""What `adjusted` needs of a row."""


# The variance of each null model, and the z that it gives.
Z_OF_VARIANCE = {
    "variance": "z",
    "variance_random_scorer": "z_random_scorer",
    "variance_static_scorer": "z_static_scorer",
}

# The columns of scale and offset of each adjustment.
COEFFICIENTS = {
    "ratio": ("ratio_scale", None),
    "index": ("index_scale", "index_offset"),
    **{z: (f"{z}_scale", f"{z}_offset") for z in Z_OF_VARIANCE.values()},
}

# The columns that `add_adjusted` adds or replaces.
_ADJUSTED = pl.Schema(
    {
        "scores_used": pl.String,
        "reason_random_scorer": pl.String,
        **dict.fromkeys(
            ("z_random_scorer_scale", "z_random_scorer_offset", *COEFFICIENTS, "index_low", "index_high"),
            pl.Float64,
        ),
        **dict.fromkeys(("expectation", "z_low", "z_high"), pl.Float64),
    }
)


def adjusted(row: Row) -> dict[str, Any]:
    """Return the adjusted values of a row with READ, with its final expectation and random scorer.

    z_random_scorer belongs to the random scorer that fits the model: `_scorer`. Where the constants are known within
    bounds only, the expectation becomes the middle of its bounds, and the index is computed there; index_low to
    index_high and z_low to z_high allow for rounding and bounds together (docs/methods.md, "Without training triples").
    """
    scorer = _scorer(row)
    values = scorer | {
        "ratio": _at(row["value"], row["ratio_scale"], None),
        "index": _index_of(row, "value"),
        "z": _at(row["value"], row["z_scale"], row["z_offset"]),
        "z_random_scorer": _at(
            row["value"], scorer["z_random_scorer_scale"], scorer["z_random_scorer_offset"]
        ),
        "z_static_scorer": _at(row["value"], row["z_static_scorer_scale"], row["z_static_scorer_offset"]),
    }
    low, high = least_and_greatest(_index_of(row, end) for end in ("value_low", "value_high"))
    values |= {"index_low": low, "index_high": high, "z_low": None, "z_high": None}
    values["expectation"] = row["expectation"]
    return values | _within_bounds(row) if is_bounded(row) else values


def is_bounded(row: Row) -> bool:
    """Return whether a row's constants are known within bounds only."""
    return row["expectation"] is None and row["expectation_low"] is not None


def stated_scores(scores: str | None) -> str | None:
    """Return per_time or static however it is written, None for None; anything else is a RankadjustError."""
    if scores is None:
        return None
    name = scores.strip().casefold().replace("-", "_").replace(" ", "_")
    if name not in SCORES:
        hint = did_you_mean(name, SCORES) or f"; allowed are {' and '.join(SCORES)}"
        raise RankadjustError(f"unknown scores '{scores}'{hint}")
    return name


def share(value: float | None, zero: float, one: float) -> float | None:
    """Return where a value is on the scale that has 0 and 1 there; None for None."""
    return None if value is None else (value - zero) / (one - zero)


def has_room(zero: float | None, one: float | None) -> bool:
    """Return whether there is room for a scale between two known values."""
    return zero is not None and one is not None and abs(one - zero) > LEAST_ROOM * one


def gains(row: Row) -> dict[str, float | None]:
    """Return gain, gain_low and gain_high of a row with value, value_low, value_high, optimum and baseline_value."""
    baseline, optimum = row["baseline_value"], row["optimum"]
    if not has_room(baseline, optimum):
        return dict.fromkeys(("gain", "gain_low", "gain_high"))
    low, high = least_and_greatest(share(row[end], baseline, optimum) for end in ("value_low", "value_high"))
    return {"gain": share(row["value"], baseline, optimum), "gain_low": low, "gain_high": high}


def least_and_greatest(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """Return the least and the greatest of the known values, None where none is known."""
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else (None, None)


def _at(value: float | None, scale: float | None, offset: float | None) -> float | None:
    if value is None or scale is None:
        return None
    return value * scale if offset is None else value * scale + offset


def _index_of(row: Row, value: str) -> float | None:
    return None if row["index_scale"] is None else share(row[value], row["expectation"], row["optimum"])


def _within_bounds(row: Row) -> dict[str, float | None]:
    """Return the index of the middle of the bounds, and the ends of index and z.

    Index and z are monotone in the value and in each constant, so that their extremes are at the ends.
    """
    optimum = row["optimum"]
    expectations = (row["expectation_low"], row["expectation_high"])
    middle = sum(expectations) / 2
    values = [row["value"] if row[end] is None else row[end] for end in ("value_low", "value_high")]
    adjusted_values: dict[str, float | None] = {"expectation": middle}
    if all(has_room(expectation, optimum) for expectation in expectations):
        ends = least_and_greatest(share(*pair, optimum) for pair in product(values, expectations))
        adjusted_values |= {"index": share(row["value"], middle, optimum)} | dict(
            zip(("index_low", "index_high"), ends, strict=True)
        )
    if row["variance_low"] is not None and row["variance_low"] > 0 and row["value"] is not None:
        sign = 1.0 if optimum > middle else -1.0
        variances = (row["variance_low"], row["variance_high"])
        adjusted_values["z_low"], adjusted_values["z_high"] = least_and_greatest(
            sign * (value - expectation) / sqrt(variance)
            for value, expectation, variance in product(values, expectations, variances)
        )
    return adjusted_values


def _scorer(row: Row) -> dict[str, Any]:
    """Return the constants of z_random_scorer, of the random scorer that scores as the model does.

    scores: per_time or static, None where nobody said. Then the scorer with the larger variance is assumed.
    scores_used is per_time or static, None where the two are equal, as in all data without times; reason_random_scorer
    says why there is no z, or which scorer was assumed.
    """
    per_time, static = row["z_random_scorer_scale"], row["z_static_scorer_scale"]
    used = None
    if per_time != static:
        varies_more = None not in (per_time, static) and abs(static) < abs(per_time)
        used = row["scores"] or ("static" if varies_more else "per_time")
    of = "static" if used == "static" else "random"
    reason = row[f"reason_{of}_scorer"]
    if used is not None and row["scores"] is None:
        reason = _TOOK_STATIC if used == "static" else _TOOK_PER_TIME
    return {
        "scores_used": used,
        "z_random_scorer_scale": row[f"z_{of}_scorer_scale"],
        "z_random_scorer_offset": row[f"z_{of}_scorer_offset"],
        "reason_random_scorer": reason,
    }


def add_coefficients(moments: pl.DataFrame) -> pl.DataFrame:
    """Add optimum, scale and offset of every adjustment to rows of moments.

    Needs the columns metric (key), expectation, variance, variance_random_scorer and reason. An adjustment that
    does not exist (moments unknown; variance 0: no index and no z; expectation next to the optimum: no index) is null,
    and reason says why. Where reason_random_scorer (why there is no variance_random_scorer), variance_static_scorer
    or reason_static_scorer is absent it is added: null, and the reason for data without times. Columns of BOUNDS that
    are absent are added, null.
    """
    moments = _with_static_scorer(moments).with_columns(
        pl.lit(None, pl.Float64).alias(name) for name in BOUNDS if name not in moments.columns
    )
    metrics = [resolve(key) for key in moments["metric"].unique(maintain_order=True)]
    facts = pl.DataFrame(
        {
            "metric": [metric.key for metric in metrics],
            "optimum": [metric.optimum for metric in metrics],
            "sign": [1.0 if metric.increasing else -1.0 for metric in metrics],
            "has_ratio": [metric.ratio for metric in metrics],
        },
        schema={"metric": pl.String, "optimum": pl.Float64, "sign": pl.Float64, "has_ratio": pl.Boolean},
    )
    expectation = pl.col("expectation")
    z_scales = {
        f"{z}_scale": _where(pl.col(variance) > 0, pl.col("sign") / pl.col(variance).sqrt())
        for variance, z in Z_OF_VARIANCE.items()
    }
    z_offsets = {f"{z}_offset": -expectation * z_scales[f"{z}_scale"] for z in Z_OF_VARIANCE.values()}
    index_scale = _where(~_no_index(), 1 / (pl.col("optimum") - expectation))
    return (
        moments.join(facts, on="metric", how="left", maintain_order="left")
        .with_columns(
            ratio_scale=_where(pl.col("has_ratio"), 1 / expectation),
            index_scale=index_scale,
            index_offset=-expectation * index_scale,
            **z_scales,
            **z_offsets,
            reason=pl.coalesce("reason", _reason()),
        )
        .drop("sign", "has_ratio")
    )


def add_adjusted(frame: pl.DataFrame) -> pl.DataFrame:
    """Add ratio, index, z, z_random_scorer, scores_used, and _low and _high of index and z, to rows with a value.

    Needs the columns metric, value, value_low, value_high (null where nothing is known of the rounding),
    expectation and the columns of `add_coefficients`; scores (per_time or static, null where nobody said) may be
    absent. `adjusted` computes each row.
    """
    if "scores" not in frame.columns:
        frame = frame.with_columns(scores=pl.lit(None, pl.String))
    rows = [adjusted(row) for row in frame.select(READ).iter_rows(named=True)]
    return frame.with_columns(pl.DataFrame(rows, schema=_ADJUSTED))


def has_bounds() -> pl.Expr:
    """Return, as an expression, whether a row's constants are known within bounds only."""
    return pl.col("expectation").is_null() & pl.col("expectation_low").is_not_null()


def _with_static_scorer(moments: pl.DataFrame) -> pl.DataFrame:
    """Add the columns of the random scorers that moments of data without times need not have."""
    absent = {
        "reason_random_scorer": pl.lit(None, pl.String),
        "variance_static_scorer": pl.col("variance_random_scorer"),
        "reason_static_scorer": pl.col("reason_random_scorer"),
    }
    for name, value in absent.items():
        if name not in moments.columns:
            moments = moments.with_columns(value.alias(name))
    return moments


def _where(condition: pl.Expr, value: pl.Expr) -> pl.Expr:
    return pl.when(condition).then(value)


def _no_variance() -> pl.Expr:
    """Whether every ranking has the same value; false where the variance is not known."""
    return (pl.col("variance") == 0).fill_null(value=False)


def _no_index() -> pl.Expr:
    room = (pl.col("optimum") - pl.col("expectation")).abs()
    return _no_variance() | (room <= LEAST_ROOM * pl.col("optimum")).fill_null(value=False)


def _reason() -> pl.Expr:
    return (
        pl.when(_no_variance())
        .then(pl.lit("chance already reaches the optimum: no index and no z"))
        .when(_no_index())
        .then(pl.lit("the expectation is within a millionth of the optimum: no index"))
    )
