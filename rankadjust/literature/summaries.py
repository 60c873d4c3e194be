"""What adjustment changes in the literature: printed and adjusted results side by side (docs/literature.md).

Within one evaluation (data set, split, side, protocol and metric) adjustment is an affine function that rises with the
quality of a result. So adjustment never changes the order of models there. It shows how far each number is from chance,
and so it changes comparisons between numbers of different evaluations.
"""

import polars as pl

from rankadjust.base.vocabulary import EVALUATION, KEY, SAMPLED, TEST_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.literature.copies import distinct_results
from rankadjust.literature.statuses import USABLE

# About one in twenty random rankings is farther than this from chance.
CHANCE_Z = 2.0
# A printed MRR or Hits@k and its index differ visibly if the difference exceeds a unit of the second decimal.
VISIBLE = 0.01
# Upper ends of the classes of rankings among all entities.
_SIZES = {"fewer than 200 entities": 200, "200 to 1,999": 2_000, "2,000 to 19,999": 20_000}
_LARGEST = "20,000 or more"
# The usual metrics between 0 and 1. Hits@100 is left out: chance alone gives about 100 / N.
MRR_AND_HITS = "^(inverse_harmonic_mean_rank(_at_[0-9]+)?|hits_at_([1-9]|10))$"


def usable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that have an index of their own evaluation, with the column `merit`.

    rescored: rows of `rankadjust.rescore`. merit is the printed value with the sign that makes higher better.
    """
    absent = [
        name for name in ("source", "year", "model", "source_line", "caveat") if name not in rescored.columns
    ]
    rows = rescored.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in absent).filter(
        pl.col("status").is_in(USABLE), pl.col("index").is_not_null()
    )
    lower_is_better = [key for key in rows["metric"].unique() if not resolve(key).increasing]
    return rows.with_columns(
        merit=pl.when(pl.col("metric").is_in(lower_is_better)).then(-pl.col("value")).otherwise("value")
    )


def comparable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `usable` on test splits for both sides; a number that two sources print counts once."""
    same = ["dataset", "protocol", "split", "metric", "model", "value"]
    rows = usable(rescored).filter(pl.col("split").is_in(TEST_SPLITS), pl.col("side") == "both")
    return rows.unique(same, keep="first", maintain_order=True)


def chance_share(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return for each class of candidates the share of a printed MRR or Hits@k (k up to 10) that chance explains.

    A result that several sources print counts once (`distinct_results`). Returns a row per class of `usable` rows:
    candidates (sampled-q, or the number of ranked entities), results, datasets, share (median of expectation / value),
    share_low and share_high (quartiles), visible (the number of results whose index differs from the printed value by
    more than VISIBLE) and largest (the largest such difference). The class with the largest median share comes first.
    """
    rows = distinct_results(usable(rescored)).filter(pl.col("metric").str.contains(MRR_AND_HITS))
    share, difference = pl.col("expectation") / pl.col("value"), (pl.col("value") - pl.col("index")).abs()
    return (
        rows.with_columns(candidates=_candidate_class())
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


def _candidate_class() -> pl.Expr:
    """Return the class of a row by its candidates: 'sampled-20', 'fewer than 200 entities', ..."""
    size: pl.Expr = pl.lit(_LARGEST)
    for name, end in reversed(_SIZES.items()):
        size = pl.when(pl.col("entities") < end).then(pl.lit(name)).otherwise(size)
    return pl.when(pl.col("protocol").str.contains(SAMPLED)).then("protocol").otherwise(size)


def ranked_rows(rescored: pl.DataFrame, contradictions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the models of each evaluation in order, the best model first, each with the row of its best result.

    Of equal results of a model the first is kept. Rows with a caveat (second-hand or refuted) are left out. So are the
    values that contradictions, a frame of `check`, calls impossible. A column `own` (bool) separates a model of the
    user from a published model of the same name. Added is place.
    """
    model = ["model", "own"] if "own" in rescored.columns else ["model"]
    clean = usable(rescored).filter(pl.col("caveat").is_null(), pl.col("model").is_not_null())
    rows = without_impossible(clean, contradictions)
    return (
        rows.sort("merit", descending=True, maintain_order=True)
        .unique([*KEY, *model], keep="first", maintain_order=True)
        .with_columns(place=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(KEY))
        .sort(*KEY, "place")
    )


def not_above_chance(rescored: pl.DataFrame, contradictions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the rows at or below chance, with the columns `chance` and `evidence`.

    The whole rounding interval decides: a printed Hits@1 of 0.00 may be 0.005. chance is `at` if the whole interval is
    within CHANCE_Z standard deviations of chance, `below` if the whole interval is farther below, and `at or below` if
    it contains that limit. evidence names the number that decides: the z of the random scorer, or the z of independent
    ranks if the random scorer has none. If the number of tasks is not known, the index decides, which can only show
    that a value is below chance. contradictions: a frame of `check`. If it calls a value of a model impossible, all
    values of that model in the evaluation are left out.
    """
    z = pl.coalesce("z_random_scorer", "z")
    evidence = pl.coalesce(
        pl.when(pl.col("z_random_scorer").is_not_null()).then(pl.lit("z, random scorer")),
        pl.when(pl.col("z").is_not_null()).then(pl.lit("z, independent ranks")),
        pl.lit("index"),
    )
    # Index and z are affine in the value and 0 at chance.
    ends = [
        pl.coalesce(pl.when(pl.col("index") != 0).then(z / pl.col("index") * pl.col(end)), z)
        for end in ("index_low", "index_high")
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
    return without_impossible(rows.filter(pl.col("chance").is_not_null()), contradictions)


def without_impossible(rows: pl.DataFrame, contradictions: pl.DataFrame | None) -> pl.DataFrame:
    """Return the rows of models without a value that contradictions calls impossible in that evaluation."""
    impossible = impossible_values(rows.with_row_index("_row"), contradictions)["_row"]
    return rows.filter(~pl.int_range(pl.len()).is_in(impossible.implode()))


def impossible_values(rows: pl.DataFrame, contradictions: pl.DataFrame | None) -> pl.DataFrame:
    """Return the rows of models with a value that contradictions calls impossible in that evaluation."""
    key = ["file", "source", "model", *EVALUATION]
    if contradictions is None or "severity" not in contradictions.columns:
        return rows.clear()
    key = [name for name in key if name in contradictions.columns and name in rows.columns]
    impossible = contradictions.filter(severity="impossible").select(pl.col(key).cast(pl.String))
    return rows.join(impossible, on=key, how="semi", nulls_equal=True, maintain_order="left")


def below_baselines(rescored: pl.DataFrame) -> pl.DataFrame:
    """Count for each evaluation the published values that are below the best counting baseline.

    Only rows of `comparable` with a gain are used: the baseline was evaluated under the same protocol, and the best
    baseline was chosen on validation. Returns dataset, protocol, split, results, models, below (the number of results
    that are below the baseline by more than their rounding), and for MRR and Hits@k, k up to 10, the median shares of
    a value that chance and counting explain (chance_share, counting_share). The other columns describe the result with
    the lowest gain: lowest_gain, lowest_model, lowest_metric, lowest_value, baseline and baseline_value. The row with
    most results below comes first.
    """
    by = ("dataset", "protocol", "split")
    has_share = pl.col("metric").str.contains(MRR_AND_HITS) & (pl.col("value") > 0)
    shares = {"chance_share": "expectation", "counting_share": "baseline_value"}
    lowest = {
        **{f"lowest_{name}": name for name in ("gain", "model", "metric", "value")},
        **{name: name for name in ("baseline", "baseline_value")},
    }
    return (
        with_gain(rescored)
        .sort("gain", maintain_order=True)
        .group_by(by, maintain_order=True)
        .agg(
            results=pl.len().cast(pl.Int64),
            models=pl.col("model").n_unique().cast(pl.Int64),
            below=IS_BELOW.sum().cast(pl.Int64),
            **{
                name: (pl.col(column) / pl.col("value")).filter(has_share).median()
                for name, column in shares.items()
            },
            **{name: pl.col(column).first() for name, column in lowest.items()},
        )
        .sort("below", *by, descending=[True, False, False, False], nulls_last=True)
    )


# The whole rounding interval is below the baseline.
IS_BELOW = pl.coalesce("gain_high", "gain") < 0


def with_gain(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `comparable` whose gain is known."""
    return comparable(rescored).filter(pl.col("gain").is_not_null())
