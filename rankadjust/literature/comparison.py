"""What adjustment changes: printed and adjusted results of the literature side by side.

Compared is one metric at a time, on test splits and for both sides together. Results among all candidates
stay apart from those among sampled ones: their MRR and Hits@k have another chance level and another scale.
z grows with the number of tasks and never orders results of different data sets (docs/literature.md, "What
adjustment changes").
"""

from collections.abc import Sequence

import altair as alt
import polars as pl

from rankadjust.base.vocabulary import TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.literature.statuses import USABLE
from rankadjust.literature.wording import SAMPLED

# A random ranking is as far from chance in about one of twenty cases.
CHANCE_Z = 2.0
FIGURE_METRICS = ("inverse_harmonic_mean_rank", "hits_at_10", "arithmetic_mean_rank")

_GROUP = ("metric", "candidates")
_PANELS = {"value": "as printed", "index": "adjusted index"}


def comparable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the results that can be compared, with `candidates` (all, sampled) and `merit`.

    rescored: rows of `rankadjust.literature.rescore.rescore`. merit is the printed value with the sign that makes
    higher better. A number that two sources print for a model counts once.
    """
    absent = [name for name in ("source", "model") if name not in rescored.columns]
    rows = rescored.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent).filter(
        pl.col("status").is_in(USABLE),
        pl.col("split").is_in(TEST_SPLITS),
        pl.col("side") == "both",
        pl.col("index").is_not_null(),
    )
    lower_is_better = [key for key in rows["metric"].unique() if not resolve(key).increasing]
    is_sampled = pl.col("protocol").str.contains(SAMPLED)
    same = ["dataset", "protocol", "split", "metric", "model", "value"]
    return rows.with_columns(
        candidates=pl.when(is_sampled).then(pl.lit("sampled")).otherwise(pl.lit("all")),
        merit=pl.when(pl.col("metric").is_in(lower_is_better)).then(-pl.col("value")).otherwise("value"),
    ).unique(same, keep="first", maintain_order=True)


def reversals(rescored: pl.DataFrame) -> pl.DataFrame:
    """Count how often adjustment turns the order of two results on different data sets.

    Returns metric, candidates, better_on and than_on (two data sets in the alphabet's order), pairs (of
    results, one from each), better_before and better_after (pairs in which the first is better), reversed
    (pairs that change their order). Pairs that are equal before or after do not count.
    """
    rows = comparable(rescored).select(*_GROUP, "dataset", "merit", "index")
    pairs = rows.join(rows, on=_GROUP, suffix="_other").filter(pl.col("dataset") < pl.col("dataset_other"))
    before, after = pl.col("merit") - pl.col("merit_other"), pl.col("index") - pl.col("index_other")
    return (
        pairs.filter(before != 0, after != 0)
        .group_by(*_GROUP, better_on="dataset", than_on="dataset_other")
        .agg(
            pairs=pl.len().cast(pl.Int64),
            better_before=(before > 0).sum().cast(pl.Int64),
            better_after=(after > 0).sum().cast(pl.Int64),
            reversed=((before > 0) != (after > 0)).sum().cast(pl.Int64),
        )
        .sort(*_GROUP, "better_on", "than_on")
    )


def model_orders(rescored: pl.DataFrame) -> pl.DataFrame:
    """Order the data sets on which a source evaluates a model, before and after adjustment.

    Returns source, model, metric, candidates, datasets (how many, at least 2), before and after (their
    names, the best result first) and changed.
    """
    rows = comparable(rescored)
    model = ["source", "model", *_GROUP]

    def by(column: str) -> pl.Expr:
        order = pl.col("dataset").sort_by([column, "dataset"], descending=[True, False])
        return order.str.join(" > ")

    return (
        rows.unique([*model, "dataset"], keep="first", maintain_order=True)
        .group_by(model, maintain_order=True)
        .agg(datasets=pl.len().cast(pl.Int64), before=by("merit"), after=by("index"))
        .filter(pl.col("datasets") > 1)
        .with_columns(changed=pl.col("before") != pl.col("after"))
        .sort(*_GROUP, "source", "model", maintain_order=True)
    )


def size_correlation(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return Spearman's correlation of each metric with the number of entities, before and after adjustment.

    Results among all candidates only: the number of sampled ones does not depend on the entities. Returns
    metric, results, datasets, value and index (over all results), value_of_datasets and index_of_datasets
    (over the medians of the data sets, so that a popular one counts once).
    """
    rows = comparable(rescored).filter(pl.col("candidates") == "all", pl.col("entities").is_not_null())
    medians = rows.group_by("metric", "dataset").agg(pl.col("value", "index", "entities").median())
    return (
        rows.group_by("metric")
        .agg(
            results=pl.len().cast(pl.Int64),
            datasets=pl.col("dataset").n_unique().cast(pl.Int64),
            value=_spearman("value"),
            index=_spearman("index"),
        )
        .join(
            medians.group_by("metric").agg(
                value_of_datasets=_spearman("value"), index_of_datasets=_spearman("index")
            ),
            on="metric",
        )
        .filter(pl.col("datasets") > 2)
        .sort("metric")
    )


def not_above_chance(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that a random scorer could have had, or that are worse, with `chance` (at, below) added.

    At chance is within CHANCE_Z standard deviations of it under the random-scorer null.
    """
    z = pl.col("z_random_scorer")
    return rescored.filter(pl.col("status").is_in(USABLE), z < CHANCE_Z).with_columns(
        chance=pl.when(z > -CHANCE_Z).then(pl.lit("at")).otherwise(pl.lit("below"))
    )


def effect_of_approximation(database: pl.DataFrame) -> pl.DataFrame:
    """Return what it does to an index to take every N as the number of entities.

    database: columns of rankadjust.database.store.SCHEMA; the rows of additive metrics under the protocol
    `filtered`, test splits, both sides are used. Since 1 - index = (optimum - M) / (optimum - E), a wrong
    expectation multiplies the distance of every result from 1 by the same factor. Returns dataset, split,
    metric, entities, expectation, expectation_from_entities, factor (1: no effect).
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


def size_chart(rescored: pl.DataFrame, metrics: Sequence[str] = FIGURE_METRICS) -> alt.VConcatChart:
    """Return printed values and adjusted indices against the number of entities, a row of panels per metric.

    A dot is a result among all candidates, a diamond the median of a data set.
    """
    rows = comparable(rescored).filter(pl.col("candidates") == "all", pl.col("entities").is_not_null())
    return alt.vconcat(
        *(
            alt.hconcat(*(_panel(rows.filter(metric=metric), column, metric) for column in _PANELS))
            for metric in metrics
        )
    )


def _panel(rows: pl.DataFrame, column: str, metric: str) -> alt.LayerChart | alt.FacetChart:
    results = rows.select("dataset", "model", "entities", y=column)
    medians = results.group_by("dataset").agg(pl.col("entities", "y").median()).sort("entities", "dataset")
    # Mean ranks run over orders of magnitude; everything else lies near [0, 1].
    is_unbounded = column == "value" and resolve(metric).ratio
    scale = alt.Scale(type="log") if is_unbounded else alt.Scale(domain=[-0.1, 1.0], clamp=True)
    x = alt.X(
        "entities:Q",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(grid=False, format="~s", tickCount=6, title="entities"),
    )
    y = alt.Y("y:Q", scale=scale, axis=alt.Axis(title=None, tickCount=6))
    dots = alt.Chart(_data(results)).mark_circle(size=18, opacity=0.35, color="#4c78a8")
    diamonds = alt.Chart(_data(medians)).mark_point(shape="diamond", size=70, filled=True, color="#e45756")
    label, correlation = resolve(metric).label, _correlation_text(rows, column)
    return alt.layer(
        dots.encode(x=x, y=y, tooltip=["dataset:N", "model:N", "entities:Q", "y:Q"]),
        diamonds.encode(x=x, y=y, tooltip=["dataset:N", "entities:Q", "y:Q"]),
        width=300,
        height=190,
        title=f"{label} {_PANELS[column]} ({correlation})",
    )


def _data(frame: pl.DataFrame) -> alt.InlineData:
    return alt.InlineData(values=frame.to_dicts())


def _spearman(column: str) -> pl.Expr:
    return pl.corr(column, "entities", method="spearman")


def _correlation_text(rows: pl.DataFrame, column: str) -> str:
    value = rows.select(_spearman(column)).item()
    return "no results" if value is None else f"Spearman {value:+.2f}"
