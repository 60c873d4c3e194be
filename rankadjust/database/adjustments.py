"""Adjustments: every adjusted metric is scale * value + offset (docs/methods.md, "Adjustments").

ratio = M / E, index = (M - E) / (optimum - E), z = sign (M - E) / sd with sign = -1 where low is better.
The constants depend on the evaluation set alone, so that a spreadsheet can do the rest. Here the index is computed
as the quotient that defines it: then a perfect ranking has exactly 1 and chance exactly 0, whereas scale * M + offset
is rounded in between.
"""

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.chance.metrics import resolve

# Where chance is closer to the optimum than this share of it there is no index: E and the optimum are rounded, and
# their difference would be known to few digits. It bounds optimum * index_scale by 10^6, and with it the rounding
# error of scale * M + offset by 10^-9.
LEAST_ROOM = 1e-6

# The variance of each null model, and the z that it gives.
Z_OF_VARIANCE = {
    "variance": "z",
    "variance_random_scorer": "z_random_scorer",
    "variance_static_scorer": "z_static_scorer",
}

# Whether a model scores a triple anew at every time, or once for all times. Only in temporal data it matters.
SCORES = ("per_time", "static")

# Bounds of the constants of data sets without training triples; other rows have none.
BOUNDS = ("expectation_low", "expectation_high", "variance_low", "variance_high")

# The columns of scale and offset of each adjustment.
COEFFICIENTS = {
    "ratio": ("ratio_scale", None),
    "index": ("index_scale", "index_offset"),
    **{z: (f"{z}_scale", f"{z}_offset") for z in Z_OF_VARIANCE.values()},
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
    expectation and the columns of `add_coefficients`. z_random_scorer belongs to the random scorer that fits the
    model: `_choose_scorer`.

    Where the constants are known within bounds only, the expectation becomes the middle of its bounds, and the index is
    computed there; index_low to index_high and z_low to z_high allow for rounding and bounds together. Other rows have
    no z_low and z_high (docs/methods.md, "Without training triples").
    """
    ends = [_apply("value_low", "index"), _apply("value_high", "index")]
    adjusted = _choose_scorer(frame).with_columns(
        **{name: _apply("value", name) for name in COEFFICIENTS},
        index_low=pl.min_horizontal(ends),
        index_high=pl.max_horizontal(ends),
    )
    return _adjusted_within_bounds(adjusted)


def is_bounded() -> pl.Expr:
    """Return whether a row's constants are known within bounds only."""
    return pl.col("expectation").is_null() & pl.col("expectation_low").is_not_null()


def _adjusted_within_bounds(frame: pl.DataFrame) -> pl.DataFrame:
    """Replace the index of rows with bounds by that of the middle and its extremes, and add z_low and z_high.

    Index and z are monotone in the value and in each constant, so that their extremes are at the ends.
    """
    values = [pl.coalesce(end, "value") for end in ("value_low", "value_high")]
    expectations = [pl.col("expectation_low"), pl.col("expectation_high")]
    variances = [pl.col("variance_low"), pl.col("variance_high")]
    middle = (expectations[0] + expectations[1]) / 2
    has_index = is_bounded() & pl.all_horizontal(
        (pl.col("optimum") - end).abs() > LEAST_ROOM * pl.col("optimum") for end in expectations
    )
    has_z = is_bounded() & (pl.col("variance_low") > 0)
    indices = [_index(value, expectation) for value in values for expectation in expectations]
    sign = pl.when(pl.col("optimum") > middle).then(1.0).otherwise(-1.0)
    zs = [
        sign * (value - expectation) / variance.sqrt()
        for value in values
        for expectation in expectations
        for variance in variances
    ]
    return frame.with_columns(
        expectation=pl.when(is_bounded()).then(middle).otherwise("expectation"),
        index=pl.when(has_index).then(_index(pl.col("value"), middle)).otherwise("index"),
        index_low=pl.when(has_index).then(pl.min_horizontal(indices)).otherwise("index_low"),
        index_high=pl.when(has_index).then(pl.max_horizontal(indices)).otherwise("index_high"),
        z_low=_where(has_z, pl.min_horizontal(zs)),
        z_high=_where(has_z, pl.max_horizontal(zs)),
    )


def _index(value: pl.Expr, expectation: pl.Expr) -> pl.Expr:
    return (value - expectation) / (pl.col("optimum") - expectation)


def stated_scores(scores: str | None) -> str | None:
    """Return per_time or static however it is written, None for None; anything else is a RankadjustError."""
    if scores is None:
        return None
    name = scores.strip().casefold().replace("-", "_").replace(" ", "_")
    if name not in SCORES:
        hint = did_you_mean(name, SCORES) or f"; allowed are {' and '.join(SCORES)}"
        raise RankadjustError(f"unknown scores '{scores}'{hint}")
    return name


_EITHER = (
    "the data have times, and it is not said whether the model scores a triple anew at each (scores: per_time) or once "
    "for all (static)"
)
_TOOK_STATIC = f"{_EITHER}: z is for the static scorer, which varies more"
_TOOK_PER_TIME = (
    f"{_EITHER}: z is for the scorer per time; for the static scorer z is smaller, and not known here"
)


def _choose_scorer(frame: pl.DataFrame) -> pl.DataFrame:
    """Take the constants of z_random_scorer from the random scorer that scores as the model does.

    scores: per_time or static, null or no such column where nobody said. Then the scorer with the larger variance
    is assumed. Adds scores_used (per_time or static; null where the two are equal, as
    in all data without times), and says in reason_random_scorer why there is no z, or which scorer was assumed.
    """
    if "scores" not in frame.columns:
        frame = frame.with_columns(scores=pl.lit(None, pl.String))
    per_time, static = pl.col("z_random_scorer_scale"), pl.col("z_static_scorer_scale")
    varies_more = (static.abs() < per_time.abs()).fill_null(value=False)
    likely = pl.when(varies_more).then(pl.lit("static")).otherwise(pl.lit("per_time"))
    matters = per_time.ne_missing(static)
    frame = frame.with_columns(scores_used=_where(matters, pl.coalesce("scores", likely)))
    is_static = (pl.col("scores_used") == "static").fill_null(value=False)
    unsaid = pl.when(is_static).then(pl.lit(_TOOK_STATIC)).otherwise(pl.lit(_TOOK_PER_TIME))
    return frame.with_columns(
        pl.when(is_static).then(of_static).otherwise(of_random).alias(of_random)
        for of_random, of_static in (
            ("z_random_scorer_scale", "z_static_scorer_scale"),
            ("z_random_scorer_offset", "z_static_scorer_offset"),
            ("reason_random_scorer", "reason_static_scorer"),
        )
    ).with_columns(
        reason_random_scorer=pl.when(pl.col("scores_used").is_not_null() & pl.col("scores").is_null())
        .then(unsaid)
        .otherwise("reason_random_scorer")
    )


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


def _apply(value: str, adjustment: str) -> pl.Expr:
    if adjustment == "index":
        room = pl.col("optimum") - pl.col("expectation")
        return _where(pl.col("index_scale").is_not_null(), (pl.col(value) - pl.col("expectation")) / room)
    scale, offset = COEFFICIENTS[adjustment]
    product = pl.col(value) * pl.col(scale)
    return product if offset is None else product + pl.col(offset)


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
