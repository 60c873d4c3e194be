"""What adjustment changes in the literature: printed and adjusted results side by side (docs/literature.md).

Within one evaluation - a data set, split, side, protocol and metric - adjustment is an affine function that rises with
the quality of a result, so that it never changes the order of models there. What it changes is how far a number is from
chance, and with that what numbers of different evaluations say beside each other.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import EVALUATION, TEST_SPLITS
from rankadjust.base.words import shipped_mapping
from rankadjust.chance.metrics import resolve
from rankadjust.chance.moments import metric_moments
from rankadjust.literature.distinct import distinct_results
from rankadjust.literature.statuses import USABLE
from rankadjust.literature.wording import SAMPLED

# A random ranking is as far from chance in about one of twenty cases.
CHANCE_Z = 2.0
# By so much a printed MRR or Hits@k and its index differ visibly: a unit of the second decimal.
VISIBLE = 0.01
# Where the classes of rankings among all entities end.
_SIZES = {"fewer than 200 entities": 200, "200 to 1,999": 2_000, "2,000 to 19,999": 20_000}
_LARGEST = "20,000 or more"
# Metrics between 0 and 1 that are printed by nearly all. Hits@100 is another matter: chance has 100 / N.
_MRR_AND_HITS = "^(inverse_harmonic_mean_rank(_at_[0-9]+)?|hits_at_([1-9]|10))$"

# The ends of the rounding interval.
_ENDS = ("index_low", "index_high")

_ORDER_KEY = ("metric", "ranking")


def usable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that have an index of their own evaluation, with `ranking` and `merit`.

    rescored: rows of `rankadjust.literature.rescore.rescore`. ranking says what was ranked against what: sampled, raw
    (all entities without a filter) or filtered. merit is the printed value with the sign that makes higher better.
    """
    absent = [
        name for name in ("source", "year", "model", "source_line", "caveat") if name not in rescored.columns
    ]
    rows = rescored.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent).filter(
        pl.col("status").is_in(USABLE), pl.col("index").is_not_null()
    )
    lower_is_better = [key for key in rows["metric"].unique() if not resolve(key).increasing]
    return rows.with_columns(
        ranking=pl.when(pl.col("protocol").str.contains(SAMPLED))
        .then(pl.lit("sampled"))
        .when(pl.col("protocol") == "raw")
        .then(pl.lit("raw"))
        .otherwise(pl.lit("filtered")),
        merit=pl.when(pl.col("metric").is_in(lower_is_better)).then(-pl.col("value")).otherwise("value"),
    )


def comparable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `usable` on test splits and for both sides; a number that two sources print counts once."""
    same = ["dataset", "protocol", "split", "metric", "model", "value"]
    rows = usable(rescored).filter(pl.col("split").is_in(TEST_SPLITS), pl.col("side") == "both")
    return rows.unique(same, keep="first", maintain_order=True)


def chance_share(rescored: pl.DataFrame) -> pl.DataFrame:
    """Say for each kind of ranking how much of a printed MRR or Hits@k, k up to 10, chance explains.

    A result that several sources print counts once (`distinct_results`). Returns a row per class of `usable` rows:
    candidates (sampled-q, or how many entities are ranked), results, datasets, share (median of expectation / value),
    share_low and share_high (its quartiles), visible (results whose index differs from the printed value by more than
    VISIBLE) and largest (the largest such difference). The largest median share comes first.
    """
    rows = distinct_results(usable(rescored)).filter(pl.col("metric").str.contains(_MRR_AND_HITS))
    share, difference = pl.col("expectation") / pl.col("value"), (pl.col("value") - pl.col("index")).abs()
    return (
        rows.with_columns(candidates=candidate_class())
        .group_by("candidates")
        .agg(
            results=pl.len().cast(pl.Int64),
            datasets=pl.col("dataset").n_unique().cast(pl.Int64),
            share=share.median(),
            share_low=share.quantile(0.25, "linear"),
            share_high=share.quantile(0.75, "linear"),
            visible=(difference > VISIBLE).sum().cast(pl.Int64),
            largest=difference.max(),
        )
        .sort("share", "candidates", descending=[True, False])
    )


def candidate_class() -> pl.Expr:
    """Return the class of a row by its candidates: 'sampled-20', 'fewer than 200 entities', ..."""
    size: pl.Expr = pl.lit(_LARGEST)
    for name, end in reversed(_SIZES.items()):
        size = pl.when(pl.col("entities") < end).then(pl.lit(name)).otherwise(size)
    return pl.when(pl.col("protocol").str.contains(SAMPLED)).then("protocol").otherwise(size)


def protocol_effect(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return results of the same model on the same data under two protocols, a row per pair and metric.

    The first protocol is `filtered` where the source prints it, else the first in the alphabet. A model is known by its
    name within the source, and by its line where the source repeats the name. Returns source, model, source_line,
    dataset, split, side, metric, then protocol, value, expectation and index of the first and other_... of the second.
    """
    columns = ["protocol", "value", "expectation", "index"]
    same = ["source", "model", "dataset", "split", "side", "metric"]
    rows = usable(rescored).filter(pl.col("model").is_not_null())
    is_repeated = pl.struct(*same, "protocol").is_duplicated().any().over(same)
    rows = rows.with_columns(source_line=pl.when(is_repeated).then("source_line"))
    key = [*same, "source_line"]
    rows = rows.unique([*key, "protocol"], keep="first", maintain_order=True).select(*key, *columns)
    first = rows.sort(pl.col("protocol") != "filtered", "protocol", maintain_order=True).unique(
        key, keep="first", maintain_order=True
    )
    return (
        first.join(
            rows.rename({name: f"other_{name}" for name in columns}),
            on=key,
            nulls_equal=True,
            maintain_order="left_right",
        )
        .filter(pl.col("protocol") != pl.col("other_protocol"))
        .select(
            *("source", "model", "source_line", "dataset", "split", "side", "metric"),
            *columns,
            *(f"other_{name}" for name in columns),
        )
        .sort("source", "dataset", "metric", "model", "source_line", "other_protocol", maintain_order=True)
    )


def ranked_results(rescored: pl.DataFrame, contradictions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the models of each evaluation, each with its best result (of equal ones the first), the best model first.

    Rows with a caveat - second-hand, or refuted - are left out, and what contradictions (of `check`) call impossible.
    Returns the columns of an evaluation, metric, place, model, source, value, value_low, value_high, index, spread (the
    largest number that ± may stand for, rounded) and runs (how many the value is a mean over, where the source
    says it).
    """
    columns = ["place", "model", "source", "value", "value_low", "value_high", "index", "spread", "runs"]
    rows = ranked_rows(rescored, contradictions)
    if "spread" not in rows.columns:
        rows = rows.with_columns(spread=pl.lit(None, pl.String))
    printed = pl.struct("spread", "unit").map_elements(_largest_spread, return_dtype=pl.Float64)
    return rows.with_columns(spread=printed, runs=_stated_runs()).select(*EVALUATION, "metric", *columns)


def _largest_spread(printed: Mapping[str, str | None]) -> float | None:
    number = read_number(printed["spread"] or "")
    return None if number is None else number.interval(percent=printed["unit"] == "percent").high


def _stated_runs() -> pl.Expr:
    """Return over how many runs the values of a source are means, null where it does not say that."""
    found: pl.Expr = pl.lit(None, pl.Int64)
    for rule in shipped_mapping()["runs"]:
        found = pl.when(pl.col("source").str.contains(rule["source"])).then(rule["runs"]).otherwise(found)
    return found.cast(pl.Int64)


def best_results(
    rescored: pl.DataFrame, count: int = 3, contradictions: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Return at most `count` models of each evaluation, as `ranked_results` has them but without the rounding."""
    columns = ["place", "model", "source", "value", "index"]
    return (
        ranked_rows(rescored, contradictions)
        .filter(pl.col("place") <= count)
        .select(*EVALUATION, "metric", *columns)
    )


def ranked_rows(rescored: pl.DataFrame, contradictions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the rows that `ranked_results` tells of, with all their columns and place.

    A column `own` (bool) keeps a model of the user's apart from a published one of the same name.
    """
    evaluation = [*EVALUATION, "metric"]
    model = ["model", "own"] if "own" in rescored.columns else ["model"]
    clean = usable(rescored).filter(pl.col("caveat").is_null(), pl.col("model").is_not_null())
    rows = _without_impossible(clean, contradictions)
    return (
        rows.sort("merit", descending=True, maintain_order=True)
        .unique([*evaluation, *model], keep="first", maintain_order=True)
        .with_columns(place=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(evaluation))
        .sort(*evaluation, "place")
    )


def model_orders(rescored: pl.DataFrame) -> pl.DataFrame:
    """Order the data sets on which a source evaluates a model, before and after adjustment.

    Where a model has filtered and raw results on a data set, the filtered one is taken. Returns source, model, metric,
    ranking, datasets (how many, at least 2), before and after (their names, the best result first; of those that are
    printed alike the one with the higher index) and changed.
    """
    rows = comparable(rescored).sort(pl.col("ranking") == "raw", maintain_order=True)
    rows = rows.with_columns(ranking=pl.col("ranking").replace("raw", "filtered"))
    model = ["source", "model", *_ORDER_KEY]

    def by(*columns: str) -> pl.Expr:
        descending = [True] * len(columns) + [False]
        return pl.col("dataset").sort_by([*columns, "dataset"], descending=descending).str.join(" > ")

    return (
        rows.unique([*model, "dataset"], keep="first", maintain_order=True)
        .group_by(model, maintain_order=True)
        .agg(datasets=pl.len().cast(pl.Int64), before=by("merit", "index"), after=by("index"))
        .filter(pl.col("datasets") > 1)
        .with_columns(changed=pl.col("before") != pl.col("after"))
        .sort(*_ORDER_KEY, "source", "model", maintain_order=True)
    )


def not_above_chance(rescored: pl.DataFrame, contradictions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the rows that a random scorer could have had, or that are worse, with `chance` and `evidence` added.

    The whole rounding interval decides: a Hits@1 of 0.00 may be 0.005. chance is `at` where all of it is within
    CHANCE_Z standard deviations of chance, `below` where all of it is beyond, `at or below` where it holds that limit.
    evidence is the z that says so (that of the random scorer, or of independent ranks where there is none), or the
    index alone where the number of tasks is not known: that can only tell what is below. contradictions: of `check`;
    where it calls values of a model impossible, nothing is said of any of them.
    """
    z = pl.coalesce("z_random_scorer", "z")
    evidence = (
        pl.when(pl.col("z_random_scorer").is_not_null())
        .then(pl.lit("z, random scorer"))
        .when(pl.col("z").is_not_null())
        .then(pl.lit("z, independent ranks"))
        .otherwise(pl.lit("index"))
    )
    # Both are affine in the value, and 0 at chance.
    ends = [
        pl.coalesce(pl.when(pl.col("index") != 0).then(z / pl.col("index") * pl.col(end)), z) for end in _ENDS
    ]
    low, high = pl.min_horizontal(ends), pl.max_horizontal(ends)
    word = (
        pl.when(pl.when(z.is_null()).then(pl.col("index_high") < 0).otherwise(high <= -CHANCE_Z))
        .then(pl.lit("below"))
        .when((low > -CHANCE_Z) & (high < CHANCE_Z))
        .then(pl.lit("at"))
        .when(high < CHANCE_Z)
        .then(pl.lit("at or below"))
    )
    rows = rescored.filter(pl.col("status").is_in(USABLE)).with_columns(chance=word, evidence=evidence)
    return _without_impossible(rows.filter(pl.col("chance").is_not_null()), contradictions)


def _without_impossible(rows: pl.DataFrame, contradictions: pl.DataFrame | None) -> pl.DataFrame:
    """Return the rows of models of which no values are called impossible in that evaluation."""
    impossible = impossible_values(rows.with_row_index("_row"), contradictions)["_row"]
    return rows.filter(~pl.int_range(pl.len()).is_in(impossible.implode()))


def impossible_values(rows: pl.DataFrame, contradictions: pl.DataFrame | None) -> pl.DataFrame:
    """Return the rows of models of which values are called impossible in that evaluation."""
    key = ["file", "source", "model", *EVALUATION]
    if contradictions is None or "severity" not in contradictions.columns:
        return rows.clear()
    key = [name for name in key if name in contradictions.columns and name in rows.columns]
    found = contradictions.filter(severity="impossible").select(pl.col(key).cast(pl.String))
    return rows.join(found, on=key, how="semi", nulls_equal=True, maintain_order="left")


def below_baselines(
    rescored: pl.DataFrame, by: Sequence[str] = ("dataset", "protocol", "split")
) -> pl.DataFrame:
    """Say for each evaluation, or each model or year, how many published values are below what counting reaches.

    Of the rows of `comparable` those are taken that have a gain: their protocol is the baseline's own, and the best
    baseline was chosen on validation. by: columns of rescored rows. Returns a row for each value of them: results,
    models, below (results that are below the baseline by more than their rounding), and for MRR and Hits@k, k up to 10,
    the medians of what chance and counting explain of a value (chance_share, counting_share), then the result that is
    furthest below (or least above): lowest_gain with lowest_model, lowest_dataset, lowest_metric, lowest_value,
    baseline and baseline_value. Most below come first.
    """
    has_share = pl.col("metric").str.contains(_MRR_AND_HITS) & (pl.col("value") > 0)
    shares = {"chance_share": "expectation", "counting_share": "baseline_value"}
    lowest = {
        **{f"lowest_{name}": name for name in ("gain", "model", "dataset", "metric", "value")},
        **{name: name for name in ("baseline", "baseline_value")},
    }
    return (
        _with_gain(rescored)
        .sort("gain", maintain_order=True)
        .group_by(by, maintain_order=True)
        .agg(
            results=pl.len().cast(pl.Int64),
            models=pl.col("model").n_unique().cast(pl.Int64),
            below=_IS_BELOW.sum().cast(pl.Int64),
            **{
                name: (pl.col(column) / pl.col("value")).filter(has_share).median()
                for name, column in shares.items()
            },
            **{name: pl.col(column).first() for name, column in lowest.items()},
        )
        .sort("below", *by, descending=[True, *(False for _ in by)], nulls_last=True)
    )


def surprising(rescored: pl.DataFrame, count: int = 10) -> pl.DataFrame:
    """Return published MRR and Hits@k, k up to 10, that are furthest below counting, one for a model and data set.

    Of a data set no more than two are taken, so that one benchmark does not fill the list. Returns the columns of an
    evaluation, metric, model, source, year, value, expectation, baseline, baseline_value and below (by how much).
    """
    columns = ["metric", "model", "source", "year", "value", "expectation", "baseline", "baseline_value"]
    return (
        _with_gain(rescored)
        .filter(_IS_BELOW, pl.col("metric").str.contains(_MRR_AND_HITS), pl.col("model").is_not_null())
        .with_columns(below=pl.col("baseline_value") - pl.col("value"))
        .sort("below", "dataset", "model", "source", descending=[True, False, False, False])
        .unique(["dataset", "model"], keep="first", maintain_order=True)
        .filter(pl.int_range(pl.len()).over("dataset") < 2)
        .head(count)
        .select(*EVALUATION, *columns, "below")
    )


def standings(rescored: pl.DataFrame, baselines: pl.DataFrame, metric: str = "mrr") -> pl.DataFrame:
    """Return what stands on the line from chance to perfect on each data set: chance, counting, and every model.

    baselines: of `rankadjust.database.constants.Constants.baselines`. metric: key or alias. Of a model the best result
    is taken. Returns a row for each mark: dataset, protocol, split, kind (chance, counting, model), name and value, by
    data set and value; data sets of which a result has a gain, test splits, both sides.
    """
    key = resolve(metric).key
    rows = comparable(rescored).filter(metric=key)
    evaluation = ["dataset", "protocol", "split"]
    known = rows.filter(pl.col("gain").is_not_null()).select(evaluation).unique()
    rows = rows.join(known, on=evaluation, how="semi").drop_nulls("model")
    counted = (
        baselines.filter(metric=key, side="both").drop_nulls("value").join(known, on=evaluation, how="semi")
    )
    marks = [
        rows.group_by(evaluation).agg(
            pl.lit("chance").alias("kind"), name=pl.lit("chance"), value=pl.col("expectation").first()
        ),
        counted.select(*evaluation, kind=pl.lit("counting"), name="baseline", value="value"),
        rows.group_by(*evaluation, name="model")
        .agg(value=pl.col("value").max())
        .select(*evaluation, pl.lit("model").alias("kind"), "name", "value"),
    ]
    return pl.concat(marks).sort(*evaluation, "value", "kind", "name")


# By more than its rounding.
_IS_BELOW = pl.coalesce("gain_high", "gain") < 0


def _with_gain(rescored: pl.DataFrame) -> pl.DataFrame:
    return comparable(rescored).filter(pl.col("gain").is_not_null())


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
