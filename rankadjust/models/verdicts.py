"""Which model is better: the p-values of all metrics, pairs and data sets of a side together, and letters."""

import numpy as np
import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.models.several import holm, letters


def with_verdicts(differences: pl.DataFrame, level: float) -> pl.DataFrame:
    """Add p_holm and better to rows with side, metric, first, second, difference and p.

    p_holm: p adjusted for all rows of its side (Holm 1979), null without a p. better: the better model of a
    pair where p_holm is below the level, else null; a metric without a direction has none.
    """
    p = differences["p"].fill_null(np.nan).to_numpy()
    adjusted = np.full(p.shape, np.nan)
    for side in differences["side"].unique():
        of_side = differences["side"].eq(side).to_numpy()
        adjusted[of_side] = holm(p[of_side])
    metrics = {key: resolve(key) for key in differences["metric"].unique()}
    rising = [key for key, metric in metrics.items() if metric.increasing]
    directed = [key for key, metric in metrics.items() if not np.isnan(metric.optimum)]
    first_is_better = (pl.col("difference") > 0) == pl.col("metric").is_in(rising)
    told_apart = (pl.col("p_holm") < level) & pl.col("metric").is_in(directed)
    return differences.with_columns(p_holm=pl.Series(adjusted, dtype=pl.Float64).fill_nan(None)).with_columns(
        better=pl.when(told_apart).then(pl.when(first_is_better).then("first").otherwise("second"))
    )


def with_letters(values: pl.DataFrame, differences: pl.DataFrame, level: float) -> pl.DataFrame:
    """Add letters and best to rows with side, metric, model and value, the best model having the letter a.

    differences: of the same sides and metrics, with p_holm. best: whether a model has the best value, or is not
    told apart from the model that has.
    """
    parts = []
    for (side, key), part in values.group_by(["side", "metric"], maintain_order=True):
        metric = resolve(str(key))
        rows = differences.filter(side=side, metric=key)
        differ = {
            (one, other): p is not None and p < level
            for one, other, p in rows.select("first", "second", "p_holm").iter_rows()
        }
        known = part.drop_nulls("value").sort("value", descending=metric.increasing, maintain_order=True)
        of_model = letters(known["model"].to_list(), differ) if known.height else {}
        first = known["model"].first() if known.height else None
        best = [
            not np.isnan(metric.optimum)
            and name in of_model
            and not differ.get((name, first), differ.get((first, name), False))
            for name in part["model"]
        ]
        parts.append(
            part.with_columns(
                letters=pl.Series([of_model.get(name) for name in part["model"]], dtype=pl.String),
                best=pl.Series(best, dtype=pl.Boolean),
            )
        )
    return pl.concat(parts)
