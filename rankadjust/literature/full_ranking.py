"""Bounds of full-ranking metrics from values that were printed among sampled negatives."""

from functools import cache, partial

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.metrics import find
from rankadjust.database.constants import Constants
from rankadjust.literature.statuses import USABLE
from rankadjust.literature.tidy import add_run
from rankadjust.sampling.full_bounds import Value, bounds_in, is_function_of_mean
from rankadjust.sampling.setting import Asked, Setting, setting

FULL_METRICS = ("mrr", "hits@10")
COLUMNS = tuple(f"full_{name}_{end}" for name in FULL_METRICS for end in ("low", "high"))

_SAMPLED = r"^sampled-(\d+)$"
_SCHEMA = {"run": pl.String} | dict.fromkeys(COLUMNS, pl.Float64) | {"full_reason": pl.String}


def add_full_bounds(rescored: pl.DataFrame, constants: Constants, level: float = 0.95) -> pl.DataFrame:
    """Add bounds of MRR and Hits@10 in the full ranking to rows among sampled negatives, from all values of a model.

    rescored: result of `rankadjust.rescore`; values that depend on assumed facts are used, too. Adds full_mrr_low,
    full_mrr_high, full_hits@10_low and full_hits@10_high, and full_reason, which says why a row among sampled negatives
    has no bounds. Rows of other protocols have nulls. Given columns of these names become <name>_given.
    level: the probability that the bounds of one model hold.
    """
    taken = {name: f"{name}_given" for name in _SCHEMA if name in rescored.columns}
    rows = add_run(rescored.rename(taken))
    sampled = rows.filter(
        pl.col("protocol").str.contains(_SAMPLED),
        pl.col("status").is_in([*USABLE, "assumed"]),
        pl.col("adjustment").is_null(),
        pl.col("value").is_not_null(),
        pl.col("metric").is_in(_bounding(rows["metric"])),
    )
    settings = cache(partial(_setting, constants))
    bounding = cache(partial(_bounds, level))
    records = [
        {"run": run[0], **bounding(settings(*part.row(0)[: len(EVALUATION)]), _values(part))}
        for run, part in sampled.select(*EVALUATION, "run", *_NEEDED)
        .sort(*EVALUATION, "run", maintain_order=True)
        .group_by("run", maintain_order=True)
    ]
    bounds = pl.DataFrame(records, schema=_SCHEMA)
    joined = rows.join(bounds, on="run", how="left", maintain_order="left").drop("run")
    is_silent = pl.col("protocol").str.contains(_SAMPLED) & pl.col(COLUMNS[0]).is_null()
    return joined.with_columns(
        full_reason=pl.coalesce("full_reason", pl.when(is_silent).then(pl.coalesce("message", "status")))
    )


def _bounding(names: pl.Series) -> list[str]:
    """Return the metrics whose values narrow the bounds."""
    metrics = {name: find(name) for name in names.unique().drop_nulls()}
    return sorted(
        name for name, metric in metrics.items() if metric is not None and is_function_of_mean(metric)
    )


def _values(part: pl.DataFrame) -> tuple[tuple[str, Value], ...]:
    """Return the printed values of a model, hashable: models with equal printed values have equal bounds."""
    ends = (pl.coalesce(f"value_{end}", "value") for end in ("low", "high"))
    ends_of = {name: (low, high) for name, low, high in part.select("metric", *ends).iter_rows()}
    return tuple(sorted(ends_of.items()))


def _setting(constants: Constants, dataset: str, protocol: str, split: str, side: str) -> Setting | str:
    """Return the setting of an evaluation, or the reason why no bounds follow."""
    sampled = int(protocol.removeprefix("sampled-"))
    try:
        return setting(Asked(sampled, dataset=dataset, split=split, side=side, database=constants))
    except RankadjustError as error:
        return str(error)


def _bounds(
    level: float, known: Setting | str, values: tuple[tuple[str, Value], ...]
) -> dict[str, float | str]:
    if isinstance(known, str):
        return {"full_reason": known}
    try:
        ranking = bounds_in(known, dict(values), level=level, metrics=FULL_METRICS)
    except RankadjustError as error:
        return {"full_reason": str(error)}
    return {
        f"full_{name}_{end}": getattr(bounds, end)
        for name, bounds in ranking.full.items()
        for end in ("low", "high")
    }


_NEEDED = ("metric", "value", "value_low", "value_high")
