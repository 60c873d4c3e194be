"""Rescored rows made by hand."""

import polars as pl

from rankadjust.database.counted_baselines import GAIN

MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"

_ROW = {
    "dataset": pl.String,
    "model": pl.String,
    "value": pl.Float64,
    "index": pl.Float64,
    "entities": pl.Int64,
}
_TYPES = dict.fromkeys(
    ("expectation", "z", "z_random_scorer", "index_low", "index_high", *GAIN.keys() - {"baseline"}),
    pl.Float64,
)


def results(*rows, **cells):
    """Return rescored rows from (data set, model, value, index, entities), with the same `cells` in each."""
    whole = {"source": "s", "metric": MRR, "protocol": "filtered", "split": "testing", "side": "both"}
    whole |= {"status": "ok", "expectation": 0.1, "z": 60.0, "z_random_scorer": 50.0}
    whole |= {"index_low": 0.1, "index_high": 0.2, "source_line": "1", "caveat": None} | cells
    return pl.DataFrame(rows, schema=_ROW, orient="row").with_columns(
        pl.col("value").cast(pl.String).alias("value_as_printed"),
        *(pl.lit(value, dtype=_TYPES.get(name, pl.String)).alias(name) for name, value in whole.items()),
    )
