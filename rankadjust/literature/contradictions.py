"""Consistency: printed metrics of one model and evaluation must agree (docs/literature.md, "Consistency").

Let k_0 = 0 < k_1 < ... < k_m be the printed k, b_j the share of ranks in (k_{j-1}, k_j], and "rest" the share
beyond k_m. Ties give half ranks, so that the smallest rank above k, a(k), is k + 1/2 (and a(0) = 1). Then

    sum b_j / k_j + rest / N <= mrr <= sum b_j / a(k_{j-1}) + rest / a(k_m)
    sum b_j a(k_{j-1}) + rest a(k_m) <= mr <= sum b_j k_j + rest N

with N the largest number of candidates. Every sum is linear in the printed Hits@k, and each coefficient has
one sign: which ends of the rounding intervals make a bound widest is known in advance. A value that is
possible with half ranks, but not with whole ones, is reported apart (bounds ..._untied).
"""

from pathlib import Path

import polars as pl

from rankadjust.base.frames import require_frame
from rankadjust.chance.metrics import resolve
from rankadjust.literature.rescore import rescore
from rankadjust.literature.runs import add_run
from rankadjust.literature.wording import SAMPLED

MEAN_RANK = "arithmetic_mean_rank"
MRR = "inverse_harmonic_mean_rank"
GMR = "geometric_mean_rank"

# Printed at full precision, values still carry the noise of single precision.
TOLERANCE = 1e-6

# What each bound says.
BOUNDS = {
    "range": "outside the metric's range",
    "mr_candidates": "a mean rank is at most the mean number of candidates",
    "hits_order": "Hits@k does not decrease in k",
    "mr_harmonic": "the mean rank is at least 1 / MRR",
    "gmr_harmonic": "the geometric mean rank is at least 1 / MRR",
    "gmr_arithmetic": "the geometric mean rank is at most the mean rank",
    "mrr_least": "the printed Hits@k make the MRR greater",
    "mrr_most": "the printed Hits@k make the MRR smaller",
    "mr_least": "the printed Hits@k make the mean rank greater",
    "mr_most": "the printed Hits@k make the mean rank smaller",
    "mrr_most_untied": "possible with tied ranks only: else the printed Hits@k make the MRR smaller",
    "mr_least_untied": "possible with tied ranks only: else the printed Hits@k make the mean rank greater",
}

_SHOWN = (
    "file",
    "file_line",
    "source",
    "table",
    "source_line",
    "model",
    "dataset",
    "split",
    "side",
    "protocol",
)


def check(frame: pl.DataFrame, database: pl.DataFrame | str | Path | None = None) -> pl.DataFrame:
    """Return the broken bounds: one row per model, evaluation and bound, in the order of the table.

    frame: a tidy table, or rows that `rescore` has returned; pass all tables of a source together, since the
    metrics of a model may stand in several. database: as in `rescore`, for tables that are not re-scored yet; it
    gives the numbers of candidates that bound the mean rank.

    Columns of the result: those that tell the line, the model and the evaluation; metric, value, value_low,
    value_high (the printed value and its rounding interval); bound (a key of BOUNDS); limit (what the other printed
    values allow at best); excess (> 0: how far the interval lies beyond it); message.
    """
    frame = require_frame(frame, "the table")
    rescored = frame if "status" in frame.columns else rescore(frame, database)
    rows = _checkable(rescored)
    limits = pl.concat([kind(rows) for kind in (_single_limits, _hits_limits, _mean_limits, _sum_limits)])
    excess = pl.max_horizontal(
        pl.col("at_least") - pl.col("value_high"), pl.col("value_low") - pl.col("at_most")
    )
    shown = [name for name in _SHOWN if name in rescored.columns]
    return (
        rows.join(limits, on="_row", how="inner", maintain_order="left_right")
        .with_columns(limit=pl.coalesce("at_least", "at_most"), excess=excess)
        .filter(pl.col("excess") > TOLERANCE * pl.col("limit").abs())
        .filter(~_is_stronger_elsewhere())
        .with_columns(message=_message())
        .select(*shown, "metric", "value", "value_low", "value_high", "bound", "limit", "excess", "message")
    )


def _checkable(rescored: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a value of a known metric, and run, row, k and the greatest possible N."""
    sampled = pl.col("protocol").str.extract(SAMPLED, 1).cast(pl.Int64) + 1
    rows = add_run(rescored.with_row_index("_row")).filter(
        pl.col("adjustment").is_null(),
        pl.col("value").is_not_null(),
        ~pl.col("status").is_in(["metric_unknown", "duplicate"]),
    )
    return rows.with_columns(
        k=pl.col("metric").str.extract(r"^hits_at_([0-9]+)$", 1).cast(pl.Float64),
        most=pl.coalesce(sampled, "entities").max().over("run").cast(pl.Float64),
    )


def _limit(rows: pl.DataFrame, bound: str, **limit: pl.Expr) -> pl.DataFrame:
    """Return row, bound, at_least and at_most; the limit is given as at_least=... or at_most=..."""
    nothing = pl.lit(None, dtype=pl.Float64)
    return rows.select(
        "_row",
        bound=pl.lit(bound),
        at_least=limit.get("at_least", nothing),
        at_most=limit.get("at_most", nothing),
    ).filter(pl.any_horizontal(pl.col("at_least", "at_most").is_not_null()))


def _single_limits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the limits that need no other metric."""
    metrics = [resolve(key) for key in rows["metric"].unique(maintain_order=True)]
    ranges = pl.DataFrame(
        [(metric.key, metric.lower, metric.upper) for metric in metrics],
        schema={"metric": pl.String, "lower": pl.Float64, "upper": pl.Float64},
        orient="row",
    )
    whole = rows.join(ranges, on="metric", how="left", maintain_order="left")
    # The expected mean rank is half of (mean N + 1).
    mean_candidates = 2 * pl.col("expectation") - 1
    return pl.concat(
        [
            _limit(whole, "range", at_least=pl.col("lower")),
            _limit(whole, "range", at_most=pl.col("upper")),
            _limit(whole.filter(metric=MEAN_RANK), "mr_candidates", at_most=mean_candidates),
        ]
    )


def _hits_limits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the limits of Hits@k by those of smaller k."""
    hits = _possible(rows).filter(pl.col("k").is_not_null()).sort("run", "k")
    before = pl.col("value_low").cum_max().shift(1).over("run", order_by="k")
    return _limit(hits, "hits_order", at_least=before)


def _mean_limits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the limits of means by each other: harmonic (1 / mrr) <= geometric <= arithmetic."""
    means = _possible(rows)
    highest = {
        metric: means.filter(metric=metric).select("run", pl.col("value_high").alias(name))
        for metric, name in ((MRR, "mrr_high"), (MEAN_RANK, "mr_high"))
    }
    mr, gmr = means.filter(metric=MEAN_RANK), means.filter(metric=GMR)
    return pl.concat(
        [
            _limit(mr.join(highest[MRR], on="run"), "mr_harmonic", at_least=1 / pl.col("mrr_high")),
            _limit(gmr.join(highest[MRR], on="run"), "gmr_harmonic", at_least=1 / pl.col("mrr_high")),
            _limit(gmr.join(highest[MEAN_RANK], on="run"), "gmr_arithmetic", at_most=pl.col("mr_high")),
        ]
    )


def _sum_limits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what the printed Hits@k allow for MRR, MRR@K and MR (the sums above, taken by parts)."""
    pairs = _means_with_hits(rows)
    is_last = pl.col("next").is_null()
    # Ranks beyond the cut of MRR@K count 0. Without a known number of candidates the rest may have any rank.
    rest = pl.when(pl.col("cut").is_null()).then(1 / pl.col("most")).fill_null(0.0)
    to_next = pl.when(is_last).then(rest).otherwise(1 / pl.col("next"))
    limits = pairs.group_by("_row", "metric", maintain_order=True).agg(
        mrr_least=(pl.col("low") * (1 / pl.col("k") - to_next)).sum() + rest.last(),
        mr_most=(pl.col("low") * (pl.col("k") - pl.coalesce("next", "most"))).sum() + pl.col("most").last(),
    )
    mr, mrr = limits.filter(metric=MEAN_RANK), limits.filter(pl.col("metric") != MEAN_RANK)
    return pl.concat(
        [
            _limit(mrr, "mrr_least", at_least=pl.col("mrr_least")),
            _limit(mr, "mr_most", at_most=pl.col("mr_most")),
            *_tie_limits(pairs, "mrr_most", "mr_least", step=0.5),
            *_tie_limits(pairs, "mrr_most_untied", "mr_least_untied", step=1.0),
        ]
    )


def _tie_limits(pairs: pl.DataFrame, mrr_bound: str, mr_bound: str, step: float) -> list[pl.DataFrame]:
    """Return the greatest MRR and the least MR where the smallest rank above k is k + step."""
    above = pl.col("k") + step
    above_before = pl.coalesce(pl.col("before") + step, 1.0)
    is_last = pl.col("next").is_null()
    rest = pl.when(pl.col("k") == pl.col("cut")).then(0.0).otherwise(1 / above)
    beyond = pl.when(is_last).then(rest).otherwise(1 / above)
    limits = pairs.group_by("_row", "metric", maintain_order=True).agg(
        greatest=(pl.col("high") * (1 / above_before - beyond)).sum() + rest.last(),
        least=(pl.col("high") * (above_before - above)).sum() + above.last(),
    )
    mr, mrr = limits.filter(metric=MEAN_RANK), limits.filter(pl.col("metric") != MEAN_RANK)
    return [
        _limit(mrr, mrr_bound, at_most=pl.col("greatest")),
        _limit(mr, mr_bound, at_least=pl.col("least")),
    ]


def _means_with_hits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each MRR, MRR@K and MR with the Hits@k of its run (k <= K), and the k before and after."""
    whole = _possible(rows).with_columns(
        cut=pl.col("metric").str.extract(rf"^{MRR}_at_([0-9]+)$", 1).cast(pl.Float64)
    )
    means = whole.filter(pl.col("metric").is_in([MRR, MEAN_RANK]) | pl.col("cut").is_not_null())
    hits = whole.filter(pl.col("k").is_not_null()).select("run", "k", low="value_low", high="value_high")
    return (
        means.select("_row", "run", "metric", "cut", "most")
        .join(hits, on="run")
        .filter(pl.col("k") <= pl.col("cut").fill_null(float("inf")))
        .sort("_row", "k")
        .with_columns(
            before=pl.col("k").shift(1).over("_row"),
            next=pl.col("k").shift(-1).over("_row"),
            # Fewer candidates than the last k: no rank is beyond it.
            most=pl.when(pl.col("most").is_not_null()).then(
                pl.max_horizontal("most", pl.col("k").max().over("_row"))
            ),
        )
    )


def _possible(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a possible value: only these bound the other metrics of their model."""
    return rows.filter(pl.col("status") != "value_impossible")


def _is_stronger_elsewhere() -> pl.Expr:
    """Return where a value breaks the bound without ties, and the weaker one with ties as well."""
    stem = pl.col("bound").str.strip_suffix("_untied")
    return pl.col("bound").str.ends_with("_untied") & (pl.struct("_row", stem).is_duplicated())


def _message() -> pl.Expr:
    side = pl.when(pl.col("at_least").is_not_null()).then(pl.lit("below")).otherwise(pl.lit("above"))
    return pl.format(
        "{} {} is {} the limit {} by {}: {}",
        "metric",
        "value_as_printed",
        side,
        pl.col("limit").round_sig_figs(6),
        pl.col("excess").round_sig_figs(3),
        pl.col("bound").replace_strict(BOUNDS),
    )
