"""The error of an index that is computed as if every task had as many candidates as there are entities.

It is apart from `rankadjust.literature.comparison` because moments need scipy, and a page does not.
"""

import polars as pl

from rankadjust.base.vocabulary import TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments


def effect_of_approximation(database: pl.DataFrame) -> pl.DataFrame:
    """Return the error of an index that is computed as if every N were the number of entities.

    database: a frame with the columns of rankadjust.database.store.SCHEMA. Its rows of additive metrics under the
    protocol `filtered`, on test splits and both sides, are used. Since 1 - index = (optimum - M) / (optimum - E), a
    wrong expectation multiplies the distance of every index from 1 by the same factor. Returns dataset, split, metric,
    entities, expectation, expectation_from_entities, factor (1: no effect).
    """
    rows = database.filter(
        pl.col("protocol") == "filtered",
        pl.col("split").is_in(TEST_SPLITS),
        pl.col("side") == "both",
        pl.col("metric").is_in([key for key in database["metric"].unique() if resolve(key).additive]),
        pl.col("index_scale").is_not_null(),
    )
    distinct = rows.select("metric", "entities").unique(maintain_order=True)
    near = [metric_moments(metric, [size]).expectation for metric, size in distinct.iter_rows()]
    estimates = distinct.with_columns(expectation_from_entities=pl.Series(near, dtype=pl.Float64))
    return (
        rows.join(estimates, on=["metric", "entities"], how="left", maintain_order="left")
        .with_columns(
            factor=(pl.col("optimum") - pl.col("expectation"))
            / (pl.col("optimum") - pl.col("expectation_from_entities"))
        )
        .select(
            "dataset", "split", "metric", "entities", "expectation", "expectation_from_entities", "factor"
        )
        .sort("metric", "entities", "dataset")
    )
