"""Rank correlations between results and the size of their data set, for printed and adjusted values.

A data set is one observation, whatever the number of its results: the median over its models. Each model counts once.
"""

import numpy as np
import polars as pl

from rankadjust.base.arrays import FloatArray
from rankadjust.literature.summaries import comparable

# In data sets with fewer entities the part of chance is not small.
TINY = 200
_RESAMPLES = 2_000
_SEED = 20220314
# Matches the machine in "ComplEx [8-GPU training]".
_MACHINE = r" \[[^\]]*\]$"


def observations(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return one row per data set, metric and ranking among all entities (raw, filtered).

    Columns: metric, ranking, dataset, entities, models, results, and the medians over models of merit (the printed
    value with the sign that makes higher better) and index. A model may have several results on a data set: from
    several sources, protocols or machines, which DGL-KE names in brackets. Their median counts.
    """
    rows = comparable(rescored).filter(pl.col("ranking") != "sampled", pl.col("entities").is_not_null())
    model = pl.col("model").fill_null("").str.replace(_MACHINE, "").alias("model")
    key = ["metric", "ranking", "dataset"]
    models = rows.group_by(*key, model).agg(
        pl.col("merit", "index", "entities").median(), results=pl.len().cast(pl.Int64)
    )
    return (
        models.group_by(key)
        .agg(
            pl.col("entities").median().round().cast(pl.Int64),
            models=pl.len().cast(pl.Int64),
            results=pl.col("results").sum(),
            merit=pl.col("merit").median(),
            index=pl.col("index").median(),
        )
        .sort(*key)
    )


def size_correlation(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return Spearman's correlation of results with the number of entities, before and after adjustment.

    Printed values have the sign that makes higher better. So a mean rank, which grows with the data set, has a negative
    correlation, and the two columns can be compared. Returns metric, ranking, sets (all, or only data sets with at
    least TINY entities), datasets, results, then the correlations printed and adjusted, each with the ends of a 95 %
    interval (printed_low, ...). The ends are percentiles of _RESAMPLES resamples of the data sets, with a fixed seed;
    they are null with fewer than 4 data sets.
    """
    rows: list[dict[str, object]] = []
    for (metric, ranking), group in observations(rescored).group_by("metric", "ranking", maintain_order=True):
        for name, part in {"all": group, "not tiny": group.filter(pl.col("entities") >= TINY)}.items():
            if part.height > 2 and (name == "all" or part.height < group.height):
                rows.append({"metric": metric, "ranking": ranking, "sets": name} | _correlations(part))
    return pl.DataFrame(rows, schema=_CORRELATIONS).sort("metric", "ranking", "sets")


_CORRELATIONS = {
    **dict.fromkeys(("metric", "ranking", "sets"), pl.String),
    **dict.fromkeys(("datasets", "results"), pl.Int64),
    **{f"{name}{end}": pl.Float64 for name in ("printed", "adjusted") for end in ("", "_low", "_high")},
}


def _correlations(sets: pl.DataFrame) -> dict[str, object]:
    """Return the numbers of data sets and results, and both correlations with their intervals."""
    found: dict[str, object] = {"datasets": sets.height, "results": sets["results"].sum()}
    entities = sets["entities"].to_numpy().astype(float)
    places = np.random.default_rng(_SEED).integers(sets.height, size=(_RESAMPLES, sets.height))
    for name, column in {"printed": "merit", "adjusted": "index"}.items():
        values = sets[column].to_numpy()
        (correlation,) = _spearman(entities[None], values[None]).tolist()
        drawn = _spearman(entities[places], values[places]) if sets.height > 3 else np.empty(0)
        known = drawn[~np.isnan(drawn)]
        low, high = np.percentile(known, [2.5, 97.5]) if known.size else (None, None)
        found |= {name: None if np.isnan(correlation) else correlation}
        found |= {f"{name}_low": low, f"{name}_high": high}
    return found


def _spearman(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the correlations of the ranks within rows, (m,), NaN where a row of either array is constant.

    Ranks are multiples of 1/2 around (n + 1) / 2, so that the sums are exact in any order.
    """
    own_ranks, other = (_ranks(values) - (values.shape[1] + 1) / 2 for values in (first, second))
    scale = 1 / (first.shape[1] - 1)
    shared, *own = (
        np.einsum("ij,ij->i", *both) * scale
        for both in ((own_ranks, other), (own_ranks, own_ranks), (other, other))
    )
    with np.errstate(invalid="ignore"):
        correlation: FloatArray = np.clip(shared / np.sqrt(own[0]) / np.sqrt(own[1]), -1, 1)
    return correlation


def _ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value in its row; equal values share the mean of their ranks."""
    # scipy.stats has such a function, but takes half a second to import.
    rows = pl.Series(values).arr.to_list()
    ranks: FloatArray = rows.list.eval(pl.element().rank()).list.to_array(values.shape[1]).to_numpy()
    return ranks
