"""The arithmetic of adjusted values: the only place that computes ratio, index, z and gain.

ratio = M / E, index = (M - E) / (optimum - E), z = sign (M - E) / sd with sign = -1 where low is better. Each is
scale * M + offset (docs/methods.md, "Adjustments"), and the constants depend on the evaluation set alone, so that a
spreadsheet can do the rest. The index is computed as the quotient that defines it: then a perfect ranking has exactly 1
and chance exactly 0, whereas scale * M + offset is rounded in between.
"""

from collections.abc import Mapping
from itertools import product
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
    "the data have times, but nothing says whether the model scores a triple anew at each time (scores: per_time) or "
    "once for all times (static)"
)
_TOOK_STATIC = f"{_EITHER}, so z is for the static scorer, which varies more"
_TOOK_PER_TIME = (
    f"{_EITHER}; z is for the scorer per time, because the smaller z of the static scorer is not known here"
)

# Bounds of the constants of data sets without training triples; other rows have none.
BOUNDS = ("expectation_low", "expectation_high", "variance_low", "variance_high")

_VALUES = ("value", "value_low", "value_high")
# The variance of each null model, and the z that it gives.
Z_OF_VARIANCE = {
    "variance": "z",
    "variance_random_scorer": "z_random_scorer",
    "variance_static_scorer": "z_static_scorer",
}

# The columns of scale and offset of ratio (which has no offset), index and each z.
SCALES = (
    "ratio_scale",
    *(f"{name}_{part}" for name in ("index", *Z_OF_VARIANCE.values()) for part in ("scale", "offset")),
)


def stated_scores(scores: str | None) -> str | None:
    """Return per_time or static however it is written, None for None; anything else is a RankadjustError."""
    if scores is None:
        return None
    name = scores.strip().casefold().replace("-", "_").replace(" ", "_")
    if name not in SCORES:
        hint = did_you_mean(name, SCORES) or f"; allowed are {' and '.join(SCORES)}"
        raise RankadjustError(f"unknown scores '{scores}'{hint}")
    return name


def has_room(zero: pl.Expr, one: pl.Expr) -> pl.Expr:
    """Return whether there is room for a scale between two values; null where one of them is not known."""
    return (one - zero).abs() > LEAST_ROOM * one


def share(value: pl.Expr, zero: pl.Expr, one: pl.Expr) -> pl.Expr:
    """Return where a value is on the scale that has 0 and 1 there."""
    return (value - zero) / (one - zero)


def add_gains(rows: pl.DataFrame) -> pl.DataFrame:
    """Add gain, gain_low and gain_high to rows with value, value_low, value_high, optimum and baseline_value."""
    baseline, optimum = pl.col("baseline_value"), pl.col("optimum")
    value, *ends = (
        _where(has_room(baseline, optimum), share(pl.col(name), baseline, optimum)) for name in _VALUES
    )
    return rows.with_columns(gain=value, gain_low=pl.min_horizontal(ends), gain_high=pl.max_horizontal(ends))


def add_coefficients(moments: pl.DataFrame) -> pl.DataFrame:
    """Add optimum and SCALES to rows of moments.

    Needs the columns metric (key), expectation, variance, variance_random_scorer and reason. An adjustment that does
    not exist (moments unknown; variance 0: no index and no z; expectation next to the optimum: no index) is null, and
    reason says why. What is absent of the columns about the scorers and of BOUNDS is added, as for data without times.
    """
    absent = {
        "reason_random_scorer": pl.lit(None, pl.String),
        "variance_static_scorer": pl.col("variance_random_scorer"),
        "reason_static_scorer": pl.col("reason_random_scorer"),
        **dict.fromkeys(BOUNDS, pl.lit(None, pl.Float64)),
    }
    for name, column in absent.items():
        if name not in moments.columns:
            moments = moments.with_columns(column.alias(name))
    metrics = {key: resolve(key) for key in moments["metric"].unique()}

    def of_metric(facts: Mapping[str, float | None]) -> pl.Expr:
        return pl.col("metric").replace_strict(facts).cast(pl.Float64)

    # Where ranks are not uniform on 1..N, the best value may be another.
    own = [pl.col("optimum")] if "optimum" in moments.columns else []
    optimum = pl.coalesce(*own, of_metric({key: each.optimum for key, each in metrics.items()}))
    expectation = pl.col("expectation")
    sign = of_metric({key: 1.0 if each.increasing else -1.0 for key, each in metrics.items()})
    # Every ranking has the same value; false where the variance is not known.
    is_constant = (pl.col("variance") == 0).fill_null(value=False)
    is_near = ((optimum - expectation).abs() <= LEAST_ROOM * optimum).fill_null(value=False)
    reason = (
        pl.when(is_constant)
        .then(pl.lit("chance already reaches the optimum: no index and no z"))
        .when(is_near)
        .then(pl.lit("the expectation is within a millionth of the optimum: no index"))
    )
    has_ratio = pl.col("metric").is_in([key for key, each in metrics.items() if each.ratio])
    scales = {"index": _where(~(is_constant | is_near), 1 / (optimum - expectation))} | {
        z: _where(pl.col(variance) > 0, sign / pl.col(variance).sqrt())
        for variance, z in Z_OF_VARIANCE.items()
    }
    return moments.with_columns(
        optimum=optimum,
        ratio_scale=_where(has_ratio, 1 / expectation),
        **{f"{name}_scale": scale for name, scale in scales.items()},
        **{f"{name}_offset": -expectation * scale for name, scale in scales.items()},
        reason=pl.coalesce("reason", reason),
    )


def add_adjusted(frame: pl.DataFrame) -> pl.DataFrame:
    """Add ratio, index, z, z_random_scorer, scores_used, and _low and _high of index and z, to rows with a value.

    Needs value, value_low, value_high (null where nothing is known of the rounding) and the columns of
    `add_coefficients`; scores (per_time or static, null where nobody said) may be absent. Where the constants are known
    within bounds only, the expectation becomes the middle of its bounds, and the index is computed there; index_low to
    index_high and z_low to z_high allow for rounding and bounds together (docs/methods.md, "Without training triples").
    """
    if "scores" not in frame.columns:
        frame = frame.with_columns(scores=pl.lit(None, pl.String))
    value, optimum = pl.col("value"), pl.col("optimum")
    scorer = _scorer()
    index, *ends = (
        _where(pl.col("index_scale").is_not_null(), share(pl.col(name), pl.col("expectation"), optimum))
        for name in _VALUES
    )
    bounded = _within_bounds()
    return frame.with_columns(
        **scorer,
        ratio=value * pl.col("ratio_scale"),
        index=pl.coalesce(index, bounded["index"]),
        z=value * pl.col("z_scale") + pl.col("z_offset"),
        z_random_scorer=value * scorer["z_random_scorer_scale"] + scorer["z_random_scorer_offset"],
        index_low=pl.coalesce(pl.min_horizontal(ends), bounded["index_low"]),
        index_high=pl.coalesce(pl.max_horizontal(ends), bounded["index_high"]),
        expectation=pl.coalesce("expectation", bounded["expectation"]),
        z_low=bounded["z_low"],
        z_high=bounded["z_high"],
    )


def adjusted(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `add_adjusted` and `add_gains` add to a row, with the row."""
    texts = dict.fromkeys(("scores", "reason", "reason_random_scorer", "reason_static_scorer"), pl.String)
    numbers = (*_VALUES, "baseline_value", *BOUNDS, "expectation", "optimum", *SCALES)
    frame = pl.DataFrame([row], schema=pl.Schema({**texts, **dict.fromkeys(numbers, pl.Float64)}))
    return {**row, **add_gains(add_adjusted(frame)).row(0, named=True)}


def has_bounds() -> pl.Expr:
    """Return, as an expression, whether a row's constants are known within bounds only."""
    return pl.col("expectation").is_null() & pl.col("expectation_low").is_not_null()


def _within_bounds() -> dict[str, pl.Expr]:
    """Return the expectation and index in the middle of the bounds, and the ends of index and z; else null.

    Index and z are monotone in the value and in each constant, so that their extremes are at the ends.
    """
    value, optimum = pl.col("value"), pl.col("optimum")
    values = [pl.coalesce(end, "value") for end in _VALUES[1:]]
    expectations = (pl.col("expectation_low"), pl.col("expectation_high"))
    variances = (pl.col("variance_low"), pl.col("variance_high"))
    middle = (expectations[0] + expectations[1]) / 2
    sign = pl.when(optimum > middle).then(1.0).otherwise(-1.0)
    indices = [share(*pair, optimum) for pair in product(values, expectations)]
    zs = [
        sign * (value - expectation) / variance.sqrt()
        for value, expectation, variance in product(values, expectations, variances)
    ]
    has_index = has_bounds() & pl.all_horizontal(has_room(end, optimum) for end in expectations)
    has_z = has_bounds() & (variances[0] > 0) & value.is_not_null()
    return {
        "expectation": middle,
        "index": _where(has_index, share(value, middle, optimum)),
        "index_low": _where(has_index, pl.min_horizontal(indices)),
        "index_high": _where(has_index, pl.max_horizontal(indices)),
        "z_low": _where(has_z, pl.min_horizontal(zs)),
        "z_high": _where(has_z, pl.max_horizontal(zs)),
    }


def _scorer() -> dict[str, pl.Expr]:
    """Return the constants of z_random_scorer, of the random scorer that scores as the model does.

    Where nobody said how it does, the scorer with the larger variance is assumed. scores_used is null where the two are
    equal, as in all data without times; reason_random_scorer says why z is missing, or which scorer was assumed.
    """
    per_time, static = pl.col("z_random_scorer_scale"), pl.col("z_static_scorer_scale")
    differ = per_time.ne_missing(static)
    varies_more = pl.when(static.abs() < per_time.abs()).then(pl.lit("static")).otherwise(pl.lit("per_time"))
    is_static = differ & (pl.coalesce("scores", varies_more) == "static")
    is_assumed = differ & pl.col("scores").is_null()
    assumed = pl.when(is_static).then(pl.lit(_TOOK_STATIC)).otherwise(pl.lit(_TOOK_PER_TIME))

    def fitting(name: str) -> pl.Expr:
        return pl.when(is_static).then(name.format("static")).otherwise(name.format("random"))

    return {
        "scores_used": _where(differ, pl.coalesce("scores", varies_more)),
        "reason_random_scorer": pl.when(is_assumed).then(assumed).otherwise(fitting("reason_{}_scorer")),
        "z_random_scorer_scale": fitting("z_{}_scorer_scale"),
        "z_random_scorer_offset": fitting("z_{}_scorer_offset"),
    }


def _where(condition: pl.Expr, value: pl.Expr) -> pl.Expr:
    return pl.when(condition).then(value)
