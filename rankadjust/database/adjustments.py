"""Adjustments: every adjusted metric is scale * value + offset (docs/methods.md, "Adjustments").

ratio = M / E, index = (M - E) / (optimum - E), z = sign (M - E) / sd with sign = -1 where low is better.
The constants depend on the evaluation set alone, so that a spreadsheet can do the rest.
"""

import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.database.arithmetic import BOUNDS, LEAST_ROOM, READ, adjusted

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
    absent. `rankadjust.database.arithmetic.adjusted` computes each row.
    """
    if "scores" not in frame.columns:
        frame = frame.with_columns(scores=pl.lit(None, pl.String))
    rows = [adjusted(row) for row in frame.select(READ).iter_rows(named=True)]
    return frame.with_columns(pl.DataFrame(rows, schema=_ADJUSTED))


def is_bounded() -> pl.Expr:
    """Return whether a row's constants are known within bounds only."""
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
